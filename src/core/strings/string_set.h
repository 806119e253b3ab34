/* SPDX-License-Identifier: MIT */
/*
 * The internals of a string set, for the files of this folder that fill it:
 * string_set.c has sets and their shared store, string_rows.c adds rows to
 * them, hash_slots.c has the hash tables, lazy_strings.c compiles a row to a
 * string, and stores rows that no entry has needed yet.
 */
#ifndef PFD_STRINGS_STRING_SET_H
#define PFD_STRINGS_STRING_SET_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/base/arena.h"
#include "core/spirv/shader_table.h"
#include "core/strings/strings.h"

/* The memory of strings, for all sets that share them. */
struct pfd_string_store {
    atomic_uint refs;
    struct pfd_string_store
        *below; /* of the set that this one branched from, or NULL */
    struct pfd_arena arena;
    struct pfd_arena rows;     /* rows that were not compiled yet */
    struct pfd_arena compiled; /* their strings; reserved with each row */
    pthread_mutex_t lock;      /* guards late and slots */
    struct pfd_slot *slots;    /* scratch of layouts, [PFD_ARGUMENTS_MAX]; NULL:
                               no lazy rows so far */
};

struct pfd_strings {
    struct pfd_string_store *store;
    uint64_t serial;            /* of this set among all of the process */
    bool is_made_of_another;    /* and shares its strings */
    struct pfd_arena_mark mark; /* memory before it is shared */
    size_t left;                /* bytes that it may still take */
    struct pfd_table tables[PFD_TABLES_MAX];
    /* [n], load order; for lazy rows, with pfd_is_lazy(). */
    struct pfd_string **all;
    size_t n;
    size_t room; /* of all */
    const char **sources;
    size_t n_sources;
    struct pfd_step *steps; /* scratch of the compiler, [steps_room] */
    size_t steps_room;
    struct pfd_slot *slots; /* scratch of layouts, [PFD_ARGUMENTS_MAX] */
    struct pfd_shader_table shader_table;
    bool search;           /* search files without strings in place */
    uint64_t max_inflated; /* bytes of one bundle; 0: PFD_INFLATED_MAX */
};

/* The index of a kind's table. */
size_t pfd_string_kind_number(const struct pfd_string_kind *kind);

/* Charges n bytes to a set's limit. False: they exceed it. */
static inline bool pfd_spend(size_t *left, size_t n)
{
    if (n > *left)
        return false;
    if (*left != SIZE_MAX)
        *left -= n;
    return true;
}

/* ---- hash_slots.c: knows keys only ---- */

/* The slot of a key, or the free slot for it; the table has slots. */
struct pfd_table_slot *pfd_table_slot_of(const struct pfd_table *table,
                                         uint64_t key);

/* Makes slots that this table does not share, with room for n more keys, and
 * charges them to *left. False: out of memory. */
bool pfd_table_reserve(struct pfd_table *table, size_t n, size_t *left);

/* Puts the first string of a key into its free slot. */
void pfd_table_put(struct pfd_table *table, uint64_t key,
                   const struct pfd_string *string);

/* Adds a reference to a table's slots. NULL is allowed. */
void pfd_table_share(const struct pfd_table *table);
void pfd_table_drop(const struct pfd_table *table);
size_t pfd_table_memory(const struct pfd_table *table);

/* ---- lazy_strings.c ---- */

/* The memory that compiling a string needs. */
struct pfd_string_maker {
    const struct pfd_string_kind *kind;
    struct pfd_step *steps; /* scratch, [pfd_program_steps_max()] */
    struct pfd_slot *slots; /* scratch, [PFD_ARGUMENTS_MAX] */
    /* Allocates the string's block; NULL: out of memory. */
    void *(*take)(void *user, size_t n);
    void *user;
};

/* Compiles and binds a row's string; NULL: take() returned NULL. */
struct pfd_string *pfd_string_make(const struct pfd_string_maker *maker,
                                   const struct pfd_string_row *row);

/* Bytes that the string of a row of at most n_steps can take, if it is compiled
 * on demand; 0: it is compiled at once. */
size_t pfd_lazy_strings_bytes(const struct pfd_strings *strings,
                              const struct pfd_string_row *row, size_t n_steps);

/* Stores a row, and reserves n_bytes for its string, so that compiling it
 * cannot fail. NULL: out of memory. The result is pfd_is_lazy(). */
struct pfd_string *pfd_lazy_strings_new(struct pfd_strings *strings,
                                        const struct pfd_string_row *row,
                                        size_t n_bytes, uint32_t source,
                                        uint8_t table);

/* Does the lazy string come from an equal row? */
bool pfd_lazy_strings_is(const struct pfd_string *unmade,
                         const struct pfd_string_row *row);

/* Its string, compiled now or before; any thread may call this. */
struct pfd_string *pfd_lazy_strings_make(const struct pfd_string *unmade);

#endif
