/* SPDX-License-Identifier: MIT */
/* Makes a shape and values of an entry's row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diff/diff_state.h"
#include "analysis/table/schema.h"

enum {
    NAMES_MAX = 32 /* names in a message */
};

/* A text's number; 0 also where there is no more room. */
static uint32_t add_text(struct pfd_diff *diff,
                         struct pfd_dictionary *dictionary, const char *text,
                         size_t n)
{
    if (dictionary->bytes.n + n >= UINT32_MAX) {
        diff->is_full = true; /* no dictionary holds more */
        return 0;
    }
    return pfd_dictionary_add(dictionary, text, n);
}

/* ---- format strings ---- */

static bool is_place(const char *name, size_t i)
{
    char place[24];
    snprintf(place, sizeof place, "a%zu", i);
    return !strcmp(name, place);
}

/* The argument with this name; SIZE_MAX: none. */
static size_t find_argument(const struct pfd_diff_string *s, const char *name)
{
    for (size_t i = 0; i < s->n_arguments; i++) {
        struct pfd_table_column c = { .is_first = s->arguments[i].is_first };
        memcpy(c.name, s->arguments[i].name, sizeof c.name);
        if (pfd_table_column_is(&c, name, strlen(name)))
            return i;
    }
    for (size_t i = 0; i < s->n_arguments; i++) {
        if (is_place(name, i))
            return i;
    }
    return SIZE_MAX;
}

/* For a message that says which names there are. */
static void keep_names(struct pfd_diff *diff, const struct pfd_schema *schema)
{
    for (size_t i = 0; i < schema->n && diff->names.n < NAMES_MAX; i++) {
        const struct pfd_table_column *c = &schema->columns[i];
        if (c->from == PFD_FROM_ARGUMENT || c->from == PFD_FROM_ORIGIN)
            add_text(diff, &diff->names, c->name, strlen(c->name));
    }
    diff->failed |= diff->names.failed;
}

/* Arguments by their names, from the columns of a table of this row. */
static bool name_arguments(struct pfd_diff *diff, struct pfd_diff_string *s,
                           const struct pfd_row *row)
{
    const struct pfd_schema_spec spec = {
        .strings = diff->spec.strings[diff->side],
    };
    struct pfd_schema schema;
    bool ok = pfd_schema_init(&schema, &spec, row, row->n_bytes);
    if (ok)
        s->arguments = calloc(schema.n_arguments + 1, sizeof *s->arguments);
    ok = ok && s->arguments;
    for (size_t i = 0; ok && i < schema.n; i++) {
        const struct pfd_table_column *c = &schema.columns[i];
        if (c->from != PFD_FROM_ARGUMENT)
            continue;
        struct pfd_diff_argument *a = &s->arguments[s->n_arguments++];
        memcpy(a->name, c->name, sizeof a->name);
        a->is_first = c->is_first;
        a->conversion = pfd_row_cells(row)[c->number].conversion;
    }
    if (ok)
        keep_names(diff, &schema);
    pfd_schema_deinit(&schema);
    return ok;
}

static bool choose_arguments(struct pfd_diff *diff, struct pfd_diff_string *s)
{
    s->by = calloc(diff->spec.n_by + 1, sizeof *s->by);
    if (!s->by)
        return false;
    for (size_t i = 0; i < diff->spec.n_by; i++) {
        size_t found = find_argument(s, diff->spec.by[i]);
        s->by[i] = found == SIZE_MAX ? PFD_DIFF_ORIGIN : (uint32_t)found;
        diff->by_found[i] |= found != SIZE_MAX;
    }
    for (size_t i = 0; i < diff->spec.n_ignored; i++) {
        size_t found = find_argument(s, diff->spec.ignored[i]);
        if (found == SIZE_MAX)
            continue;
        s->arguments[found].is_ignored = true;
        diff->ignored_found[i] = true;
    }
    return true;
}

static bool has_room(struct pfd_diff *diff)
{
    if (diff->n_strings < diff->strings_room)
        return true;
    size_t room = diff->strings_room ? 2 * diff->strings_room : 64;
    void *strings = realloc(diff->strings, room * sizeof *diff->strings);
    if (!strings)
        return false;
    diff->strings = strings;
    diff->strings_room = room;
    return true;
}

