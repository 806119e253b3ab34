/* SPDX-License-Identifier: MIT */
#include "spool/group_commit.h"

#include <errno.h>
#include <stdlib.h>

enum {
    BYTES = 256 * 1024, /* of chunks, except the last one */
};

/* ---- buffers ---- */

static void free_place(struct pfdd_group_commit_place *place)
{
    pfdd_buffer_unref(place->buffer);
    *place = (struct pfdd_group_commit_place){ 0 };
}

void pfdd_group_commit_forget(struct pfdd_group_commit *b)
{
    for (unsigned i = 0; i < PFDD_PLACES; i++)
        b->places[i].is_described = false;
}

void pfdd_group_commit_deinit(struct pfdd_group_commit *b)
{
    pfdd_group_commit_drop(b);
    for (unsigned i = 0; i < PFDD_PLACES; i++)
        free_place(&b->places[i]);
}

/* Frees places of buffers that get no more chunks. */
static void sweep(struct pfdd_group_commit *b)
{
    for (unsigned i = 0; i < PFDD_PLACES; i++) {
        if (b->places[i].buffer && b->places[i].buffer->refs == 1)
            free_place(&b->places[i]);
    }
}

/* A buffer's place in the segment; PFDD_PLACES: it has none. */
static uint32_t find_place(const struct pfdd_group_commit *b,
                           const struct pfdd_buffer *buffer)
{
    uint32_t i = 0;
    while (i < PFDD_PLACES && b->places[i].buffer != buffer)
        i++;
    return i;
}

static uint32_t take_place(struct pfdd_group_commit *b,
                           struct pfdd_buffer *buffer)
{
    uint32_t i = b->next_place;
    b->next_place = (i + 1) % PFDD_PLACES;
    free_place(&b->places[i]);
    b->places[i].buffer = pfdd_buffer_ref(buffer);
    return i;
}

/* Sets the item's place, and the buffer's description if the segment lacks
 * it. */
static bool set_place(struct pfdd_group_commit *b,
                      struct pfdd_group_commit_item *item)
{
    struct pfdd_buffer *buffer = item->chunk->buffer;
    item->place = find_place(b, buffer);
    if (item->place == PFDD_PLACES)
        item->place = take_place(b, buffer);
    if (b->places[item->place].is_described)
        return true;
    item->description =
        pfdd_spool_record_of_buffer(buffer, item->place, &item->n_description);
    if (!item->description)
        return false;
    b->places[item->place].is_described = true;
    b->n_bytes += PFDD_SPOOL_RECORD_HEADER + item->n_description;
    return true;
}

/* ---- chunks ---- */

/* The written bytes of a chunk. A chunk beyond the size of a record is cut; its
 * readers get a gap for the rest. */
static size_t n_written(const struct pfdd_chunk *c)
{
    size_t max = PFDD_SPOOL_RECORD_MAX - PFDD_SPOOL_RECORD_CHUNK;
    return c->n < max ? c->n : max;
}

bool pfdd_group_commit_gather(struct pfdd_group_commit *b,
                              const struct pfdd_ring *ring, uint64_t seq)
{
    size_t i = pfdd_ring_find(ring, seq);
    b->n = b->n_bytes = 0;
    while (i < ring->n_chunks && b->n < PFDD_GROUP_COMMIT_CHUNKS &&
           b->n_bytes < BYTES) {
        struct pfdd_chunk *c = pfdd_ring_at(ring, i++);
        struct pfdd_group_commit_item *item = &b->items[b->n];
        *item = (struct pfdd_group_commit_item){ .chunk = c };
        if (!set_place(b, item))
            return false;
        pfdd_chunk_ref(c);
        item->strings = pfdd_strings_ref(c->buffer->binding->strings);
        b->n_bytes +=
            PFDD_SPOOL_RECORD_HEADER + PFDD_SPOOL_RECORD_CHUNK + n_written(c);
        b->end = c->first_seq + c->n_items;
        b->n++;
    }
    return true;
}

