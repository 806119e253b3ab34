/* SPDX-License-Identifier: MIT */
#include "strings/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/escape.h"
#include "spirv/shaders.h"

enum {
    TABLE_FIRST = 64,
    SPARSE_MAX = 8192, /* slots */
    /* Strings kept for one key: each entry of it tries them in turn. */
    SAME_KEY_MAX = 256,
};

struct pfd_strings {
    struct pfd_arena arena;
    struct pfd_table tables[PFD_TABLES_MAX];
    struct pfd_string **all; /* [n], load order */
    size_t n;
    size_t room; /* of all */
    const char **sources;
    size_t n_sources;
    struct pfd_step *steps; /* scratch of the compiler, [steps_room] */
    size_t steps_room;
    struct pfd_slot *slots; /* scratch of layouts, [PFD_ARGUMENTS_MAX] */
    struct pfd_shaders shaders;
    uint64_t max_inflated; /* bytes of one bundle; 0: as containers have it */
};

static struct pfd_table_slot no_slot;
static const struct pfd_table no_table = { &no_slot, 0, 0, 63, false, false };

struct pfd_strings *pfd_strings_new(void)
{
    return calloc(1, sizeof(struct pfd_strings));
}

void pfd_strings_free(struct pfd_strings *strings)
{
    if (!strings)
        return;
    for (size_t i = 0; i < PFD_TABLES_MAX; i++)
        free(strings->tables[i].slots);
    pfd_arena_free(&strings->arena);
    free(strings->all);
    free(strings->sources);
    free(strings->steps);
    free(strings->slots);
    pfd_shaders_deinit(&strings->shaders);
    free(strings);
}

const struct pfd_shaders *pfd_strings_shaders(const struct pfd_strings *strings)
{
    return &strings->shaders;
}

struct pfd_shaders *pfd_strings_own_shaders(struct pfd_strings *strings)
{
    return &strings->shaders;
}

void pfd_strings_set_max_inflated(struct pfd_strings *strings, uint64_t bytes)
{
    strings->max_inflated = bytes;
}

uint64_t pfd_strings_max_inflated(const struct pfd_strings *strings)
{
    return strings->max_inflated;
}

size_t pfd_strings_count(const struct pfd_strings *strings)
{
    return strings->n;
}

const struct pfd_string *pfd_strings_at(const struct pfd_strings *strings,
                                        size_t i)
{
    return i < strings->n ? strings->all[i] : NULL;
}

const struct pfd_string_kind *pfd_strings_kind_at(
    const struct pfd_strings *strings, size_t i)
{
    return pfd_string_kinds[strings->all[i]->table];
}

const char *pfd_strings_source(const struct pfd_strings *strings,
                               const struct pfd_string *string)
{
    return strings->sources[string->source];
}

/* Every kind is a format's, and the list has all formats. */
static size_t table_of(const struct pfd_string_kind *kind)
{
    size_t i = 0;
    while (pfd_string_kinds[i] != kind)
        i++;
    return i;
}

const struct pfd_table *pfd_strings_table(const struct pfd_strings *strings,
                                          const struct pfd_string_kind *kind)
{
    const struct pfd_table *table = &strings->tables[table_of(kind)];
    return table->slots ? table : &no_table;
}

size_t pfd_strings_memory(const struct pfd_strings *strings)
{
    size_t n = sizeof *strings + strings->arena.n_memory;
    n += strings->room * sizeof(void *);
    n += strings->n_sources * sizeof *strings->sources;
    n += pfd_shaders_memory(&strings->shaders);
    for (size_t i = 0; i < PFD_TABLES_MAX; i++) {
        if (strings->tables[i].slots)
            n += (strings->tables[i].mask + 1) * sizeof(struct pfd_table_slot);
    }
    return n;
}

/* ---- the hash table ---- */