static bool add_string(struct pfd_diff *diff, const struct pfd_row *row,
                       const char *text, size_t n)
{
    char *copy = has_room(diff) ? malloc(n + 1) : NULL;
    if (!copy)
        return false;
    if (n)
        memcpy(copy, text, n);
    struct pfd_diff_string *s = &diff->strings[diff->n_strings++];
    *s = (struct pfd_diff_string){
        .text = copy,
        .n_text = n,
        .id = row->id,
        .is_unknown = row->string == PFD_ROW_NO_STRING,
    };
    bool ok = name_arguments(diff, s, row) && choose_arguments(diff, s);
    diff->n_string_bytes += sizeof *s + n +
                            s->n_arguments * sizeof *s->arguments +
                            diff->spec.n_by * sizeof *s->by;
    return ok;
}

/* A format string's text, or an unknown id. */
static struct pfd_diff_string *string_by_key(struct pfd_diff *diff,
                                             const struct pfd_row *row,
                                             const char *text, size_t n)
{
    bool is_unknown = row->string == PFD_ROW_NO_STRING;
    struct pfd_text key = { 0 };
    pfd_text_add(&key, is_unknown ? "u" : "s", 1);
    if (is_unknown) {
        pfd_text_add(&key, &row->id, sizeof row->id);
    } else {
        pfd_text_add(&key, text, n);
    }
    uint32_t i = key.failed ? 0 : add_text(diff, &diff->keys, key.data, key.n);
    bool ok = !key.failed && !diff->keys.failed && !diff->is_full;
    pfd_text_free(&key);
    if (ok && i == diff->n_strings)
        ok = add_string(diff, row, text, n);
    return ok ? &diff->strings[i] : NULL;
}

static struct pfd_diff_string *string_of(struct pfd_diff *diff,
                                         const struct pfd_row *row)
{
    struct pfd_string_info info;
    if (row->string == PFD_ROW_NO_STRING)
        return string_by_key(diff, row, "", 0);
    if (row->string == PFD_ROW_SYNTHESIZED) {
        return string_by_key(diff, row, pfd_row_bytes(row, row->text),
                             row->text.n);
    }
    uint32_t *known = &diff->by_index[diff->side][row->string];
    if (*known)
        return &diff->strings[*known - 1];
    pfd_strings_get(diff->spec.strings[diff->side], row->string, &info);
    struct pfd_diff_string *s =
        string_by_key(diff, row, info.text, info.n_text);
    if (s)
        *known = (uint32_t)(s - diff->strings) + 1;
    return s;
}

/* ---- values ---- */

/* A float as binary64; there is one NaN of each sign, as in print. */
static uint64_t float_value(uint64_t bits, unsigned n_bytes)
{
    const uint64_t sign = UINT64_C(1) << 63;
    const uint64_t infinite = UINT64_C(0x7ff) << 52;
    const uint64_t quiet = UINT64_C(0xfff) << 51;
    uint64_t wide = pfd_widen_float(bits, n_bytes);
    return (wide & ~sign) > infinite ? (wide & sign) | quiet : wide;
}

static uint64_t cell_value(struct pfd_diff *diff, const struct pfd_row *row,
                           const struct pfd_cell *cell)
{
    if (cell->type == PFD_ARGUMENT_FLOAT)
        return float_value(cell->bits, cell->n_bytes);
    if (cell->type != PFD_ARGUMENT_TEXT)
        return cell->type == PFD_CELL_ABSENT ? 0 : cell->bits;
    if (cell->n_text == PFD_ROW_NULL)
        return PFD_ROW_NULL;
    return add_text(diff, &diff->texts, pfd_row_text(row, cell), cell->n_text);
}

static void add_value(struct pfd_diff *diff, uint8_t type, uint64_t value)
{
    pfd_text_add(&diff->shape, &type, sizeof type);
    pfd_text_add(&diff->values, &value, sizeof value);
}

/* The component of an origin that a name means, as "workgroup.x"; -1: it is
 * another origin. */
static int component_of(const struct pfd_row_origin *o, const char *name)
{
    size_t n = strlen(o->name);
    if (strncmp(o->name, name, n) != 0)
        return -1;
    bool several =
        (o->type == PFD_ORIGIN_COORDS || o->type == PFD_ORIGIN_FLOATS) &&
        o->n > 1;
    if (!name[n])
        return several ? -1 : 0;
    if (!several || name[n] != '.' || !name[n + 1] || name[n + 2] ||
        name[n + 1] < 'x' || name[n + 1] > 'z')
        return -1;
    int i = name[n + 1] - 'x';
    return (uint32_t)i < o->n ? i : -1;
}

