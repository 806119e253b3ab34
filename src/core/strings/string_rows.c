/* SPDX-License-Identifier: MIT */
/* Adds rows to a set. */
#include <stdlib.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/strings/string_set.h"

enum {
    /* Limit of strings with one key: each of its entries tries them in turn. */
    SAME_KEY_MAX = 256,
};

/* ---- scratch memory and sources ---- */

static bool grow(void *array, size_t size, size_t n)
{
    void *old;
    memcpy(&old, array, sizeof old);
    void *next = realloc(old, size * n);
    if (next)
        memcpy(array, &next, sizeof next);
    return next != NULL;
}

static bool reserve_scratch(struct pfd_strings *s, size_t n_steps)
{
    /* Of constant size, and touched only as far as a string has arguments: no
     * file can make this grow. */
    if (!s->slots)
        s->slots = malloc(PFD_ARGUMENTS_MAX * sizeof *s->slots);
    if (n_steps > s->steps_room) {
        if (!pfd_strings_take(s,
                              (n_steps - s->steps_room) * sizeof *s->steps) ||
            !grow(&s->steps, sizeof *s->steps, n_steps))
            return false;
        s->steps_room = n_steps;
    }
    return s->slots != NULL;
}

/* Makes room for one more string in s->all. */
static bool reserve_place(struct pfd_strings *s)
{
    if (s->n < s->room)
        return true;
    size_t room = s->room + s->room / 2 + 16;
    if (!pfd_strings_take(s, (room - s->room) * sizeof(void *)) ||
        !grow(&s->all, sizeof(void *), room))
        return false;
    s->room = room;
    return true;
}

static bool find_source(struct pfd_strings *s, const char *name, uint32_t *ret)
{
    /* The rows of one file come one after another. */
    if (s->n_sources && !strcmp(s->sources[s->n_sources - 1], name)) {
        *ret = (uint32_t)(s->n_sources - 1);
        return true;
    }
    size_t n = strlen(name) + 1;
    char *copy = pfd_strings_take(s, n + sizeof *s->sources)
                     ? pfd_arena_take(&s->store->arena, n)
                     : NULL;
    if (!copy || !grow(&s->sources, sizeof *s->sources, s->n_sources + 1))
        return false;
    memcpy(copy, name, n);
    *ret = (uint32_t)s->n_sources;
    s->sources[s->n_sources++] = copy;
    return true;
}

/* ---- rows ---- */

static bool same(const struct pfd_string *s, const struct pfd_string_row *row)
{
    return s->n_text == row->n_text && s->n_layout == row->n_layout &&
           (row->counted || s->n_arguments == (row->n_arguments < UINT32_MAX
                                                   ? (uint32_t)row->n_arguments
                                                   : UINT32_MAX)) &&
           (!row->n_text ||
            !memcmp(pfd_string_text(s), row->text, row->n_text)) &&
           (!row->n_layout || !memcmp(pfd_string_layout(s), row->layout,
                                      row->n_layout * sizeof *row->layout));
}

/* Copies strings that are shared with other sets into this one, which then has
 * chains of its own. NULL: out of memory. */
static struct pfd_string *own_strings(struct pfd_strings *strings,
                                      const struct pfd_string *first)
{
    struct pfd_string *last = NULL;
    for (const struct pfd_string *s = first; s; s = s->next) {
        size_t n = sizeof *s + s->n_steps * sizeof *s->steps +
                   s->n_layout * sizeof(uint64_t) + s->n_text + s->n_escaped;
        struct pfd_string *own = pfd_strings_take(strings, n)
                                     ? pfd_arena_take(&strings->store->arena, n)
                                     : NULL;
        if (!own)
            return NULL;
        memcpy(own, s, n);
        own->next = NULL;
        strings->all[own->index] = own;
        if (last)
            last->next = own;
        last = own;
    }
    return last;
}

static void report_collision(const struct pfd_strings *strings,
                             const struct pfd_string *old,
                             const struct pfd_string_row *row, bool kept,
                             struct pfd_report *report, uint64_t offset)
{
    struct pfd_quoted was;
    struct pfd_quoted now;
    pfd_quote(&was, pfd_string_text(old), old->n_text);
    pfd_quote(&now, row->text, row->n_text);
    pfd_report_add(report, PFD_FINDING_collision, offset,
                   "id 0x%012llx is '%s' (%u arguments) in '%s' and "
                   "'%s' (%llu arguments) in '%s'; %s",
                   (unsigned long long)row->key, was.text, old->n_arguments,
                   pfd_strings_source(strings, old), now.text,
                   (unsigned long long)row->n_arguments, report->source,
                   kept ? "both are kept"
                        : "there are too many to keep this one");
}

/* The strings of a row's key; true: one of them equals the row. */
static bool find_row(const struct pfd_strings *strings,
                     const struct pfd_table *t,
                     const struct pfd_string_row *row,
                     const struct pfd_string **first,
                     const struct pfd_string **last, unsigned *n)
{
    struct pfd_table_slot *slot =
        t->slots ? pfd_table_slot_of(t, row->key) : NULL;
    *last = NULL;
    *n = 0;
    *first = slot ? slot->string : NULL;
    if (pfd_is_lazy(*first)) {
        if (pfd_lazy_strings_is(*first, row))
            return true;
        *first = pfd_table_compile_string(slot, *first);
        pfd_strings_at(strings, (*first)->index);
    }
    for (const struct pfd_string *s = *first; s; *last = s, s = s->next) {
        if (same(s, row))
            return true;
        ++*n;
    }
    return false;
}

