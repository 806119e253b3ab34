/* SPDX-License-Identifier: MIT */
#include "ring/sampler.h"

void pfdd_sampler_begin(struct pfdd_sampler *s, uint32_t rate, uint64_t first,
                        uint64_t n, uint64_t now_ns)
{
    double seconds = (double)(now_ns - s->filled_ns) / 1e9;
    double earned = (double)rate * (seconds < 1 ? seconds : 1);
    s->filled_ns = now_ns;
    s->spare += earned;
    s->spare = s->spare < rate ? s->spare : rate;
    s->spare_found += earned;
    s->spare_found = s->spare_found < rate ? s->spare_found : rate;
    s->share = n ? s->spare / (double)n : 0;
    s->due = 0;
    if (first < s->counted) /* the last record was dropped with its block */
        s->said = (struct pfdd_left_out){ 0 };
}

void pfdd_sampler_end(struct pfdd_sampler *s)
{
    s->spare += s->due;
    s->due = 0;
}

bool pfdd_sampler_item(struct pfdd_sampler *s, uint64_t seq)
{
    bool is_new = seq >= s->counted;
    s->passes = seq < s->limited_from;
    /* A block may be full before its last item: the shares of the rest are
     * kept. */
    s->spare -= s->share;
    s->due += s->share;
    if (is_new)
        s->counted = seq + 1;
    return is_new;
}

static bool take(double *from)
{
    if (*from < 1)
        return false;
    *from -= 1;
    return true;
}

bool pfdd_sampler_takes(struct pfdd_sampler *s, uint64_t findings)
{
    return s->passes || take(findings ? &s->spare_found : &s->due);
}

size_t pfdd_sampler_record(struct pfdd_sampler *s,
                           const struct pfd_filter *filter,
                           const struct pfd_strings *strings,
                           char ret[PFDD_LEFT_OUT_RECORD])
{
    struct pfdd_left_out all = { s->filtered.entries + s->sampled.entries,
                                 s->filtered.findings + s->sampled.findings };
    if (all.entries == s->said.entries && all.findings == s->said.findings)
        return 0;
    s->said = all;
    return pfdd_left_out_print(&s->filtered, &s->sampled, filter, strings, ret);
}

void pfdd_sampler_filter_out(struct pfdd_sampler *sampler,
                             const struct pfd_chunk_item *item)
{
    if (!sampler)
        return;
    if (item->type == PFD_CHUNK_ENTRY) {
        pfdd_left_out_add(&sampler->filtered, 1, item->entry.findings);
    } else if (item->type == PFD_CHUNK_FINDING) {
        pfdd_left_out_add(&sampler->filtered, 0,
                          UINT64_C(1) << item->finding.kind);
    } else {
        sampler->filtered.findings++;
    }
}
