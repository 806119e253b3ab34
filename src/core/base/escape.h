/* SPDX-License-Identifier: MIT */
/*
 * Bytes to text that is safe to show: for JSON strings and for terminals.
 * Knows UTF-8; knows nothing of entries.
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
 * shown: U+0080 to U+009F (C1), which some terminals obey, and the controls of
 * direction, which show text in an order that it does not have.
 */
bool pfd_is_control(const char *in, size_t k);

/* Writes \xNN, four bytes; returns the end. */
char *pfd_escape_byte(char *out, char byte);

/*
 * The inside of a JSON string, without its quotes. Bytes that are not UTF-8
 * become U+FFFD each. out has room for 6 * n bytes; returns the end.
 */
char *pfd_escape_json(char *out, const char *in, size_t n);

/* How many bytes pfd_escape_json() would write. */
size_t pfd_escape_json_length(const char *in, size_t n);

/* True when a terminal may get these bytes as they are. */
bool pfd_is_plain(const char *in, size_t n);

/*
 * Control bytes other than newline and tab become \xNN, and so do the bytes
 * 0x80 to 0x9f where they are not part of a character, and the bytes of what
 * pfd_is_control() is true for.
 * out has room for 4 * n bytes; returns the end.
 */
char *pfd_escape_terminal(char *out, const char *in, size_t n);

/* Base64 with padding; out has room for (n + 2) / 3 * 4; returns the end. */
char *pfd_base64(char *out, const void *in, size_t n);

#endif
