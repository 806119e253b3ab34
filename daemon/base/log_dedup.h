/* SPDX-License-Identifier: MIT */
/* Suppresses repeated log messages. One thread. */
#ifndef PFDD_LOG_DEDUP_H
#define PFDD_LOG_DEDUP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PFDD_LOG_DEDUP = 64 /* messages that are remembered */
};

/* All zeros to begin with. */
struct pfdd_log_dedup {
    unsigned n;
    uint32_t hashes[PFDD_LOG_DEDUP];
};

/* True: the message was logged lately. False: it is remembered from now on. */
bool pfdd_log_dedup_seen(struct pfdd_log_dedup *log_dedup, const char *about,
                         const char *what);

#endif
