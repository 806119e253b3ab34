/* SPDX-License-Identifier: MIT */
/*
 * Where a file of JSON lines goes on after its writer was killed: behind its
 * last whole record. What was there before ours, and lines of others, stay. Any
 * thread.
 */
#ifndef PFDD_FILE_RESUME_H
#define PFDD_FILE_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/json_fields.h"

struct pfdd_file_resume {
    uint64_t end;  /* bytes: a record that was cut short stands behind it */
    uint64_t seq;  /* of the last record, where all from `saved` to it are there
                     in order; else 0 */
    uint64_t time; /* that record's, ns since 1970 */
    char *line;    /* itself [n_line]; owned */
    size_t n_line;
};

/* Of a file that is open, whose lines of ours look so. saved: the sequence number up to which the file surely has
 * all records; 0: not known. False: errno says why it cannot be read. */
bool pfdd_file_resume_find(int fd, const struct pfdd_json_style *json_style,
                           uint64_t saved, struct pfdd_file_resume *ret);
/* The same, by a path, if there is a regular file; what was cut short is cut off
 * and told. look: NULL: its last line is only ended. */
void pfdd_file_resume_mend(const char *path,
                           const struct pfdd_json_style *json_style,
                           uint64_t saved, struct pfdd_file_resume *ret);
void pfdd_file_resume_deinit(struct pfdd_file_resume *file_resume);

#endif
