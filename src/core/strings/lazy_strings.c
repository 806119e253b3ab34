/* SPDX-License-Identifier: MIT */
/*
 * Lazy strings: most strings of a large table belong to no entry of a buffer,
 * and compiling one costs more than reading it. A row is copied as it is; its
 * string is compiled when an entry first needs it, in memory that was reserved
 * with the row. Sets with a memory limit, and sets that share strings with
 * another one, compile every string at once: their memory use is known when
 * they are filled.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/strings/string_set.h"

/* Compiles a row to a string: its steps, bound to its payload's layout. */

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
    if (row->has_origin)
        ret->flags |= PFD_STRING_ORIGIN;
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

static const struct pfd_string_grammar *grammar_of(
    const struct pfd_string_kind *kind, const struct pfd_string_row *row)
{
    return row->own && !row->literal ? kind->own : NULL;
}

size_t pfd_string_steps_max(const struct pfd_string_kind *kind,
                            const struct pfd_string_row *row)
{
    const struct pfd_string_grammar *grammar = grammar_of(kind, row);
    return grammar ? grammar->steps_max(row)
                   : pfd_program_steps_max(row->text, row->n_text);
}

size_t pfd_string_compile(const struct pfd_string_kind *kind,
                          const struct pfd_string_row *row,
                          struct pfd_step *ret, struct pfd_program_facts *facts)
{
    const struct pfd_string_grammar *grammar = grammar_of(kind, row);
    *facts = (struct pfd_program_facts){ 0 };
    if (row->literal)
        return pfd_program_literal(row->text, row->n_text, ret);
    if (grammar)
        return grammar->compile(row, ret, facts);
    return pfd_program_compile(row->text, row->n_text, ret, facts);
}

