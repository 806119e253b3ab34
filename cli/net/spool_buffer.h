/* SPDX-License-Identifier: MIT */
/*
 * Bytes of a socket that are received on a thread while their reader is busy:
 * first in memory, then in a file without a name, both bounded. Only when both
 * are full does the peer wait.
 */
#ifndef CLI_SPOOL_BUFFER_H
#define CLI_SPOOL_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "tls.h"

struct spool_buffer;

/* Begins to receive from fd, which is borrowed. folder: where the file goes;
 * max: its bytes. *error: an errno value, where NULL is returned. */
struct spool_buffer *spool_buffer_new(int fd, const char *folder, uint64_t max,
                                      int *error);

/* Ends the thread. NULL is allowed. */
void spool_buffer_free(struct spool_buffer *b);

/* Readable when there may be bytes, or the end. */
int spool_buffer_fd(const struct spool_buffer *b);

/* OUTCOME_DONE: *n_ret of [n] bytes; OUTCOME_WANTS_READ: none are there yet;
 * OUTCOME_END; OUTCOME_FAILED with *error, an errno value. */
enum outcome spool_buffer_take(struct spool_buffer *b, char *bytes, size_t n,
                               size_t *n_ret, int *error);

#endif
