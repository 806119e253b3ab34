/* SPDX-License-Identifier: MIT */
/* Writes rows into the columns of a table. */
#include <string.h>

#include "analysis/table/schema.h"
#include "core/decode/inspect.h"
#include "core/print/half_float.h"

/* Does an integer of the cell's type fit into so many bytes? */
static bool fits(const struct pfd_cell *cell, unsigned n_bytes)
{
    if (cell->n_bytes <= n_bytes)
        return true;
    unsigned shift = 64 - 8 * n_bytes;
    uint64_t kept = cell->type == PFD_ARGUMENT_INT
                        ? (uint64_t)((int64_t)(cell->bits << shift) >> shift)
                        : cell->bits << shift >> shift;
    return kept == cell->bits;
}

/* False: the column cannot represent it. */
static bool convert(const struct pfd_cell *cell,
                    const struct pfd_table_column *c, uint64_t *ret)
{
    *ret = cell->bits;
    if ((enum pfd_value_type)cell->type != c->type)
        return false;
    if (c->type != PFD_VALUE_FLOAT)
        return fits(cell, c->n_bytes);
    if (cell->n_bytes > c->n_bytes)
        return false;
    if (cell->n_bytes < c->n_bytes) {
        *ret = c->n_bytes == 8 ? pfd_widen_float(cell->bits, cell->n_bytes)
                               : pfd_half_to_float_bits((uint32_t)cell->bits);
    }
    return true;
}

static void add_argument(struct pfd_columns *to, size_t i,
                         const struct pfd_row *row,
                         struct pfd_table_counts *counts)
{
    const struct pfd_table_column *c = &to->columns[i];
    const struct pfd_cell *cell = &pfd_row_cells(row)[c->number];
    uint64_t bits;
    if (c->number >= row->n_cells || cell->type == PFD_CELL_ABSENT) {
        pfd_columns_add_null(to, i);
    } else if (c->type == PFD_VALUE_TEXT && cell->type == PFD_ARGUMENT_TEXT) {
        if (cell->n_text == PFD_ROW_NULL) {
            pfd_columns_add_null(to, i);
        } else {
            pfd_columns_add_text(to, i, pfd_row_text(row, cell), cell->n_text);
        }
    } else if (convert(cell, c, &bits)) {
        pfd_columns_add(to, i, bits);
    } else {
        counts->misfits++;
        pfd_columns_add_null(to, i);
    }
}

static void add_origin(struct pfd_columns *to, size_t i,
                       const struct pfd_row *row)
{
    const struct pfd_table_column *c = &to->columns[i];
    const struct pfd_row_origin *o = pfd_row_origins(row);
    size_t k = 0;
    while (k < row->n_origins &&
           (strcmp(o[k].name, c->origin) != 0 ||
            (o[k].type == PFD_ORIGIN_TEXT) != (c->type == PFD_VALUE_TEXT)))
        k++;
    if (k == row->n_origins) {
        pfd_columns_add_null(to, i);
    } else if (c->type == PFD_VALUE_TEXT) {
        pfd_columns_add_text(to, i, pfd_row_bytes(row, o[k].text), o[k].text.n);
    } else {
        pfd_columns_add(to, i, o[k].value[c->number < 3 ? c->number : 0]);
    }
}

/* Adds the kinds of findings, with spaces between; notes are left out. */
static void add_findings(struct pfd_columns *to, size_t i, uint64_t findings)
{
    char list[1024];
    size_t n = 0;
    for (; findings; findings &= findings - 1) {
        enum pfd_finding_kind kind =
            (enum pfd_finding_kind)__builtin_ctzll(findings);
        const char *name = pfd_finding_name(kind);
        size_t n_name = strlen(name);
        if (pfd_finding_is_note(kind) || n + n_name + 1 > sizeof list)
            continue;
        if (n)
            list[n++] = ' ';
        memcpy(list + n, name, n_name);
        n += n_name;
    }
    if (n) {
        pfd_columns_add_text(to, i, list, n);
    } else {
        pfd_columns_add_null(to, i);
    }
}

static void add_message(struct pfd_columns *to, size_t i,
                        const struct pfd_row *row)
{
    const char *text = pfd_row_bytes(row, row->line);
    size_t n = row->line.n;
    if (n && text[n - 1] == '\n')
        n--;
    pfd_columns_add_text(to, i, text, n);
}

static void add_value(struct pfd_columns *to, size_t i,
                      const struct pfd_row *row, const char *source,
                      struct pfd_table_counts *counts)
{
    const char *stream = pfd_stream_name((enum pfd_stream)row->stream);
    switch (to->columns[i].from) {
    case PFD_FROM_ARGUMENT:
        add_argument(to, i, row, counts);
        return;
    case PFD_FROM_ORIGIN:
        add_origin(to, i, row);
        return;
    case PFD_FROM_STREAM:
        if (stream) {
            pfd_columns_add_text(to, i, stream, strlen(stream));
        } else {
            pfd_columns_add_null(to, i);
        }
        return;
    case PFD_FROM_SOURCE:
        pfd_columns_add_text(to, i, source, strlen(source));
        return;
    case PFD_FROM_TIME:
        if (row->time) {
            pfd_columns_add(to, i, row->time);
        } else {
            pfd_columns_add_null(to, i);
        }
        return;
    case PFD_FROM_INDEX:
        pfd_columns_add(to, i, row->index);
        return;
    case PFD_FROM_SEQUENCE:
        if (row->sequence != UINT64_MAX) {
            pfd_columns_add(to, i, row->sequence);
        } else {
            pfd_columns_add_null(to, i);
        }
        return;
    case PFD_FROM_OFFSET:
        pfd_columns_add(to, i, row->offset);
        return;
    case PFD_FROM_ID:
        pfd_columns_add(to, i, row->id);
        return;
    case PFD_FROM_MESSAGE:
        add_message(to, i, row);
        return;
    case PFD_FROM_FINDINGS:
        add_findings(to, i, row->findings);
        return;
    case PFD_FROM_NOWHERE:
        break;
    }
    pfd_columns_add_null(to, i);
}

static bool has_findings(uint64_t findings)
{
    for (; findings; findings &= findings - 1) {
        if (!pfd_finding_is_note(
                (enum pfd_finding_kind)__builtin_ctzll(findings)))
            return true;
    }
    return false;
}

void pfd_schema_fill(const struct pfd_schema *schema, struct pfd_columns *to,
                     const struct pfd_row *row, const char *source,
                     struct pfd_table_counts *counts)
{
    for (size_t i = 0; i < schema->n; i++)
        add_value(to, i, row, source, counts);
    if (!schema->leaves_out && row->n_cells > schema->n_arguments)
        counts->extra += row->n_cells - schema->n_arguments;
    counts->findings += has_findings(row->findings);
    counts->rows++;
    to->n_rows++;
}
