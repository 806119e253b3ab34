/* SPDX-License-Identifier: MIT */
#include "ingest/chunker.h"

#include "core/decode/entry_run.h"
#include "stream/capture/chunk.h"
#include "stream/live/tail_control.h"

enum {
    CHUNK = 16 * 1024, /* bytes of a chunk, without its last item: about a
                          rendered block of JSON */
    PARTS = 8,         /* slices of runs: each ends with a chunk that is not
                          full */
};

void pfdd_chunk_batch_init(struct pfdd_chunk_batch *chunk_batch)
{
    *chunk_batch = (struct pfdd_chunk_batch){ .end = &chunk_batch->first };
}

void pfdd_chunk_batch_move(struct pfdd_chunk_batch *to,
                           struct pfdd_chunk_batch *from)
{
    *to = *from;
    if (!to->first)
        to->end = &to->first;
    pfdd_chunk_batch_init(from);
}

void pfdd_chunk_batch_drop(struct pfdd_chunk_batch *chunk_batch)
{
    while (chunk_batch->first) {
        struct pfdd_chunk *c = chunk_batch->first;
        chunk_batch->first = c->next;
        pfdd_chunk_unref(c);
    }
    pfdd_chunk_batch_init(chunk_batch);
}

/* Appends the chunks of `from` to `to`. */
static void join(struct pfdd_chunk_batch *to, struct pfdd_chunk_batch *from)
{
    if (from->first) {
        *to->end = from->first;
        to->end = from->end;
    }
    to->n += from->n;
    to->n_entries += from->n_entries;
    to->lost += from->lost;
    pfdd_chunk_batch_init(from);
}

static void add_chunk(struct pfdd_chunk_batch *chunk_batch,
                      struct pfdd_chunk *c)
{
    *chunk_batch->end = c;
    chunk_batch->end = &c->next;
    chunk_batch->n += pfdd_chunk_bytes(c);
    chunk_batch->n_entries += c->contents.n[PFDD_ENTRY];
}

bool pfdd_chunk_batch_add(struct pfdd_chunk_batch *chunk_batch,
                          const struct pfd_wire_frame *frame,
                          const struct pfd_chunk_counts *counts)
{
    struct pfdd_contents contents = {
        .n = { [PFDD_ENTRY] = (uint32_t)counts->entries,
               [PFDD_FINDING] = (uint32_t)counts->findings,
               [PFDD_GAP] = (uint32_t)counts->gaps },
        .generation = frame->generation,
        .last = { .generation = frame->generation,
                  .index = counts->index,
                  .offset = counts->offset },
        .last_bytes = counts->n_bytes,
    };
    if (!counts->entries && !counts->findings && !counts->gaps)
        return true;
    struct pfdd_chunk *c =
        pfdd_chunk_new(&contents, frame->bytes.at, frame->bytes.n);
    if (c)
        add_chunk(chunk_batch, c);
    return c;
}

bool pfdd_chunker_init(struct pfdd_chunker *chunker)
{
    *chunker = (struct pfdd_chunker){ 0 };
    pfdd_chunk_batch_init(&chunker->chunk_batch);
    return pfd_chunk_writer_new(&chunker->writer, NULL) == PFD_OK;
}

void pfdd_chunker_deinit(struct pfdd_chunker *chunker)
{
    pfdd_chunk_batch_drop(&chunker->chunk_batch);
    pfd_chunk_writer_free(chunker->writer);
}

bool pfdd_chunker_has_entries(const struct pfdd_chunker *chunker)
{
    return chunker->chunk_batch.n_entries || chunker->contents.n[PFDD_ENTRY];
}

void pfdd_chunker_cut(struct pfdd_chunker *chunker)
{
    size_t n = 0;
    if (pfd_chunk_size(chunker->writer) == 0)
        return;
    const void *bytes = pfd_chunk_finish(chunker->writer, &n);
    struct pfdd_chunk *c =
        bytes ? pfdd_chunk_new(&chunker->contents, bytes, n) : NULL;
    if (c) {
        add_chunk(&chunker->chunk_batch, c);
    } else {
        chunker->chunk_batch.lost += chunker->contents.n[PFDD_ENTRY];
    }
    chunker->contents = (struct pfdd_contents){ 0 };
}

static enum pfd_status add_entry(struct pfdd_chunker *chunker,
                                 const struct pfd_entry *entry,
                                 uint64_t generation)
{
    struct pfdd_contents *contents = &chunker->contents;
    enum pfd_status status = pfd_chunk_add_entry(chunker->writer, entry, NULL);
    if (status == PFD_ERR_USAGE) { /* of another format */
        pfdd_chunker_cut(chunker);
        contents->generation = generation;
        status = pfd_chunk_add_entry(chunker->writer, entry, NULL);
    }
    contents->last = (struct pfdd_source_offset){ .generation = generation,
                                                  .index = entry->index,
                                                  .offset = entry->offset };
    contents->last_bytes = entry->n_bytes;
    return status;
}

