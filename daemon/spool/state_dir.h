/* SPDX-License-Identifier: MIT */
/*
 * Files of the state folder. A file is either appended to (segments), or
 * replaced as a whole: it is written and synced under a temporary name first,
 * so the previous file stays until the new one is whole. Any thread.
 */
#ifndef PFDD_STATE_DIR_H
#define PFDD_STATE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PFDD_PATH = 512,
    PFDD_STATE_WHY = 200,
};

#define PFDD_PART ".part" /* the end of a temporary name */

/* Makes the folder if it is missing, and locks it: only one daemon uses it.
 * Returns a descriptor that holds the lock until it is closed; -1: err [n_err]
 * says why. */
int pfdd_state_dir_lock(const char *dir, char *err, size_t n_err);

/* Makes new and renamed files of a folder safe, too. */
void pfdd_sync_dir(const char *dir, const char *under);

/* Here and below, false: errno says why. Writes all bytes. */
bool pfdd_write_at(int fd, const char *bytes, size_t n, uint64_t at);
/* Writes a new file, or over a previous one. */
bool pfdd_state_file_write(const char *path, const void *bytes, size_t n,
                           bool is_synced);
/* Replaces a file, synced; under: its folder within dir, "" or "/NAME". */
bool pfdd_state_file_replace(const char *dir, const char *under,
                             const char *name, const void *bytes, size_t n);

/* Bytes of a regular file of at most n_max, allocated, [*n]. NULL: `why` and
 * errno say why not. */
char *pfdd_state_file_read(const char *path, size_t n_max, size_t *n,
                           char why[PFDD_STATE_WHY]);

/* The last line of a state file that consists of lines. */
#define PFDD_STATE_END "end"

enum {
    PFDD_STATE_LINE = 128 /* bytes of a line, its end included */
};

/* Takes a line, NUL-terminated, without its end. False: malformed. */
typedef bool (*pfdd_state_line_fn)(void *user, const char *line);

/* Parses a state file's text [n]: the line `head`, lines for fn, PFDD_STATE_END.
 * False: malformed, or fn said so; nothing after it was handed over. */
bool pfdd_state_file_lines(const char *text, size_t n, const char *head,
                           pfdd_state_line_fn fn, void *user);

#endif
