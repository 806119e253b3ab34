/* SPDX-License-Identifier: MIT */
/* --tail of a stream: keeps the lines of the last entries until the end. */
#ifndef CLI_LAST_LINES_H
#define CLI_LAST_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct last_lines;

/* n: entries, above 0. NULL: out of memory. */
struct last_lines *last_lines_new(uint64_t n);
/* NULL is allowed. */
void last_lines_free(struct last_lines *last_lines);

/* A pfd_write_fn for rows with lines; user: the lines. False: out of memory; an
 * error was printed. */
bool last_lines_write(void *user, const void *bytes, size_t n);

/* Writes them; NULL is allowed. False as output_write(). */
bool last_lines_end(struct last_lines *last_lines);

#endif
