/* SPDX-License-Identifier: MIT */
/*
 * Errors in a configuration. Each is reported with the line and column of its
 * value.
 */
#ifndef PFDD_DIAGNOSTICS_H
#define PFDD_DIAGNOSTICS_H

#include <stdbool.h>
#include <stddef.h>

/* Gets one line: the error and its place. */
typedef void (*pfdd_config_tell_fn)(void *user, const char *text);

struct pfdd_diagnostics {
    const char *name; /* of the configuration */
    pfdd_config_tell_fn tell;
    void *user;
    unsigned n;
};

/* Both from 0. */
struct pfdd_place {
    size_t line;
    size_t column;
};

/* Returns false, for the caller to return. */
__attribute__((format(printf, 3, 4))) bool pfdd_diagnostics_add_at(
    struct pfdd_diagnostics *c, struct pfdd_place at, const char *text, ...);

enum {
    PFDD_KEYS_MAX = 64 /* of one block */
};

/* The keys that a block contains, and their places. */
struct pfdd_places {
    struct pfdd_diagnostics *diagnostics;
    struct pfdd_place start; /* of the block */
    struct {
        const char *key;
        struct pfdd_place at; /* of its value */
    } given[PFDD_KEYS_MAX];   /* [n] */
    size_t n;
};

bool pfdd_is_given(const struct pfdd_places *places, const char *key);

/* At the value of a key, or, if the key is missing, at the block. */
__attribute__((format(printf, 3, 4))) void pfdd_diagnostics_add(
    const struct pfdd_places *places, const char *key, const char *text, ...);

enum {
    PFDD_NEAR = 160 /* bytes of a list of names */
};

/* Adds a name to a list if a mistyped word may stand for it. The list is "" to
 * begin with, and then the end of a message: "; near to it: NAME, NAME". */
void pfdd_near_add(char near[PFDD_NEAR], const char *given, const char *name);

#endif
