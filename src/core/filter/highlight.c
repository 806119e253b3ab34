/* SPDX-License-Identifier: MIT */
#include "core/filter/highlight.h"

#include <stdint.h>
#include <stdlib.h>

#include "core/base/pattern.h"
#include "core/filter/filter.h"

enum {
    /* In one text: four times what the filter itself may search. */
    SEARCHES_MAX = 256,
};

/* Where a pattern matches next. */
struct place {
    size_t from; /* SIZE_MAX: nowhere */
    size_t to;   /* 0: not looked for yet */
};

struct pfd_highlight {
    const struct pfd_filter *filter;
    struct pfd_pattern_memory memory; /* of the matcher */
    struct pfd_matcher *matcher;
    const char *text; /* [n], borrowed */
    size_t n;
    size_t done;       /* bytes up to the end of the last place */
    size_t n_searches; /* in this text */
    size_t n_places;   /* one for each pattern */
    struct place places[];
};

enum pfd_status pfd_highlight_new(const struct pfd_filter *filter,
                                  struct pfd_highlight **ret,
                                  struct pfd_error *err)
{
    size_t n = 0;
    *ret = NULL;
    while (pfd_filter_pattern(filter, n))
        n++;
    if (!n)
        return PFD_OK;
    struct pfd_highlight *h = calloc(1, sizeof *h + n * sizeof *h->places);
    if (h) {
        h->filter = filter;
        h->n_places = n;
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

void pfd_highlight_begin(struct pfd_highlight *highlight, const char *text,
                         size_t n)
{
    highlight->text = text;
    highlight->n = n;
    highlight->done = 0;
    highlight->n_searches = 0;
    for (size_t i = 0; i < highlight->n_places; i++)
        highlight->places[i] = (struct place){ 0 };
}

static void search(struct pfd_highlight *h, size_t i)
{
    struct place *p = &h->places[i];
    p->from = h->done;
    if (h->n_searches++ >= SEARCHES_MAX ||
        pfd_pattern_find(pfd_filter_pattern(h->filter, i), h->matcher, h->text,
                         h->n, &p->from, &p->to) != PFD_MATCH_YES)
        *p = (struct place){ SIZE_MAX, SIZE_MAX };
}

bool pfd_highlight_next(struct pfd_highlight *highlight, size_t *from,
                        size_t *to)
{
    struct place first = { SIZE_MAX, 0 };
    for (size_t i = 0; i < highlight->n_places; i++) {
        struct place *p = &highlight->places[i];
        if (!p->to || p->from < highlight->done)
            search(highlight, i);
        if (p->from < first.from || (p->from == first.from && p->to > first.to))
            first = *p;
    }
    if (first.from == SIZE_MAX)
        return false;
    *from = first.from;
    *to = highlight->done = first.to;
    return true;
}
