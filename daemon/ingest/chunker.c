/* SPDX-License-Identifier: MIT */
#include "ingest/chunker.h"

enum {
    CHUNK = 16 * 1024, /* bytes of a chunk, but for its last item: a page of
                          JSON, about */
    PARTS = 8,         /* of runs: each ends with a chunk that is not full */
};

void pfdd_made_init(struct pfdd_made *made)
{
    *made = (struct pfdd_made){ .end = &made->first };
}

void pfdd_made_move(struct pfdd_made *to, struct pfdd_made *from)
{
    *to = *from;
    if (!to->first)
        to->end = &to->first;
    pfdd_made_init(from);
}

void pfdd_made_drop(struct pfdd_made *made)
{
    while (made->first) {
        struct pfdd_chunk *c = made->first;
        made->first = c->next;
        pfdd_chunk_unref(c);
    }
    pfdd_made_init(made);
}

/* Behind what it has. */
static void join(struct pfdd_made *to, struct pfdd_made *from)
{
    if (from->first) {
        *to->end = from->first;
        to->end = from->end;
    }
    to->n += from->n;
    to->n_entries += from->n_entries;
    to->lost += from->lost;
    pfdd_made_init(from);
}

static void add_chunk(struct pfdd_made *made, struct pfdd_chunk *c)
{
    *made->end = c;
    made->end = &c->next;
    made->n += pfdd_chunk_bytes(c);
    made->n_entries += c->contents.n[PFDD_ENTRY];
}

bool pfdd_made_add(struct pfdd_made *made, const struct pfd_wire_frame *frame,
                   const struct pfd_chunk_counts *counts)
{
    struct pfdd_contents contents = {
        .n = { [PFDD_ENTRY] = (uint32_t)counts->entries,
               [PFDD_FINDING] = (uint32_t)counts->findings,
               [PFDD_GAP] = (uint32_t)counts->gaps },
        .generation = frame->generation,
        .last = { frame->generation, counts->index, counts->offset },
        .last_bytes = counts->n_bytes,
    };
    if (!counts->entries && !counts->findings && !counts->gaps)
        return true;
    struct pfdd_chunk *c =
        pfdd_chunk_new(&contents, frame->bytes.at, frame->bytes.n);
    if (c)
        add_chunk(made, c);
    return c;
}

bool pfdd_maker_init(struct pfdd_maker *maker)
{
    *maker = (struct pfdd_maker){ 0 };
    pfdd_made_init(&maker->made);
    return pfd_chunk_writer_new(&maker->writer, NULL) == PFD_OK;
}

void pfdd_maker_deinit(struct pfdd_maker *maker)
{
    pfdd_made_drop(&maker->made);
    pfd_chunk_writer_free(maker->writer);
}

bool pfdd_maker_has_entries(const struct pfdd_maker *maker)
{
    return maker->made.n_entries || maker->contents.n[PFDD_ENTRY];
}

void pfdd_maker_cut(struct pfdd_maker *maker)
{
    size_t n = 0;
    if (pfd_chunk_size(maker->writer) == 0)
        return;
    const void *bytes = pfd_chunk_finish(maker->writer, &n);
    struct pfdd_chunk *c =
        bytes ? pfdd_chunk_new(&maker->contents, bytes, n) : NULL;
    if (c) {
        add_chunk(&maker->made, c);
    } else {
        maker->made.lost += maker->contents.n[PFDD_ENTRY];
    }
    maker->contents = (struct pfdd_contents){ 0 };
}

static enum pfd_status add_entry(struct pfdd_maker *maker,
                                 const struct pfd_entry *entry,
                                 uint64_t generation)
{
    struct pfdd_contents *contents = &maker->contents;
    enum pfd_status status = pfd_chunk_add_entry(maker->writer, entry, NULL);
    if (status == PFD_ERR_USAGE) { /* of another format */
        pfdd_maker_cut(maker);
        contents->generation = generation;
        status = pfd_chunk_add_entry(maker->writer, entry, NULL);
    }
    contents->last =
        (struct pfdd_source_offset){ generation, entry->index, entry->offset };
    contents->last_bytes = entry->n_bytes;
    return status;
}

