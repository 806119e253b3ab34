/* SPDX-License-Identifier: MIT */
#include "core/base/job_log.h"

#include <stdlib.h>
#include <string.h>

/* White space beyond ASCII, as .NET has it (char.IsWhiteSpace), in UTF-8; and
 * characters without width that were white space once: U+180E, U+200B, U+FEFF.
 * The first bytes of U+2000 to U+200B are one row. */
static const struct space {
    const char *bytes;
    unsigned char last; /* of a range of last bytes; 0: one character */
} spaces[] = {
    { "\xc2\x85", 0 },     { "\xc2\xa0", 0 },        { "\xe1\x9a\x80", 0 },
    { "\xe1\xa0\x8e", 0 }, { "\xe2\x80\x80", 0x8b }, { "\xe2\x80\xa8", 0xa9 },
    { "\xe2\x80\xaf", 0 }, { "\xe2\x81\x9f", 0 },    { "\xe3\x80\x80", 0 },
    { "\xef\xbb\xbf", 0 },
};

static bool is_byte(const struct space *s, size_t i, unsigned char c)
{
    unsigned char wanted = (unsigned char)s->bytes[i];
    if (!s->bytes[i + 1] && s->last)
        return c >= wanted && c <= s->last;
    return c == wanted;
}

/* The bytes of a white space character so far; *whole: all of it. */
static bool may_be_space(const char *at, size_t n, bool *whole)
{
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        const struct space *s = &spaces[i];
        size_t k = 0;
        while (k < n && s->bytes[k] && is_byte(s, k, (unsigned char)at[k]))
            k++;
        if (k == n) {
            *whole = !s->bytes[k];
            return true;
        }
    }
    return false;
}

static void begin_line(struct pfd_job_log *log)
{
    log->is_inside = log->has_colon = false;
    log->n_space = 0;
}

/* Follows the begin of a line. True: this byte is the second colon of one that
 * would be a command. */
static bool is_colon(struct pfd_job_log *log, char c)
{
    bool whole = false;
    if (log->has_colon) {
        log->has_colon = false;
        log->is_inside = true;
        return c == ':';
    }
    if (!((unsigned char)c & 0x80)) {
        bool is_space = c == ' ' || (c >= '\t' && c <= '\r');
        log->has_colon = c == ':' && !log->n_space;
        log->is_inside = log->n_space || !(is_space || log->has_colon);
        return false;
    }
    log->space[log->n_space++] = c;
    if (!may_be_space(log->space, log->n_space, &whole)) {
        log->is_inside = true;
    } else if (whole) {
        log->n_space = 0;
    }
    return false;
}

/* Follows "##[" and "##vso[". True: this byte would complete one; in JSON the
 * second '#' of any, so that the escape is the sign's own. */
static bool is_bracket(struct pfd_job_log *log, char c)
{
    static const char word[] = "vso";
    if (c == '#') {
        log->n_word = 0;
        log->n_hash = log->n_hash < 2 ? log->n_hash + 1 : 2;
        if (!log->is_json || log->n_hash < 2)
            return false;
        log->n_hash = 0;
        return true;
    }
    if (log->n_hash < 2) {
        log->n_hash = 0;
        return false;
    }
    if (log->n_word < 3 && (c | 0x20) == word[log->n_word]) {
        log->n_word++;
        return false;
    }
    bool ret = c == '[' && (log->n_word == 0 || log->n_word == 3);
    log->n_hash = log->n_word = 0;
    return ret;
}

static char *put_escape(const struct pfd_job_log *log, char *out, char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *begin = log->is_json ? "\\u00" : "\\x";
    while (*begin)
        *out++ = *begin++;
    *out++ = digits[(unsigned char)c >> 4];
    *out++ = digits[c & 15];
    return out;
}

char *pfd_job_log_guard(struct pfd_job_log *log, char *out, const char *text,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        bool ends = c == '\n' || c == '\r';
        bool is_command = !ends && !log->is_inside && is_colon(log, c);
        is_command |= is_bracket(log, c);
        if (ends)
            begin_line(log);
        if (is_command) {
            out = put_escape(log, out, c);
        } else {
            *out++ = c;
        }
    }
    return out;
}

bool pfd_job_log_is_read(void)
{
    static const char *const names[] = { "GITHUB_ACTIONS", "TF_BUILD" };
    bool ret = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = secure_getenv(names[i]);
        ret |= value && *value;
    }
    return ret;
}
