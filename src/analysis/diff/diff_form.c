/* SPDX-License-Identifier: MIT */
#include "analysis/diff/diff_form.h"

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
