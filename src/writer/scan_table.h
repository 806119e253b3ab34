/* SPDX-License-Identifier: MIT */
/*
 * The format strings of scanned sources, each with an id, and the file that
 * has them: an ELF file with LLPC's table in its note, which everything reads
 * that reads LLPC's own.
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

/* All zero is an empty table. It has texts or sites, not both. */
struct pfd_scan_table {
    struct pfd_text_set texts;
    struct pfd_text_set sites;  /* rows as core/objects/site_rows.h has them */
    struct pfd_text_set ids;    /* as 8 bytes: row i has id number i */
    struct pfd_table_row *rows; /* [texts.n] */
    size_t n_rows_room;
    size_t n_bytes; /* of all texts */
};

/* A format string whose vectors print as those of OpenCL's printf is another
 * one than the same text with PFD_PRINTF's. */
struct pfd_scan_string {
    const char *format; /* [n] */
    size_t n;
    const struct pfd_argument_shape *argument_shape; /* what it asks for */
    bool is_tight;
};

void pfd_scan_table_free(struct pfd_scan_table *table);

/* The id of the string, which is added if it is new. PFD_OK; PFD_ERR_CORRUPT: another text has its id, which *why says;
 * PFD_ERR_NOMEM. */
enum pfd_status pfd_scan_table_add(struct pfd_scan_table *table,
                                   const struct pfd_scan_string *string,
                                   uint64_t *ret, const char **why);

/* The same for a site; *gate: where it looks for whether it is on. Also
 * PFD_ERR_CORRUPT: a row has no room for so many arguments or so long a text;
 * *why says which it is. */
enum pfd_status pfd_scan_table_add_site(struct pfd_scan_table *table,
                                        const struct pfd_scan_site *site,
                                        uint64_t *ret, uint32_t *gate,
                                        const char **why);

/* Adds the ELF file to ret. */
void pfd_scan_table_write(const struct pfd_scan_table *table,
                          struct pfd_text *ret);

#endif
