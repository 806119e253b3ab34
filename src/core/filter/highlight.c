/* SPDX-License-Identifier: MIT */
#include "core/filter/highlight.h"

#include <stdlib.h>

#include "core/base/pattern.h"
#include "core/filter/filter.h"

struct pfd_highlight {
    const struct pfd_filter *filter;
    struct pfd_pattern_memory memory; /* of the matcher */
    struct pfd_matcher *matcher;
};

enum pfd_status pfd_highlight_new(const struct pfd_filter *filter,
                                  struct pfd_highlight **ret,
                                  struct pfd_error *err)
{
    *ret = NULL;
    if (!pfd_filter_pattern(filter, 0))
        return PFD_OK;
    struct pfd_highlight *h = calloc(1, sizeof *h);
    if (h) {
        h->filter = filter;
        h->matcher = pfd_matcher_new(&h->memory);
    }
    if (!h || !h->matcher) {
        free(h);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    *ret = h;
    return PFD_OK;
}

void pfd_highlight_free(struct pfd_highlight *highlight)
{
    if (!highlight)
        return;
    pfd_matcher_free(highlight->matcher);
    free(highlight);
}

bool pfd_highlight_next(struct pfd_highlight *highlight, const char *text,
                        size_t n, size_t *from, size_t *to)
{
    const struct pfd_pattern *pattern;
    size_t first = n;
    *to = n;
    for (size_t i = 0; (pattern = pfd_filter_pattern(highlight->filter, i));
         i++) {
        size_t start = *from;
        size_t end = 0;
        if (pfd_pattern_find(pattern, highlight->matcher, text, n, &start,
                             &end) == PFD_MATCH_YES &&
            (start < first || (start == first && end > *to))) {
            first = start;
            *to = end;
        }
    }
    *from = first;
    return first < n;
}
