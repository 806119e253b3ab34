/* SPDX-License-Identifier: MIT */
/*
 * The tables of format strings: one for each buffer format, key -> strings.
 * Owns its bytes. A row with the key, text and layout of another is a duplicate
 * and silently dropped. With another text or layout it is a collision: a
 * finding, and both are stored, in load order. Does not know ELF or the meaning
 * of a key or a layout.
 *
 * Filled by one thread; then read by any number. Strings of a set without a
 * memory limit are compiled when they are first needed.
 */
#ifndef PFD_STRINGS_H
#define PFD_STRINGS_H

#include <printfdecode/strings.h>

#include "core/base/error.h"
#include "core/print/program.h"

enum pfd_string_flag {
    PFD_STRING_UTF8 = 1,     /* the text is UTF-8 */
    PFD_STRING_PLAIN = 2,    /* and has no control bytes but \n and \t */
    PFD_STRING_CUT = 4,      /* each vector takes one scalar */
    PFD_STRING_CHAR = 8,     /* has %c or %s, which can print any byte */
    PFD_STRING_LITERAL = 16, /* a message, not a format string */
    PFD_STRING_ORIGIN = 64,  /* its entries have origins, where a format knows
                                them by this */
    PFD_STRING_OWN = 32,     /* its layout words are of the format's other
                                kind */
};

/*
 * One format string. A single block of memory: the struct, its steps [n_steps]
 * bound to the layout of its metadata, the layout words [n_layout],
 * the text [n_text] and the JSON-escaped text [n_escaped].
 */
struct pfd_string {
    uint64_t key;
    const struct pfd_string *next; /* another string with this key, or NULL */
    uint32_t n_steps;
    uint32_t n_text; /* bytes */
    uint32_t n_escaped;
    uint32_t index;       /* position in pfd_strings_get() */
    uint32_t source;      /* index of the source's name */
    uint32_t n_arguments; /* saturated: no entry holds UINT32_MAX */
    uint32_t n_payload;   /* bytes of payload by the layout; likewise */
    uint32_t room;        /* bytes that printing may need */
    uint32_t findings;    /* bits every entry of this string has */
    uint16_t n_layout;    /* [n_layout] words of 64 bits; the format's */
    uint8_t flags;        /* enum pfd_string_flag */
    uint8_t table;        /* index of its kind in pfd_string_kinds */
    struct pfd_step steps[];
};

static inline const uint64_t *pfd_string_layout(const struct pfd_string *s)
{
    /* 56 + 24 * n bytes: 8-byte aligned. */
    return (const uint64_t *)(const void *)(s->steps + s->n_steps);
}

static inline const char *pfd_string_text(const struct pfd_string *s)
{
    return (const char *)(pfd_string_layout(s) + s->n_layout);
}

static inline const char *pfd_string_escaped(const struct pfd_string *s)
{
    return pfd_string_text(s) + s->n_text;
}

/* Longer format strings are rejected: offsets in them are 32 bits wide. */
enum {
    PFD_TEXT_MAX = 1 << 28
};

/* No entry has more arguments: entrySize is 16 bits of dwords at most. */
enum {
    PFD_ARGUMENTS_MAX = 65535
};

/* No layout is longer than a bit for each argument. */
enum {
    PFD_LAYOUT_MAX = 1024
};

/* pfd_string.index of a string in no table, synthesized by a format. */
#define PFD_STRING_SYNTHESIZED UINT32_MAX

struct pfd_string_row;
struct pfd_shader_table;

/* The places of a string's arguments in an entry's payload. */
struct pfd_layout {
    struct pfd_slot *slots; /* [n_slots] <= PFD_ARGUMENTS_MAX */
    size_t n_slots;
    uint32_t n_payload; /* bytes; UINT32_MAX: more than an entry can hold */
    bool cut;           /* each vector is one scalar */
    uint64_t findings;  /* bits that every entry has */
};

/* A grammar other than printf's: steps of a row, and an upper bound for their
 * number. */
