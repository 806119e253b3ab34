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
    size_t owns[PFD_WHERE_NAMES_MAX];  /* enum pfd_own, or SIZE_MAX */
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

static struct pfd_value of_part(const struct pfd_row *row,
                                struct pfd_row_part part)
{
    return pfd_value_of_text(pfd_row_bytes(row, part), part.n);
}

static struct pfd_value of_cell(const struct pfd_row *row,
                                const struct pfd_cell *cell)
{
    switch (cell->type) {
    case PFD_ARGUMENT_INT:
        return pfd_value_of_integer((int64_t)cell->bits);
    case PFD_ARGUMENT_UNSIGNED:
        return pfd_value_of_integer(cell->bits);
    case PFD_ARGUMENT_FLOAT:
        return pfd_value_of_float(pfd_float_value(cell->bits, cell->n_bytes));
    case PFD_ARGUMENT_TEXT:
        return cell->n_text == PFD_ROW_NULL
                   ? nothing
                   : pfd_value_of_text(pfd_row_text(row, cell), cell->n_text);
    default:
        return nothing;
    }
}

static struct pfd_value index_of(const struct pfd_row *row)
{
    return pfd_value_of_integer(row->index);
}

static struct pfd_value offset_of(const struct pfd_row *row)
{
    return pfd_value_of_integer(row->offset);
}

static struct pfd_value id_of(const struct pfd_row *row)
{
    return pfd_value_of_integer(row->id);
}

static struct pfd_value sequence_of(const struct pfd_row *row)
{
    return pfd_value_of_known(row->sequence, UINT64_MAX);
}

static struct pfd_value nanoseconds_of(const struct pfd_row *row)
{
    return pfd_value_of_known(row->time, 0);
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

/* Members that rows keep, by enum pfd_own. */
static struct pfd_value (*const members[PFD_OWN_N])(
    const struct pfd_row *row) = {
    [PFD_OWN_INDEX] = index_of,
    [PFD_OWN_OFFSET] = offset_of,
    [PFD_OWN_ID] = id_of,
    [PFD_OWN_SEQUENCE] = sequence_of,
    [PFD_OWN_NANOSECONDS] = nanoseconds_of,
    [PFD_OWN_FORMAT_STRING] = format_string_of,
    [PFD_OWN_MESSAGE] = message_of,
};

static bool is_member(const struct live_where *w, size_t name)
{
    return w->owns[name] < PFD_OWN_N && members[w->owns[name]];
}

static struct pfd_value origin_of(const struct pfd_row *row, const char *name,
                                  bool *is_there)
{
    const char *bare = pfd_own_origin_name(name);
    const struct pfd_row_origin *o = pfd_row_origins(row);
    struct pfd_value ret = nothing;
    for (size_t i = 0; i < row->n_origins && !*is_there; i++, o++) {
        bool is_text = o->type == PFD_ORIGIN_TEXT;
        const struct pfd_origin origin = {
            .name = o->name,
            .type = (enum pfd_origin_type)o->type,
            .n = is_text ? o->text.n : o->n,
            .value = { o->value[0], o->value[1], o->value[2] },
            .text = is_text ? pfd_row_bytes(row, o->text) : NULL,
        };
        *is_there = pfd_own_origin_value(&origin, bare, &ret);
    }
    return ret;
}

static struct pfd_value value_of(void *user, size_t name)
{
    const struct tested *t = user;
    uint16_t place = t->places[name];
    bool is_there = false;
    if (place != NO_ARGUMENT) {
        return place < t->row->n_cells
                   ? of_cell(t->row, &pfd_row_cells(t->row)[place])
                   : nothing;
    }
    if (is_member(t->where, name))
        return members[t->where->owns[name]](t->row);
    struct pfd_value ret =
        origin_of(t->row, pfd_where_name(t->where->where, name), &is_there);
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
        if (w->had >> i & 1 || is_member(w, i))
            continue;
        bool is_beside = w->owns[i] != SIZE_MAX || pfd_own_is_origin(name);
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
    for (const char *name; (name = pfd_where_name(w->where, w->n_names));)
        w->owns[w->n_names++] = pfd_own_find(name);
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
