/* SPDX-License-Identifier: MIT */
#include "analysis/plot/double_double.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print/number_fast.h"

/* Prints an integer up to 2^96, which one double may not hold. */
static bool print_integer(char *ret, struct pfd_double_double w)
{
    char digits[40];
    size_t n = 0;
    if (!(fabs(w.hi) < 0x1p96) || w.hi != floor(w.hi) || w.lo != floor(w.lo) ||
        (fabs(w.hi) >= 0x1p64 && w.lo == 0))
        return false;
    __int128 i = (__int128)w.hi + (__int128)w.lo;
    unsigned __int128 u = i < 0 ? -(unsigned __int128)i : (unsigned __int128)i;
    do {
        digits[n++] = (char)('0' + (int)(u % 10));
        u /= 10;
    } while (u);
    if (i < 0)
        *ret++ = '-';
    while (n)
        *ret++ = digits[--n];
    *ret = '\0';
    return true;
}

void pfd_double_double_print(char *ret, struct pfd_double_double w)
{
    uint64_t bits;
    if (!isfinite(w.hi)) {
        snprintf(ret, PFD_DOUBLE_DOUBLE_TEXT, "%s",
                 isnan(w.hi) ? "nan"
                 : w.hi < 0  ? "-inf"
                             : "inf");
    } else if (!print_integer(ret, w)) {
        memcpy(&bits, &w.hi, sizeof bits);
        *pfd_put_shortest64(ret, bits) = '\0';
    }
}

static bool read_integer(const char *text, struct pfd_double_double *ret,
                         const char **end)
{
    char *stop = NULL;
    errno = 0;
    *ret = *text == '-' ? pfd_double_double_int(strtoll(text, &stop, 10))
                        : pfd_double_double_unsigned(strtoull(text, &stop, 10));
    *end = stop;
    return !errno && stop > text && !strchr(".eExX", *stop ? *stop : 'x');
}

bool pfd_double_double_read(const char *text, struct pfd_double_double *ret,
                            const char **end)
{
    char *stop = NULL;
    bool begins =
        (*text >= '0' && *text <= '9') || *text == '-' || *text == '.';
    if (!begins)
        return false;
    if (read_integer(text, ret, end) ||
        (*end > text && (**end == '\0' || **end == ':') && errno == 0))
        return true;
    *ret = pfd_double_double_round(strtod(text, &stop));
    *end = stop;
    return stop > text && isfinite(ret->hi);
}
