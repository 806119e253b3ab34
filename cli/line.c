/* SPDX-License-Identifier: MIT */
#include "line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <printfdecode/convert.h>
#include <printfdecode/printfdecode.h>

enum line_kind line_kind(const char *line, size_t n)
{
    static const char *const types[] = { "{\"type\":\"entry\"",
                                         "{\"type\":\"finding\"",
                                         "{\"type\":\"gap\"" };
    for (unsigned i = 0; i < LINE_OTHER; i++) {
        size_t n_type = strlen(types[i]);
        if (n >= n_type && !memcmp(line, types[i], n_type))
            return (enum line_kind)i;
    }
    return LINE_OTHER;
}

/* ---- messages ---- */

static int hex4(const char *at)
{
    char digits[5] = { at[0], at[1], at[2], at[3], 0 };
    return (int)strtol(digits, NULL, 16);
}

static char *put_utf8(char *out, unsigned c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3f));
    } else {
        *out++ = (char)(0xe0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    }
    return out;
}

/* The library writes \" \\ \n and the like, and \u00XX; other characters stand
 * for themselves. */
static char *unescape(char *out, const char *at, const char *end)
{
    static const char from[] = "nrtbf";
    static const char to[] = "\n\r\t\b\f";
    while (at < end) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        size_t n = (size_t)((slash ? slash : end) - at);
        memcpy(out, at, n);
        out += n;
        at += n;
        if (end - at < 2)
            break;
        const char *letter = strchr(from, at[1]);
        if (at[1] == 'u' && end - at >= 6) {
            out = put_utf8(out, (unsigned)hex4(at + 2));
            at += 6;
        } else {
            *out++ = letter && at[1] ? to[letter - from] : at[1];
            at += 2;
        }
    }
    return out;
}

static int base64_value(char c)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static char *unbase64(char *out, const char *at, const char *end)
{
    unsigned bits = 0;
    unsigned n_bits = 0;
    for (; at < end && base64_value(*at) >= 0; at++) {
        bits = bits << 6 | (unsigned)base64_value(*at);
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            *out++ = (char)(bits >> n_bits & 0xff);
        }
    }
    return out;
}

/* The closing quote of the JSON string that begins at `at`. */
static const char *string_end(const char *at, const char *end)
{
    while (at < end && *at != '"')
        at += *at == '\\' ? 2 : 1;
    return at < end ? at : NULL;
}

bool line_message(const char *line, size_t n, char *ret, size_t *n_ret)
{
    static const char key[] = "\"message\":";
    static const char key64[] = ",\"message_b64\":\"";
    const char *end = line + n;
    const char *at = memmem(line, n, key, sizeof key - 1);
    /* What comes behind a null may have messages of its own. */
    if (!at || at[sizeof key - 1] != '"')
        return false;
    at += sizeof key;
    const char *quote = string_end(at, end);
    if (!quote)
        return false;
    size_t n64 = sizeof key64 - 1;
    if ((size_t)(end - quote) > n64 + 1 && !memcmp(quote + 1, key64, n64)) {
        const char *begin = quote + 1 + n64;
        const char *last = string_end(begin, end);
        *n_ret = (size_t)(unbase64(ret, begin, last ? last : begin) - ret);
        return true;
    }
    *n_ret = (size_t)(unescape(ret, at, quote) - ret);
    return true;
}

/* ---- what is no message ---- */

static bool has(const char *line, size_t n, const char *key)
{
    return memmem(line, n, key, strlen(key)) != NULL;
}

/* In a text of the line a quote would have a backslash before it. */
bool line_has_findings(const char *line, size_t n)
{
    return has(line, n, ",\"findings\":[");
}

bool line_is_of_buffer(const char *line, size_t n)
{
    return !has(line, n, ",\"index\":");
}

struct out {
    char *at;
    char *end;
};

static size_t room_of(const struct out *out)
{
    return (size_t)(out->end - out->at);
}

/* Behind what snprintf() wrote, or would have. */
static void advance(struct out *out, int n)
{
    size_t room = room_of(out);
    if (n > 0)
        out->at += (size_t)n < room ? (size_t)n : room - 1;
}

#define PUT(out, ...) \
    advance(out, snprintf((out)->at, room_of(out), __VA_ARGS__))

/* Foreign text, which stays on its line. */
static void put_safe(struct out *out, const char *text)
{
    size_t room = (size_t)(out->end - out->at) / 4;
    size_t n = strlen(text);
    char *from = out->at;
    out->at += pfd_escape_for_terminal(out->at, text, n < room ? n : room);
    for (; from < out->at; from++)
        *from = *from == '\n' ? ' ' : *from;
}

static const char *text_of(const json_t *root, const char *key)
{
    return json_string_value(json_object_get(root, key));
}

static unsigned long long number_of(const json_t *root, const char *key)
{
    return (unsigned long long)json_number_value(json_object_get(root, key));
}

static bool is_note(const char *name)
{
    enum pfd_finding_kind kind = 0;
    while (kind < PFD_N_FINDING_KINDS &&
           strcmp(pfd_finding_name(kind), name) != 0)
        kind++;
    return kind < PFD_N_FINDING_KINDS && pfd_finding_is_note(kind);
}

/* Behind a key, in quotes: in a text of the line a quote would have a backslash
 * before it. NULL: the line has no such key. */
