/* SPDX-License-Identifier: MIT */
#include "base/log_dedup.h"

#include <string.h>

#include <printfdecode/wire.h>

#include "core/base/crc32c.h"

bool pfdd_log_dedup_seen(struct pfdd_log_dedup *log_dedup, const char *about,
                         const char *what)
{
    uint32_t hash =
        pfd_crc32c(pfd_crc32c(0, about, strlen(about)), what, strlen(what));
    for (unsigned i = 0; i < PFDD_LOG_DEDUP; i++) {
        if (log_dedup->hashes[i] == hash)
            return true;
    }
    log_dedup->hashes[log_dedup->n++ % PFDD_LOG_DEDUP] = hash;
    return false;
}
