/* SPDX-License-Identifier: MIT */
#include "analysis/diff/diff_form.h"

#include <stdlib.h>

static int compare_examples(const void *a, const void *b)
{
    const struct pfd_diff_example *x = a;
    const struct pfd_diff_example *y = b;
    if (x->string != y->string)
        return x->string < y->string ? -1 : 1;
    for (size_t i = 0; i < PFD_DIFF_SIDES; i++) {
        if (x->places[i] != y->places[i])
            return x->places[i] < y->places[i] ? -1 : 1;
    }
    return 0;
}

struct pfd_diff_examples pfd_diff_examples_of(const struct pfd_diff *diff,
                                              uint32_t string)
{
    const struct pfd_diff_example *all = (const void *)diff->examples.data;
    size_t n_all = diff->examples.n / sizeof *all;
    size_t low = 0;
    size_t high = n_all;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (all[middle].string < string) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    size_t n = 0;
    while (low + n < n_all && all[low + n].string == string)
        n++;
    return (struct pfd_diff_examples){ n ? all + low : NULL, n };
}

bool pfd_diff_is_worth_a_line(const struct pfd_diff_string *s)
{
    return s->n_close || s->n_changed || s->only[PFD_DIFF_A] ||
           s->only[PFD_DIFF_B];
}

struct pfd_diff_totals pfd_diff_totals(const struct pfd_diff *diff)
{
    struct pfd_diff_totals ret = { .n_strings = diff->n_strings };
    for (size_t i = 0; i < diff->n_strings; i++) {
        const struct pfd_diff_string *s = &diff->strings[i];
        for (size_t side = 0; side < PFD_DIFF_SIDES; side++) {
            ret.n[side] += s->n[side];
            ret.only[side] += s->only[side];
        }
        ret.n_equal += s->n_equal;
        ret.n_close += s->n_close;
        ret.n_changed += s->n_changed;
        ret.n_different +=
            s->n_changed || s->only[PFD_DIFF_A] || s->only[PFD_DIFF_B];
    }
    return ret;
}

/* Ends the values of arguments: they are written. */
static void end_values(struct pfd_diff *diff, struct pfd_diff_string *s)
{
    for (size_t i = 0; i < s->n_arguments; i++) {
        for (size_t side = 0; side < PFD_DIFF_SIDES; side++) {
            pfd_value_range_end(&s->arguments[i].values[side],
                                &diff->range_limit);
        }
    }
}

enum pfd_status pfd_diff_write(struct pfd_diff *diff, bool is_json, bool color,
                               struct pfd_text *out)
{
    for (size_t i = 0; i < diff->n_strings; i++)
        end_values(diff, &diff->strings[i]);
    if (diff->examples.n) {
        qsort(diff->examples.data,
              diff->examples.n / sizeof(struct pfd_diff_example),
              sizeof(struct pfd_diff_example), compare_examples);
    }
    if (is_json) {
        pfd_diff_add_json(diff, out);
    } else {
        pfd_diff_add_text(diff, color, out);
    }
    return out->failed || diff->failed || diff->range_limit.failed
               ? PFD_ERR_NOMEM
               : PFD_OK;
}
