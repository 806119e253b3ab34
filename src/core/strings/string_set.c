/* SPDX-License-Identifier: MIT */
#include "core/strings/string_set.h"

#include <stdlib.h>
#include <string.h>

#include "core/strings/strings.h"

static struct pfd_table_slot no_slot;
static const struct pfd_table no_table = { .slots = &no_slot, .shift = 63 };

/* ---- stores, which sets share ---- */

static struct pfd_string_store *new_store(struct pfd_string_store *below)
{
    struct pfd_string_store *store = calloc(1, sizeof *store);
    if (!store)
        return NULL;
    atomic_init(&store->refs, 1);
    pthread_mutex_init(&store->lock, NULL);
    store->below = below;
    if (below)
        atomic_fetch_add(&below->refs, 1);
    return store;
}

static void drop_store(struct pfd_string_store *store)
{
    while (store && atomic_fetch_sub(&store->refs, 1) == 1) {
        struct pfd_string_store *below = store->below;
        pfd_arena_free(&store->arena);
        pfd_arena_free(&store->rows);
        pfd_arena_free(&store->compiled);
        pthread_mutex_destroy(&store->lock);
        free(store->slots);
        free(store);
        store = below;
    }
}

/* ---- sets ---- */

/* An address may be another set's later; a serial number never is. */
static struct pfd_strings *new_set(void)
{
    static _Atomic uint64_t n;
    struct pfd_strings *ret = calloc(1, sizeof *ret);
    if (ret)
        ret->serial = atomic_fetch_add(&n, 1) + 1;
    return ret;
}

struct pfd_strings *pfd_strings_new(void)
{
    struct pfd_strings *ret = new_set();
    if (!ret)
        return NULL;
    ret->left = SIZE_MAX;
    ret->store = new_store(NULL);
    if (ret->store)
        return ret;
    free(ret);
    return NULL;
}

void pfd_strings_trim(struct pfd_strings *strings)
{
    free(strings->steps);
    free(strings->slots);
    strings->steps = NULL;
    strings->slots = NULL;
    strings->steps_room = 0;
}

void pfd_strings_free(struct pfd_strings *strings)
{
    if (!strings)
        return;
    for (size_t i = 0; i < PFD_TABLES_MAX; i++)
        pfd_table_drop(&strings->tables[i]);
    drop_store(strings->store);
    free(strings->all);
    free(strings->sources);
    pfd_strings_trim(strings);
    pfd_shader_table_deinit(&strings->shader_table);
    free(strings);
}

static void *copy_of(const void *bytes, size_t n)
{
    void *ret = malloc(n + 1);
    if (ret && n)
        memcpy(ret, bytes, n);
    return ret;
}

/* Compiles all lazy strings of a set. */
static void make_all(struct pfd_strings *strings)
{
    for (size_t i = 0; i < strings->n; i++)
        pfd_strings_at(strings, i);
    for (size_t i = 0; i < PFD_TABLES_MAX; i++) {
        const struct pfd_table *table = &strings->tables[i];
        for (size_t k = 0; table->slots && k <= table->mask; k++)
            pfd_table_at(table, k);
    }
}

/* store: a reference, taken over; NULL: out of memory. */
static struct pfd_strings *copy_set(struct pfd_strings *of,
                                    struct pfd_string_store *store)
{
    struct pfd_strings *ret = store ? new_set() : NULL;
    make_all(of);
    if (!ret) {
        drop_store(store);
        return NULL;
    }
    ret->store = store;
    ret->is_made_of_another = true;
    ret->left = of->left;
    ret->max_inflated = of->max_inflated;
    ret->search = of->search;
    ret->n = ret->room = of->n;
    ret->mark = pfd_arena_mark(&store->arena);
    ret->n_sources = of->n_sources;
    ret->all = copy_of(of->all, of->n * sizeof(void *));
    ret->sources = copy_of(of->sources, of->n_sources * sizeof *of->sources);
    for (size_t i = 0; i < PFD_TABLES_MAX; i++) {
        ret->tables[i] = of->tables[i];
        pfd_table_share(&of->tables[i]);
    }
    if (ret->all && ret->sources &&
        pfd_shader_table_share(&ret->shader_table, &of->shader_table))
        return ret;
    pfd_strings_free(ret);
    return NULL;
}

struct pfd_strings *pfd_strings_extend(struct pfd_strings *of)
{
    atomic_fetch_add(&of->store->refs, 1);
    return copy_set(of, of->store);
}

struct pfd_strings *pfd_strings_branch(struct pfd_strings *of)
{
    return copy_set(of, new_store(of->store));
}

uint64_t pfd_strings_serial(const struct pfd_strings *strings)
{
    return strings->serial;
}

size_t pfd_strings_room(const struct pfd_strings *strings)
{
    return strings->left;
}

void pfd_strings_set_room(struct pfd_strings *strings, size_t n)
{
    strings->left = n;
}

const struct pfd_shader_table *pfd_strings_shaders(
    const struct pfd_strings *strings)
{
    return &strings->shader_table;
}

struct pfd_shader_table *pfd_strings_own_shaders(struct pfd_strings *strings)
{
    return &strings->shader_table;
}

void pfd_strings_set_max_inflated(struct pfd_strings *strings, uint64_t bytes)
{
    strings->max_inflated = bytes;
}

void pfd_strings_set_search(struct pfd_strings *strings, bool search)
{
    strings->search = search;
}

bool pfd_strings_searches(const struct pfd_strings *strings)
{
    return strings->search;
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
    if (i >= strings->n)
        return NULL;
    struct pfd_string **place = &strings->all[i];
    struct pfd_string *s = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (pfd_is_lazy(s)) {
        s = pfd_lazy_strings_make(s);
        __atomic_store_n(place, s, __ATOMIC_RELEASE);
    }
    return s;
}

const struct pfd_string_kind *pfd_strings_kind_at(
    const struct pfd_strings *strings, size_t i)
{
    const struct pfd_string *s = pfd_strings_at(strings, i);
    return s ? pfd_string_kinds[s->table] : NULL;
}

const char *pfd_strings_source(const struct pfd_strings *strings,
                               const struct pfd_string *string)
{
    return strings->sources[string->source];
}

/* Every kind belongs to a format, and the list has all formats. */
size_t pfd_string_kind_number(const struct pfd_string_kind *kind)
{
    size_t i = 0;
    while (pfd_string_kinds[i] != kind)
        i++;
    return i;
}

const struct pfd_table *pfd_strings_table(const struct pfd_strings *strings,
                                          const struct pfd_string_kind *kind)
{
    if (!kind->name)
        return &no_table;
    const struct pfd_table *table =
        &strings->tables[pfd_string_kind_number(kind)];
    return table->slots ? table : &no_table;
}

size_t pfd_strings_memory(const struct pfd_strings *strings)
{
    const struct pfd_string_store *store = strings->store;
    size_t n = sizeof *strings + sizeof *store;
    n +=
        store->arena.n_memory + store->rows.n_memory + store->compiled.n_memory;
    n += strings->room * sizeof(void *);
    n += strings->n_sources * sizeof *strings->sources;
    n += pfd_shader_table_memory(&strings->shader_table);
    for (size_t i = 0; i < PFD_TABLES_MAX; i++)
        n += pfd_table_memory(&strings->tables[i]);
    return n;
}

bool pfd_strings_take(struct pfd_strings *strings, size_t n)
{
    return pfd_spend(&strings->left, n);
}
