/* SPDX-License-Identifier: MIT */
/*
 * Code objects and shaders that entries in the spool need (spool.h). With them
 * entries are rendered after a restart, when their producer may have gone. They
 * are stored beside the segments, once each, named by their SHA-256:
 *
 *   queue/objects/SHA256   a code object or module, as it was received
 *   queue/strings/NUMBER   a manifest: a list of objects, in order
 *
 * A manifest lists the objects that entries of one scope may need. It is made
 * when a chunk that needs it is written. It grows when objects arrive later,
 * also after the last entry: entries whose strings arrive late are rendered
 * with them from then on, also after a restart. When the daemon has evicted an
 * object of a manifest, for memory or because its producer has gone, later
 * entries get a new manifest. Objects evicted before their entries reached the
 * disk (spool full, write error) are in no manifest. A manifest is removed with
 * the last segment that refers to it, an object with the last manifest that
 * lists it.
 *
 * Belongs to the disk thread, except before the first job and after the last.
 * Functions that other threads may call are in manifest.h.
 */
#ifndef PFDD_BLOB_STORE_H
#define PFDD_BLOB_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/chunk.h"
#include "spool/spool_frame.h"
#include "spool/wanted_objects.h"

struct pfdd_blob_store;

/* Reads the manifests in a spool's folder. dir: borrowed. NULL: out of
 * memory. */
struct pfdd_blob_store *pfdd_blob_store_open(const char *dir);
/* NULL is allowed. */
void pfdd_blob_store_free(struct pfdd_blob_store *blob_store);

/* A segment refers to a manifest; used for segments that exist at the start. */
void pfdd_blob_store_use(struct pfdd_blob_store *blob_store, uint64_t segment,
                         uint64_t stock);
/* A segment was removed. */
void pfdd_blob_store_release(struct pfdd_blob_store *blob_store,
                             uint64_t segment);
/* Removes manifests and objects that no segment refers to. */
void pfdd_blob_store_tidy(struct pfdd_blob_store *blob_store);

/* Stores the objects that entries of a scope need. 0: they are safe on disk,
 * for as long as the segment exists. Otherwise an errno value; EDQUOT: they
 * would take more than n_bytes_max. */
int pfdd_blob_store_add(struct pfdd_blob_store *blob_store,
                        const struct pfdd_blob_store_list *list, uint64_t scope,
                        uint64_t segment, struct pfdd_manifest *ret);
/* Adds newly arrived objects to manifests of this run, as many as have room. 0, or
 * an errno value; EDQUOT: some had none. */
int pfdd_blob_store_extend(struct pfdd_blob_store *blob_store,
                           const struct pfdd_blob_store_list *list);

/* The number of a manifest's objects, and their bytes; *n stays as it is if
 * there is no such manifest. */
void pfdd_blob_store_manifest(const struct pfdd_blob_store *blob_store,
                              uint64_t stock, uint32_t *n, size_t *n_bytes);
struct pfdd_blob_store_size {
    uint64_t bytes; /* of disk space, in whole blocks, including manifests */
    size_t memory;  /* bytes */
    size_t n_left;  /* objects that had no room when manifests grew last */
};
struct pfdd_blob_store_size pfdd_blob_store_size(
    const struct pfdd_blob_store *blob_store);

#endif
