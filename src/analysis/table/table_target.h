/* SPDX-License-Identifier: MIT */
/* The destination of a table: a file, or a write function. */
#ifndef PFD_TABLE_TARGET_H
#define PFD_TABLE_TARGET_H

#include <printfdecode/convert.h>

#include "core/base/text.h"

struct pfd_table_target {
    char *path; /* NULL: bytes go to write; owned */
    int fd;     /* of the file */
    pfd_write_fn write;
    void *write_user;
    struct pfd_text pending; /* not flushed yet */
    struct pfd_error error;  /* the first failure; code PFD_OK: none */
};

/* Creates or truncates a file. False: see error. */
bool pfd_table_target_open(struct pfd_table_target *ret, const char *path);
/* Creates a file without a name that can be read back; closing deletes it. */
bool pfd_table_target_open_scratch(struct pfd_table_target *ret);

void pfd_table_target_put(struct pfd_table_target *table_target,
                          const void *bytes, size_t n);

/* Flushes pending bytes above a limit. */
void pfd_table_target_flush_if_large(struct pfd_table_target *table_target);

/* Flushes pending bytes. False after a failure. */
bool pfd_table_target_flush(struct pfd_table_target *table_target);

/* Overwrites earlier bytes of a file. */
void pfd_table_target_patch(struct pfd_table_target *table_target, uint64_t at,
                            const void *bytes, size_t n);

/* Reads earlier bytes of a file; false: error. */
bool pfd_table_target_read(struct pfd_table_target *table_target, uint64_t at,
                           void *bytes, size_t n);

/* The number of bytes written to a file. */
uint64_t pfd_table_target_size(struct pfd_table_target *table_target);

/* Later bytes overwrite the file from its start. */
void pfd_table_target_rewind(struct pfd_table_target *table_target);

/* Flushes and closes; false after a failure. The error stays. */
bool pfd_table_target_close(struct pfd_table_target *table_target);

void pfd_table_target_fail(struct pfd_table_target *table_target,
                           enum pfd_status code, const char *text);

#endif
