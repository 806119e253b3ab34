/* SPDX-License-Identifier: MIT */
#include "spool/disk_quota.h"

#include "spool/consumer.h"

enum {
    SEGMENT_MAX = 16 << 20, /* bytes of a segment, preallocated */
    /* at least, within the quota: the last segment stays, even when all of
     * it is acknowledged */
    SEGMENTS = 4,
};

void pfdd_disk_quota_init(struct pfdd_disk_quota *disk_quota,
                          const struct pfdd_consumers *consumers,
                          uint64_t n_bytes_max)
{
    uint64_t n = n_bytes_max / SEGMENTS;
    *disk_quota =
        (struct pfdd_disk_quota){ .consumers = consumers,
                                  .n_bytes_max = n_bytes_max,
                                  .n_segment =
                                      n < SEGMENT_MAX ? n : SEGMENT_MAX };
}

static uint64_t of_segments(const struct pfdd_disk_quota *disk_quota)
{
    const struct pfdd_segments *s = &disk_quota->consumers->segments;
    uint64_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t end = s->items[i].end;
        n += end > disk_quota->n_segment ? end : disk_quota->n_segment;
    }
    return n;
}

/* True: all segments are acknowledged, and go with the next checkpoint. */
static bool is_empty(const struct pfdd_disk_quota *disk_quota)
{
    const struct pfdd_consumers *all = disk_quota->consumers;
    return all->segments.n == 0 ||
           (all->segments.n == 1 &&
            pfdd_consumers_acked(all, NULL) == all->durable);
}

bool pfdd_disk_quota_may_begin(const struct pfdd_disk_quota *disk_quota,
                               uint64_t n_kept)
{
    return is_empty(disk_quota) ||
           n_kept + of_segments(disk_quota) + disk_quota->n_segment <=
               disk_quota->n_bytes_max;
}

uint64_t pfdd_disk_quota_for_blobs(const struct pfdd_disk_quota *disk_quota,
                                   uint64_t n_new)
{
    uint64_t n = of_segments(disk_quota) + n_new;
    if (n_new && is_empty(disk_quota))
        return UINT64_MAX;
    return n < disk_quota->n_bytes_max ? disk_quota->n_bytes_max - n : 0;
}
