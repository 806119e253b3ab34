/* SPDX-License-Identifier: MIT */
/*
 * Entries as rows: what the arguments of each hold, typed and exact to the bit,
 * for whoever wants values and not text. A row stands for itself: it says how
 * its own entry is laid out. Rows are made side by side by the workers of a
 * conversion and are read one after another, in the order of the buffer, by
 * the same process.
 */
#ifndef PFD_VALUE_ROWS_H
#define PFD_VALUE_ROWS_H

#include "core/output/sink.h"

/* pfd_row.string where it is no number for pfd_strings_at(). */
enum {
    PFD_ROW_LINE = INT32_MAX,            /* no entry: only what was printed */
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
    uint64_t bits;   /* as stored: a float's; an integer, extended. Of a text,
                        where it stands in the row */
    uint32_t n_text; /* bytes of it */
    uint8_t type;    /* enum pfd_argument_type, or PFD_CELL_ABSENT */
    uint8_t n_bytes; /* 1, 2, 4 or 8; 0: a text */
    char conversion;
    uint8_t spare;
};

/* One thing about where the entry comes from. */
struct pfd_row_origin {
    const char *name; /* static storage */
    uint64_t value[3];
    struct pfd_row_part text;
    uint32_t type; /* enum pfd_origin_type */
    uint32_t n;
};

/* What of the message stands before argument i, and where its text ends: bytes
 * of the message. */
struct pfd_row_piece {
    uint32_t from;
    uint32_t to;
};

/* A row: this, cells [n_cells], origins [n_origins], pieces, and texts. */
struct pfd_row {
    uint32_t n_bytes; /* of all of it, a multiple of 8 */
    uint32_t string;
    uint64_t index;
    uint64_t offset;
    uint64_t id;
    uint64_t findings;        /* bits */
    uint64_t time;            /* nanoseconds since 1970; 0: unknown */
    uint64_t sequence;        /* as the daemon counts; UINT64_MAX: unknown */
    uint64_t buffer;          /* a number of whoever has several, and which */
    uint64_t generation;      /* of it: their entries are told apart */
    struct pfd_row_part text; /* of the format string, when MADE */
    struct pfd_row_part line; /* what the output printed */
    struct pfd_row_part message; /* in pieces, where they are wanted */
    struct pfd_row_part pieces;  /* [n_cells] */
    uint16_t n_cells;
    uint16_t n_origins;
    uint8_t stream; /* enum pfd_stream */
    uint8_t spare[3];
    uint32_t source; /* a number of whoever keeps rows of several buffers */
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

/* The rows in [n] bytes, one after another: *at is moved on. NULL: no more. */
static inline const struct pfd_row *pfd_row_next(const void *bytes, size_t n,
                                                 size_t *at)
{
    if (*at >= n)
        return NULL;
    const struct pfd_row *row = (const void *)((const uint8_t *)bytes + *at);
    *at += row->n_bytes;
    return row;
}

/* A row of an entry, appended. options->form: the sink whose line goes into it,
 * or NULL; options->pieces: the message and its pieces do, too. */
extern const struct pfd_sink pfd_sink_rows;

/* The summary as options->form prints it, as a row; nothing without it. */
void pfd_rows_summary(struct pfd_text *out, const struct pfd_summary *summary,
                      const char *source,
                      const struct pfd_sink_options *options);

/* Likewise what it says instead of n entries of unknown ids; it has to. */
void pfd_rows_hidden(struct pfd_text *out, uint64_t n,
                     const struct pfd_sink_options *options);

/* A row of a line that is no entry, which is appended between the two; where
 * the row begins. */
size_t pfd_rows_begin_line(struct pfd_text *out);
void pfd_rows_end_line(struct pfd_text *out, size_t row);

#endif
