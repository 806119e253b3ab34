/* SPDX-License-Identifier: MIT */
/*
 * A ring of slots, each with a chunk or a slice of a run. The caller fills the
 * next slot. Workers take full slots in order and render their lines; the one
 * that has rendered the next slots to be written writes them. A thread sleeps
 * only if there is nothing to do. A caller that has to wait works, too.
 */
#include "stream/pipeline/ordered_render.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/thread.h"
#include "core/base/thread_pool.h"
#include "core/decode/entry_run.h"
#include "core/output/lines.h"
#include "stream/capture/chunk.h"
#include "stream/pipeline/ordered_output.h"

enum {
    THREADS_MAX = 64,
    THREADS_DEFAULT = 8,
    SHEETS_EACH = 4, /* slots for a thread, of which the caller is one: half of
                        them are filled while the others are rendered and
                        written */
    RUN_BYTES = 32 << 10, /* of a slot: its lines stay in the cache */
};

struct slot {
    struct pfd_pool_job job;
    struct pfd_ordered_render *of;
    uint64_t number;
    struct pfd_chunk_writer *chunk;
    struct pfd_entry_run_copy run;
    struct pfd_lines *lines;
    struct pfd_ordered_render_place place;
    const void *bytes; /* [n], of the chunk; NULL: the slot has a run */
    size_t n;
    bool is_full;
};

struct pfd_ordered_render {
    struct pfd_ordered_render_options o;
    struct pfd_thread_pool *threads;
    struct pfd_ordered_output output; /* of slots */
    struct slot *slots;               /* [n_slots], by number */
    size_t n_slots;
    uint64_t n_full; /* slots, since the beginning; the caller's alone */
    atomic_int status;
};

/* The first failure stays. */
static void note(struct pfd_ordered_render *ordered_render,
                 enum pfd_status status)
{
    int none = PFD_OK;
    atomic_compare_exchange_strong(&ordered_render->status, &none, status);
}

enum pfd_status pfd_ordered_render_status(
    const struct pfd_ordered_render *ordered_render)
{
    return (enum pfd_status)atomic_load(&ordered_render->status);
}

/* ---- workers ---- */

static enum pfd_status print_items(struct pfd_chunk_reader *reader,
                                   struct pfd_lines *lines)
{
    struct pfd_chunk_item item;
    enum pfd_status status;
    while ((status = pfd_chunk_reader_next(reader, &item, NULL)) == PFD_OK) {
        if (item.type != PFD_CHUNK_ENTRY)
            return PFD_ERR_CORRUPT;
        pfd_lines_entry(lines, &item.entry);
    }
    return status == PFD_END ? PFD_OK : status;
}

static enum pfd_status print_chunk(const struct slot *slot)
{
    const struct pfd_ordered_render_place *place = &slot->place;
    struct pfd_chunk_reader *reader = NULL;
    enum pfd_status status = pfd_chunk_reader_new(
        place->strings, place->source, place->options, &reader, NULL);
    if (status == PFD_OK)
        status = pfd_chunk_reader_open(reader, slot->bytes, slot->n, NULL);
    if (status == PFD_OK)
        status = print_items(reader, slot->lines);
    pfd_chunk_reader_free(reader);
    return status;
}

static enum pfd_status print_run(const struct slot *slot)
{
    const struct pfd_ordered_render_place *place = &slot->place;
    const struct pfd_options defaults = { 0 };
    struct pfd_entry_source of;
    bool ok = pfd_entry_source_init(&of, place->source);
    pfd_entry_source_set(&of, place->strings, slot->run.format,
                         place->options ? place->options : &defaults);
    const struct pfd_entry_run entry_run =
        pfd_entry_run_copy_view(&slot->run, &of);
    if (ok)
        pfd_lines_run(slot->lines, &entry_run);
    pfd_entry_source_deinit(&of);
    return ok ? PFD_OK : PFD_ERR_NOMEM;
}

static enum pfd_status print_sheet(const struct slot *slot)
{
    const struct pfd_ordered_render_place *place = &slot->place;
    pfd_lines_set_buffer(slot->lines, place->buffer);
    pfd_lines_set_place(slot->lines, place->generation, UINT64_MAX);
    pfd_lines_set_time(slot->lines, place->time);
    return slot->bytes ? print_chunk(slot) : print_run(slot);
}

