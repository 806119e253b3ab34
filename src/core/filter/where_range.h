/* SPDX-License-Identifier: MIT */
/*
 * A comparison of one argument with one constant, as a range of the argument's
 * values: exact for any two types. Most conditions consist of such comparisons
 * with && and || between them.
 *
 * Integers and floats of 4 and 8 bytes become keys of 64 bits in the order of
 * the values, without a branch: in a buffer of many format strings the next
 * argument's type cannot be predicted.
 */
#ifndef PFD_WHERE_RANGE_H
#define PFD_WHERE_RANGE_H

#include <string.h>

#include "core/filter/where.h"

enum {
    PFD_RANGE_HEADER = 4, /* bytes before a payload that are also read */
};

struct pfd_where_range {
    uint64_t mask;  /* the value's bits in the 8 bytes that end with it */
    uint64_t sign;  /* always flipped: the sign bit of signed types */
    uint64_t minus; /* flipped if negative: the rest of a float */
    uint64_t low;   /* the least key */
    uint64_t span;  /* to the greatest one */
    int32_t at;     /* of those eight bytes, from the payload's start */
    bool outside;   /* holds for keys outside of the range */
};

/* False: there is no such range, because the argument is missing or has another
 * size, or one of the two is text. */
bool pfd_where_range_make(const struct pfd_step *step,
                          enum pfd_where_code compare,
                          const struct pfd_value *constant,
                          struct pfd_where_range *ret);

/* PFD_RANGE_HEADER bytes before the payload must be readable. */
static inline bool pfd_where_range_holds(const struct pfd_where_range *range,
                                         const uint8_t *payload)
{
    uint64_t key;
    memcpy(&key, payload + range->at, sizeof key);
    key &= range->mask;
    uint64_t is_minus = 0 - (key >> 63);
    key ^= range->sign ^ (is_minus & range->minus);
    return (key - range->low <= range->span) != range->outside;
}

/*
 * pfd_where_test() for an entry with its string's layout and such a header:
 * only where its string's bound has ranges.
 */
static inline bool pfd_where_ranges_hold(const struct pfd_where *where,
                                         const struct pfd_where_range *ranges,
                                         const uint8_t *payload)
{
    bool holds = false;
    for (size_t i = 0; i < where->n; i++) {
        const struct pfd_where_op *op = &where->ops[i];
        switch (op->code) {
        case PFD_WHERE_COMPARE:
            holds = pfd_where_range_holds(&ranges[op->number], payload);
            break;
        case PFD_WHERE_SKIP_FALSE:
            if (!holds)
                i = op->constant - 1u;
            break;
        case PFD_WHERE_SKIP_TRUE:
            if (holds)
                i = op->constant - 1u;
            break;
        case PFD_WHERE_NOT:
            holds = !holds;
            break;
        default: /* AND, OR: the right side decides */
            break;
        }
    }
    return holds;
}

#endif
