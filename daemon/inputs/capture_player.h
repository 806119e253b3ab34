/* SPDX-License-Identifier: MIT */
/*
 * A capture that lies in a file, read by a worker and handed to a stream, as if
 * its producer were connected. Loop thread only.
 */
#ifndef PFDD_CAPTURE_PLAYER_H
#define PFDD_CAPTURE_PLAYER_H

#include <stdbool.h>

#include <printfdecode/printfdecode.h>

struct pfdd;
struct pfdd_capture_player;

/* fd is taken over, also on failure. reading: of buffers that do not say how. `ended` is called when all of it has come
 * out, and the feeder is gone. NULL: out of memory. */
struct pfdd_capture_player *pfdd_capture_player_new(
    struct pfdd *d, int fd, const char *name, const struct pfd_options *reading,
    void (*ended)(void *user), void *user);

/* Reads no more: what has come so far comes out. */
void pfdd_capture_player_stop(struct pfdd_capture_player *f);

#endif
