/* SPDX-License-Identifier: MIT */
/*
 * The identities under which an edge publishes. A state folder may be copied or
 * put back, so its sequence numbers may be used again for other items. At each
 * start the edge therefore draws an incarnation, an identity of its own for the
 * items that follow. Items that were queued before keep theirs, by which workers
 * recognize what they have. Loop thread only.
 */
#ifndef PFDD_INCARNATIONS_H
#define PFDD_INCARNATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PFDD_INCARNATION_ID = 33, /* 32 hexadecimal digits and a NUL */
};

struct pfdd_incarnation {
    char id[PFDD_INCARNATION_ID];
    uint64_t first; /* sequence number of its first item */
};

/* All zeros: none. */
struct pfdd_incarnations {
    const char *dir;                 /* the state folder, borrowed */
    char state[PFDD_INCARNATION_ID]; /* identity of the folder, the same in
                                        copies of it */
    struct pfdd_incarnation *items;  /* [n], in order of their first items */
    size_t n;
};

void pfdd_incarnations_deinit(struct pfdd_incarnations *all);

/* Reads the incarnations of a state folder; chunks that releases without
 * incarnations have queued belong to the folder's identity. False: err [n_err]
 * says why. Waits for the disk. */
bool pfdd_incarnations_read(const char *dir, struct pfdd_incarnations *ret,
                            char *err, size_t n_err);

/* Draws one for the items from `first` on, and stores it. Drops incarnations
 * without items behind `acked`. False: err likewise; nothing has changed. Waits
 * for the disk. */
bool pfdd_incarnations_draw(struct pfdd_incarnations *all, uint64_t first,
                            uint64_t acked, char *err, size_t n_err);

/* That of an item, once one was drawn. Borrowed until the next draw. */
const struct pfdd_incarnation *pfdd_incarnations_of(
    const struct pfdd_incarnations *all, uint64_t seq);

/* The one that was drawn last. */
const struct pfdd_incarnation *pfdd_incarnations_current(
    const struct pfdd_incarnations *all);

/* Parses the text [n] of a file. False: malformed; *ret has none. */
bool pfdd_incarnations_parse(const char *text, size_t n,
                             struct pfdd_incarnations *ret);

#endif
