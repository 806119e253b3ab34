/* SPDX-License-Identifier: MIT */
#include "core/base/escape.h"

#include <stdint.h>
#include <string.h>

static const char hex[] = "0123456789abcdef";

/* ASCII that needs no escape in JSON or on a terminal: nearly all input, so the
 * loops below skip it first. */
static bool is_harmless(char byte)
{
    unsigned char c =
        (unsigned char)byte; /* char is unsigned on some machines */
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

#define EACH(byte) ((uint64_t)(byte)*0x0101010101010101u)

/* The upper bit of the lowest byte below `limit` (0x80 at most), perhaps with
 * those of bytes above it; 0: no byte is below. */
static uint64_t below(uint64_t word, unsigned limit)
{
    return (word - EACH(limit)) & ~word & EACH(0x80);
}

static size_t harmless(const char *in, size_t n)
{
    size_t i = 0;
    for (; n - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, in + i, sizeof word);
        uint64_t harmful = (word & EACH(0x80)) | below(word, ' ') |
                           below(word ^ EACH('"'), 1) |
                           below(word ^ EACH('\\'), 1) |
                           below(word ^ EACH(0x7f), 1);
        if (harmful)
            return i + (size_t)__builtin_ctzll(harmful) / 8;
    }
    while (i < n && is_harmless(in[i]))
        i++;
    return i;
}

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

size_t pfd_utf8_length(const char *in, size_t n)
{
    unsigned char c = n ? (unsigned char)in[0] : 0xff;
    if (c < 0x80)
        return 1;
    if (c >= 0xc2 && c <= 0xdf)
        return n >= 2 && continues(in[1]) ? 2 : 0;
    if (c >= 0xe0 && c <= 0xef) {
        if (n < 3 || !continues(in[1]) || !continues(in[2]))
            return 0;
        unsigned char d = (unsigned char)in[1];
        bool overlong = c == 0xe0 && d < 0xa0;
        bool surrogate = c == 0xed && d >= 0xa0;
        return overlong || surrogate ? 0 : 3;
    }
    if (c >= 0xf0 && c <= 0xf4) {
        if (n < 4 || !continues(in[1]) || !continues(in[2]) ||
            !continues(in[3]))
            return 0;
        unsigned char d = (unsigned char)in[1];
        bool overlong = c == 0xf0 && d < 0x90;
        bool too_large = c == 0xf4 && d >= 0x90;
        return overlong || too_large ? 0 : 4;
    }
    return 0;
}

bool pfd_is_utf8(const char *in, size_t n)
{
    for (size_t i = harmless(in, n); i < n; i += harmless(in + i, n - i)) {
        size_t k = pfd_utf8_length(in + i, n - i);
        if (!k)
            return false;
        i += k;
    }
    return true;
}

/* U+061C, U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069. */
static bool is_bidi(const unsigned char *in, size_t k)
{
    if (k == 2)
        return in[0] == 0xd8 && in[1] == 0x9c;
    if (k != 3 || in[0] != 0xe2)
        return false;
    return (in[1] == 0x80 && ((in[2] >= 0xaa && in[2] <= 0xae) ||
                              in[2] == 0x8e || in[2] == 0x8f)) ||
           (in[1] == 0x81 && in[2] >= 0xa6 && in[2] <= 0xa9);
}

bool pfd_is_control(const char *in, size_t k)
{
    const unsigned char *p = (const unsigned char *)in;
    return (k == 2 && p[0] == 0xc2 && p[1] < 0xa0) || is_bidi(p, k);
}

char *pfd_escape_byte(char *out, char byte)
{
    unsigned char c = (unsigned char)byte;
    out[0] = '\\';
    out[1] = 'x';
    out[2] = hex[c >> 4];
    out[3] = hex[c & 15];
    return out + 4;
}

/* The letter of JSON's two-byte escapes, or 0. */
static char json_letter(char c)
{
    switch (c) {
    case '"':
    case '\\':
        return c;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

/* Writes one character of in [n] to out, or only counts where out is NULL.
 * *used: bytes of input consumed. */
static size_t json_char(char *out, const char *in, size_t n, size_t *used)
{
    size_t k = pfd_utf8_length(in, n);
    char letter = json_letter(in[0]);
    *used = k ? k : 1;
    if (!k) {
        if (out)
            memcpy(out, "\xef\xbf\xbd", 3);
        return 3;
    }
    if (letter) {
        if (out) {
            out[0] = '\\';
            out[1] = letter;
        }
        return 2;
    }
    if (k == 1 && (unsigned char)in[0] < 0x20) {
        if (out) {
            memcpy(out, "\\u00", 4);
            out[4] = hex[(unsigned char)in[0] >> 4];
            out[5] = hex[in[0] & 15];
        }
        return 6;
    }
    if (out)
        memcpy(out, in, k);
    return k;
}

char *pfd_escape_json(char *out, const char *in, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t used = harmless(in + i, n - i);
        if (used) {
            memcpy(out, in + i, used);
            out += used;
        } else {
            out += json_char(out, in + i, n - i, &used);
        }
        i += used;
    }
    return out;
}

size_t pfd_escape_json_length(const char *in, size_t n)
{
    size_t length = 0;
    for (size_t i = 0; i < n;) {
        size_t used = harmless(in + i, n - i);
        length += used ? used : json_char(NULL, in + i, n - i, &used);
        i += used;
    }
    return length;
}

/* The number of bytes at in [n] that form one unit; *plain: a terminal may get
 * them unescaped. */
static size_t terminal_char(const char *in, size_t n, bool *plain)
{
    unsigned char c = (unsigned char)in[0];
    size_t k = pfd_utf8_length(in, n);
    if (k == 1) {
        *plain = (c >= 0x20 && c != 0x7f) || c == '\n' || c == '\t';
    } else if (k == 0) {
        *plain = c >= 0xa0;
    } else {
        /* The first byte nearly always decides. */
        *plain =
            (c != 0xc2 && c != 0xd8 && c != 0xe2) || !pfd_is_control(in, k);
    }
    return k ? k : 1;
}

bool pfd_is_plain(const char *in, size_t n)
{
    bool plain = true;
    for (size_t i = 0; i < n && plain;) {
        i += is_harmless(in[i]) ? harmless(in + i, n - i)
                                : terminal_char(in + i, n - i, &plain);
    }
    return plain;
}

char *pfd_escape_terminal(char *out, const char *in, size_t n)
{
    for (size_t i = 0; i < n;) {
        bool plain = true;
        size_t k;
        if (is_harmless(in[i])) {
            k = harmless(in + i, n - i);
            memcpy(out, in + i, k);
            out += k;
            i += k;
            continue;
        }
        k = terminal_char(in + i, n - i, &plain);
        for (size_t j = 0; j < k; j++) {
            if (plain) {
                *out++ = in[i + j];
            } else {
                out = pfd_escape_byte(out, in[i + j]);
            }
        }
        i += k;
    }
    return out;
}

char *pfd_base64(char *out, const void *in, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *p = in;
    for (size_t i = 0; i < n; i += 3) {
        size_t k = n - i < 3 ? n - i : 3;
        uint32_t v = (uint32_t)p[i] << 16;
        if (k > 1)
            v |= (uint32_t)p[i + 1] << 8;
        if (k > 2)
            v |= p[i + 2];
        *out++ = digits[v >> 18];
        *out++ = digits[v >> 12 & 63];
        *out++ = k > 1 ? digits[v >> 6 & 63] : '=';
        *out++ = k > 2 ? digits[v & 63] : '=';
    }
    return out;
}
