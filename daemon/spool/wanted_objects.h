/* SPDX-License-Identifier: MIT */
/*
 * The code objects that entries of a scope need, of all that the daemon has now.
 * Digests are remembered from list to list, so that each object is hashed once. The
 * disk thread's.
 */
#ifndef PFDD_WANTED_OBJECTS_H
#define PFDD_WANTED_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sha256.h"
#include "ring/chunk.h"

/* The objects that the daemon has now, and those of the entries' own strings.
 * The caller holds both lists. */
struct pfdd_blob_store_list {
    const struct pfdd_object_lists *of; /* open is NULL: there are no objects */
    const void *list;
    size_t n;
    uint64_t changes;
    const void *own;
    size_t n_own;
    uint64_t n_bytes_max; /* limit of disk space, including existing files */
};

/* An object of the list that was hashed last. */
struct pfdd_seen_object {
    uint64_t number;
    uint64_t scope;
    uint8_t digest[PFDD_SHA256_BYTES];
};

/* All zeros: none was. */
struct pfdd_hashed_list {
    struct pfdd_seen_object *seen; /* [n] */
    size_t n;
    uint64_t changes; /* the list's count of changes */
};

/* Hashes what a list has and the one before did not have. False: out of memory. */
bool pfdd_hashed_list_update(struct pfdd_hashed_list *hashed,
                             const struct pfdd_blob_store_list *list);

/* An object that entries of a scope need; its bytes are the list's. */
struct pfdd_wanted_object {
    struct pfdd_code_object object;
    uint8_t digest[PFDD_SHA256_BYTES];
};

/* Those of the list that was hashed last, in its order, and behind them the entries'
 * own, but descriptions first: [*n], allocated. NULL: out of memory. */
struct pfdd_wanted_object *pfdd_hashed_list_want(
    const struct pfdd_hashed_list *hashed,
    const struct pfdd_blob_store_list *list, uint64_t scope, size_t *n);

void pfdd_hashed_list_deinit(struct pfdd_hashed_list *hashed);
/* Bytes of memory. */
size_t pfdd_hashed_list_memory(const struct pfdd_hashed_list *hashed);

#endif
