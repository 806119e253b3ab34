/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "analysis/diff/diff_form.h"

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