static void let_go(struct pfdd_group_commit *b)
{
    while (b->n) {
        struct pfdd_group_commit_item *item = &b->items[--b->n];
        pfdd_strings_unref(item->strings);
        pfdd_chunk_unref(item->chunk);
        free(item->description);
    }
}

/* The segment does not have the buffers that the items describe. */
void pfdd_group_commit_drop(struct pfdd_group_commit *b)
{
    for (size_t i = 0; i < b->n; i++) {
        if (b->items[i].description)
            b->places[b->items[i].place].is_described = false;
    }
    let_go(b);
}

void pfdd_group_commit_done(struct pfdd_group_commit *b)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct pfdd_group_commit_item *item = &b->items[i];
        struct pfdd_group_commit_place *place = &b->places[item->place];
        if (item->manifest.number && place->buffer == item->chunk->buffer)
            place->last_manifest = item->manifest.number;
    }
    let_go(b);
    sweep(b);
}

struct pfdd_strings *pfdd_group_commit_strings(
    const struct pfdd_group_commit *b, uint64_t stock)
{
    for (unsigned i = 0; i < PFDD_PLACES; i++) {
        const struct pfdd_buffer *buffer = b->places[i].buffer;
        /* A binding that was left behind gets no late strings, and a trimmed
         * one lacks some; the blob store has both. */
        if (buffer && b->places[i].last_manifest == stock &&
            !buffer->binding->of && !buffer->binding->is_trimmed)
            return buffer->binding->strings;
    }
    return NULL;
}

/* ---- on the disk thread ---- */

/* A chunk without entries needs no strings. */
static int find_manifest(const struct pfdd_group_commit *b, size_t i,
                         struct pfdd_blob_store *blob_store,
                         const struct pfdd_blob_store_list *list,
                         uint64_t segment, struct pfdd_manifest *ret)
{
    const struct pfdd_chunk *c = b->items[i].chunk;
    const struct pfdd_group_commit_item *before =
        i > 0 ? &b->items[i - 1] : NULL;
    *ret = (struct pfdd_manifest){ 0 };
    if (!c->contents.n[PFDD_ENTRY])
        return 0;
    if (before && before->manifest.number &&
        before->strings == b->items[i].strings &&
        before->chunk->buffer->frame->scope == c->buffer->frame->scope) {
        *ret = before->manifest;
        return 0;
    }
    struct pfdd_blob_store_list all = *list;
    all.own = b->items[i].strings->own;
    all.n_own = b->items[i].strings->n_own;
    return pfdd_blob_store_add(blob_store, &all, c->buffer->frame->scope,
                               segment, ret);
}

static bool put(struct pfdd_segment_writer *w,
                const struct pfdd_group_commit_item *item)
{
    const struct pfdd_chunk *c = item->chunk;
    char head[PFDD_SPOOL_RECORD_CHUNK];
    struct pfdd_spool_record_head said = { .place = item->place,
                                           .manifest = item->manifest,
                                           .time = c->time,
                                           .contents = c->contents };
    pfdd_spool_record_put(head, &said);
    return (!item->description ||
            pfdd_segment_put(w, 0, item->description, item->n_description, "",
                             0)) &&
           pfdd_segment_put(w, c->first_seq, head, sizeof head, c->bytes,
                            n_written(c));
}

int pfdd_group_commit_write(struct pfdd_group_commit *b,
                            struct pfdd_segment_writer *w, const char *dir,
                            const struct pfdd_segment_place *place,
                            struct pfdd_blob_store *blob_store,
                            const struct pfdd_blob_store_list *list)
{
    w->n = 0;
    for (size_t i = 0; i < b->n; i++) {
        int error = find_manifest(b, i, blob_store, list, place->segment,
                                  &b->items[i].manifest);
        if (error)
            return error;
        if (!put(w, &b->items[i]))
            return ENOMEM;
    }
    return pfdd_segment_write(w, dir, place);
}
