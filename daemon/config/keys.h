/* SPDX-License-Identifier: MIT */
/*
 * The keys of a configuration: a row each. By its row a value is read
 * (value.c), compared when the configuration is read again, freed, checked
 * against this machine (explain.c) and granted (sandbox.c), so that no key can be
 * forgotten in one of these.
 *
 * Rows that belong together are a group, which may be a part of several blocks:
 * `type: listen` is one for inputs and for outputs, with the same keys for who
 * may connect.
 */
#ifndef PFDD_KEYS_H
#define PFDD_KEYS_H

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

enum pfdd_key_kind {  /* what the member is: */
    PFDD_KEY_TEXT,    /* char *, or NULL */
    PFDD_KEY_BOOL,    /* bool */
    PFDD_KEY_NUMBER,  /* uint64_t */
    PFDD_KEY_SIZE,    /* uint64_t, bytes: 32MiB */
    PFDD_KEY_TIME,    /* uint64_t, milliseconds: 100ms, 5s, 1h */
    PFDD_KEY_WORD,    /* unsigned, the number of one of `words` */
    PFDD_KEY_OPTION,  /* struct pfd_options, of which it is one */
    PFDD_KEY_MODE,    /* unsigned, octal */
    PFDD_KEY_ADDRESS, /* struct pfdd_address */
    PFDD_KEY_NAMES,   /* struct pfdd_names, a list of texts */
    PFDD_KEY_UIDS,    /* struct pfdd_ids */
    PFDD_KEY_GIDS,    /* struct pfdd_ids */
    PFDD_KEY_BLOCKS,  /* none: a list of mappings, which is read apart */
};

/* What is done with the path that a text, a list of texts or an address has:
 * what the sandbox grants, and what check-config looks for. */
enum pfdd_use {
    PFDD_USE_NONE,    /* it is no path */
    PFDD_USE_READ,    /* a file that is read */
    PFDD_USE_AWAIT,   /* likewise, and it may come later */
    PFDD_USE_WATCH,   /* a folder that is read */
    PFDD_USE_WRITE,   /* a file that is made; may have {words} in it */
    PFDD_USE_KEEP,    /* a folder that is made, for what is ours */
    PFDD_USE_LISTEN,  /* a socket that is made */
    PFDD_USE_CONNECT, /* a socket of somebody else */
};

struct pfdd_key {
    const char *name;
    enum pfdd_key_kind kind;
    size_t at; /* of the member, in the group's struct */
    uint64_t min;
    uint64_t max;
    uint64_t initial;         /* of numbers, words, modes and bools */
    const char *const *words; /* NULL at the end */
    enum pfdd_use use;
    bool needed;
};

struct pfdd_group {
    const struct pfdd_key *keys; /* a key without a name at the end */
    /* Complains of what one value alone cannot tell; NULL: nothing. */
    void (*check)(const void *group, const struct pfdd_places *places);
};

/* A group in a larger struct. */
struct pfdd_part {
    const struct pfdd_group *group; /* NULL behind the last part */
    size_t at;
};

/* Of all keys of all parts, one after another: NULL is before the first and
 * behind the last. */
struct pfdd_key_at {
    const struct pfdd_part *part;
    const struct pfdd_key *key;
};
bool pfdd_keys_next(const struct pfdd_part *parts, struct pfdd_key_at *at);

/* The member of a key in a struct that has these parts. */
void *pfdd_keys_member(struct pfdd_key_at at, void *base);

/* NULL key: there is none of this name. */
struct pfdd_key_at pfdd_keys_find(const struct pfdd_part *parts,
                                  const char *name);

/* Sets what holds where a key is not given; the struct is all zeros. */
void pfdd_keys_init(const struct pfdd_part *parts, void *base);

/* Do a and b say the same? */
bool pfdd_keys_are_same(const struct pfdd_part *parts, const void *a,
                        const void *b);

/* Frees what the members hold. */
void pfdd_keys_free(const struct pfdd_part *parts, void *base);

/* Calls for each path that the values have, until a call gives false; then
 * false. */
typedef bool (*pfdd_path_fn)(void *user, enum pfdd_use use, const char *path);
bool pfdd_keys_paths(const struct pfdd_part *parts, const void *base,
                     pfdd_path_fn call, void *user);

#endif
