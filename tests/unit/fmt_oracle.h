/* SPDX-License-Identifier: MIT */
/* What fmt (libfmt) makes of a text with {}. */
#ifndef FMT_ORACLE_H
#define FMT_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* kind: i, u: 32 bits, I, U: 64 bits, f: float, d: double, s: text [n]. */
struct fmt_value {
    char kind;
    uint64_t bits;
    const char *text;
    size_t n;
};

/* Bytes of the text, of which ret has room for `max`; or -1: fmt refuses, and
 * ret has the reason. */
long fmt_oracle(char *ret, size_t max, const char *format, size_t n_format,
                const struct fmt_value *values, size_t n);

#ifdef __cplusplus
}
#endif

#endif
