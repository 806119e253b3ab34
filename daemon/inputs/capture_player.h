/* SPDX-License-Identifier: MIT */
/*
 * Plays a capture file: a worker reads it, and the loop feeds it to a stream as
 * if its producer were connected. Loop thread only.
 */
#ifndef PFDD_CAPTURE_PLAYER_H
#define PFDD_CAPTURE_PLAYER_H

#include <stdbool.h>

struct pfdd_input;
struct pfdd_capture_player;

/* Takes over fd, also on failure. input: whose options and description hold where
 * frames do not say; it stays until `ended`. `ended` is called when all of the capture was emitted and the player is gone.
 * NULL: out of memory. */
struct pfdd_capture_player *pfdd_capture_player_new(
    const struct pfdd_input *input, int fd, const char *name,
    void (*ended)(void *user), void *user);

/* Stops reading; data read so far is emitted. */
void pfdd_capture_player_stop(struct pfdd_capture_player *f);

#endif
