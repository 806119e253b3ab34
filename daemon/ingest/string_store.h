/* SPDX-License-Identifier: MIT */
/*
 * The format strings of all code objects that came in. Sets are immutable: a
 * new code object makes a new set that has everything the old one had, and
 * whoever holds the old one may go on with it. Loop thread only; sets are
 * built on a worker.
 *
 * What producers send takes room that they share: one has three times what it
 * leaves at most, and some is kept for those that have little. When it has
 * gone, its code objects stay for others until somebody wants the room.
 *
 * Validation layers number their shaders, each process for itself: these
 * belong to a scope, which has a set of its own with everybody's strings and
 * its shaders, and goes when nobody uses it any more.
 */
#ifndef PFDD_STRING_STORE_H
#define PFDD_STRING_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/binding.h"
#include "ring/chunk_objects.h"

struct pfdd;
struct pfdd_trusted_folder;
struct pfdd_string_store;
struct pfdd_peer;
struct pfdd_producer;

struct pfdd_string_store *pfdd_string_store_new(struct pfdd *d,
                                                size_t n_bytes_max);
/* Nothing may be pending. NULL is allowed. */
void pfdd_string_store_free(struct pfdd_string_store *lib);

/* A code object by its path, read by a worker. */
void pfdd_string_store_add_file(struct pfdd_string_store *lib,
                                const char *path);
/* The same of a file in a folder, of n bytes. */
void pfdd_string_store_add_from(struct pfdd_string_store *lib,
                                struct pfdd_trusted_folder *trusted_folder,
                                const char *path, size_t n);

/* A code object from memory. */
struct pfdd_object {
    const char *name;
    struct pfdd_producer *producer; /* borrowed; NULL: everybody's */
    struct pfdd_producer
        *owner;        /* whose room it takes, likewise; its sender's */
    const void *bytes; /* [n] */
    size_t n;
    bool is_shader; /* a SPIR-V module, and the number that a layer's records
                       call it by */
    uint32_t shader;
    bool is_kept; /* the shelf (fd_store.h) gave it back */
};

/* bytes are taken over (free()). */
void pfdd_string_store_add(struct pfdd_string_store *lib,
                           const struct pfdd_object *object);

/* What a URI names, read by a worker as far as a peer could read it. */
void pfdd_string_store_add_uri(struct pfdd_string_store *lib, const char *uri,
                               struct pfdd_peer *peer,
                               struct pfdd_producer *owner);

/* Where there is no room for somebody who wants n bytes, what only those need
 * goes who have gone: strings of old chunks, then code objects. */
void pfdd_string_store_evict(struct pfdd_string_store *lib, size_t n);

/* True: code objects are being read. */
bool pfdd_string_store_is_busy(const struct pfdd_string_store *lib);

/* True: some of these are the configuration's, or of the producer whose scope
 * it is (NULL: nobody's): what needs them should wait. Others' are not waited
 * for. */
bool pfdd_string_store_is_busy_for(const struct pfdd_string_store *lib,
                                   const struct pfdd_producer *producer);

/* What is read with the newest set of a scope (NULL: everybody's), borrowed.
 * NULL: out of memory. */
struct pfdd_binding *pfdd_string_store_bind(struct pfdd_string_store *lib,
                                            struct pfdd_producer *producer);

/* A scope, with a reference; NULL: out of memory. */
struct pfdd_producer *pfdd_producer_new(struct pfdd_string_store *lib);
/* NULL is allowed, here and below. */
struct pfdd_producer *pfdd_producer_ref(struct pfdd_producer *producer);
void pfdd_producer_unref(struct pfdd_producer *producer);
/* No other one's; 0 is NULL's. */
uint64_t pfdd_producer_number(const struct pfdd_producer *producer);
/* Code objects that came into it. */
size_t pfdd_producer_count(const struct pfdd_producer *producer);

/* Each code object that a producer sent or named, and that can be used:
 * everybody's, and those of the scope. */
typedef void (*pfdd_object_fn)(void *user, const struct pfdd_object *object);
void pfdd_string_store_each(const struct pfdd_string_store *lib,
                            const struct pfdd_producer *producer,
                            pfdd_object_fn fn, void *user);

/* For who passes entries on: all that can be used. */
struct pfdd_object_lists pfdd_string_store_objects(
    struct pfdd_string_store *lib);

size_t pfdd_string_store_memory(const struct pfdd_string_store *lib);
/* Grows with each new set. */
uint64_t pfdd_string_store_version(const struct pfdd_string_store *lib);

/* More than that it may take for a set that is being made. */
size_t pfdd_string_store_most(const struct pfdd_string_store *lib);
size_t pfdd_string_store_count(const struct pfdd_string_store *lib);

#endif
