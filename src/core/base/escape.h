/* SPDX-License-Identifier: MIT */
/*
 * Escapes bytes for JSON strings and for terminals. Knows UTF-8; does not know
 * entries.
 */
#ifndef PFD_ESCAPE_H
#define PFD_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the UTF-8 sequence at in [n], 1 to 4; 0 when it is not UTF-8
 * (overlong forms, surrogates and values above U+10FFFF are not). */
size_t pfd_utf8_length(const char *in, size_t n);

bool pfd_is_utf8(const char *in, size_t n);

/*
 * True for the k bytes (2 to 4) of a character that changes how others are
 * displayed: U+0080 to U+009F (C1), which some terminals obey, and the
 * bidirectional controls, which display text in another order than its own.
 */
bool pfd_is_control(const char *in, size_t k);

/* Writes \xNN, four bytes; returns the end. */
char *pfd_escape_byte(char *out, char byte);

/*
 * The inside of a JSON string, without its quotes. Bytes that are not UTF-8
 * become U+FFFD each. out has room for 6 * n bytes; returns the end.
 */
char *pfd_escape_json(char *out, const char *in, size_t n);

/* The number of bytes that pfd_escape_json() would write. */
size_t pfd_escape_json_length(const char *in, size_t n);

/* True when these bytes may go to a terminal unescaped. */
bool pfd_is_plain(const char *in, size_t n);

/*
 * Control bytes other than newline and tab become \xNN. So do bytes 0x80 to
 * 0x9f outside of a character, and the bytes of characters for which
 * pfd_is_control() is true.
 * out has room for 4 * n bytes; returns the end.
 */
char *pfd_escape_terminal(char *out, const char *in, size_t n);

/* Base64 with padding; out has room for (n + 2) / 3 * 4; returns the end. */
char *pfd_base64(char *out, const void *in, size_t n);

#endif
