/* SPDX-License-Identifier: MIT */
/*
 * Finds where a file of JSON lines is continued after its writer was killed:
 * behind the last whole record. Earlier content and foreign lines stay. Any
 * thread.
 */
#ifndef PFDD_FILE_RESUME_H
#define PFDD_FILE_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/json_fields.h"

struct pfdd_file_resume {
    uint64_t end;  /* bytes: the end of the last whole record */
    uint64_t seq;  /* of the last record, if all records from `saved` to it are
                      there in order; else 0 */
    uint64_t time; /* of that record, ns since 1970 */
    char *line;    /* that record [n_line]; owned */
    size_t n_line;
};

/* Searches an open file. json_style: the form of our lines. saved: the file has
 * all records up to this sequence number; 0: not known. False: errno says why
 * the file cannot be read. */
bool pfdd_file_resume_find(int fd, const struct pfdd_json_style *json_style,
                           uint64_t saved, struct pfdd_file_resume *ret);
/* Likewise, for a path, if it is a regular file. Cuts off an incomplete last
 * record and logs that. json_style is NULL: only ends an unfinished last
 * line. */
void pfdd_file_resume_mend(const char *path,
                           const struct pfdd_json_style *json_style,
                           uint64_t saved, struct pfdd_file_resume *ret);
void pfdd_file_resume_deinit(struct pfdd_file_resume *file_resume);

#endif
