/* SPDX-License-Identifier: MIT */
/* What a rendered block tells its reader behind the last item. */
#ifndef PFDD_RENDER_TOLD_H
#define PFDD_RENDER_TOLD_H

#include <stdbool.h>
#include <stdint.h>

struct pfd_text;
struct pfdd_rendered_block;

/* Appends, to a block whose items end before sequence number `seq`, the record of
 * what was left out, and what a condition has in it that has no meaning so far:
 * nothing, where there are no items. The worker that renders the block calls it.
 * False: out of memory. */
bool pfdd_render_tell(struct pfdd_rendered_block *rendered_block, uint64_t seq,
                      struct pfd_text *to);

#endif
