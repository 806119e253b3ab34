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
struct pfdd_reader_quota {
    struct pfdd_reader_quotas *of;
    struct pfdd_reader_quota *next;
    struct pfdd_peer_key key;
    unsigned refs;
    size_t n; /* bytes */
};

struct pfdd_reader_quotas {
    size_t n; /* bytes, of all */
    size_t n_max;
    struct pfdd_reader_quota *users; /* a list */
};

/* A reference to a user's; NULL: out of memory. */
struct pfdd_reader_quota *pfdd_reader_quota_join(
    struct pfdd_reader_quotas *reader_quotas, const struct pfdd_peer_key *key);
/* The last reference to one may go only when nothing is taken. NULL is
 * allowed. */
void pfdd_reader_quota_leave(struct pfdd_reader_quota *reader_quota);

/* A reader that has `before` bytes has `now` bytes; false: it may not have more,
 * and has what it had. NULL: nobody counts. */
bool pfdd_reader_quota_change(struct pfdd_reader_quota *reader_quota,
                              size_t before, size_t now);

/* Bytes that compiled patterns of one reader may take. */
size_t pfdd_reader_quota_of_patterns(
    const struct pfdd_reader_quotas *reader_quotas);

#endif