static const char *value_of(const char *line, size_t n, const char *key)
{
    const char *at = memmem(line, n, key, strlen(key));
    return at ? at + strlen(key) : NULL;
}

bool line_id(const char *line, size_t n, uint64_t *ret)
{
    const char *at = value_of(line, n, ",\"id\":\"0x");
    if (at)
        *ret = strtoull(at, NULL, 16);
    return at != NULL;
}

/* Names of kinds from `at` up to a bracket or the end: is any no note? */
static bool any_counts(const char *at, const char *end)
{
    char name[64];
    while (at < end && *at != ']') {
        size_t n = 0;
        for (; at < end && *at != '"'; at++) {
            if (n + 1 < sizeof name)
                name[n++] = *at;
        }
        name[n] = '\0';
        if (!is_note(name))
            return true;
        at += (end - at > 2 && at[1] == ',') ? 3 : 1;
    }
    return false;
}

bool line_is_doubtful(enum line_kind kind, const char *line, size_t n)
{
    const char *at = NULL;
    if (kind == LINE_ENTRY)
        at = value_of(line, n, ",\"findings\":[\"");
    if (kind == LINE_FINDING)
        at = value_of(line, n, ",\"kind\":\"");
    const char *quote =
        at ? memchr(at, kind == LINE_ENTRY ? ']' : '"', (size_t)(line + n - at))
           : NULL;
    return kind == LINE_GAP || (quote && any_counts(at, quote));
}

/* "! SOURCE: dword 7: ". */
static void put_place(struct out *out, const json_t *root, const char *source)
{
    PUT(out, "! ");
    if (source) {
        put_safe(out, source);
        PUT(out, ": ");
    }
    if (json_object_get(root, "offset"))
        PUT(out, "dword %llu: ", number_of(root, "offset") / 4);
}

static void put_gap(struct out *out, const json_t *root, const char *source)
{
    unsigned long long n = number_of(root, "missed");
    const char *why = text_of(root, "reason");
    put_place(out, root, source);
    PUT(out, "gap: ");
    if (n)
        PUT(out, "%llu lost: ", n);
    put_safe(out, why ? why : "?");
    PUT(out, "\n");
}

static void put_finding(struct out *out, const json_t *root)
{
    const char *kind = text_of(root, "kind");
    const char *text = text_of(root, "text");
    if (!kind || !text || is_note(kind))
        return;
    put_place(out, root, text_of(root, "source"));
    PUT(out, "%s: ", kind);
    put_safe(out, text);
    PUT(out, "\n");
}

/* Those of an entry: its message stands before them. */
static void put_doubts(struct out *out, const json_t *root)
{
    size_t i = 0;
    const json_t *name = NULL;
    const char *before = NULL;
    json_array_foreach(json_object_get(root, "findings"), i, name)
    {
        const char *text = json_string_value(name);
        if (!text || is_note(text))
            continue;
        if (!before)
            put_place(out, root, text_of(root, "source"));
        PUT(out, "%s%s", before ? ", " : "", text);
        before = text;
    }
    if (before)
        PUT(out, "\n");
}

/* Why an entry has no message. */
static const char *lack_of(const json_t *root)
{
    size_t i = 0;
    const json_t *name = NULL;
    const char *ret = "unknown id";
    json_array_foreach(json_object_get(root, "findings"), i, name)
    {
        const char *text = json_string_value(name);
        if (text && !strcmp(text, "torn_header")) {
            ret = "torn header, id";
        } else if (text && !strcmp(text, "incomplete")) {
            ret = "incomplete, id";
        }
    }
    return ret;
}

static void put_words(struct out *out, const json_t *root)
{
    const char *id = text_of(root, "id");
    const json_t *args = json_object_get(root, "args");
    PUT(out, "<%s %s", lack_of(root), id ? id : "?");
    for (size_t i = 0; i < json_array_size(args); i++) {
        PUT(out, "%s%08llx", i ? " " : ": ",
            (unsigned long long)json_number_value(json_array_get(args, i)));
    }
    PUT(out, ">\n");
}

bool line_error(const char *line, size_t n, char *ret, size_t n_ret)
{
    static const char type[] = "{\"type\":\"error\"";
    if (n < sizeof type || memcmp(line, type, sizeof type - 1) != 0)
        return false;
    json_t *root = json_loadb(line, n, 0, NULL);
    const char *text = text_of(root, "text");
    snprintf(ret, n_ret, "%s", text ? text : "?");
    json_decref(root);
    return true;
}

/* An argument of two bytes, such as "0,", becomes nine, a byte of a text four
 * at most. */
size_t line_room(size_t n, const char *source)
{
    return n * 5 + 160 + (source ? 4 * strlen(source) : 0);
}

size_t line_text(enum line_kind kind, const char *line, size_t n,
                 const char *source, char *ret)
{
    struct out out = { ret, ret + line_room(n, source) };
    json_t *root =
        json_loadb(line, n, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
    if (!root)
        return 0;
    if (kind == LINE_GAP) {
        put_gap(&out, root, source);
    } else if (kind == LINE_FINDING) {
        put_finding(&out, root);
    } else if (text_of(root, "message")) {
        put_doubts(&out, root);
    } else if (kind == LINE_ENTRY) {
        put_words(&out, root);
    }
    json_decref(root);
    return (size_t)(out.at - ret);
}