struct pfd_string_grammar {
    size_t (*steps_max)(const struct pfd_string_row *row);
    size_t (*compile)(const struct pfd_string_row *row, struct pfd_step *ret,
                      struct pfd_program_facts *facts);
};

/*
 * A buffer format's description of its strings: its name, its table, and how
 * the layout words of a string are read. layout() fills ret (slots has room
 * for PFD_ARGUMENTS_MAX); the string's steps are not bound yet.
 */
struct pfd_string_kind {
    const char *name;
    bool tight; /* vector components are joined by "," and not by ", " */
    /* Of rows with `own`. NULL: these, too, have printf's grammar. */
    const struct pfd_string_grammar *own;
    /* Adapts compiled steps to the layout words; returns finding bits. May be
     * NULL. */
    uint64_t (*adapt)(const struct pfd_string_row *row, struct pfd_step *steps,
                      size_t n_steps);
    void (*layout)(const struct pfd_string *string,
                   const struct pfd_program_facts *facts,
                   struct pfd_layout *ret);
    /* The name that the metadata has for the argument of a step, [*n] bytes that
     * are no NUL; of a vector, any of its steps. NULL: it has none. The member may
     * be NULL. */
    const char *(*argument_name)(const struct pfd_string *string, size_t step,
                                 size_t *n);
};

enum {
    PFD_TABLES_MAX = 16
};

/* One for each format, NULL at the end, in the order of their tables; written
 * by meson from formats/meson.build. */
extern const struct pfd_string_kind *const pfd_string_kinds[];

/* A row that a format has read from a code object. */
struct pfd_string_row {
    uint64_t key;
    const char *text; /* borrowed for the call */
    size_t n_text;    /* bytes; at most PFD_TEXT_MAX */
    uint64_t n_arguments;
    bool counted;           /* instead: counted in the format string */
    const uint64_t *layout; /* [n_layout] words, borrowed for the call */
    size_t n_layout;        /* at most PFD_LAYOUT_MAX */
    bool literal;           /* the text is a message, no format string */
    bool own;               /* PFD_STRING_OWN */
    bool has_origin;        /* PFD_STRING_ORIGIN */
    bool tight;             /* like the kind's */
    bool committed;         /* its entries have a mark of completeness
                               (PFD_RECORD_SURE) */
};

/*
 * A string outside of all tables, such as one stored in an entry. The caller
 * provides its steps, pfd_string_steps_max(), and its block: pfd_string_size()
 * bytes for n_steps, as compiled. The steps are not bound; numbers are zero, and
 * so are flags other than those of the text.
 */
size_t pfd_string_steps_max(const struct pfd_string_kind *kind,
                            const struct pfd_string_row *row);
size_t pfd_string_compile(const struct pfd_string_kind *kind,
                          const struct pfd_string_row *row,
                          struct pfd_step *ret,
                          struct pfd_program_facts *facts);
size_t pfd_string_size(const struct pfd_string_row *row, size_t n_steps);
void pfd_string_fill(struct pfd_string *ret, const struct pfd_string_row *row,
                     const struct pfd_step *steps, size_t n_steps);

/*
 * Adds a row to kind's table. The row's source is report's. A collision is a
 * finding in report, at offset. PFD_ERR_NOMEM is the only failure.
 */
enum pfd_status pfd_strings_add_row(struct pfd_strings *strings,
                                    const struct pfd_string_kind *kind,
                                    const struct pfd_string_row *row,
                                    struct pfd_report *report, uint64_t offset,
                                    struct pfd_error *err);

/* Announces n more rows for kind's table, so that it grows only once. */
void pfd_strings_expect(struct pfd_strings *strings,
                        const struct pfd_string_kind *kind, size_t n);

/* Prefetches the slot of a key whose row is added soon. */
void pfd_strings_announce(const struct pfd_strings *strings,
                          const struct pfd_string_kind *kind, uint64_t key);

