/* SPDX-License-Identifier: MIT */
/*
 * The disk space that the spool (spool.h) may take: segments, and the code
 * objects that their chunks need (blob_store.h). Loop thread only.
 */
#ifndef PFDD_DISK_QUOTA_H
#define PFDD_DISK_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

struct pfdd_consumers;

struct pfdd_disk_quota {
    const struct pfdd_consumers *consumers; /* owner of the segments */
    uint64_t n_bytes_max;
    uint64_t n_segment; /* bytes of one segment */
};

void pfdd_disk_quota_init(struct pfdd_disk_quota *disk_quota,
                          const struct pfdd_consumers *consumers,
                          uint64_t n_bytes_max);

/* True: one more segment fits, beside code objects of n_kept bytes. */
bool pfdd_disk_quota_may_begin(const struct pfdd_disk_quota *disk_quota,
                               uint64_t n_kept);

/*
 * Bytes that code objects may take, with a new segment of n_new bytes, or (0)
 * with the existing ones. If they take more than the quota, each segment waits
 * until the one before it is acknowledged and its objects are removed. There is
 * no limit for a first segment.
 */
uint64_t pfdd_disk_quota_for_blobs(const struct pfdd_disk_quota *disk_quota,
                                   uint64_t n_new);

#endif
