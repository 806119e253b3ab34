/* SPDX-License-Identifier: MIT */
/*
 * Entries as rows: the argument values of each, typed and exact to the bit, for
 * callers that need values instead of text. A row is self-contained: it
 * describes its own entry's layout. The workers of a conversion make rows in
 * parallel; the same process reads them in sequence, in the order of the
 * buffer.
 */
#ifndef PFD_VALUE_ROWS_H
#define PFD_VALUE_ROWS_H

#include "core/output/sink.h"

/* Values of pfd_row.string that are no index for pfd_strings_at(). */
enum {
    PFD_ROW_LINE = INT32_MAX,            /* no entry: only a printed line */
    PFD_ROW_SYNTHESIZED = INT32_MAX - 1, /* its text is in the row */
    PFD_ROW_NO_STRING = INT32_MAX - 2,   /* an unknown id */
};

/* pfd_cell.type: the entry lacks an argument that others of its string have. */
enum {
    PFD_CELL_ABSENT = 255
};

#define PFD_ROW_NULL UINT32_MAX /* pfd_cell.n_text of a null string */

/* Bytes of a row, from its start. */
struct pfd_row_part {
    uint32_t at;
    uint32_t n;
};

/* One argument. */
struct pfd_cell {
    uint64_t bits;   /* as stored: a float's; an integer, extended. Of a text:
                        its offset in the row */
    uint32_t n_text; /* bytes of the text */
    uint8_t type;    /* enum pfd_argument_type, or PFD_CELL_ABSENT */
    uint8_t n_bytes; /* 1, 2, 4 or 8; 0: a text */
    char conversion;
    uint8_t spare;
};

/* One origin of the entry. */
struct pfd_row_origin {
    const char *name; /* static storage */
    uint64_t value[3];
    struct pfd_row_part text;
    uint32_t type; /* enum pfd_origin_type */
    uint32_t n;
};

/* The offsets in the message at which the text of argument i begins and ends,
 * bytes. */
struct pfd_row_piece {
    uint32_t from;
    uint32_t to;
};

/* A row: this, cells [n_cells], origins [n_origins], pieces, and texts. */
struct pfd_row {
    uint32_t n_bytes; /* of the whole row, a multiple of 8 */
    uint32_t string;
    uint64_t index;
    uint64_t offset;
    uint64_t id;
    uint64_t findings;        /* bits */
    uint64_t time;            /* nanoseconds since 1970; 0: unknown */
    uint64_t sequence;        /* the daemon's; UINT64_MAX: unknown */
    uint64_t buffer;          /* the caller's number of the buffer, and its */
    uint64_t generation;      /* generation: together they identify it */
    struct pfd_row_part text; /* of the format string, if SYNTHESIZED; the
                                 payload, if NO_STRING */
    struct pfd_row_part line; /* printed by the output form */
    struct pfd_row_part message; /* in pieces, if requested */
    struct pfd_row_part pieces;  /* [n_cells] */
    uint16_t n_cells;
    uint16_t n_origins;
    uint8_t stream;   /* enum pfd_stream */
    uint8_t severity; /* enum pfd_severity, if options->watch */
    uint8_t watched;  /* bits: which filters of options->watch want it */
    uint8_t spare;
    uint32_t source; /* the caller's number, for rows of several buffers */
    uint32_t spare2;
};

static inline const struct pfd_cell *pfd_row_cells(const struct pfd_row *row)
{
    return (const struct pfd_cell *)(const void *)(row + 1);
}

static inline const struct pfd_row_origin *pfd_row_origins(
    const struct pfd_row *row)
{
    return (const struct pfd_row_origin *)(const void *)(pfd_row_cells(row) +
                                                         row->n_cells);
}

static inline const char *pfd_row_bytes(const struct pfd_row *row,
                                        struct pfd_row_part part)
{
    return (const char *)row + part.at;
}

static inline const char *pfd_row_text(const struct pfd_row *row,
                                       const struct pfd_cell *cell)
{
    return (const char *)row + cell->bits;
}

/* Iterates over the rows in [n] bytes: moves *at on. NULL: no more. */
static inline const struct pfd_row *pfd_row_next(const void *bytes, size_t n,
                                                 size_t *at)
{
    if (*at >= n)
        return NULL;
    const struct pfd_row *row = (const void *)((const uint8_t *)bytes + *at);
    *at += row->n_bytes;
    return row;
}

/* Appends a row for an entry. options->form: the sink whose line is added, or
 * NULL; options->pieces: adds the message and its pieces. */
extern const struct pfd_sink pfd_sink_rows;

/* A row for a line that is no entry: the caller appends the line between begin
 * and end. Returns the row's offset. */
size_t pfd_rows_begin_line(struct pfd_text *out);
void pfd_rows_end_line(struct pfd_text *out, size_t row);

#endif
