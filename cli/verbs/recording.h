/* SPDX-License-Identifier: MIT */
/* The capture that `run --to` writes: what a daemon sends, as it stands. */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recording;

/* *ret is NULL where path is. False: an error was printed. */
bool recording_open(const char *path, struct recording **ret);

/* Bytes [n] of the stream; NULL is allowed, also below. False: an error was
 * printed. */
bool recording_write(struct recording *recording, const char *bytes, size_t n);

/* Entries of this generation of a buffer have come. */
void recording_note(struct recording *recording, uint64_t buffer,
                    uint64_t generation);

/* Closes it; is_whole: all has come, so its buffers are complete. False: an
 * error was printed. */
bool recording_close(struct recording *recording, bool is_whole);

#endif
