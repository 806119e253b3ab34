/* SPDX-License-Identifier: MIT */
/*
 * The code objects and shaders that the entries of the queue need (spool.h),
 * so that these are rendered after a restart although whoever sent them has
 * gone. They lie beside the segments, each once, named by its SHA-256:
 *
 *   queue/objects/SHA256   a code object or module, as it came
 *   queue/strings/NUMBER   a stock: which of them, in which order
 *
 * A stock has what entries of one scope may need. It is made when a chunk is
 * written that needs it, and grows by what comes later, also by what comes
 * after the last entry: entries whose strings come late are rendered with them
 * from then on, after a restart, too. When the daemon has let go of something
 * that a stock has, for room or because a producer has gone, what comes next
 * has another stock. What the daemon let go of before its entries could be
 * written, because the queue was full or the disk failed, is in none. A stock
 * goes with the last segment that speaks of it, an object with the last stock.
 *
 * All of it belongs to the thread of the disk, but for the time before and
 * after there are jobs. manifest.h has what others may read.
 */
#ifndef PFDD_BLOB_STORE_H
#define PFDD_BLOB_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/chunk_objects.h"
#include "spool/spool_record.h"

struct pfdd_blob_store;

/* Of the queue in a folder: what is there is read. NULL: out of memory. dir:
 * borrowed. */
struct pfdd_blob_store *pfdd_blob_store_open(const char *dir);
/* NULL is allowed. */
void pfdd_blob_store_free(struct pfdd_blob_store *blob_store);

/* A segment speaks of a stock; for what is there at the start. */
void pfdd_blob_store_use(struct pfdd_blob_store *blob_store, uint64_t segment,
                         uint64_t stock);
/* A segment has gone. */
void pfdd_blob_store_release(struct pfdd_blob_store *blob_store,
                             uint64_t segment);
/* What no segment speaks of goes. */
void pfdd_blob_store_tidy(struct pfdd_blob_store *blob_store);

/* What there is now, and what the strings of a scope have of their own; held by
 * whoever calls. */
struct pfdd_blob_store_list {
    const struct pfdd_object_lists *of; /* open is NULL: there is nothing */
    const void *list;
    size_t n;
    uint64_t changes;
    const void *own;
    size_t n_own;
    uint64_t n_bytes_max; /* of disk space, with what is there */
};

/* What the scope's entries need is safe on disk when this returns 0, and stays
 * for as long as the segment does; otherwise an errno value, EDQUOT: it would
 * take more than n_bytes_max. */
int pfdd_blob_store_add(struct pfdd_blob_store *blob_store,
                        const struct pfdd_blob_store_list *list, uint64_t scope,
                        uint64_t segment, struct pfdd_manifest *ret);
/* Stocks that are there get what has come since; 0, or an errno value. */
int pfdd_blob_store_extend(struct pfdd_blob_store *blob_store,
                           const struct pfdd_blob_store_list *list);

/* How many objects a stock has, and their bytes, if it is there. */
void pfdd_blob_store_manifest(const struct pfdd_blob_store *blob_store,
                              uint64_t stock, uint32_t *n, size_t *n_bytes);
/* Of disk space: whole blocks, lists as well. */
uint64_t pfdd_blob_store_bytes(const struct pfdd_blob_store *blob_store);
/* Of memory. */
size_t pfdd_blob_store_memory(const struct pfdd_blob_store *blob_store);

#endif
