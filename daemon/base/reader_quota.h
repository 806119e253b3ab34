/* SPDX-License-Identifier: MIT */
/*
 * Memory that readers of the ring (ring/cursor.h) hold for themselves. They
 * have a share of the cap that nothing else takes; a user may have three
 * quarters of it, and one reader half. A reader that asks for more is refused.
 * Loop thread only.
 */
#ifndef PFDD_READER_QUOTA_H
#define PFDD_READER_QUOTA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/peer_limit.h"

/* The readers of one user. */
struct pfdd_reader_quota {
    struct pfdd_reader_quotas *of;
    struct pfdd_reader_quota *next;
    struct pfdd_peer_key key;
    unsigned refs;
    size_t n; /* bytes */
};

struct pfdd_reader_quotas {
    size_t n; /* bytes, of all users */
    size_t n_max;
    struct pfdd_reader_quota *users; /* a list */
};

/* A reference to a user's quota; NULL: out of memory. */
struct pfdd_reader_quota *pfdd_reader_quota_join(
    struct pfdd_reader_quotas *reader_quotas, const struct pfdd_peer_key *key);
/* Drops a reference. At the last one, no bytes may be charged. NULL is
 * allowed. */
void pfdd_reader_quota_leave(struct pfdd_reader_quota *reader_quota);

/* Changes the bytes of a reader from `before` to `now`. False: refused, and
 * nothing has changed. NULL: not counted. */
bool pfdd_reader_quota_change(struct pfdd_reader_quota *reader_quota,
                              size_t before, size_t now);

/* Bytes that compiled patterns of one reader may take. */
size_t pfdd_reader_quota_of_patterns(
    const struct pfdd_reader_quotas *reader_quotas);

#endif
