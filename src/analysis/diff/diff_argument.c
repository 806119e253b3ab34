/* SPDX-License-Identifier: MIT */
/* Differences between values of an argument. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "analysis/diff/diff_state.h"

static double as_double(uint64_t bits)
{
    double ret;
    memcpy(&ret, &bits, sizeof ret);
    return ret;
}

bool pfd_diff_is_alike(const struct pfd_diff *diff, uint8_t type, uint64_t a,
                       uint64_t b, bool *close)
{
    if (a == b)
        return true;
    if (type != PFD_ARGUMENT_FLOAT)
        return false;
    double x = as_double(a);
    double y = as_double(b);
    if (!isfinite(x) || !isfinite(y))
        return false;
    double share = diff->spec.relative * fmax(fabs(x), fabs(y));
    bool ret =
        (diff->spec.absolute > 0 && fabs(x - y) <= diff->spec.absolute) ||
        (share > 0 && fabs(x - y) <= share);
    *close |= ret;
    return ret;
}

static struct pfd_delta delta_of(uint8_t type, uint64_t a, uint64_t b)
{
    if (type == PFD_ARGUMENT_FLOAT)
        return (struct pfd_delta){ .number = as_double(b) - as_double(a) };
    bool is_less = type == PFD_ARGUMENT_INT ? (int64_t)b < (int64_t)a : b < a;
    return (struct pfd_delta){
        .is_negative = is_less,
        .size = is_less ? a - b : b - a,
    };
}

static bool is_less(uint8_t type, const struct pfd_delta *a,
                    const struct pfd_delta *b)
{
    if (type == PFD_ARGUMENT_FLOAT)
        return a->number < b->number;
    if (a->is_negative != b->is_negative)
        return a->is_negative;
    return a->is_negative ? a->size > b->size : a->size < b->size;
}

void pfd_diff_add_delta(struct pfd_diff_argument *argument, uint8_t type,
                        uint64_t a, uint64_t b)
{
    if (type == PFD_ARGUMENT_TEXT || type == PFD_CELL_ABSENT)
        return;
    struct pfd_delta delta = delta_of(type, a, b);
    if (type == PFD_ARGUMENT_FLOAT && isnan(delta.number))
        return;
    if (!argument->has_delta) {
        argument->least = argument->greatest = delta;
        argument->type = type;
        argument->has_delta = true;
    } else if (argument->type == type) {
        if (is_less(type, &delta, &argument->least))
            argument->least = delta;
        if (is_less(type, &argument->greatest, &delta))
            argument->greatest = delta;
    }
}

/* The bits of a float as short as the argument's type. */
static uint64_t narrowed(const struct pfd_diff_argument *argument,
                         uint64_t value)
{
    float f = (float)as_double(value);
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return argument->n_bytes < sizeof value ? bits : value;
}

/* A row of this text alone, for ranges: they take texts from rows. */
struct text_row {
    struct pfd_row row;
    struct pfd_cell cell;
    char text[8];
};

void pfd_diff_add_value(struct pfd_diff *diff,
                        struct pfd_diff_argument *argument,
                        enum pfd_diff_side side, uint8_t type, uint64_t value,
                        uint64_t n)
{
    struct pfd_value_range *range = &argument->values[side];
    struct text_row row = { .cell = { .bits = value,
                                      .type = type,
                                      .n_bytes = sizeof value,
                                      .conversion = argument->conversion } };
    if (type == PFD_ARGUMENT_TEXT) {
        row.cell.bits = offsetof(struct text_row, text);
        row.cell.n_text = sizeof row.text;
        row.cell.n_bytes = 0;
    } else if (type == PFD_ARGUMENT_FLOAT) {
        row.cell.bits = narrowed(argument, value);
        row.cell.n_bytes = argument->n_bytes < sizeof value ? 4 : sizeof value;
    }
    memcpy(row.text, &value, sizeof value); /* a text's number stands for it */
    if (range->n || range->n_nans || range->is_mixed) {
        pfd_value_range_add(range, &row.row, &row.cell, &diff->range_limit);
    } else {
        pfd_value_range_begin(range, &row.row, &row.cell, &diff->range_limit);
    }
    argument->sums[side] +=
        n * (pfd_hash_words(diff->seed ^ type, &value, 1) | 1);
}
