/* SPDX-License-Identifier: MIT */
/*
 * The disk space that the queue (spool.h) may take: its segments, and beside them
 * the code objects (blob_store.h) that chunks in them need. Loop thread only.
 */
#ifndef PFDD_DISK_QUOTA_H
#define PFDD_DISK_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

struct pfdd_consumers;

struct pfdd_disk_quota {
    const struct pfdd_consumers *consumers; /* whose segments they are */
    uint64_t n_bytes_max;
    uint64_t n_segment; /* bytes of one */
};

void pfdd_disk_quota_init(struct pfdd_disk_quota *disk_quota,
                          const struct pfdd_consumers *consumers,
                          uint64_t n_bytes_max);

/* There is room for one more segment, beside code objects of n_kept bytes. */
bool pfdd_disk_quota_may_begin(const struct pfdd_disk_quota *disk_quota,
                               uint64_t n_kept);

/*
 * What code objects may take with a new segment of n_new bytes, or (0) with
 * those that there are. They may take more than there is room for: then each
 * segment waits until the one before is acknowledged, and what that one needed
 * goes; a first one has what it needs.
 */
uint64_t pfdd_disk_quota_for_blobs(const struct pfdd_disk_quota *disk_quota,
                                   uint64_t n_new);

#endif
