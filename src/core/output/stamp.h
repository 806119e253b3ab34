/* SPDX-License-Identifier: MIT */
/*
 * The delivery stamp of a JSON line, behind its type: a sequence number, mostly
 * the previous line's plus one, and a time, which many lines share.
 */
#ifndef PFD_STAMP_H
#define PFD_STAMP_H

#include "core/strings/json_parts.h"

enum {
    PFD_STAMP_TIME = 128, /* bytes of its members */
    PFD_STAMP_ROOM = 16 + PFD_ROOM_INT + PFD_STAMP_TIME + PFD_ARENA_SLACK,
};

/* All zeros but for the sequence number: without a time. */
struct pfd_stamp {
    struct pfd_counter counter;
    uint64_t sequence;
    uint64_t time_unix_ns; /* the value of `time` */
    size_t n_time;         /* members, with a comma before each */
    char time[PFD_STAMP_TIME + PFD_ARENA_SLACK];
};

/* Writes at most PFD_STAMP_ROOM bytes. */
static inline char *pfd_stamp_put(struct pfd_stamp *stamp, char *out)
{
    static const char key[] = ",\"sequence\":";
    const struct pfd_json_part time = { stamp->time, stamp->n_time };
    memcpy(out, key, sizeof key - 1);
    out =
        pfd_counter_put(&stamp->counter, out + sizeof key - 1, stamp->sequence);
    return pfd_json_put_part(out, &time);
}

#endif
