/* SPDX-License-Identifier: MIT */
#include "ring/render_told.h"

#include <stdio.h>

#include "core/base/text.h"
#include "core/filter/filter.h"
#include "ring/left_out.h"
#include "ring/render_cache.h"
#include "stream/capture/wire.h"

/* The record is of the block's last item. It has totals since the cursor began, so
 * it does not depend on earlier records. */
static void tell_left_out(struct pfdd_rendered_block *b, struct pfd_text *to)
{
    char record[PFDD_LEFT_OUT_RECORD];
    struct pfdd_render_choice *c = b->render_choice;
    if (!c || !c->wants.sample)
        return;
    size_t n = pfdd_sampler_record(&c->sampler, c->wants.entries,
                                   b->strings->set, record);
    if (n) {
        pfd_text_printf(
            to, b->form == PFDD_SSE ? "event: left_out\ndata: %s\n\n" : "%s\n",
            record);
    }
}

static bool put(void *user, const void *bytes, size_t n)
{
    struct pfd_text *to = user;
    pfd_text_add(to, bytes, n);
    return !to->failed;
}

/* Entries without a sampler have no record of what is left out. A gap of nothing,
 * with its reason, says once that a name of the condition has no meaning so
 * far. */
static bool tell_condition(struct pfdd_rendered_block *b, uint64_t seq,
                           struct pfd_text *to)
{
    struct pfdd_render_choice *c = b->render_choice;
    struct pfd_error err;
    bool is_told = !c || (c->told && b->first >= c->told);
    if (is_told || b->form != PFDD_ENTRIES || c->wants.no_findings ||
        !c->wants.entries ||
        pfd_filter_check(c->wants.entries, b->strings->set, &err) == PFD_OK)
        return true;
    struct pfd_wire_frame gap = {
        .type = PFD_WIRE_GAP,
        .sequence = seq,
        .time = pfdd_time_now(),
        .reason = pfd_wire_text(err.text),
    };
    c->told = seq;
    return pfd_wire_write(&gap, put, to, NULL) == PFD_OK;
}

bool pfdd_render_tell(struct pfdd_rendered_block *rendered_block, uint64_t seq,
                      struct pfd_text *to)
{
    if (seq == rendered_block->first)
        return true;
    tell_left_out(rendered_block, to);
    return tell_condition(rendered_block, seq, to) && !to->failed;
}
