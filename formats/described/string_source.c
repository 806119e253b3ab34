/* SPDX-License-Identifier: MIT */
/*
 * The literals of source text: HLSL, Slang, GLSL, WGSL, C++, Python's "...".
 * Comments are passed over, escapes of C are resolved, and literals that only
 * space separates also count as one.
 */
#include <string.h>

#include "string_rule.h"

struct source {
    const char *text; /* [n] */
    size_t n;
    size_t at;
    struct pfd_text joined; /* literals since other text */
    struct pfd_text one;    /* the newest */
    size_t n_joined;        /* literals in joined */
    size_t from;            /* of the first of them */
};

static char peek(const struct source *s, size_t ahead)
{
    return ahead < s->n - s->at ? s->text[s->at + ahead] : '\0';
}

/* Passes what begins here and is no literal; false: nothing does. */
static bool pass_comment(struct source *s)
{
    bool is_line = peek(s, 0) == '/' && peek(s, 1) == '/';
    if (!is_line && !(peek(s, 0) == '/' && peek(s, 1) == '*'))
        return false;
    const char *from = s->text + s->at + 2;
    size_t left = s->n - s->at - 2;
    const char *end =
        is_line ? memchr(from, '\n', left) : memmem(from, left, "*/", 2);
    s->at = end ? (size_t)(end - s->text) + (is_line ? 1 : 2) : s->n;
    return true;
}

static int digit_of(char c, int base)
{
    int ret = c >= '0' && c <= '9'   ? c - '0'
              : c >= 'a' && c <= 'f' ? c - 'a' + 10
              : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                     : base;
    return ret < base ? ret : -1;
}

/* A number of an escape, of at most so many digits. */
static void put_number(struct source *s, int base, int most)
{
    unsigned value = 0;
    for (int i = 0; i < most && digit_of(peek(s, 0), base) >= 0; i++) {
        value = value * (unsigned)base + (unsigned)digit_of(peek(s, 0), base);
        s->at++;
    }
    pfd_text_add(&s->one, &(char){ (char)value }, 1);
}

/* An escape, whose backslash is passed. */
static void put_escape(struct source *s)
{
    static const char letters[] = "abfnrtv";
    static const char values[] = "\a\b\f\n\r\t\v";
    char c = peek(s, 0);
    const char *known = c ? strchr(letters, c) : NULL;
    if (c == 'x') {
        s->at++;
        put_number(s, 16, 2);
    } else if (c >= '0' && c <= '7') {
        put_number(s, 8, 3);
    } else if (c == '\n') {
        s->at++;
    } else if (s->at < s->n) {
        pfd_text_add(&s->one, known ? &values[known - letters] : &c, 1);
        s->at++;
    }
}

/* Reads the literal whose quote is here; false: it does not end on its line. */
static bool read_literal(struct source *s)
{
    s->one.n = 0;
    s->at++;
    while (s->at < s->n && s->text[s->at] != '"') {
        char c = s->text[s->at++];
        if (c == '\n')
            return false;
        if (c == '\\') {
            put_escape(s);
        } else {
            pfd_text_add(&s->one, &c, 1);
        }
    }
    return s->at++ < s->n;
}

/* Gives what several literals are together, and begins anew. */
static void end_joined(struct string_taker *t, struct source *s)
{
    if (s->n_joined > 1)
        string_take(t, 0, s->joined.data, s->joined.n, s->from);
    s->joined.n = s->n_joined = 0;
}

static void take_literal(struct string_taker *t, struct source *s)
{
    size_t from = s->at;
    if (!read_literal(s)) {
        end_joined(t, s);
        return;
    }
    if (!s->n_joined++)
        s->from = from;
    string_take(t, 0, s->one.n ? s->one.data : "", s->one.n, from);
    pfd_text_add(&s->joined, s->one.data, s->one.n);
}

void string_take_source(struct string_taker *t, const char *text, size_t n)
{
    struct source s = { .text = text, .n = n };
    while (s.at < n && t->status == PFD_OK) {
        char c = text[s.at];
        if (pass_comment(&s))
            continue;
        if (c == '"') {
            take_literal(t, &s);
            continue;
        }
        if (c == '\'' && peek(&s, 1) == '"' && peek(&s, 2) == '\'')
            s.at += 2; /* the character " */
        if (!strchr(" \t\r\n", c))
            end_joined(t, &s);
        s.at++;
    }
    end_joined(t, &s);
    if (s.joined.failed || s.one.failed) {
        t->status =
            pfd_fail(t->err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    pfd_text_free(&s.joined);
    pfd_text_free(&s.one);
}