struct pfd_table_slot {
    uint64_t key;
    const struct pfd_string *string; /* NULL: free; see pfd_is_lazy() */
    /* The string's n_payload + 1, once pfd_table_find_exact() has read it;
     * else 0. */
    uint32_t exact;
};

/* True for a lazy string: the pointer leads to a row, which is compiled on
 * demand (lazy_strings.c). Addresses of strings are even. */
static inline bool pfd_is_lazy(const struct pfd_string *string)
{
    return (uintptr_t)string & 1;
}

/* Compiles the lazy string of a slot. */
const struct pfd_string *pfd_table_compile_string(
    struct pfd_table_slot *slot, const struct pfd_string *unmade);

/* Open addressing, linear probing, mask + 1 slots. A set and its copies share
 * slots until one of them writes. */
struct pfd_table {
    struct pfd_table_slot *slots;
    size_t mask;
    size_t n;
    unsigned shift;
    bool has_collisions; /* several strings have one key */
    bool has_committed;  /* entries of some have a mark of completeness */
    uint64_t *marks;     /* [PFD_TABLE_MARKS / 64]; see pfd_table_marks();
                            NULL: no strings */
};

/* A bitmap of twelve bits of each key rejects most keys before a lookup, where
 * a search tries every offset: 512 bytes stay in the cache. */
enum {
    PFD_TABLE_MARKS = 1 << 12,
    PFD_TABLE_MARKS_FIRST = 36, /* bit of a key */
};

/* A kind's table; an empty table when it has no strings, never NULL. */
const struct pfd_table *pfd_strings_table(const struct pfd_strings *strings,
                                          const struct pfd_string_kind *kind);

/* The first string of slot i, or NULL. */
static inline const struct pfd_string *pfd_table_at(
    const struct pfd_table *table, size_t i)
{
    struct pfd_table_slot *slot = &table->slots[i];
    const struct pfd_string *s =
        __atomic_load_n(&slot->string, __ATOMIC_ACQUIRE);
    return __builtin_expect(pfd_is_lazy(s), 0)
               ? pfd_table_compile_string(slot, s)
               : s;
}

enum {
    PFD_TABLE_LARGE = 1 << 16, /* slots */
    PFD_STRING_PREFETCH = 128, /* bytes of a string, or of its row, that are
                                  prefetched: most are shorter */
};

/* Is the table larger than the caches, so that prefetching the next string pays
 * off? */
static inline bool pfd_table_is_large(const struct pfd_table *table)
{
    return table->mask >= PFD_TABLE_LARGE;
}

/* The slot where the search for a key begins. */
static inline size_t pfd_table_home(const struct pfd_table *table, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> table->shift) &
           table->mask;
}

/* The slot of a key, or the free slot for it, and its first string: *ret, NULL
 * if there is none; see pfd_is_lazy(). */
static inline struct pfd_table_slot *pfd_table_probe(
    const struct pfd_table *table, uint64_t key, const struct pfd_string **ret)
{
    for (size_t i = pfd_table_home(table, key);; i++) {
        struct pfd_table_slot *slot = &table->slots[i & table->mask];
        *ret = __atomic_load_n(&slot->string, __ATOMIC_ACQUIRE);
        if (slot->key == key || !*ret)
            return slot;
    }
}

static inline void pfd_table_prefetch(const struct pfd_table *table,
                                      uint64_t key)
{
    const struct pfd_table_slot *slot =
        &table->slots[pfd_table_home(table, key)];
    __builtin_prefetch(slot, 1);
    __builtin_prefetch(&slot->exact, 1);
}

/* Prefetches the string of the key's first slot, which is mostly the key's own,
 * where pfd_table_find_exact() will read it. */
static inline void pfd_table_prefetch_string(const struct pfd_table *table,
                                             uint64_t key)
{
    const struct pfd_table_slot *slot =
        &table->slots[pfd_table_home(table, key)];
    const char *s =
        (const char *)__atomic_load_n(&slot->string, __ATOMIC_RELAXED);
    if (__atomic_load_n(&slot->exact, __ATOMIC_RELAXED))
        return;
    for (size_t at = 0; s && at < PFD_STRING_PREFETCH; at += 64)
        __builtin_prefetch(s + at);
}

