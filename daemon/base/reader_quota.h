/* SPDX-License-Identifier: MIT */
/*
 * Memory that readers of the ring have for themselves. All of them have a share
 * of the cap, which nothing else takes; a user has three quarters of that, one
 * reader half. What is more is refused to the reader that asks. Loop thread
 * only.
 */
#ifndef PFDD_READER_QUOTA_H
#define PFDD_READER_QUOTA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/peer_limit.h"

/* Of the readers of one user. */
struct pfdd_quota {
    struct pfdd_quotas *of;
    struct pfdd_quota *next;
    struct pfdd_peer_key key;
    unsigned refs;
    size_t n; /* bytes */
};

struct pfdd_quotas {
    size_t n; /* bytes, of all */
    size_t n_max;
    struct pfdd_quota *users; /* a list */
};

/* A reference to a user's; NULL: out of memory. */
struct pfdd_quota *pfdd_quota_join(struct pfdd_quotas *quotas,
                                   const struct pfdd_peer_key *key);
/* The last reference to one may go only when nothing is taken. NULL is
 * allowed. */
void pfdd_quota_leave(struct pfdd_quota *quota);

/* A reader that has `before` bytes has `now` bytes; false: it may not have more,
 * and has what it had. NULL: nobody counts. */
bool pfdd_quota_change(struct pfdd_quota *quota, size_t before, size_t now);

/* Bytes that compiled patterns of one reader may take. */
size_t pfdd_quota_of_patterns(const struct pfdd_quotas *quotas);

#endif
