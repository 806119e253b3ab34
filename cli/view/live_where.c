/* SPDX-License-Identifier: MIT */
#include "live_where.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/column.h"
#include "core/base/escape.h"
#include "core/filter/entry_value.h"
#include "core/filter/where.h"
#include "row_arguments.h"

enum {
    NOT_LOOKED_UP = UINT16_MAX - 1 /* a place; a row has fewer cells */
};

struct live_where {
    struct pfd_where *where;
    size_t n_names;
    uint16_t one[PFD_WHERE_NAMES_MAX]; /* places for one row */
    uint16_t *places;                  /* [n_strings][n_names]: cells; owned */
    size_t n_strings;
    uint64_t had; /* bits: names that an entry had */
    bool has_any; /* there was an entry */
    bool failed;
};

/* An entry that is tested. */
struct tested {
    struct live_where *where;
    const struct pfd_row *row;
    const uint16_t *places; /* [n_names] */
};

static const struct pfd_value nothing;

/* ---- values ---- */

static struct pfd_value of_integer(uint64_t i)
{
    return (struct pfd_value){ .i = (__int128)i, .type = PFD_OPERAND_INTEGER };
}

static struct pfd_value known_integer(uint64_t i, uint64_t unknown)
{
    return i == unknown ? nothing : of_integer(i);
}

static struct pfd_value of_float(uint64_t bits, unsigned n_bytes)
{
    return (struct pfd_value){ .f = pfd_float_value(bits, n_bytes),
                               .type = PFD_OPERAND_FLOAT };
}

static struct pfd_value of_text(const char *text, size_t n)
{
    struct pfd_value ret = { .type = PFD_OPERAND_TEXT };
    ret.text = text;
    ret.n = n;
    return ret;
}

static struct pfd_value of_part(const struct pfd_row *row,
                                struct pfd_row_part part)
{
    return of_text(pfd_row_bytes(row, part), part.n);
}

static struct pfd_value of_cell(const struct pfd_row *row,
                                const struct pfd_cell *cell)
{
    switch (cell->type) {
    case PFD_ARGUMENT_INT:
        return (struct pfd_value){ .i = (int64_t)cell->bits,
                                   .type = PFD_OPERAND_INTEGER };
    case PFD_ARGUMENT_UNSIGNED:
        return of_integer(cell->bits);
    case PFD_ARGUMENT_FLOAT:
        return of_float(cell->bits, cell->n_bytes);
    case PFD_ARGUMENT_TEXT:
        return cell->n_text == PFD_ROW_NULL
                   ? nothing
                   : of_text(pfd_row_text(row, cell), cell->n_text);
    default:
        return nothing;
    }
}

static struct pfd_value index_of(const struct pfd_row *row)
{
    return of_integer(row->index);
}

static struct pfd_value offset_of(const struct pfd_row *row)
{
    return of_integer(row->offset);
}

static struct pfd_value id_of(const struct pfd_row *row)
{
    return of_integer(row->id);
}

static struct pfd_value sequence_of(const struct pfd_row *row)
{
    return known_integer(row->sequence, UINT64_MAX);
}

static struct pfd_value nanoseconds_of(const struct pfd_row *row)
{
    return known_integer(row->time, 0);
}

static struct pfd_value message_of(const struct pfd_row *row)
{
    return row->string == PFD_ROW_NO_STRING ? nothing
                                            : of_part(row, row->message);
}

static struct pfd_value format_string_of(const struct pfd_row *row)
{
    return row->string == PFD_ROW_SYNTHESIZED ? of_part(row, row->text)
                                              : nothing;
}

/* Members of an entry that rows keep. */
static const struct member {
    const char *name;
    struct pfd_value (*value)(const struct pfd_row *row);
} members[] = {
    { "index", index_of },
    { "offset", offset_of },
    { "id", id_of },
    { "sequence", sequence_of },
    { "message", message_of },
    { "format_string", format_string_of },
    { "time_unix_nano", nanoseconds_of },
};

static const char *without(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(name, prefix, n) ? name : name + n;
}

static const struct member *member_of(const char *name)
{
    const char *bare = without(name, "entry.");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (!strcmp(members[i].name, bare))
            return &members[i];
    }
    return NULL;
}

/* Value `rest` of an origin: "" is all of it, ".x" a component. */
static struct pfd_value component_of(const struct pfd_row *row,
                                     const struct pfd_row_origin *o,
                                     const char *rest)
{
    bool has_parts =
        o->type == PFD_ORIGIN_COORDS || o->type == PFD_ORIGIN_FLOATS;
    uint32_t i = *rest ? (uint32_t)(rest[1] - 'x') : 0;
    if (o->type == PFD_ORIGIN_TEXT)
        return *rest ? nothing : of_part(row, o->text);
    if (*rest ? !has_parts || i > 2 || rest[2] : has_parts && o->n > 1)
        return nothing;
    if (has_parts && i >= o->n)
        return nothing;
    return o->type == PFD_ORIGIN_FLOATS ? of_float(o->value[i], 4)
                                        : of_integer(o->value[i]);
}