static enum pfd_status write_sheet(
    const struct pfd_ordered_render *ordered_render, const struct slot *slot)
{
    size_t n = 0;
    const char *bytes = pfd_lines_bytes(slot->lines, &n);
    if (!bytes && n)
        return PFD_ERR_NOMEM;
    bool ok = !n || ordered_render->o.write(ordered_render->o.user, bytes, n);
    pfd_lines_clear(slot->lines);
    return ok ? PFD_OK : PFD_ERR_STOPPED;
}

static void render_slot(struct pfd_pool_job *job, size_t i)
{
    struct slot *slot = (void *)job;
    struct pfd_ordered_render *ordered_render = slot->of;
    (void)i;
    if (pfd_ordered_render_status(ordered_render) == PFD_OK)
        note(ordered_render, print_sheet(slot));
    (void)pfd_ordered_output_put(&ordered_render->output, slot->number, slot,
                                 true);
}

static void write_slot(void *user, void *product)
{
    struct pfd_ordered_render *ordered_render = user;
    if (pfd_ordered_render_status(ordered_render) == PFD_OK)
        note(ordered_render, write_sheet(ordered_render, product));
}

/* ---- the caller ---- */

static size_t thread_count(unsigned wanted)
{
    if (wanted)
        return wanted < THREADS_MAX ? wanted : THREADS_MAX;
    unsigned n = pfd_processor_count();
    return n < 2 ? 1 : n > THREADS_DEFAULT ? THREADS_DEFAULT : n - 1;
}

static bool make_sheets(struct pfd_ordered_render *ordered_render, size_t n)
{
    if (!pfd_ordered_output_init(&ordered_render->output, n, write_slot,
                                 ordered_render))
        return false;
    ordered_render->slots = calloc(n, sizeof *ordered_render->slots);
    if (!ordered_render->slots)
        return false;
    ordered_render->n_slots = n;
    for (size_t i = 0; i < n; i++) {
        struct slot *slot = &ordered_render->slots[i];
        slot->job = (struct pfd_pool_job){ .run = render_slot, .n = 1 };
        slot->of = ordered_render;
        slot->lines = ordered_render->o.lines(ordered_render->o.user);
        if (!slot->lines || pfd_chunk_writer_new(&slot->chunk, NULL) != PFD_OK)
            return false;
    }
    return true;
}

enum pfd_status pfd_ordered_render_new(
    const struct pfd_ordered_render_options *options,
    struct pfd_ordered_render **ret, struct pfd_error *err)
{
    size_t n = thread_count(options->threads);
    struct pfd_ordered_render *ordered_render =
        calloc(1, sizeof *ordered_render);
    if (!ordered_render)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    ordered_render->o = *options;
    ordered_render->threads = pfd_thread_pool_new(n);
    if (!make_sheets(ordered_render, SHEETS_EACH * (n + 1)) ||
        !ordered_render->threads) {
        pfd_ordered_render_free(ordered_render);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    if (!pfd_thread_pool_start(ordered_render->threads)) {
        pfd_ordered_render_free(ordered_render);
        return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                        "no thread could be started");
    }
    *ret = ordered_render;
    return PFD_OK;
}

void pfd_ordered_render_free(struct pfd_ordered_render *ordered_render)
{
    if (!ordered_render)
        return;
    note(ordered_render, PFD_ERR_STOPPED);
    pfd_thread_pool_free(ordered_render->threads);
    for (size_t i = 0; i < ordered_render->n_slots; i++) {
        pfd_chunk_writer_free(ordered_render->slots[i].chunk);
        pfd_entry_run_copy_deinit(&ordered_render->slots[i].run);
        pfd_lines_free(ordered_render->slots[i].lines);
    }
    pfd_ordered_output_deinit(&ordered_render->output);
    free(ordered_render->slots);
    free(ordered_render);
}

/* Waits until at most n slots are not written; meanwhile renders slots that no
 * worker has taken. */
static void await_written(struct pfd_ordered_render *ordered_render, size_t n)
{
    if (ordered_render->n_full <= n)
        return;
    uint64_t number = ordered_render->n_full - n;
    while (!pfd_ordered_output_has(&ordered_render->output, number) &&
           pfd_thread_pool_help(ordered_render->threads))
        ;
    pfd_ordered_output_await(&ordered_render->output, number);
}

/* The i-th slot to be filled. */
static struct slot *next_sheet(const struct pfd_ordered_render *ordered_render,
                               size_t i)
{
    return &ordered_render
                ->slots[(ordered_render->n_full + i) % ordered_render->n_slots];
}

