/* SPDX-License-Identifier: MIT */
/*
 * Columns: the values of many entries, typed and exact to the bit. A batch is a
 * number of rows of them; outputs, the sorter and groups take batches. A place
 * without a value is null, and its bytes are zero.
 */
#ifndef PFD_COLUMN_H
#define PFD_COLUMN_H

#include "analysis/table/table.h"
#include "core/base/text.h"
#include "core/output/value_rows.h"

enum {
    PFD_COLUMN_NAME = 64,          /* bytes of a name, with the NUL */
    PFD_BATCH_ROWS = 16384,        /* of a full batch */
    PFD_BATCH_BYTES = 4 << 20,     /* of rows that fill a batch, likewise */
    PFD_TABLE_COLUMNS_MAX = 70000, /* more than any entry's arguments */
};

/* Where a column's value is in a row. */
enum pfd_column_from {
    PFD_FROM_ARGUMENT, /* `number` */
    PFD_FROM_ORIGIN,   /* `origin`, component `number` */
    PFD_FROM_STREAM,
    PFD_FROM_SOURCE,
    PFD_FROM_TIME,
    PFD_FROM_INDEX,
    PFD_FROM_SEQUENCE,
    PFD_FROM_FINDINGS,
    PFD_FROM_OFFSET,
    PFD_FROM_ID,
    PFD_FROM_MESSAGE,
    PFD_FROM_NOWHERE, /* computed between rows and output */
};

struct pfd_table_column {
    char name[PFD_COLUMN_NAME];
    enum pfd_value_type type;
    uint8_t n_bytes; /* 1, 2, 4 or 8; 0: a text */
    bool is_hex;     /* hexadecimal is more readable: an address, an id */
    bool is_first;   /* of a list: "NAME.x", with the alias NAME */
    enum pfd_column_from from;
    uint32_t number;
    const char *origin; /* static storage */
};

/* Is [n] bytes its name? */
static inline bool pfd_table_column_is(const struct pfd_table_column *c,
                                       const char *name, size_t n)
{
    size_t length = strlen(c->name);
    size_t n_part = sizeof ".x" - 1;
    return (length == n || (c->is_first && length == n + n_part)) &&
           !memcmp(c->name, name, n);
}

/* The values of one column. */
struct pfd_vector {
    struct pfd_text values; /* n_bytes each; texts: the ends in `bytes`,
                               uint32_t, behind a 0 */
    struct pfd_text bytes;
    struct pfd_text nulls; /* a byte for each row, 1: null */
    size_t n_nulls;
};

struct pfd_columns {
    const struct pfd_table_column *columns; /* [n_columns], borrowed */
    struct pfd_vector *vectors;             /* [n_columns]; owned */
    size_t n_columns;
    size_t n_rows;
};

/* False: out of memory. */
bool pfd_columns_init(struct pfd_columns *ret,
                      const struct pfd_table_column *columns, size_t n);
void pfd_columns_deinit(struct pfd_columns *batch);
void pfd_columns_clear(struct pfd_columns *batch);
/* Did memory run out since pfd_columns_init()? */
bool pfd_columns_failed(const struct pfd_columns *batch);

/* Appends to column i: the low n_bytes of a value; a text of [n] bytes; null.
 * Once each column has one more, the caller raises n_rows. */
void pfd_columns_add(struct pfd_columns *batch, size_t i, uint64_t bits);
void pfd_columns_add_text(struct pfd_columns *batch, size_t i, const char *text,
                          size_t n);
void pfd_columns_add_null(struct pfd_columns *batch, size_t i);

static inline bool pfd_columns_is_null(const struct pfd_columns *b, size_t i,
                                       size_t row)
{
    return b->vectors[i].nulls.data[row] != 0;
}

/* The value's bytes, zero-extended. */
uint64_t pfd_columns_bits(const struct pfd_columns *batch, size_t i,
                          size_t row);

/* The value extended by its type: a signed integer sign-extended; a float as
 * the bits of the binary64 with the same sign, number and payload. */
uint64_t pfd_columns_wide(const struct pfd_columns *batch, size_t i,
                          size_t row);

/* [*n] bytes; not NUL-terminated. */
const char *pfd_columns_text(const struct pfd_columns *batch, size_t i,
                             size_t row, size_t *n);

/* Appends a row of another batch with the same columns. */
void pfd_columns_copy(struct pfd_columns *to, const struct pfd_columns *from,
                      size_t row);

/* The bits of a float of n_bytes as those of a binary64, exactly. */
uint64_t pfd_widen_float(uint64_t bits, unsigned n_bytes);
/* The bits of a number that binary16 represents exactly. */
uint16_t pfd_half_bits(float f);
/* The float as a double. */
double pfd_float_value(uint64_t bits, unsigned n_bytes);

enum {
    PFD_COLUMN_LIST = 150 /* bytes of some columns' names, with commas */
};
/* Writes the names of columns [n], as many as fit. */
void pfd_columns_list(const struct pfd_table_column *columns, size_t n,
                      char ret[PFD_COLUMN_LIST]);
/* Fails because no column has this name [n_name]; list: the existing names. */
void pfd_columns_fail(struct pfd_error *err, const char *name, size_t n_name,
                      const char *list);

/*
 * A value as text, in JSON's form: integers in decimal, floats in the shortest
 * form that reads back. NaN and infinities without quotes: nan, inf, -inf. ret
 * has PFD_CELL_ROOM bytes; not NUL-terminated. Not for texts.
 */
enum {
    PFD_CELL_ROOM = 64
};
char *pfd_cell_print(char *ret, const struct pfd_table_column *column,
                     uint64_t bits);

#endif