/* The first string of this key, or NULL. */
static inline const struct pfd_string *pfd_table_find(
    const struct pfd_table *table, uint64_t key)
{
    const struct pfd_string *s = NULL;
    struct pfd_table_slot *slot = pfd_table_probe(table, key, &s);
    return __builtin_expect(pfd_is_lazy(s), 0)
               ? pfd_table_compile_string(slot, s)
               : s;
}

/* Reads a slot's string, for pfd_table_find_exact(). */
const struct pfd_string *pfd_table_check_exact(struct pfd_table_slot *slot,
                                               uint32_t n_payload);

/*
 * The string of a key whose entries match it exactly: the only one of its key,
 * with n_payload bytes of payload; NULL: there is none. The result is stored in
 * the slot: the strings of a large table are in no cache, and a walk need touch
 * each of them only once.
 */
static inline const struct pfd_string *pfd_table_find_exact(
    const struct pfd_table *table, uint64_t key, uint32_t n_payload)
{
    const struct pfd_string *s = NULL;
    struct pfd_table_slot *slot = pfd_table_probe(table, key, &s);
    bool is_exact =
        __atomic_load_n(&slot->exact, __ATOMIC_RELAXED) == n_payload + 1;
    /* Another thread may have compiled the string and set `exact`. */
    return __builtin_expect(!is_exact || pfd_is_lazy(s), 0)
               ? pfd_table_check_exact(slot, n_payload)
               : s;
}

/* May a key have these bits 36 to 47? `bits` is the word of 16 bits that ends
 * there: its upper twelve are looked up. */
static inline bool pfd_table_marks(const uint64_t *marks, uint16_t bits)
{
    return marks[bits >> 10] >> (bits >> 4 & 63) & 1;
}

/* The set's shaders. */
const struct pfd_shader_table *pfd_strings_shaders(
    const struct pfd_strings *strings);
struct pfd_shader_table *pfd_strings_own_shaders(struct pfd_strings *strings);

/* From 1 on, of no other set of the process, not even of one that is freed. With
 * the number of strings it says whether a set is as it was. */
uint64_t pfd_strings_serial(const struct pfd_strings *strings);

/* Bytes that the set may take while it is filled. */
size_t pfd_strings_room(const struct pfd_strings *strings);
/* Charges n bytes. False: they exceed the set's limit. */
bool pfd_strings_take(struct pfd_strings *strings, size_t n);

/* The last value that was set. */
bool pfd_strings_searches(const struct pfd_strings *strings);
uint64_t pfd_strings_max_inflated(const struct pfd_strings *strings);

/* String i in load order (NULL: there is none), its kind, its source. */
const struct pfd_string *pfd_strings_at(const struct pfd_strings *strings,
                                        size_t i);
const struct pfd_string_kind *pfd_strings_kind_at(
    const struct pfd_strings *strings, size_t i);
const char *pfd_strings_source(const struct pfd_strings *strings,
                               const struct pfd_string *string);

/* The layout of string i, with slots in scratch memory of the set. False: out of
 * memory. */
bool pfd_strings_lay_out(struct pfd_strings *strings, size_t i,
                         struct pfd_layout *ret);

/* As pfd_strings_branch(), but a successor, which goes on in the memory of `of`;
 * a set can have only one. NULL: out of memory. */
struct pfd_strings *pfd_strings_extend(struct pfd_strings *of);

/* Frees memory that only filling needs. */
void pfd_strings_trim(struct pfd_strings *strings);

/* Whether files that are loaded from now on, of any type, are searched byte by
 * byte for code objects of AMD and bundles, besides the usual places. A new set
 * does not search. */
void pfd_strings_set_search(struct pfd_strings *strings, bool search);

#endif
