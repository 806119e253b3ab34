/* SPDX-License-Identifier: MIT */
/*
 * The format strings of all code objects that came in. String sets are
 * immutable: a new code object makes a new set that has everything the old one
 * had, and users of the old set may go on with it. Loop thread only; sets are
 * built on a worker.
 *
 * Producers share the space for their code objects: each may have up to three
 * times the space that it leaves to others, and some is reserved for producers
 * that have little. When a producer has gone, its code objects stay for others
 * until they are evicted for space.
 *
 * Validation layers number their shaders in each process anew. So shaders
 * belong to a producer, which has a set of its own with the shared strings and
 * its shaders; that set goes when it is not used any more.
 */
#ifndef PFDD_STRING_STORE_H
#define PFDD_STRING_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/binding.h"
#include "ring/chunk.h"

struct pfdd_ingest;
struct pfdd_description;
struct pfdd_trusted_folder;
struct pfdd_string_store;
struct pfdd_peer;
struct pfdd_producer;

struct pfdd_string_store *pfdd_string_store_new(struct pfdd_ingest *ingest,
                                                size_t n_bytes_max);
/* No build may be in flight. NULL is allowed. */
void pfdd_string_store_free(struct pfdd_string_store *lib);

/* Adds a code object by its path; a worker reads it. */
void pfdd_string_store_add_file(struct pfdd_string_store *lib,
                                const char *path);
/* Likewise a file in a folder, of n bytes. */
void pfdd_string_store_add_from(struct pfdd_string_store *lib,
                                struct pfdd_trusted_folder *trusted_folder,
                                const char *path, size_t n);

/* A code object from memory. */
struct pfdd_object {
    const char *name;
    struct pfdd_producer *producer; /* only its buffers use it; borrowed; NULL:
                                       it is shared */
    struct pfdd_producer
        *owner;        /* its sender, which is charged with it; likewise */
    const void *bytes; /* [n] */
    size_t n;
    bool is_shader; /* a SPIR-V module, and the number by which a layer's
                       records name it */
    uint32_t shader;
    bool is_kept; /* from the fd store (fd_store.h) */
};

/* Takes over bytes (free()). */
void pfdd_string_store_add(struct pfdd_string_store *lib,
                           const struct pfdd_object *object);

/* Adds the code object that a URI names; a worker reads it with the rights of
 * the peer. */
void pfdd_string_store_add_uri(struct pfdd_string_store *lib, const char *uri,
                               struct pfdd_peer *peer,
                               struct pfdd_producer *owner);

/* Makes space for n bytes where there is none: evicts strings that only old
 * chunks use, then code objects of producers that have gone. */
void pfdd_string_store_evict(struct pfdd_string_store *lib, size_t n);

/* True: code objects are being read. */
bool pfdd_string_store_is_busy(const struct pfdd_string_store *lib);

/* True: some of these are of the configuration, or of this producer (NULL:
 * none): buffers that need them should wait. Code objects of other producers
 * are not waited for. */
bool pfdd_string_store_is_busy_for(const struct pfdd_string_store *lib,
                                   const struct pfdd_producer *producer);

/* The binding to the newest set of a producer (NULL: the shared one), borrowed.
 * NULL: out of memory. */
struct pfdd_binding *pfdd_string_store_bind(struct pfdd_string_store *lib,
                                            struct pfdd_producer *producer);

/* A producer, with a reference. NULL: out of memory. */
struct pfdd_producer *pfdd_producer_new(struct pfdd_string_store *lib);
/* Buffers of the producer (NULL: nobody) are read by this description. */
void pfdd_producer_describe(struct pfdd_producer *producer,
                            const struct pfdd_description *description);
/* A producer whose buffers are. NULL: there is no description, or no memory. */
struct pfdd_producer *pfdd_producer_described(
    struct pfdd_string_store *lib, const struct pfdd_description *description);
/* NULL is allowed, here and below. */
struct pfdd_producer *pfdd_producer_ref(struct pfdd_producer *producer);
void pfdd_producer_unref(struct pfdd_producer *producer);
/* Unique; 0 for NULL. */
uint64_t pfdd_producer_number(const struct pfdd_producer *producer);
/* Code objects that only its buffers use. */
size_t pfdd_producer_count(const struct pfdd_producer *producer);

/* Calls fn for each usable code object that a producer sent or named: the
 * shared ones, and those of this producer. */
typedef void (*pfdd_object_fn)(void *user, const struct pfdd_object *object);
void pfdd_string_store_each(const struct pfdd_string_store *lib,
                            const struct pfdd_producer *producer,
                            pfdd_object_fn fn, void *user);

/* All usable code objects, for code that passes chunks on (chunk.h). */
struct pfdd_object_lists pfdd_string_store_objects(
    struct pfdd_string_store *lib);

size_t pfdd_string_store_memory(const struct pfdd_string_store *lib);
/* Grows with each new set. */
uint64_t pfdd_string_store_version(const struct pfdd_string_store *lib);

/* Bytes that a set being built may take beyond that. */
size_t pfdd_string_store_most(const struct pfdd_string_store *lib);
size_t pfdd_string_store_count(const struct pfdd_string_store *lib);

#endif
