/* SPDX-License-Identifier: MIT */
/*
 * Where a follower goes on after a restart of the daemon: behind the last entry of
 * its buffer that is on disk (spool.h), or that was delivered (fd_store.h). A
 * buffer is known by its memory or file, and by the bytes of that entry: what was
 * used anew meanwhile is read from its beginning. Loop thread only.
 */
#ifndef PFDD_FOLLOWER_RESUME_H
#define PFDD_FOLLOWER_RESUME_H

#include <stdbool.h>

struct pfdd_follower;
struct pfdd_chunk_batch;

/* Finds the position. Call before the first read pass. */
void pfdd_follower_resume(struct pfdd_follower *s);

/* Notes the position of a batch's last entry. */
void pfdd_follower_resume_note(struct pfdd_follower *s,
                               struct pfdd_chunk_batch *batch);

/* The follower ends. Its position is forgotten, unless the daemon stops. */
void pfdd_follower_resume_end(struct pfdd_follower *s);

#endif
