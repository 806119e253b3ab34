/* SPDX-License-Identifier: MIT */
#include "spool/disk_quota.h"

#include "spool/consumer.h"

enum {
    SEGMENT_MAX = 16 << 20, /* bytes of a segment, preallocated */
    SEGMENTS = 4,           /* at least, in the room that there is: the last
                               one stays, also when all of it is acknowledged */
};

void pfdd_space_init(struct pfdd_space *space,
                     const struct pfdd_consumers *consumers,
                     uint64_t n_bytes_max)
{
    uint64_t n = n_bytes_max / SEGMENTS;
    *space =
        (struct pfdd_space){ .consumers = consumers,
                             .n_bytes_max = n_bytes_max,
                             .n_segment = n < SEGMENT_MAX ? n : SEGMENT_MAX };
}

static uint64_t of_segments(const struct pfdd_space *space)
{
    const struct pfdd_segments *s = &space->consumers->segments;
    uint64_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t end = s->items[i].end;
        n += end > space->n_segment ? end : space->n_segment;
    }
    return n;
}

/* What is there goes with the checkpoint that is on its way. */
static bool is_empty(const struct pfdd_space *space)
{
    const struct pfdd_consumers *all = space->consumers;
    return all->segments.n == 0 ||
           (all->segments.n == 1 && pfdd_consumers_acked(all) == all->durable);
}

bool pfdd_space_may_begin(const struct pfdd_space *space, uint64_t n_kept)
{
    return is_empty(space) ||
           n_kept + of_segments(space) + space->n_segment <= space->n_bytes_max;
}

uint64_t pfdd_space_for_kept(const struct pfdd_space *space, uint64_t n_new)
{
    uint64_t n = of_segments(space) + n_new;
    if (n_new && is_empty(space))
        return UINT64_MAX;
    return n < space->n_bytes_max ? space->n_bytes_max - n : 0;
}