static struct pfd_table_slot *slot_of(const struct pfd_table *t, uint64_t key)
{
    size_t i = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> t->shift);
    while (t->slots[i & t->mask].string && t->slots[i & t->mask].key != key)
        i++;
    return &t->slots[i & t->mask];
}

/*
 * Small tables stay nearly empty: they fit the cache anyway, and a search that
 * takes one step or two, at random, is a mispredicted jump.
 */
static bool is_full(const struct pfd_table *t)
{
    size_t n_slots = t->slots ? t->mask + 1 : 0;
    return t->n >= (n_slots < SPARSE_MAX ? n_slots / 8 : n_slots / 8 * 5);
}

static bool grow_table(struct pfd_table *t)
{
    size_t n = t->slots ? (t->mask + 1) * 2 : TABLE_FIRST;
    struct pfd_table next = *t;
    next.slots = calloc(n, sizeof *next.slots);
    if (!next.slots)
        return false;
    next.mask = n - 1;
    next.shift = (unsigned)__builtin_clzll(n) + 1;
    for (size_t i = 0; t->slots && i <= t->mask; i++) {
        if (t->slots[i].string)
            *slot_of(&next, t->slots[i].key) = t->slots[i];
    }
    free(t->slots);
    *t = next;
    return true;
}

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
    if (!s->slots)
        s->slots = malloc(PFD_ARGUMENTS_MAX * sizeof *s->slots);
    if (n_steps > s->steps_room) {
        if (!grow(&s->steps, sizeof *s->steps, n_steps))
            return false;
        s->steps_room = n_steps;
    }
    if (s->n == s->room) {
        size_t room = s->room ? s->room + s->room / 2 : 16;
        if (!grow(&s->all, sizeof(void *), room))
            return false;
        s->room = room;
    }
    return s->slots != NULL;
}

