/* SPDX-License-Identifier: MIT */
/* Where a table is written: a file, or whoever takes bytes. */
#ifndef PFD_TABLE_TARGET_H
#define PFD_TABLE_TARGET_H

#include <printfdecode/convert.h>

#include "core/base/text.h"

struct pfd_table_target {
    char *path; /* NULL: bytes go to write; owned */
    int fd;     /* of the file */
    pfd_write_fn write;
    void *write_user;
    struct pfd_text pending; /* not handed over yet */
    struct pfd_error error;  /* the first failure; code PFD_OK: none */
};

/* A file, made anew. False: error says why. */
bool pfd_table_target_open(struct pfd_table_target *ret, const char *path);
/* A file without a name that can be read back, and is gone when closed. */
bool pfd_table_target_open_scratch(struct pfd_table_target *ret);

void pfd_table_target_put(struct pfd_table_target *table_target,
                          const void *bytes, size_t n);

/* Hands over what is pending, if that is much. */
void pfd_table_target_ease(struct pfd_table_target *table_target);

/* Hands over what is pending. False after a failure. */
bool pfd_table_target_flush(struct pfd_table_target *table_target);

/* Overwrites bytes of a file that were written before. */
void pfd_table_target_patch(struct pfd_table_target *table_target, uint64_t at,
                            const void *bytes, size_t n);

/* Reads bytes of a file that were written before; false: error. */
bool pfd_table_target_read(struct pfd_table_target *table_target, uint64_t at,
                           void *bytes, size_t n);

/* Bytes of a file that were written. */
uint64_t pfd_table_target_size(struct pfd_table_target *table_target);

/* What comes now overwrites the file from its start. */
void pfd_table_target_rewind(struct pfd_table_target *table_target);

/* Flushes and closes; false after a failure. The error stays. */
bool pfd_table_target_close(struct pfd_table_target *table_target);

void pfd_table_target_fail(struct pfd_table_target *table_target,
                           enum pfd_status code, const char *text);

#endif
