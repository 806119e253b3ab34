/* SPDX-License-Identifier: MIT */
/* What was said not long ago, and need not be said again. One thread. */
#ifndef PFDD_LOG_DEDUP_H
#define PFDD_LOG_DEDUP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PFDD_LOG_DEDUP = 64 /* sentences that are remembered */
};

/* All zeros to begin with. */
struct pfdd_log_dedup {
    unsigned n;
    uint32_t hashes[PFDD_LOG_DEDUP];
};

/* True: about this it was said; if not, it is from now on. */
bool pfdd_log_dedup_seen(struct pfdd_log_dedup *log_dedup, const char *about,
                         const char *what);

#endif
