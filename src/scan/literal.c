/* SPDX-License-Identifier: MIT */
#include "scan/literal.h"

#include <string.h>

/* The inside of a literal while it is read. */
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

/* Up to n_max digits; false: none, or above a byte. */
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

static enum pfd_status read_escape(struct reader *r, char *ret)
{
    static const char letters[] = "abfnrtv\\\"'?";
    static const char bytes[] = "\a\b\f\n\r\t\v\\\"'?";
    unsigned value = 0;
    char c = peek(r);
    const char *found = c ? strchr(letters, c) : NULL;
    bool ok = true;
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
    *ret = (char)value;
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
        if (c == '\\')
            status = read_escape(&r, &c);
        if (status != PFD_OK)
            return status;
        pfd_text_add(ret, &c, 1);
    }
    return PFD_OK;
}