static bool find_source(struct pfd_strings *s, const char *name, uint32_t *ret)
{
    /* The rows of one file come one after another. */
    if (s->n_sources && !strcmp(s->sources[s->n_sources - 1], name)) {
        *ret = (uint32_t)(s->n_sources - 1);
        return true;
    }
    size_t n = strlen(name) + 1;
    char *copy = pfd_arena_take(&s->arena, n);
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

static uint8_t text_flags(const char *text, size_t n)
{
    uint8_t flags = 0;
    if (pfd_is_utf8(text, n))
        flags |= PFD_STRING_UTF8;
    if (pfd_is_plain(text, n))
        flags |= PFD_STRING_PLAIN;
    return flags;
}

/* One block: struct, steps, layout, text, escaped text. */
size_t pfd_string_size(const struct pfd_string_row *row, size_t n_steps)
{
    return sizeof(struct pfd_string) + n_steps * sizeof(struct pfd_step) +
           row->n_layout * sizeof *row->layout + row->n_text + 2 +
           pfd_escape_json_length(row->text, row->n_text);
}

void pfd_string_fill(struct pfd_string *ret, const struct pfd_string_row *row,
                     const struct pfd_step *steps, size_t n_steps)
{
    *ret = (struct pfd_string){
        .key = row->key,
        .n_steps = (uint32_t)n_steps,
        .n_layout = (uint16_t)row->n_layout,
        .n_text = (uint32_t)row->n_text,
        .n_arguments = row->n_arguments < UINT32_MAX
                           ? (uint32_t)row->n_arguments
                           : UINT32_MAX,
        .flags = text_flags(row->text, row->n_text),
    };
    if (row->literal)
        ret->flags |= PFD_STRING_LITERAL;
    if (row->own)
        ret->flags |= PFD_STRING_OWN;
    memcpy(ret->steps, steps, n_steps * sizeof *steps);
    if (pfd_program_has_char(steps, n_steps))
        ret->flags |= PFD_STRING_CHAR;
    char *at = (char *)(ret->steps + n_steps);
    if (row->n_layout)
        memcpy(at, row->layout, row->n_layout * sizeof *row->layout);
    at += row->n_layout * sizeof *row->layout;
    if (row->n_text)
        memcpy(at, row->text, row->n_text);
    at += row->n_text;
    ret->n_escaped =
        (uint32_t)(pfd_escape_json(at, row->text, row->n_text) - at);
}

static struct pfd_string *new_string(struct pfd_strings *strings,
                                     const struct pfd_string_row *row,
                                     size_t n_steps)
{
    struct pfd_string *s =
        pfd_arena_take(&strings->arena, pfd_string_size(row, n_steps));
    if (s)
        pfd_string_fill(s, row, strings->steps, n_steps);
    return s;
}

static size_t compile(const struct pfd_string_row *row, struct pfd_step *ret,
                      struct pfd_program_facts *facts)
{
    *facts = (struct pfd_program_facts){ 0 };
    if (row->literal)
        return pfd_program_literal(row->text, row->n_text, ret);
    return pfd_program_compile(row->text, row->n_text, ret, facts);
}

static void bind(struct pfd_strings *strings, struct pfd_string *s,
                 const struct pfd_string_kind *kind,
                 const struct pfd_program_facts *facts)
{
    struct pfd_layout layout = { .slots = strings->slots };
    kind->layout(s, facts, &layout);
    size_t room = 0;
    if (kind->tight)
        pfd_program_join_tight(s->steps, s->n_steps);
    s->findings =
        (uint32_t)(facts->findings | layout.findings |
                   pfd_program_bind(s->steps, s->n_steps, layout.slots,
                                    layout.n_slots, layout.cut, &room));
    s->n_payload = layout.n_payload;
    if (layout.cut)
        s->flags |= PFD_STRING_CUT;
    room += s->n_text;
    s->room = room < UINT32_MAX / 2 ? (uint32_t)room : UINT32_MAX / 2;
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

enum pfd_status pfd_strings_add_row(struct pfd_strings *strings,
                                    const struct pfd_string_kind *kind,
                                    const struct pfd_string_row *row,
                                    struct pfd_report *report, uint64_t offset,
                                    struct pfd_error *err)
{
    struct pfd_table *table = &strings->tables[table_of(kind)];
    struct pfd_program_facts facts;
    uint32_t source = 0;

    if (!reserve_scratch(strings,
                         pfd_program_steps_max(row->text, row->n_text)) ||
        !find_source(strings, report->source, &source) ||
        (is_full(table) && !grow_table(table)))
        return pfd_fail(err, PFD_ERR_NOMEM, offset, "out of memory");
    table->has_committed |= row->committed;
    struct pfd_table_slot *slot = slot_of(table, row->key);
    const struct pfd_string *last = slot->string;
    unsigned n_same = 0;
    for (const struct pfd_string *s = last; s; last = s, s = s->next) {
        if (same(s, row))
            return PFD_OK;
        n_same++;
    }
    if (last) {
        report_collision(strings, slot->string, row, n_same < SAME_KEY_MAX,
                         report, offset);
    }
    if (n_same >= SAME_KEY_MAX)
        return PFD_OK;
    size_t n_steps = compile(row, strings->steps, &facts);
    if (kind->adapt)
        facts.findings |= kind->adapt(row, strings->steps, n_steps);
    struct pfd_string *s = new_string(strings, row, n_steps);
    if (s && row->counted)
        s->n_arguments = facts.n_scalars;
    if (!s)
        return pfd_fail(err, PFD_ERR_NOMEM, offset, "out of memory");
    s->source = source;
    s->index = (uint32_t)strings->n;
    s->table = (uint8_t)(table - strings->tables);
    bind(strings, s, kind, &facts);
    strings->all[strings->n++] = s;
    if (last) {
        strings->all[last->index]->next = s;
        table->has_collisions = true;
    } else {
        *slot = (struct pfd_table_slot){ row->key, s };
        table->n++;
    }
    return PFD_OK;
}
