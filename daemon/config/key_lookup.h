/* SPDX-License-Identifier: MIT */
/*
 * The keys of a configuration, a row each. From its row a key is read
 * (value.c), compared when the configuration is reloaded, freed, checked
 * against this machine (explain.c) and granted (sandbox.c). So no key can be
 * forgotten in one of these.
 *
 * Related rows form a group, which several blocks may contain: `type: listen`
 * exists for inputs and for outputs, and both have the same keys for access.
 */
#ifndef PFDD_KEY_LOOKUP_H
#define PFDD_KEY_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/diagnostics.h"

struct pfdd_names {
    char **items; /* [n] */
    size_t n;
};

struct pfdd_ids {
    unsigned *items; /* [n] */
    size_t n;
};

enum pfdd_key_kind {  /* type of the member: */
    PFDD_KEY_TEXT,    /* char *, or NULL */
    PFDD_KEY_BOOL,    /* bool */
    PFDD_KEY_NUMBER,  /* uint64_t */
    PFDD_KEY_SIZE,    /* uint64_t, bytes: 32MiB */
    PFDD_KEY_TIME,    /* uint64_t, milliseconds: 100ms, 5s, 1h */
    PFDD_KEY_WORD,    /* unsigned, an index in `words` */
    PFDD_KEY_OPTION,  /* struct pfd_options: one of its members */
    PFDD_KEY_MODE,    /* unsigned, octal */
    PFDD_KEY_ADDRESS, /* struct pfdd_address */
    PFDD_KEY_NAMES,   /* struct pfdd_names, a list of texts */
    PFDD_KEY_UIDS,    /* struct pfdd_ids */
    PFDD_KEY_GIDS,    /* struct pfdd_ids */
    PFDD_KEY_BLOCKS,  /* none: a list of mappings, which config.c reads */
};

/* How the daemon uses the path in a text, a list of texts or an address: the
 * sandbox grants it, and check-config checks it. */
enum pfdd_use {
    PFDD_USE_NONE,     /* no path */
    PFDD_USE_READ,     /* reads a file */
    PFDD_USE_AWAIT,    /* reads a file that may appear later */
    PFDD_USE_WATCH,    /* reads a folder */
    PFDD_USE_NAMES,    /* reads files of such names in the folder of the key
                         before it */
    PFDD_USE_WRITE,    /* creates a file; the path may contain {words} */
    PFDD_USE_DATABASE, /* creates a file, and others beside it */
    PFDD_USE_KEEP,     /* creates a folder of its own */
    PFDD_USE_LISTEN,   /* creates a socket */
    PFDD_USE_CONNECT,  /* connects to a socket */
};

struct pfdd_key {
    const char *name;
    enum pfdd_key_kind kind;
    size_t at; /* offset of the member in the group's struct */
    uint64_t min;
    uint64_t max;
    uint64_t initial;         /* default of numbers, words, modes and bools */
    const char *const *words; /* NULL at the end */
    enum pfdd_use use;
    bool needed;
};

struct pfdd_group {
    const struct pfdd_key *keys; /* a key without a name at the end */
    /* Reports errors that involve several values; NULL: none can occur. */
    void (*check)(const void *group, const struct pfdd_places *places);
};

/* A group in a larger struct. */
struct pfdd_part {
    const struct pfdd_group *group; /* NULL behind the last part */
    size_t at;
};

/* A place among the keys of all parts; NULL is before the first and after the
 * last. */
struct pfdd_key_at {
    const struct pfdd_part *part;
    const struct pfdd_key *key;
};
bool pfdd_keys_next(const struct pfdd_part *parts, struct pfdd_key_at *at);

/* The member of a key in a struct with these parts. */
void *pfdd_keys_member(struct pfdd_key_at at, void *base);

/* NULL key: there is none of this name. */
struct pfdd_key_at pfdd_keys_find(const struct pfdd_part *parts,
                                  const char *name);

/* Sets the defaults; the struct is zeroed before. */
void pfdd_keys_init(const struct pfdd_part *parts, void *base);

/* True: a and b have equal values. */
bool pfdd_keys_are_same(const struct pfdd_part *parts, const void *a,
                        const void *b);

/* Frees the values of all members. */
void pfdd_keys_free(const struct pfdd_part *parts, void *base);

/* Calls for each path among the values, until a call returns false; then
 * returns false. */
typedef bool (*pfdd_path_fn)(void *user, enum pfdd_use use, const char *path);
bool pfdd_keys_paths(const struct pfdd_part *parts, const void *base,
                     pfdd_path_fn call, void *user);

#endif
