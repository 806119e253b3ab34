/* SPDX-License-Identifier: MIT */
/*
 * A number in two doubles, the second the rounding error of the first: exact
 * for every integer of 64 bits and every double, and accurate for sums of many
 * numbers.
 */
#ifndef PFD_DOUBLE_DOUBLE_H
#define PFD_DOUBLE_DOUBLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct pfd_double_double {
    double hi; /* the number, rounded; or NaN or an infinity */
    double lo; /* the rest: less than half a place of hi */
};

static inline struct pfd_double_double pfd_double_double_add2(double a,
                                                              double b)
{
    double sum = a + b;
    double of_b = sum - a;
    double rest = (a - (sum - of_b)) + (b - of_b);
    return (struct pfd_double_double){ sum, isfinite(sum) ? rest : 0 };
}

static inline struct pfd_double_double pfd_double_double_round(double d)
{
    return (struct pfd_double_double){ d, 0 };
}

static inline struct pfd_double_double pfd_double_double_unsigned(uint64_t u)
{
    return pfd_double_double_add2((double)(u >> 32) * 4294967296.0,
                                  (double)(u & UINT32_MAX));
}

static inline struct pfd_double_double pfd_double_double_int(int64_t i)
{
    struct pfd_double_double w =
        pfd_double_double_unsigned(i < 0 ? -(uint64_t)i : (uint64_t)i);
    return i < 0 ? (struct pfd_double_double){ -w.hi, -w.lo } : w;
}

static inline struct pfd_double_double pfd_double_double_add(
    struct pfd_double_double a, struct pfd_double_double b)
{
    struct pfd_double_double s = pfd_double_double_add2(a.hi, b.hi);
    return pfd_double_double_add2(s.hi, s.lo + a.lo + b.lo);
}

/* a - b, rounded once. */
static inline double pfd_double_double_minus(struct pfd_double_double a,
                                             struct pfd_double_double b)
{
    return (a.hi - b.hi) + (a.lo - b.lo);
}

/* Below zero, zero or above, as a is below, equal or above b; not for NaN. */
static inline int pfd_double_double_compare(struct pfd_double_double a,
                                            struct pfd_double_double b)
{
    if (a.hi != b.hi)
        return a.hi < b.hi ? -1 : 1;
    return a.lo < b.lo ? -1 : a.lo > b.lo;
}

/* The lesser or greater of two, in any order: -0 is below 0. A NaN loses to any
 * number. */
static inline struct pfd_double_double pfd_double_double_choose(
    struct pfd_double_double a, struct pfd_double_double b, bool least)
{
    if (isnan(a.hi) || isnan(b.hi))
        return isnan(a.hi) ? b : a;
    if (a.hi == 0 && b.hi == 0)
        return (signbit(b.hi) != 0) == least ? b : a;
    return (pfd_double_double_compare(b, a) < 0) == least ? b : a;
}

/* The number as text, as short as exact: [PFD_DOUBLE_DOUBLE_TEXT], with a
 * NUL. */
enum {
    PFD_DOUBLE_DOUBLE_TEXT = 48
};
void pfd_double_double_print(char *ret, struct pfd_double_double w);

/* Reads a decimal number, exact if it is an integer of 64 bits. False: it is no
 * number. *end: behind it. */
bool pfd_double_double_read(const char *text, struct pfd_double_double *ret,
                            const char **end);

#endif