static void bind(struct pfd_string *s, const struct pfd_string_kind *kind,
                 bool is_tight, const struct pfd_program_facts *facts,
                 struct pfd_slot *slots)
{
    struct pfd_layout layout = { .slots = slots };
    kind->layout(s, facts, &layout);
    size_t room = 0;
    if (is_tight || kind->tight)
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

struct pfd_string *pfd_string_make(const struct pfd_string_maker *maker,
                                   const struct pfd_string_row *row)
{
    struct pfd_program_facts facts;
    size_t n_steps = pfd_string_compile(maker->kind, row, maker->steps, &facts);
    if (maker->kind->adapt)
        facts.findings |= maker->kind->adapt(row, maker->steps, n_steps);
    struct pfd_string *s =
        maker->take(maker->user, pfd_string_size(row, n_steps));
    if (!s)
        return NULL;
    pfd_string_fill(s, row, maker->steps, n_steps);
    if (row->counted)
        s->n_arguments = facts.n_scalars;
    bind(s, maker->kind, row->tight, &facts, maker->slots);
    return s;
}

enum {
    /* Strings with more steps are compiled at once. */
    STEPS_MAX = 64,
    /* Behind a string: a thread prints it while another one compiles the next. */
    APART = PFD_PROGRAM_READ_BEYOND,
};

/* Of struct pfd_string_row. */
enum {
    IS_LITERAL = 1,
    IS_OWN = 2,
    IS_COUNTED = 4,
    IS_COMMITTED = 8,
    IS_TIGHT = 16,
    HAS_ORIGIN = 32,
};

/* A row: layout words [n_layout], then the text [n_text]. */
struct lazy_row {
    struct pfd_string_store *store;
    _Atomic(struct pfd_string *) string; /* NULL: not yet */
    uint64_t key;
    uint64_t n_arguments;
    uint32_t n_text;
    uint32_t index;
    uint32_t source;
    uint16_t n_layout;
    uint8_t table;
    uint8_t is;
    uint64_t layout[];
};

/* Allocations are aligned to 8: an odd address marks a row. */
static struct lazy_row *lazy_row_of(const struct pfd_string *s)
{
    return (struct lazy_row *)((uintptr_t)s - 1);
}

static struct pfd_string *as_string(struct lazy_row *u)
{
    return (struct pfd_string *)((uintptr_t)u + 1);
}

static struct pfd_string_row row_of(const struct lazy_row *u)
{
    return (struct pfd_string_row){
        .key = u->key,
        .text = (const char *)(u->layout + u->n_layout),
        .n_text = u->n_text,
        .n_arguments = u->n_arguments,
        .counted = u->is & IS_COUNTED,
        .layout = u->layout,
        .n_layout = u->n_layout,
        .literal = u->is & IS_LITERAL,
        .own = u->is & IS_OWN,
        .has_origin = u->is & HAS_ORIGIN,
        .committed = u->is & IS_COMMITTED,
        .tight = u->is & IS_TIGHT,
    };
}

size_t pfd_lazy_strings_bytes(const struct pfd_strings *strings,
                              const struct pfd_string_row *row, size_t n_steps)
{
    if (strings->left != SIZE_MAX || strings->is_made_of_another ||
        row->n_text > PFD_ARENA_PIECE || n_steps > STEPS_MAX)
        return 0;
    size_t n = pfd_string_size(row, n_steps) + APART;
    return n <= PFD_ARENA_PIECE ? n : 0;
}

struct pfd_string *pfd_lazy_strings_new(struct pfd_strings *strings,
                                        const struct pfd_string_row *row,
                                        size_t n_bytes, uint32_t source,
                                        uint8_t table)
{
    struct pfd_string_store *store = strings->store;
    size_t n_layout = row->n_layout * sizeof *row->layout;
    if (!store->slots)
        store->slots = malloc(PFD_ARGUMENTS_MAX * sizeof *store->slots);
    struct lazy_row *u = pfd_arena_take_of_many(
        &store->rows, sizeof(struct lazy_row) + n_layout + row->n_text);
    if (!store->slots || !u || !pfd_arena_reserve(&store->compiled, n_bytes))
        return NULL;
    *u = (struct lazy_row){
        .store = store,
        .key = row->key,
        .n_arguments = row->n_arguments,
        .n_text = (uint32_t)row->n_text,
        .index = (uint32_t)strings->n,
        .source = source,
        .n_layout = (uint16_t)row->n_layout,
        .table = table,
        .is = (uint8_t)((row->literal ? IS_LITERAL : 0) |
                        (row->own ? IS_OWN : 0) |
                        (row->has_origin ? HAS_ORIGIN : 0) |
                        (row->counted ? IS_COUNTED : 0) |
                        (row->committed ? IS_COMMITTED : 0) |
                        (row->tight ? IS_TIGHT : 0)),
    };
    if (n_layout)
        memcpy(u->layout, row->layout, n_layout);
    if (row->n_text)
        memcpy(u->layout + row->n_layout, row->text, row->n_text);
    return as_string(u);
}

bool pfd_lazy_strings_is(const struct pfd_string *unmade,
                         const struct pfd_string_row *row)
{
    const struct lazy_row *u = lazy_row_of(unmade);
    struct pfd_string_row of = row_of(u);
    return of.n_text == row->n_text && of.n_layout == row->n_layout &&
           of.counted == row->counted &&
           (row->counted || of.n_arguments == row->n_arguments) &&
           (!row->n_text || !memcmp(of.text, row->text, row->n_text)) &&
           (!row->n_layout || !memcmp(of.layout, row->layout,
                                      row->n_layout * sizeof *row->layout));
}

static void *take_late(void *user, size_t n)
{
    struct pfd_string_store *store = user;
    return pfd_arena_take_reserved(&store->compiled, n + APART);
}

/* The caller holds the store's lock. */
static struct pfd_string *make(struct lazy_row *u)
{
    struct pfd_step steps[STEPS_MAX];
    struct pfd_string_store *store = u->store;
    struct pfd_string_row row = row_of(u);
    const struct pfd_string_maker maker = {
        .kind = pfd_string_kinds[u->table],
        .steps = steps,
        .slots = store->slots,
        .take = take_late,
        .user = store,
    };
    struct pfd_string *s = pfd_string_make(&maker, &row);
    s->index = u->index;
    s->source = u->source;
    s->table = u->table;
    return s;
}

struct pfd_string *pfd_lazy_strings_make(const struct pfd_string *unmade)
{
    struct lazy_row *u = lazy_row_of(unmade);
    struct pfd_string *s =
        atomic_load_explicit(&u->string, memory_order_acquire);
    if (s)
        return s;
    pthread_mutex_lock(&u->store->lock);
    s = atomic_load_explicit(&u->string, memory_order_relaxed);
    if (!s) {
        s = make(u);
        atomic_store_explicit(&u->string, s, memory_order_release);
    }
    pthread_mutex_unlock(&u->store->lock);
    return s;
}

const struct pfd_string *pfd_table_compile_string(
    struct pfd_table_slot *slot, const struct pfd_string *unmade)
{
    const struct pfd_string *s = pfd_lazy_strings_make(unmade);
    __atomic_store_n(&slot->string, s, __ATOMIC_RELEASE);
    return s;
}

const struct pfd_string *pfd_table_check_exact(struct pfd_table_slot *slot,
                                               uint32_t n_payload)
{
    const struct pfd_string *s =
        __atomic_load_n(&slot->string, __ATOMIC_ACQUIRE);
    if (pfd_is_lazy(s))
        s = pfd_table_compile_string(slot, s);
    if (!s || s->next || s->n_payload != n_payload)
        return NULL;
    __atomic_store_n(&slot->exact, n_payload + 1, __ATOMIC_RELAXED);
    return s;
}