/* Appends to the strings of its key; false: out of memory. */
static bool link_behind(struct pfd_strings *strings, struct pfd_table *table,
                        struct pfd_string *s, const struct pfd_string *first,
                        const struct pfd_string *last)
{
    struct pfd_table_slot *slot = pfd_table_slot_of(table, s->key);
    table->has_collisions = true;
    slot->exact = 0;
    if (!strings->is_made_of_another ||
        pfd_arena_is_since(&strings->store->arena, &strings->mark, first)) {
        /* Who looked into the table before left it lazy in `all`. */
        pfd_strings_at(strings, last->index);
        strings->all[last->index]->next = s;
        return true;
    }
    uint32_t at = first->index;
    struct pfd_string *own = own_strings(strings, first);
    if (!own)
        return false;
    own->next = s;
    slot->string = strings->all[at];
    return true;
}

static void *take_now(void *user, size_t n)
{
    struct pfd_strings *strings = user;
    return pfd_strings_take(strings, n)
               ? pfd_arena_take(&strings->store->arena, n)
               : NULL;
}

/* A row's string, compiled now; NULL: out of memory. */
static struct pfd_string *new_string(struct pfd_strings *strings,
                                     const struct pfd_string_row *row,
                                     size_t n_steps, uint32_t source,
                                     uint8_t table)
{
    struct pfd_string_maker maker = {
        .kind = pfd_string_kinds[table],
        .take = take_now,
        .user = strings,
    };
    if (!reserve_scratch(strings, n_steps))
        return NULL;
    maker.steps = strings->steps;
    maker.slots = strings->slots;
    struct pfd_string *s = pfd_string_make(&maker, row);
    if (!s)
        return NULL;
    s->source = source;
    s->index = (uint32_t)strings->n;
    s->table = table;
    return s;
}

/* Adds the string of a new row. first, last: the strings of its key, or NULL.
 * False: out of memory. */
static bool add_string(struct pfd_strings *strings, struct pfd_table *table,
                       const struct pfd_string_row *row, uint32_t source,
                       const struct pfd_string *first,
                       const struct pfd_string *last)
{
    uint8_t number = (uint8_t)(table - strings->tables);
    size_t n_steps = pfd_string_steps_max(pfd_string_kinds[number], row);
    size_t n_late = last ? 0 : pfd_lazy_strings_bytes(strings, row, n_steps);
    struct pfd_string *s =
        n_late ? pfd_lazy_strings_new(strings, row, n_late, source, number)
               : new_string(strings, row, n_steps, source, number);
    if (!s || !pfd_table_reserve(table, 1, &strings->left))
        return false;
    if (!last) {
        pfd_table_put(table, row->key, s);
    } else if (!link_behind(strings, table, s, first, last)) {
        return false;
    }
    strings->all[strings->n++] = s;
    return true;
}

void pfd_strings_expect(struct pfd_strings *strings,
                        const struct pfd_string_kind *kind, size_t n)
{
    struct pfd_table *table = &strings->tables[pfd_string_kind_number(kind)];
    /* Where memory is counted, only rows that were added are charged. */
    if (strings->left == SIZE_MAX && n)
        pfd_table_reserve(table, n, &strings->left);
}

void pfd_strings_announce(const struct pfd_strings *strings,
                          const struct pfd_string_kind *kind, uint64_t key)
{
    const struct pfd_table *table =
        &strings->tables[pfd_string_kind_number(kind)];
    if (table->slots)
        pfd_table_prefetch(table, key);
}

enum pfd_status pfd_strings_add_row(struct pfd_strings *strings,
                                    const struct pfd_string_kind *kind,
                                    const struct pfd_string_row *row,
                                    struct pfd_report *report, uint64_t offset,
                                    struct pfd_error *err)
{
    struct pfd_table *table = &strings->tables[pfd_string_kind_number(kind)];
    const struct pfd_string *first = NULL;
    const struct pfd_string *last = NULL;
    uint32_t source = 0;
    unsigned n_same = 0;

    table->has_committed |= row->committed;
    if (find_row(strings, table, row, &first, &last, &n_same))
        return PFD_OK;
    if (last) {
        report_collision(strings, first, row, n_same < SAME_KEY_MAX, report,
                         offset);
    }
    if (n_same >= SAME_KEY_MAX)
        return PFD_OK;
    if (!reserve_place(strings) ||
        !find_source(strings, report->source, &source) ||
        !add_string(strings, table, row, source, first, last))
        return pfd_fail(err, PFD_ERR_NOMEM, offset, "out of memory");
    return PFD_OK;
}

bool pfd_strings_lay_out(struct pfd_strings *strings, size_t i,
                         struct pfd_layout *ret)
{
    const struct pfd_program_facts none = { 0 };
    if (!reserve_scratch(strings, 0))
        return false;
    *ret = (struct pfd_layout){ .slots = strings->slots };
    pfd_strings_kind_at(strings, i)
        ->layout(pfd_strings_at(strings, i), &none, ret);
    return true;
}
