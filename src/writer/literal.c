/* SPDX-License-Identifier: MIT */
#include "writer/literal.h"

#include <string.h>

/* The contents of a literal while it is read. */
struct reader {
    const struct pfd_lexer *lexer;
    const struct pfd_token *token;
    size_t at;
    size_t end;
};

static char peek(struct reader *r)
{
    size_t n;
    while ((n = pfd_token_continuation(r->lexer->text, r->end, r->at)) > 0)
        r->at += n;
    return r->at < r->end ? r->lexer->text[r->at] : '\0';
}

/* The value of a digit in this base; -1: none. */
static int digit(char c, int base)
{
    static const char digits[] = "0123456789abcdef";
    char low = c >= 'A' && c <= 'F' ? (char)(c | 0x20) : c;
    const char *found = low ? strchr(digits, low) : NULL;
    return found && found - digits < base ? (int)(found - digits) : -1;
}

/* Reads up to n_max digits; false: there are none, or they exceed a byte. */
static bool read_byte(struct reader *r, int base, int n_max, unsigned *ret)
{
    int n = 0;
    *ret = 0;
    for (; n < n_max && digit(peek(r), base) >= 0 && *ret <= 255; n++) {
        *ret = *ret * (unsigned)base + (unsigned)digit(peek(r), base);
        r->at++;
    }
    return n > 0 && *ret <= 255;
}

/* Reads a character of n hexadecimal digits, as UTF-8: C99 6.4.3. False: it is
 * invalid, or C requires it to be written as it is. */
static bool read_character(struct reader *r, int n, struct pfd_text *ret)
{
    uint32_t code = 0;
    for (int i = 0; i < n; i++, r->at++) {
        int value = digit(peek(r), 16);
        if (value < 0)
            return false;
        code = code << 4 | (uint32_t)value;
    }
    if (code > 0x10ffff || code >> 11 == 0x1b ||
        (code < 0xa0 && code != '$' && code != '@' && code != '`'))
        return false;
    const char bytes[] = { (char)(0xf0 | code >> 18),
                           (char)(0x80 | (code >> 12 & 0x3f)),
                           (char)(0x80 | (code >> 6 & 0x3f)),
                           (char)(0x80 | (code & 0x3f)) };
    if (code < 0x80) {
        pfd_text_add(ret, (char[]){ (char)code }, 1);
    } else if (code < 0x800) {
        pfd_text_add(ret, (char[]){ (char)(0xc0 | code >> 6), bytes[3] }, 2);
    } else if (code < 0x10000) {
        pfd_text_add(ret, (char[]){ (char)(0xe0 | code >> 12) }, 1);
        pfd_text_add(ret, bytes + 2, 2);
    } else {
        pfd_text_add(ret, bytes, 4);
    }
    return true;
}

static enum pfd_status read_escape(struct reader *r, struct pfd_text *ret)
{
    static const char letters[] = "abfnrtv\\\"'?";
    static const char bytes[] = "\a\b\f\n\r\t\v\\\"'?";
    unsigned value = 0;
    char c = peek(r);
    const char *found = c ? strchr(letters, c) : NULL;
    bool ok = true;
    if (c == 'u' || c == 'U') {
        r->at++;
        if (read_character(r, c == 'u' ? 4 : 8, ret))
            return PFD_OK;
        return pfd_token_fail(r->lexer, r->token,
                              "the string has a \\%c that names no character, "
                              "or one that C does not name so",
                              c);
    }
    if (found) {
        r->at++;
        value = (unsigned char)bytes[found - letters];
    } else if (c == 'x') {
        r->at++;
        ok = read_byte(r, 16, 1 << 20, &value);
    } else {
        ok = read_byte(r, 8, 3, &value);
    }
    if (!ok) {
        return pfd_token_fail(r->lexer, r->token,
                              "the string has an escape sequence that is none "
                              "of C's, or that is no byte");
    }
    if (value == 0)
        return pfd_token_fail(r->lexer, r->token, "the string has a byte 0");
    pfd_text_add(ret, (char[]){ (char)value }, 1);
    return PFD_OK;
}

enum pfd_status pfd_literal_read(const struct pfd_lexer *lexer,
                                 const struct pfd_token *token,
                                 struct pfd_text *ret)
{
    struct reader r = { lexer, token, token->from + 1, token->to - 1 };
    for (char c = peek(&r); r.at < r.end; c = peek(&r)) {
        enum pfd_status status = PFD_OK;
        r.at++;
        if (c == '\\') {
            status = read_escape(&r, ret);
        } else {
            pfd_text_add(ret, &c, 1);
        }
        if (status != PFD_OK)
            return status;
    }
    return PFD_OK;
}