/* Ensures that the chunk being written is of this generation, and not full. */
static void begin(struct pfdd_chunker *chunker, uint64_t generation)
{
    if (chunker->contents.generation != generation ||
        pfd_chunk_size(chunker->writer) > CHUNK)
        pfdd_chunker_cut(chunker);
    chunker->contents.generation = generation;
}

static enum pfd_status add_run(struct pfdd_chunker *chunker,
                               const struct pfd_entry_run *entry_run,
                               size_t *from, uint64_t generation)
{
    struct pfdd_contents *contents = &chunker->contents;
    struct pfd_entry last;
    enum pfd_status status =
        pfd_chunk_add_run(chunker->writer, entry_run, from, CHUNK, NULL);
    if (status == PFD_ERR_USAGE) { /* of another format */
        pfdd_chunker_cut(chunker);
        contents->generation = generation;
        status =
            pfd_chunk_add_run(chunker->writer, entry_run, from, CHUNK, NULL);
    }
    pfd_entry_run_entry(entry_run, *from - 1, &last);
    contents->last = (struct pfdd_source_offset){ .generation = generation,
                                                  .index = last.index,
                                                  .offset = last.offset };
    contents->last_bytes = last.n_bytes;
    return status;
}

size_t pfdd_chunker_put_run(struct pfdd_chunker *chunker,
                            const struct pfd_entry_run *entry_run, size_t from,
                            uint64_t generation)
{
    size_t end = from;
    begin(chunker, generation);
    if (add_run(chunker, entry_run, &end, generation) == PFD_OK) {
        chunker->contents.n[PFDD_ENTRY] += (uint32_t)(end - from);
    } else {
        chunker->chunk_batch.lost += end - from;
    }
    return end;
}

/* ---- several runs at once ---- */

struct parts {
    struct pfdd_chunker chunkers[PARTS];
    const struct pfd_entry_run *const *entry_runs; /* [n] */
    size_t n;
    size_t n_each; /* runs of a slice, but for the last one */
    uint64_t generation;
};

static void put_run(struct pfdd_chunker *chunker,
                    const struct pfd_entry_run *entry_run, uint64_t generation)
{
    size_t n = pfd_entry_run_count(entry_run);
    for (size_t from = 0; from < n;)
        from = pfdd_chunker_put_run(chunker, entry_run, from, generation);
}

static void make_part(void *user, size_t i)
{
    struct parts *parts = user;
    struct pfdd_chunker *chunker = &parts->chunkers[i];
    size_t from = i * parts->n_each;
    size_t to =
        from + parts->n_each < parts->n ? from + parts->n_each : parts->n;
    bool ok = pfdd_chunker_init(chunker);
    for (; from < to; from++) {
        if (ok) {
            put_run(chunker, parts->entry_runs[from], parts->generation);
        } else {
            chunker->chunk_batch.lost +=
                pfd_entry_run_count(parts->entry_runs[from]);
        }
    }
    if (ok)
        pfdd_chunker_cut(chunker);
}

void pfdd_chunker_put_runs(struct pfdd_chunker *chunker, struct pfd_tail *tail,
                           const struct pfd_entry_run *const *entry_runs,
                           size_t n, uint64_t generation)
{
    struct parts parts = {
        .entry_runs = entry_runs,
        .n = n,
        .n_each = (n + PARTS - 1) / PARTS,
        .generation = generation,
    };
    size_t n_parts = (n + parts.n_each - 1) / parts.n_each;
    pfdd_chunker_cut(chunker);
    pfd_tail_share(tail, n_parts, make_part, &parts);
    for (size_t i = 0; i < n_parts; i++) {
        join(&chunker->chunk_batch, &parts.chunkers[i].chunk_batch);
        pfdd_chunker_deinit(&parts.chunkers[i]);
    }
}

/* ---- items ---- */

void pfdd_chunker_put(struct pfdd_chunker *chunker,
                      const struct pfd_tail_item *item, uint64_t generation)
{
    begin(chunker, generation);
    enum pfd_status status =
        item->is_entry
            ? add_entry(chunker, item->entry, generation)
            : pfd_chunk_add_finding(chunker->writer, item->finding, NULL);
    if (status == PFD_OK) {
        chunker->contents.n[item->is_entry ? PFDD_ENTRY : PFDD_FINDING]++;
    } else {
        chunker->chunk_batch.lost += item->is_entry;
    }
}