/* The chunk is one of this generation, and not full. */
static void begin(struct pfdd_maker *maker, uint64_t generation)
{
    if (maker->contents.generation != generation ||
        pfd_chunk_size(maker->writer) > CHUNK)
        pfdd_maker_cut(maker);
    maker->contents.generation = generation;
}

static enum pfd_status add_run(struct pfdd_maker *maker,
                               const struct pfd_entry_run *entry_run,
                               size_t *from, uint64_t generation)
{
    struct pfdd_contents *contents = &maker->contents;
    struct pfd_entry last;
    enum pfd_status status =
        pfd_chunk_add_run(maker->writer, entry_run, from, CHUNK, NULL);
    if (status == PFD_ERR_USAGE) { /* of another format */
        pfdd_maker_cut(maker);
        contents->generation = generation;
        status = pfd_chunk_add_run(maker->writer, entry_run, from, CHUNK, NULL);
    }
    pfd_entry_run_entry(entry_run, *from - 1, &last);
    contents->last =
        (struct pfdd_source_offset){ generation, last.index, last.offset };
    contents->last_bytes = last.n_bytes;
    return status;
}

size_t pfdd_maker_put_run(struct pfdd_maker *maker,
                          const struct pfd_entry_run *entry_run, size_t from,
                          uint64_t generation)
{
    size_t end = from;
    begin(maker, generation);
    if (add_run(maker, entry_run, &end, generation) == PFD_OK) {
        maker->contents.n[PFDD_ENTRY] += (uint32_t)(end - from);
    } else {
        maker->made.lost += end - from;
    }
    return end;
}

/* ---- runs that come together ---- */

struct parts {
    struct pfdd_maker makers[PARTS];
    const struct pfd_entry_run *const *entry_runs; /* [n] */
    size_t n;
    size_t n_each; /* of a part, but for the last one */
    uint64_t generation;
};

static void put_run(struct pfdd_maker *maker,
                    const struct pfd_entry_run *entry_run, uint64_t generation)
{
    size_t n = pfd_entry_run_count(entry_run);
    for (size_t from = 0; from < n;)
        from = pfdd_maker_put_run(maker, entry_run, from, generation);
}

static void make_part(void *user, size_t i)
{
    struct parts *parts = user;
    struct pfdd_maker *maker = &parts->makers[i];
    size_t from = i * parts->n_each;
    size_t to =
        from + parts->n_each < parts->n ? from + parts->n_each : parts->n;
    bool ok = pfdd_maker_init(maker);
    for (; from < to; from++) {
        if (ok) {
            put_run(maker, parts->entry_runs[from], parts->generation);
        } else {
            maker->made.lost += pfd_entry_run_count(parts->entry_runs[from]);
        }
    }
    if (ok)
        pfdd_maker_cut(maker);
}

void pfdd_maker_put_runs(struct pfdd_maker *maker, struct pfd_tail *tail,
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
    pfdd_maker_cut(maker);
    pfd_tail_share(tail, n_parts, make_part, &parts);
    for (size_t i = 0; i < n_parts; i++) {
        join(&maker->made, &parts.makers[i].made);
        pfdd_maker_deinit(&parts.makers[i]);
    }
}

/* ---- items ---- */

void pfdd_maker_put(struct pfdd_maker *maker, const struct pfd_tail_item *item,
                    uint64_t generation)
{
    begin(maker, generation);
    enum pfd_status status =
        item->is_entry
            ? add_entry(maker, item->entry, generation)
            : pfd_chunk_add_finding(maker->writer, item->finding, NULL);
    if (status == PFD_OK) {
        maker->contents.n[item->is_entry ? PFDD_ENTRY : PFDD_FINDING]++;
    } else {
        maker->made.lost += item->is_entry;
    }
}