static struct pfd_value origin_of(const struct pfd_row *row, const char *name,
                                  bool *is_there)
{
    const char *bare = without(without(name, "entry."), "origin.");
    const struct pfd_row_origin *origins = pfd_row_origins(row);
    for (size_t i = 0; i < row->n_origins; i++) {
        size_t n = strlen(origins[i].name);
        if (strncmp(bare, origins[i].name, n) != 0 ||
            (bare[n] && bare[n] != '.'))
            continue;
        *is_there = true;
        return component_of(row, &origins[i], bare + n);
    }
    return nothing;
}

static struct pfd_value value_of(void *user, size_t name)
{
    const struct tested *t = user;
    const char *text = pfd_where_name(t->where->where, name);
    const struct member *member = member_of(text);
    uint16_t place = t->places[name];
    bool is_there = false;
    if (place != NO_ARGUMENT) {
        return place < t->row->n_cells
                   ? of_cell(t->row, &pfd_row_cells(t->row)[place])
                   : nothing;
    }
    if (member)
        return member->value(t->row);
    struct pfd_value ret = origin_of(t->row, text, &is_there);
    t->where->had |= (uint64_t)is_there << name;
    return ret;
}

/* ---- places of arguments ---- */

static void look_up(struct live_where *w, const struct pfd_row *row,
                    uint16_t *places)
{
    const char *names[PFD_WHERE_NAMES_MAX];
    for (size_t i = 0; i < w->n_names; i++)
        names[i] = pfd_where_name(w->where, i);
    w->failed |= !row_arguments_find(row, names, w->n_names, places);
    for (size_t i = 0; !w->failed && i < w->n_names; i++)
        w->had |= (uint64_t)(places[i] != NO_ARGUMENT) << i;
}

/* The places of the names in entries of a string; NULL: out of memory. */
static const uint16_t *places_of(struct live_where *w,
                                 const struct pfd_row *row, uint32_t string)
{
    if (string == VIEW_NO_STRING) {
        look_up(w, row, w->one);
        return w->failed ? NULL : w->one;
    }
    if (string >= w->n_strings) {
        size_t n = (size_t)string + string / 2 + 16;
        size_t n_before = w->n_strings * w->n_names;
        void *all = realloc(w->places, n * w->n_names * sizeof *w->places);
        if (!all) {
            w->failed = true;
            return NULL;
        }
        w->places = all;
        w->n_strings = n;
        for (size_t i = n_before; i < n * w->n_names; i++)
            w->places[i] = NOT_LOOKED_UP;
    }
    uint16_t *ret = w->places + (size_t)string * w->n_names;
    if (*ret == NOT_LOOKED_UP)
        look_up(w, row, ret);
    return w->failed ? NULL : ret;
}

/* ---- all ---- */

bool live_where_test(struct live_where *w, const struct pfd_row *row,
                     uint32_t string)
{
    if (row->string == PFD_ROW_LINE)
        return false;
    w->has_any = true;
    if (!w->n_names) {
        static const struct pfd_where_values none;
        return pfd_where_test_values(w->where, &none);
    }
    struct tested t = { w, row, places_of(w, row, string) };
    struct pfd_where_values values = { .value = value_of, .user = &t };
    if (!t.places)
        return false;
    for (size_t i = 0; i < w->n_names; i++)
        values.arguments |= (uint64_t)(t.places[i] != NO_ARGUMENT) << i;
    return pfd_where_test_values(w->where, &values);
}

bool live_where_check(const struct live_where *w, char *err, size_t n_err)
{
    if (w->failed)
        snprintf(err, n_err, "out of memory");
    for (size_t i = 0; !w->failed && w->has_any && i < w->n_names; i++) {
        const char *name = pfd_where_name(w->where, i);
        struct pfd_quoted quoted;
        if (w->had >> i & 1 || member_of(name))
            continue;
        bool is_beside =
            pfd_own_find(name) != SIZE_MAX || pfd_own_is_origin(name);
        pfd_quote(&quoted, name, strlen(name));
        snprintf(err, n_err, "no line here has %s'%s'%s",
                 is_beside ? "" : "an argument ", quoted.text,
                 is_beside ? ": --where asks the daemon" : "");
        return false;
    }
    return !w->failed;
}

struct live_where *live_where_new(const char *text, char *err, size_t n_err)
{
    struct live_where *w = calloc(1, sizeof *w);
    struct pfd_error why = { .text = "out of memory" };
    if (!w || pfd_where_new(text, &w->where, &why) != PFD_OK) {
        snprintf(err, n_err, "%s", why.text);
        free(w);
        return NULL;
    }
    while (pfd_where_name(w->where, w->n_names))
        w->n_names++;
    return w;
}

void live_where_free(struct live_where *w)
{
    if (!w)
        return;
    pfd_where_free(w->where);
    free(w->places);
    free(w);
}
