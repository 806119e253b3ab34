/* SPDX-License-Identifier: MIT */
/*
 * Numbers to text, byte for byte as glibc's printf in the C locale prints
 * them, and the shortest floats for JSON. Knows values and one conversion at
 * a time; does not know format strings, arguments or buffers.
 *
 * Every function writes at `out` and returns the end; nothing is
 * NUL-terminated. The caller has room: pfd_number_room() for the general
 * functions, the stated number of bytes for the fast ones. Some write more
 * bytes than they return (never beyond the stated room).
 */
#ifndef PFD_NUMBER_H
#define PFD_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* The compiler of a spec clamps width and precision to this. */
enum {
    PFD_WIDTH_MAX = 4096
};

enum pfd_spec_flag {
    PFD_SPEC_MINUS = 1,
    PFD_SPEC_PLUS = 2,
    PFD_SPEC_SPACE = 4,
    PFD_SPEC_HASH = 8,
    PFD_SPEC_ZERO = 16,
};

/* One conversion, resolved: `*` is already a number. */
struct pfd_spec {
    char conv;         /* one of diouxXfFeEgGaAcp */
    uint8_t flags;     /* enum pfd_spec_flag */
    int16_t width;     /* 0: none; at most PFD_WIDTH_MAX */
    int16_t precision; /* -1: none; at most PFD_WIDTH_MAX */
};

/* Bytes that pfd_number_int()/pfd_number_double() may need for this spec,
 * whatever the value (a double's %f can have 309 digits before the point). */
size_t pfd_number_room(const struct pfd_spec *spec);

/*
 * d i: value is the sign-extended number. o u x X: value is the zero-extended
 * number. c: its low byte. p: "0x" and hex digits also for 0, padded as a
 * string is (width and minus only; precision cuts as for %s).
 * Narrowing (hh, h, 32-bit) is the caller's: it passes the narrowed value.
 */
char *pfd_number_int(char *out, const struct pfd_spec *spec, uint64_t value);

/* A character in UTF-8, padded as a string is; an invalid one as \U00110000. */
char *pfd_number_character(char *out, const struct pfd_spec *spec,
                           uint32_t value);

/* f F e E g G a A, every flag, width and precision. Some floats need their exact
 * decimal expansion: some 100 ns to a few us each, where others take some 10. No
 * float goes to libc: no output depends on locale or rounding mode. */
char *pfd_number_double(char *out, const struct pfd_spec *spec, double value);

#endif
