/* SPDX-License-Identifier: MIT */
/*
 * The format strings of scanned sources, each with an id, and the file with
 * them: an ELF file with LLPC's table in its note. Any reader of LLPC's own
 * files reads it.
 */
#ifndef PFD_SCAN_TABLE_H
#define PFD_SCAN_TABLE_H

#include <printfdecode/device/control.h>

#include "writer/argument_shape.h"
#include "writer/text_set.h"

struct pfd_table_row;

/* A call as a site of its own. */
struct pfd_scan_site {
    const char *format; /* [n] */
    size_t n;
    const struct pfd_argument_shape *argument_shape;
    const char *file; /* [n_file] */
    size_t n_file;
    uint32_t line;
    uint8_t level; /* enum pfd_level */
    uint8_t flags; /* PFD_ROW_ORIGIN, PFD_ROW_COMMIT, PFD_ROW_TIGHT */
};

/* All zero is an empty table. It has either texts or sites. */
struct pfd_scan_table {
    struct pfd_text_set texts;
    struct pfd_text_set sites;  /* rows, in the form of
                                   core/objects/site_rows.h */
    struct pfd_text_set ids;    /* 8 bytes each: row i has id number i */
    struct pfd_table_row *rows; /* [texts.n] */
    size_t n_rows_room;
    size_t n_bytes; /* of all texts */
};

/* A format string. With OpenCL's tight vectors it is another string than the
 * same text with PFD_PRINTF's. */
struct pfd_scan_string {
    const char *format; /* [n] */
    size_t n;
    const struct pfd_argument_shape *argument_shape; /* of its arguments */
    bool is_tight;
};

void pfd_scan_table_free(struct pfd_scan_table *table);

/* Returns the id of the string, and adds it if it is new. PFD_OK;
 * PFD_ERR_CORRUPT: another text has its id, see *why; PFD_ERR_NOMEM. */
enum pfd_status pfd_scan_table_add(struct pfd_scan_table *table,
                                   const struct pfd_scan_string *string,
                                   uint64_t *ret, const char **why);

/* The same for a site; *gate: the place that says whether it is enabled. Also
 * PFD_ERR_CORRUPT: too many arguments or too long a text for a row, see
 * *why. */
enum pfd_status pfd_scan_table_add_site(struct pfd_scan_table *table,
                                        const struct pfd_scan_site *site,
                                        uint64_t *ret, uint32_t *gate,
                                        const char **why);

/* Adds the ELF file to ret. */
void pfd_scan_table_write(const struct pfd_scan_table *table,
                          struct pfd_text *ret);

#endif
