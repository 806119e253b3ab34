/* SPDX-License-Identifier: MIT */
#include "analysis/table/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/unique_names.h"
#include "core/strings/column_names.h"

/* The columns of the first rows. */
struct seen {
    struct pfd_table_column *columns; /* [n] of [room]; owned */
    size_t n;
    size_t room;
    size_t n_arguments;
    bool has_time;
    bool has_sequence; /* different from the index */
    bool has_stream;
    bool failed; /* out of memory */
};

static struct pfd_table_column *add(struct seen *seen, const char *name,
                                    enum pfd_column_from from,
                                    enum pfd_value_type type, uint8_t n_bytes)
{
    if (seen->n == seen->room) {
        size_t room = seen->room ? 2 * seen->room : 16;
        void *columns = realloc(seen->columns, room * sizeof *seen->columns);
        if (!columns) {
            seen->failed = true;
            return NULL;
        }
        seen->columns = columns;
        seen->room = room;
    }
    struct pfd_table_column *c = &seen->columns[seen->n++];
    *c = (struct pfd_table_column){
        .from = from,
        .type = type,
        .n_bytes = n_bytes,
    };
    snprintf(c->name, sizeof c->name, "%s", name);
    return c;
}

/* ---- arguments ---- */

/* The widest type of the values; a column with a text is a text. */
static void see_cell(struct pfd_table_column *c, const struct pfd_cell *cell)
{
    bool is_open = c->type != PFD_VALUE_TEXT && !c->n_bytes; /* only absent */
    if (cell->type == PFD_CELL_ABSENT)
        return;
    if (cell->type == PFD_ARGUMENT_TEXT) {
        c->type = PFD_VALUE_TEXT;
        c->n_bytes = 0;
    } else if (is_open) {
        c->type = (enum pfd_value_type)cell->type;
        c->n_bytes = cell->n_bytes;
        c->is_hex = cell->conversion == 'p';
    } else if (c->type != PFD_VALUE_TEXT && cell->n_bytes > c->n_bytes) {
        c->n_bytes = cell->n_bytes;
    }
}

static void see_arguments(struct seen *seen, const struct pfd_row *row)
{
    const struct pfd_cell *cells = pfd_row_cells(row);
    for (size_t i = 0; i < row->n_cells; i++) {
        char name[PFD_COLUMN_NAME];
        if (i < seen->n_arguments) {
            see_cell(&seen->columns[i], &cells[i]);
            continue;
        }
        snprintf(name, sizeof name, "a%zu", i);
        struct pfd_table_column *c =
            add(seen, name, PFD_FROM_ARGUMENT, PFD_VALUE_UNSIGNED, 0);
        if (!c)
            return;
        c->number = (uint32_t)i;
        see_cell(c, &cells[i]);
        seen->n_arguments++;
    }
}

static void close_arguments(struct seen *seen)
{
    for (size_t i = 0; i < seen->n_arguments; i++) {
        struct pfd_table_column *c = &seen->columns[i];
        if (c->type != PFD_VALUE_TEXT && !c->n_bytes)
            c->n_bytes = 8; /* no entry had it yet: any value may come */
    }
}

static void mark_first(struct seen *seen, const struct pfd_string *string)
{
    size_t number = 0;
    for (size_t i = 0; string && i < string->n_steps; i++) {
        if (!pfd_step_has_argument(&string->steps[i]))
            continue;
        if (number == seen->n_arguments)
            return;
        seen->columns[number++].is_first = pfd_column_is_first(string, i);
    }
}

/* Names the arguments of string i of a set by the words before them. */
static void name_arguments(struct seen *seen, const struct pfd_strings *strings,
                           size_t string)
{
    size_t n = pfd_strings_columns(strings, string, NULL, 0);
    struct pfd_column *known = calloc(n ? n : 1, sizeof *known);
    if (!known) {
        seen->failed = true;
        return;
    }
    pfd_strings_columns(strings, string, known, n);
    for (size_t i = 0; i < n && i < seen->n_arguments; i++) {
        struct pfd_table_column *c = &seen->columns[i];
        snprintf(c->name, sizeof c->name, "%s", known[i].name);
    }
    mark_first(seen, pfd_strings_at(strings, string));
    free(known);
}