/* Waits until the next n slots are empty: they become empty in order. */
static void await_sheets(struct pfd_ordered_render *ordered_render, size_t n)
{
    if (!next_sheet(ordered_render, n - 1)->is_full)
        return;
    await_written(ordered_render, ordered_render->n_slots - n);
    for (size_t i = 0; i < n; i++)
        next_sheet(ordered_render, i)->is_full = false;
}

static struct slot *await_sheet(struct pfd_ordered_render *ordered_render)
{
    await_sheets(ordered_render, 1);
    return next_sheet(ordered_render, 0);
}

struct pfd_chunk_writer *pfd_ordered_render_chunk(
    struct pfd_ordered_render *ordered_render)
{
    return await_sheet(ordered_render)->chunk;
}

/* Submits a slot; not ok: there was no memory for its contents. */
static void give(struct pfd_ordered_render *ordered_render, struct slot *slot,
                 const struct pfd_ordered_render_place *place, bool ok)
{
    slot->place = *place;
    slot->is_full = ok;
    if (!ok) {
        note(ordered_render, PFD_ERR_NOMEM);
        return;
    }
    slot->number = ordered_render->n_full++;
    pfd_thread_pool_submit(ordered_render->threads, &slot->job);
}

void pfd_ordered_render_submit(struct pfd_ordered_render *ordered_render,
                               const struct pfd_ordered_render_place *place)
{
    struct slot *slot = await_sheet(ordered_render);
    if (!pfd_chunk_size(slot->chunk))
        return;
    slot->bytes = pfd_chunk_finish(slot->chunk, &slot->n);
    give(ordered_render, slot, place, slot->bytes);
}

/* The end of the entries of [from, run->n) that one slot takes. */
static size_t end_of_sheet(const struct pfd_entry_run *entry_run, size_t from)
{
    const struct pfd_record *r = entry_run->records;
    size_t n = entry_run->n - from;
    while (n > 1 && r[from + n - 1].offset - r[from].offset > RUN_BYTES)
        n /= 2;
    return from + n;
}

void pfd_ordered_render_run(struct pfd_ordered_render *ordered_render,
                            const struct pfd_entry_run *entry_run,
                            const struct pfd_ordered_render_place *place)
{
    size_t to = 0;
    pfd_ordered_render_submit(ordered_render, place);
    for (size_t from = 0; from < entry_run->n; from = to) {
        struct slot *slot = await_sheet(ordered_render);
        to = end_of_sheet(entry_run, from);
        slot->bytes = NULL;
        give(ordered_render, slot, place,
             pfd_entry_run_copy_take(&slot->run, entry_run, from, to));
    }
}

/* ---- several runs at once ---- */

enum {
    COPIES_MAX = SHEETS_EACH / 2 * (THREADS_MAX + 1)
};

struct copying {
    struct pfd_ordered_render *ordered_render;
    const struct pfd_entry_run *const *entry_runs;
    bool ok[COPIES_MAX];
};

static void copy_piece(void *user, size_t i)
{
    struct copying *c = user;
    struct slot *slot = next_sheet(c->ordered_render, i);
    slot->bytes = NULL;
    c->ok[i] = pfd_entry_run_copy_take(&slot->run, c->entry_runs[i], 0,
                                       c->entry_runs[i]->n);
}

void pfd_ordered_render_runs(struct pfd_ordered_render *ordered_render,
                             const struct pfd_entry_run *const *entry_runs,
                             size_t n,
                             const struct pfd_ordered_render_place *place,
                             pfd_share_fn share, void *user)
{
    size_t half = ordered_render->n_slots / 2;
    size_t most = half < COPIES_MAX ? half : COPIES_MAX;
    bool ok = true;
    pfd_ordered_render_submit(ordered_render, place);
    for (size_t from = 0, n_now = 0; ok && from < n; from += n_now) {
        struct copying c = { .ordered_render = ordered_render,
                             .entry_runs = entry_runs + from };
        n_now = n - from < most ? n - from : most;
        await_sheets(ordered_render, n_now);
        share(user, n_now, copy_piece, &c);
        for (size_t i = 0; ok && i < n_now; i++) {
            ok = c.ok[i];
            give(ordered_render, next_sheet(ordered_render, 0), place, ok);
        }
    }
}

enum pfd_status pfd_ordered_render_drain(
    struct pfd_ordered_render *ordered_render)
{
    await_written(ordered_render, 0);
    return pfd_ordered_render_status(ordered_render);
}