/* Adds the origin with this name, or the index. */
static void add_origin(struct pfd_diff *diff, const struct pfd_row *row,
                       size_t by)
{
    const struct pfd_row_origin *origins = pfd_row_origins(row);
    if (!strcmp(diff->spec.by[by], "index")) {
        diff->by_found[by] = true;
        add_value(diff, PFD_ARGUMENT_UNSIGNED, row->index);
        return;
    }
    for (size_t i = 0; i < row->n_origins; i++) {
        const struct pfd_row_origin *o = &origins[i];
        int component = component_of(o, diff->spec.by[by]);
        if (component < 0)
            continue;
        diff->by_found[by] = true;
        if (o->type == PFD_ORIGIN_TEXT) {
            add_value(diff, PFD_ARGUMENT_TEXT,
                      add_text(diff, &diff->texts, pfd_row_bytes(row, o->text),
                               o->text.n));
        } else if (o->type == PFD_ORIGIN_FLOATS) {
            add_value(diff, PFD_ARGUMENT_FLOAT,
                      float_value(o->value[component], 4));
        } else {
            add_value(diff, PFD_ARGUMENT_UNSIGNED, o->value[component]);
        }
        return;
    }
    add_value(diff, (uint8_t)PFD_CELL_ABSENT, 0);
}

static void add_values(struct pfd_diff *diff, const struct pfd_diff_string *s,
                       const struct pfd_row *row)
{
    const struct pfd_cell *cells = pfd_row_cells(row);
    for (size_t i = 0; i < row->n_cells; i++) {
        if (i < s->n_arguments && s->arguments[i].is_ignored) {
            add_value(diff, (uint8_t)PFD_CELL_ABSENT, 0);
            continue;
        }
        if (i < s->n_arguments && cells[i].n_bytes > s->arguments[i].n_bytes)
            s->arguments[i].n_bytes = cells[i].n_bytes;
        add_value(diff, cells[i].type, cell_value(diff, row, &cells[i]));
    }
    for (size_t i = 0; i < diff->spec.n_by; i++) {
        if (s->by[i] == PFD_DIFF_ORIGIN)
            add_origin(diff, row, i);
    }
    if (s->is_unknown) { /* its payload is all that is known of it */
        add_value(diff, PFD_ARGUMENT_TEXT,
                  add_text(diff, &diff->texts, pfd_row_bytes(row, row->text),
                           row->text.n));
    }
}

/* ---- shapes ---- */

static uint64_t without_notes(uint64_t findings)
{
    uint64_t ret = 0;
    for (; findings; findings &= findings - 1) {
        if (!pfd_finding_is_note(
                (enum pfd_finding_kind)__builtin_ctzll(findings)))
            ret |= findings & -findings;
    }
    return ret;
}

struct pfd_diff_shape pfd_diff_shape_get(const struct pfd_diff *diff,
                                         uint32_t i, const uint8_t **types)
{
    struct pfd_diff_shape ret;
    const uint32_t *ends = (const void *)diff->shapes.ends.data;
    const char *bytes = diff->shapes.bytes.data + ends[i];
    memcpy(&ret, bytes, sizeof ret);
    *types = (const uint8_t *)bytes + sizeof ret;
    return ret;
}

/* Is it the shape at hand? */
static bool is_shape(const struct pfd_diff *diff, uint32_t i)
{
    const uint32_t *ends = (const void *)diff->shapes.ends.data;
    return ends[i + 1] - ends[i] == diff->shape.n &&
           !memcmp(diff->shapes.bytes.data + ends[i], diff->shape.data,
                   diff->shape.n);
}

struct pfd_diff_string *pfd_diff_read_row(struct pfd_diff *diff,
                                          const struct pfd_row *row,
                                          uint32_t *shape)
{
    struct pfd_diff_string *s = string_of(diff, row);
    if (!s)
        return NULL;
    struct pfd_diff_shape head = {
        .findings = without_notes(row->findings),
        .string = (uint32_t)(s - diff->strings),
        .stream = row->stream,
    };
    diff->shape.n = diff->values.n = 0;
    pfd_text_add(&diff->shape, &head, sizeof head);
    add_values(diff, s, row);
    if (diff->shape.failed || diff->values.failed || diff->texts.failed)
        return NULL;
    head.n = (uint32_t)(diff->values.n / sizeof(uint64_t));
    memcpy(diff->shape.data, &head, sizeof head);
    if (!s->has_shape || !is_shape(diff, s->shape)) {
        s->shape =
            add_text(diff, &diff->shapes, diff->shape.data, diff->shape.n);
        s->has_shape = true;
    }
    *shape = s->shape;
    return diff->shapes.failed ? NULL : s;
}