/* Likewise for a string that came in the buffer: only its text is needed. */
static void name_made_arguments(struct seen *seen, const struct pfd_row *row)
{
    struct pfd_strings *strings = pfd_strings_new();
    const struct pfd_string_info info = {
        .text = pfd_row_bytes(row, row->text),
        .n_text = row->text.n,
        .source = "",
        .argument_count = row->n_cells,
    };
    if (strings &&
        pfd_strings_add(strings, &info, NULL, 0, NULL, NULL, NULL) == PFD_OK) {
        name_arguments(seen, strings, 0);
    } else {
        seen->failed = true;
    }
    pfd_strings_free(strings);
}

/* ---- other columns ---- */

static bool has_origin(const struct seen *seen, const char *name, uint32_t i)
{
    for (size_t k = seen->n_arguments; k < seen->n; k++) {
        const struct pfd_table_column *c = &seen->columns[k];
        if (c->from == PFD_FROM_ORIGIN && c->number == i &&
            !strcmp(c->origin, name))
            return true;
    }
    return false;
}

static void see_origin(struct seen *seen, const struct pfd_row_origin *o)
{
    char name[PFD_COLUMN_NAME];
    bool several = o->type == PFD_ORIGIN_COORDS || o->type == PFD_ORIGIN_FLOATS;
    uint32_t n = several && o->n <= 3 ? o->n : 1;
    for (uint32_t i = 0; i < n; i++) {
        if (has_origin(seen, o->name, i))
            continue;
        if (n > 1) {
            snprintf(name, sizeof name, "%s.%c", o->name, "xyz"[i]);
        } else {
            snprintf(name, sizeof name, "%s", o->name);
        }
        enum pfd_value_type type = o->type == PFD_ORIGIN_TEXT ? PFD_VALUE_TEXT
                                   : o->type == PFD_ORIGIN_FLOATS
                                       ? PFD_VALUE_FLOAT
                                       : PFD_VALUE_UNSIGNED;
        struct pfd_table_column *c = add(seen, name, PFD_FROM_ORIGIN, type,
                                         type == PFD_VALUE_TEXT    ? 0
                                         : type == PFD_VALUE_FLOAT ? 4
                                                                   : 8);
        if (!c)
            return;
        c->origin = o->name;
        c->number = i;
        c->is_hex = o->type == PFD_ORIGIN_HEX;
    }
}

static void see_row(struct seen *seen, const struct pfd_row *row)
{
    const struct pfd_row_origin *origins = pfd_row_origins(row);
    for (size_t i = 0; i < row->n_origins; i++)
        see_origin(seen, &origins[i]);
    seen->has_time |= row->time != 0;
    seen->has_sequence |=
        row->sequence != UINT64_MAX && row->sequence != row->index;
    seen->has_stream |= row->stream != PFD_STREAM_UNKNOWN;
}

/* ---- choice ---- */

static bool is_place(const char *name, size_t n, uint32_t number)
{
    char place[16];
    size_t k = (size_t)snprintf(place, sizeof place, "a%u", number);
    return k == n && !memcmp(place, name, n);
}

/* Finds a column by name, or an argument by its place; SIZE_MAX: none. */
static size_t find(const struct seen *seen, const char *name, size_t n)
{
    for (size_t i = 0; i < seen->n; i++) {
        if (pfd_table_column_is(&seen->columns[i], name, n))
            return i;
    }
    for (size_t i = 0; i < seen->n_arguments; i++) {
        if (is_place(name, n, seen->columns[i].number))
            return i;
    }
    return SIZE_MAX;
}

static bool choose(struct pfd_schema *ret, const struct seen *seen,
                   const struct pfd_schema_spec *spec)
{
    struct pfd_unique_names unique_names = { 0 };
    bool ok = true;
    ret->leaves_out = true;
    for (size_t i = 0; i < spec->n_chosen && ok; i++) {
        const char *word = spec->chosen[i];
        const char *equals = strchr(word, '=');
        size_t n = equals ? (size_t)(equals - word) : strlen(word);
        size_t at = find(seen, word, n);
        if (at == SIZE_MAX) {
            if (!*spec->known)
                pfd_columns_list(seen->columns, seen->n, spec->known);
            continue;
        }
        spec->found[i] = true;
        struct pfd_table_column *c = &ret->columns[ret->n++];
        *c = seen->columns[at];
        if (equals)
            snprintf(c->name, sizeof c->name, "%s", equals + 1);
        ok = pfd_unique_names_give(&unique_names, c->name, sizeof c->name);
    }
    pfd_unique_names_free(&unique_names);
    return ok;
}

