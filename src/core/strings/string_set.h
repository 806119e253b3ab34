/* SPDX-License-Identifier: MIT */
/*
 * A set of tables from the inside, for the files of this folder that fill it:
 * strings.c has sets and what they share, hash_slots.c the hash tables, string_rows.c makes
 * strings of rows, lazy_strings.c keeps rows that nobody has asked for yet.
 */
#ifndef PFD_STRINGS_STRING_SET_H
#define PFD_STRINGS_STRING_SET_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/base/arena.h"
#include "core/spirv/shader_table.h"
#include "core/strings/strings.h"

/* Where strings lie, for all sets that share them. */
struct pfd_string_store {
    atomic_uint refs;
    struct pfd_string_store
        *below; /* of the set that a branch was made of, or NULL */
    struct pfd_arena arena;
    struct pfd_arena rows;  /* those that are no strings yet */
    struct pfd_arena late;  /* what becomes of them: reserved with each */
    pthread_mutex_t making; /* guards that, and this: */
    struct pfd_slot *slots; /* scratch of layouts, [PFD_ARGUMENTS_MAX]; NULL:
                               there have been no such rows */
};

struct pfd_strings {
    struct pfd_string_store *store;
    bool is_made_of_another;    /* whose strings it shares */
    struct pfd_arena_mark mark; /* what came before others have, too */
    size_t left;                /* bytes that it may take */
    struct pfd_table tables[PFD_TABLES_MAX];
    /* [n], load order; of unmade rows, with pfd_is_lazy(). */
    struct pfd_string **all;
    size_t n;
    size_t room; /* of all */
    const char **sources;
    size_t n_sources;
    struct pfd_step *steps; /* scratch of the compiler, [steps_room] */
    size_t steps_room;
    struct pfd_slot *slots; /* scratch of layouts, [PFD_ARGUMENTS_MAX] */
    struct pfd_shader_table shader_table;
    bool search;           /* files in which no strings are where they belong */
    uint64_t max_inflated; /* bytes of one bundle; 0: as containers have it */
};

/* Of the kind's table. */
size_t pfd_string_kind_number(const struct pfd_string_kind *kind);

/* ---- hash_slots.c ---- */

/* Where the key is or would be; the table has slots. */
struct pfd_table_slot *pfd_table_slot_of(const struct pfd_table *table,
                                         uint64_t key);

/* Slots that are this table's alone, with room for n more keys. */
bool pfd_table_reserve(struct pfd_strings *strings, struct pfd_table *table,
                       size_t n);

/* Puts the first string of its key into the slot that is free for it. */
void pfd_table_put(struct pfd_table *table, uint64_t key,
                   const struct pfd_string *string);

/* Tables that share slots are counted. NULL is allowed. */
void pfd_table_share(const struct pfd_table *table);
void pfd_table_drop(const struct pfd_table *table);
size_t pfd_table_memory(const struct pfd_table *table);

/* ---- string_rows.c ---- */

/* What making a string needs. */
struct pfd_string_maker {
    const struct pfd_string_kind *kind;
    struct pfd_step *steps; /* scratch, [pfd_program_steps_max()] */
    struct pfd_slot *slots; /* scratch, [PFD_ARGUMENTS_MAX] */
    /* The block of memory that it becomes; NULL: there is none. */
    void *(*take)(void *user, size_t n);
    void *user;
};

/* A row's string, compiled and bound; NULL: take() gave no memory. */
struct pfd_string *pfd_string_make(const struct pfd_string_maker *maker,
                                   const struct pfd_string_row *row);

/* ---- lazy_strings.c ---- */

/* Bytes that the string of a row of at most n_steps can take, if it is to wait
 * until somebody asks for it; 0: it is to be made at once. */
size_t pfd_lazy_strings_bytes(const struct pfd_strings *strings,
                              const struct pfd_string_row *row, size_t n_steps);

/* Keeps a row, and n_bytes for its string: making it cannot fail. NULL: out of
 * memory. What it returns is pfd_is_lazy(). */
struct pfd_string *pfd_lazy_strings_new(struct pfd_strings *strings,
                                        const struct pfd_string_row *row,
                                        size_t n_bytes, uint32_t source,
                                        uint8_t table);

/* Is it of this very row? */
bool pfd_lazy_strings_is(const struct pfd_string *unmade,
                         const struct pfd_string_row *row);

/* Its string, made now or before; any thread may ask. */
struct pfd_string *pfd_lazy_strings_make(const struct pfd_string *unmade);

/* Makes all. */
void pfd_lazy_strings_make_all(struct pfd_strings *strings);

#endif
