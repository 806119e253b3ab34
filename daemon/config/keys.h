/* SPDX-License-Identifier: MIT */
/*
 * The keys of a configuration: one table for each kind of block, by which its
 * values are read (config.c), compared and freed, so that no key can be
 * forgotten in one of these.
 */
#ifndef PFDD_KEYS_H
#define PFDD_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pfdd_key_kind {
    PFDD_KEY_TEXT,
    PFDD_KEY_BOOL,
    PFDD_KEY_NUMBER,
    PFDD_KEY_SIZE,   /* bytes: 32MiB */
    PFDD_KEY_TIME,   /* milliseconds: 100ms, 5s, 1h */
    PFDD_KEY_WORD,   /* one of `words` */
    PFDD_KEY_OPTION, /* one of the library's, in a struct pfd_options */
    PFDD_KEY_MODE,   /* octal */
    PFDD_KEY_NAMES,  /* a list of texts */
    PFDD_KEY_UIDS,
    PFDD_KEY_GIDS,
    PFDD_KEY_BLOCKS, /* a list of mappings; read apart */
};

struct pfdd_key {
    const char *name;
    enum pfdd_key_kind kind;
    size_t at; /* of the member */
    uint64_t min;
    uint64_t max;
    const char *const *words; /* NULL at the end */
};

/* Of struct pfdd_config, pfdd_input_config and pfdd_output_config; a key without
 * a name at the end. */
extern const struct pfdd_key pfdd_top_keys[];
extern const struct pfdd_key pfdd_input_keys[];
extern const struct pfdd_key pfdd_output_keys[];

/* Do a and b say the same? */
bool pfdd_keys_are_same(const struct pfdd_key *keys, const void *a,
                        const void *b);

/* Frees what the members hold. */
void pfdd_keys_free(const struct pfdd_key *keys, void *base);

#endif