/* Is the column a default? */
static bool is_usual(const struct seen *seen,
                     const struct pfd_schema_spec *spec,
                     const struct pfd_table_column *c)
{
    switch (c->from) {
    case PFD_FROM_STREAM:
        return seen->has_stream;
    case PFD_FROM_SOURCE:
        return spec->has_sources;
    case PFD_FROM_TIME:
        return seen->has_time;
    case PFD_FROM_SEQUENCE:
        return seen->has_sequence;
    case PFD_FROM_OFFSET:
    case PFD_FROM_ID:
        return false;
    case PFD_FROM_MESSAGE:
        return spec->has_messages;
    case PFD_FROM_ARGUMENT:
    case PFD_FROM_ORIGIN:
    case PFD_FROM_INDEX:
    case PFD_FROM_FINDINGS:
    case PFD_FROM_NOWHERE:
        break;
    }
    return true;
}

static void see_rest(struct seen *seen)
{
    add(seen, "stream", PFD_FROM_STREAM, PFD_VALUE_TEXT, 0);
    add(seen, "source", PFD_FROM_SOURCE, PFD_VALUE_TEXT, 0);
    add(seen, "time", PFD_FROM_TIME, PFD_VALUE_TIME, 8);
    add(seen, "index", PFD_FROM_INDEX, PFD_VALUE_UNSIGNED, 8);
    add(seen, "sequence", PFD_FROM_SEQUENCE, PFD_VALUE_UNSIGNED, 8);
    add(seen, "offset", PFD_FROM_OFFSET, PFD_VALUE_UNSIGNED, 8);
    struct pfd_table_column *id =
        add(seen, "id", PFD_FROM_ID, PFD_VALUE_UNSIGNED, 8);
    if (id)
        id->is_hex = true;
    add(seen, "message", PFD_FROM_MESSAGE, PFD_VALUE_TEXT, 0);
    add(seen, "findings", PFD_FROM_FINDINGS, PFD_VALUE_TEXT, 0);
}

static bool name_all(struct seen *seen)
{
    struct pfd_unique_names unique_names = { 0 };
    /* JSON lines have members of these names beside the columns. */
    char taken[2][8] = { "table", "exact" };
    bool ok = pfd_unique_names_give(&unique_names, taken[0], sizeof taken[0]) &&
              pfd_unique_names_give(&unique_names, taken[1], sizeof taken[1]);
    for (size_t i = 0; i < seen->n && ok; i++) {
        struct pfd_table_column *c = &seen->columns[i];
        ok = pfd_unique_names_give(&unique_names, c->name, sizeof c->name);
    }
    pfd_unique_names_free(&unique_names);
    return ok;
}

static void take_usual(struct pfd_schema *ret, const struct seen *seen,
                       const struct pfd_schema_spec *spec)
{
    for (size_t i = 0; i < seen->n; i++) {
        if (is_usual(seen, spec, &seen->columns[i]))
            ret->columns[ret->n++] = seen->columns[i];
    }
}

bool pfd_schema_init(struct pfd_schema *ret, const struct pfd_schema_spec *spec,
                     const void *rows, size_t n)
{
    struct seen seen = { 0 };
    const struct pfd_row *row;
    *ret = (struct pfd_schema){ 0 };
    for (size_t at = 0; (row = pfd_row_next(rows, n, &at)) && !seen.failed;)
        see_arguments(&seen, row);
    close_arguments(&seen);
    size_t first = 0;
    row = pfd_row_next(rows, n, &first);
    if (row && row->string < PFD_ROW_NO_STRING) {
        name_arguments(&seen, spec->strings, row->string);
    } else if (row && row->string == PFD_ROW_SYNTHESIZED) {
        name_made_arguments(&seen, row);
    }
    for (size_t at = 0; (row = pfd_row_next(rows, n, &at)) && !seen.failed;)
        see_row(&seen, row);
    see_rest(&seen);
    size_t room = seen.n > spec->n_chosen ? seen.n : spec->n_chosen;
    ret->columns = calloc(room ? room : 1, sizeof *ret->columns);
    bool ok = ret->columns && !seen.failed && name_all(&seen);
    ret->n_arguments = seen.n_arguments;
    if (ok && spec->n_chosen) {
        ok = choose(ret, &seen, spec);
    } else if (ok) {
        take_usual(ret, &seen, spec);
    }
    free(seen.columns);
    return ok;
}

void pfd_schema_deinit(struct pfd_schema *schema)
{
    free(schema->columns);
    *schema = (struct pfd_schema){ 0 };
}
