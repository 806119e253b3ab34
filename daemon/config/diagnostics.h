/* SPDX-License-Identifier: MIT */
/*
 * What is wrong with a configuration, and where: each complaint is told with
 * the line and the column of the value that it is about.
 */
#ifndef PFDD_DIAGNOSTICS_H
#define PFDD_DIAGNOSTICS_H

#include <stdbool.h>
#include <stddef.h>

/* Takes one line that says what is wrong and where. */
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

/* Always false, for whoever returns it. */
__attribute__((format(printf, 3, 4))) bool pfdd_diagnostics_add_at(
    struct pfdd_diagnostics *c, struct pfdd_place at, const char *text, ...);

enum {
    PFDD_KEYS_MAX = 64 /* of one block */
};

/* The keys that a block gives, and where. */
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

/* About the value of a key, or, where it is not given, the block. */
__attribute__((format(printf, 3, 4))) void pfdd_diagnostics_add(
    const struct pfdd_places *places, const char *key, const char *text, ...);

#endif
