/* SPDX-License-Identifier: MIT */
#include "base/log_dedup.h"

#include <string.h>

#include <printfdecode/wire.h>

bool pfdd_said_before(struct pfdd_said *said, const char *about,
                      const char *what)
{
    uint32_t hash =
        pfd_crc32c(pfd_crc32c(0, about, strlen(about)), what, strlen(what));
    for (unsigned i = 0; i < PFDD_SAID; i++) {
        if (said->hashes[i] == hash)
            return true;
    }
    said->hashes[said->n++ % PFDD_SAID] = hash;
    return false;
}
