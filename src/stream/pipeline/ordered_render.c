/* SPDX-License-Identifier: MIT */
/*
 * A ring of sheets, each with a chunk or a part of a run. The caller fills the
 * next one, workers take them in turn and make lines of them, and whoever has
 * made the next ones to be written writes them: nobody sleeps but where there is
 * nothing to do. A caller that has to wait works, too.
 */
#include <pthread.h>
#include <stdlib.h>

#include <printfdecode/ordered_render.h>

#include "core/base/error.h"
#include "core/base/processor_count.h"
#include "core/base/thread.h"
#include "core/decode/entry_run_copy.h"

enum {
    THREADS_MAX = 64,
    THREADS_DEFAULT = 8,
    SHEETS_EACH = 4, /* for a thread, of which the caller is one: half of them
                        are filled while the others are printed and written */
    RUN_BYTES = 32 << 10, /* of a sheet: its lines stay in the cache */
};

struct sheet {
    struct pfd_chunk_writer *chunk;
    struct pfd_entry_run_copy run;
    struct pfd_lines *lines;
    struct pfd_press_place place;
    const void *bytes; /* [n], of the chunk; NULL: the run is what counts */
    size_t n;
    bool is_full;
    bool is_made; /* its lines are to be written */
};

struct pfd_press {
    struct pfd_press_options o;
    struct sheet *sheets; /* [n_sheets], by number */
    size_t n_sheets;
    pthread_t *threads; /* [n_threads] */
    size_t n_threads;

    pthread_mutex_t lock; /* guards these: */
    pthread_cond_t full;  /* a sheet may be taken */
    pthread_cond_t empty; /* some was written */
    uint64_t n_full;      /* sheets, since the beginning */
    uint64_t n_taken;
    uint64_t n_written;
    bool is_writing; /* somebody writes number n_written */
    bool is_over;
    enum pfd_status status;
};

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

static enum pfd_status print_chunk(const struct sheet *sheet)
{
    const struct pfd_press_place *place = &sheet->place;
    struct pfd_chunk_reader *reader = NULL;
    enum pfd_status status = pfd_chunk_reader_new(
        place->strings, place->source, place->options, &reader, NULL);
    if (status == PFD_OK)
        status = pfd_chunk_reader_open(reader, sheet->bytes, sheet->n, NULL);
    if (status == PFD_OK)
        status = print_items(reader, sheet->lines);
    pfd_chunk_reader_free(reader);
    return status;
}

static enum pfd_status print_run(const struct sheet *sheet)
{
    const struct pfd_press_place *place = &sheet->place;
    const struct pfd_options defaults = { 0 };
    struct pfd_entry_source of;
    bool ok = pfd_entry_source_init(&of, place->source);
    pfd_entry_source_set(&of, place->strings, sheet->run.format,
                         place->options ? place->options : &defaults);
    const struct pfd_entry_run entry_run =
        pfd_entry_run_copy_view(&sheet->run, &of);
    if (ok)
        pfd_lines_run(sheet->lines, &entry_run);
    pfd_entry_source_deinit(&of);
    return ok ? PFD_OK : PFD_ERR_NOMEM;
}

static enum pfd_status print_sheet(const struct sheet *sheet)
{
    const struct pfd_press_place *place = &sheet->place;
    pfd_lines_set_buffer(sheet->lines, place->buffer);
    pfd_lines_set_place(sheet->lines, place->generation, UINT64_MAX);
    pfd_lines_set_time(sheet->lines, place->time);
    return sheet->bytes ? print_chunk(sheet) : print_run(sheet);
}

static enum pfd_status write_sheet(const struct pfd_press *press,
                                   const struct sheet *sheet)
{
    size_t n = 0;
    const char *bytes = pfd_lines_bytes(sheet->lines, &n);
    if (!bytes && n)
        return PFD_ERR_NOMEM;
    bool ok = !n || press->o.write(press->o.user, bytes, n);
    pfd_lines_clear(sheet->lines);
    return ok ? PFD_OK : PFD_ERR_STOPPED;
}

/* With the lock. */
static void note(struct pfd_press *press, enum pfd_status status)
{
    if (press->status == PFD_OK)
        press->status = status;
}

/* With the lock, which is given up meanwhile: what is next and made. */
static void write_made(struct pfd_press *press)
{
    struct sheet *sheet = &press->sheets[press->n_written % press->n_sheets];
    if (press->is_writing)
        return;
    press->is_writing = true;
    while (sheet->is_made) {
        enum pfd_status status = press->status;
        pthread_mutex_unlock(&press->lock);
        status = status == PFD_OK ? write_sheet(press, sheet) : PFD_OK;
        pthread_mutex_lock(&press->lock);
        note(press, status);
        sheet->is_made = false;
        press->n_written++;
        pthread_cond_signal(&press->empty);
        sheet = &press->sheets[press->n_written % press->n_sheets];
    }
    press->is_writing = false;
}

/* With the lock, which is given up meanwhile: the next sheet. False: there is
 * none. */
static bool take_next(struct pfd_press *press)
{
    if (press->n_taken == press->n_full)
        return false;
    struct sheet *sheet = &press->sheets[press->n_taken++ % press->n_sheets];
    pthread_mutex_unlock(&press->lock);
    enum pfd_status status = print_sheet(sheet);
    pthread_mutex_lock(&press->lock);
    note(press, status);
    sheet->is_made = true;
    write_made(press);
    return true;
}

static void *work(void *arg)
{
    struct pfd_press *press = arg;
    pthread_mutex_lock(&press->lock);
    while (!press->is_over) {
        if (!take_next(press))
            pthread_cond_wait(&press->full, &press->lock);
    }
    pthread_mutex_unlock(&press->lock);
    return NULL;
}

/* ---- the caller ---- */

static size_t thread_count(unsigned wanted)
{
    if (wanted)
        return wanted < THREADS_MAX ? wanted : THREADS_MAX;
    unsigned n = pfd_processor_count();
    return n < 2 ? 1 : n > THREADS_DEFAULT ? THREADS_DEFAULT : n - 1;
}

static bool make_sheets(struct pfd_press *press, size_t n)
{
    press->sheets = calloc(n, sizeof *press->sheets);
    if (!press->sheets)
        return false;
    press->n_sheets = n;
    for (size_t i = 0; i < n; i++) {
        struct sheet *sheet = &press->sheets[i];
        sheet->lines = press->o.lines(press->o.user);
        if (!sheet->lines ||
            pfd_chunk_writer_new(&sheet->chunk, NULL) != PFD_OK)
            return false;
    }
    return true;
}

enum pfd_status pfd_press_new(const struct pfd_press_options *options,
                              struct pfd_press **ret, struct pfd_error *err)
{
    size_t n = thread_count(options->threads);
    struct pfd_press *press = calloc(1, sizeof *press);
    if (!press)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    press->o = *options;
    pthread_mutex_init(&press->lock, NULL);
    pthread_cond_init(&press->full, NULL);
    pthread_cond_init(&press->empty, NULL);
    press->threads = calloc(n, sizeof *press->threads);
    if (!press->threads || !make_sheets(press, SHEETS_EACH * (n + 1))) {
        pfd_press_free(press);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    while (press->n_threads < n &&
           pfd_thread_start(&press->threads[press->n_threads], work, press))
        press->n_threads++;
    if (!press->n_threads) {
        pfd_press_free(press);
        return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                        "no thread could be started");
    }
    *ret = press;
    return PFD_OK;
}

void pfd_press_free(struct pfd_press *press)
{
    if (!press)
        return;
    pthread_mutex_lock(&press->lock);
    press->is_over = true;
    pthread_cond_broadcast(&press->full);
    pthread_mutex_unlock(&press->lock);
    for (size_t i = 0; i < press->n_threads; i++)
        pthread_join(press->threads[i], NULL);
    for (size_t i = 0; i < press->n_sheets; i++) {
        pfd_chunk_writer_free(press->sheets[i].chunk);
        pfd_entry_run_copy_deinit(&press->sheets[i].run);
        pfd_lines_free(press->sheets[i].lines);
    }
    pthread_cond_destroy(&press->full);
    pthread_cond_destroy(&press->empty);
    pthread_mutex_destroy(&press->lock);
    free(press->sheets);
    free(press->threads);
    free(press);
}

/* Until at most so many sheets are not written: who waits does what nobody else
 * has begun. */
static void await_written(struct pfd_press *press, size_t n)
{
    while (press->n_full - press->n_written > n) {
        if (!take_next(press))
            pthread_cond_wait(&press->empty, &press->lock);
    }
}

/* The i-th of those to be filled: only the caller counts on. */
static struct sheet *next_sheet(const struct pfd_press *press, size_t i)
{
    return &press->sheets[(press->n_full + i) % press->n_sheets];
}

/* So many of them are empty: they get so in their order. */
static void await_sheets(struct pfd_press *press, size_t n)
{
    if (!next_sheet(press, n - 1)->is_full)
        return;
    pthread_mutex_lock(&press->lock);
    await_written(press, press->n_sheets - n);
    pthread_mutex_unlock(&press->lock);
    for (size_t i = 0; i < n; i++)
        next_sheet(press, i)->is_full = false;
}

static struct sheet *await_sheet(struct pfd_press *press)
{
    await_sheets(press, 1);
    return next_sheet(press, 0);
}

struct pfd_chunk_writer *pfd_press_chunk(struct pfd_press *press)
{
    return await_sheet(press)->chunk;
}

/* It is to be printed; not ok: there was no memory for what it should have. */
static void give(struct pfd_press *press, struct sheet *sheet,
                 const struct pfd_press_place *place, bool ok)
{
    sheet->place = *place;
    sheet->is_full = ok;
    pthread_mutex_lock(&press->lock);
    if (ok) {
        press->n_full++;
        pthread_cond_signal(&press->full);
    } else {
        note(press, PFD_ERR_NOMEM);
    }
    pthread_mutex_unlock(&press->lock);
}

void pfd_press_go(struct pfd_press *press, const struct pfd_press_place *place)
{
    struct sheet *sheet = await_sheet(press);
    if (!pfd_chunk_size(sheet->chunk))
        return;
    sheet->bytes = pfd_chunk_finish(sheet->chunk, &sheet->n);
    give(press, sheet, place, sheet->bytes);
}

/* Behind the last entry of [from, run->n) that a sheet has. */
static size_t end_of_sheet(const struct pfd_entry_run *entry_run, size_t from)
{
    const struct pfd_record *r = entry_run->records;
    size_t n = entry_run->n - from;
    while (n > 1 && r[from + n - 1].offset - r[from].offset > RUN_BYTES)
        n /= 2;
    return from + n;
}

void pfd_press_run(struct pfd_press *press,
                   const struct pfd_entry_run *entry_run,
                   const struct pfd_press_place *place)
{
    size_t to = 0;
    pfd_press_go(press, place);
    for (size_t from = 0; from < entry_run->n; from = to) {
        struct sheet *sheet = await_sheet(press);
        to = end_of_sheet(entry_run, from);
        sheet->bytes = NULL;
        give(press, sheet, place,
             pfd_entry_run_copy_take(&sheet->run, entry_run, from, to));
    }
}

/* ---- runs that come together ---- */

enum {
    COPIES_MAX = SHEETS_EACH / 2 * (THREADS_MAX + 1)
};

struct copying {
    struct pfd_press *press;
    const struct pfd_entry_run *const *entry_runs;
    bool ok[COPIES_MAX];
};

static void copy_piece(void *user, size_t i)
{
    struct copying *c = user;
    struct sheet *sheet = next_sheet(c->press, i);
    sheet->bytes = NULL;
    c->ok[i] = pfd_entry_run_copy_take(&sheet->run, c->entry_runs[i], 0,
                                       c->entry_runs[i]->n);
}

void pfd_press_runs(struct pfd_press *press,
                    const struct pfd_entry_run *const *entry_runs, size_t n,
                    const struct pfd_press_place *place, pfd_share_fn share,
                    void *user)
{
    size_t half = press->n_sheets / 2;
    size_t most = half < COPIES_MAX ? half : COPIES_MAX;
    bool ok = true;
    pfd_press_go(press, place);
    for (size_t from = 0, n_now = 0; ok && from < n; from += n_now) {
        struct copying c = { .press = press, .entry_runs = entry_runs + from };
        n_now = n - from < most ? n - from : most;
        await_sheets(press, n_now);
        share(user, n_now, copy_piece, &c);
        for (size_t i = 0; ok && i < n_now; i++) {
            ok = c.ok[i];
            give(press, next_sheet(press, 0), place, ok);
        }
    }
}

enum pfd_status pfd_press_drain(struct pfd_press *press)
{
    pthread_mutex_lock(&press->lock);
    await_written(press, 0);
    enum pfd_status status = press->status;
    pthread_mutex_unlock(&press->lock);
    return status;
}

enum pfd_status pfd_press_status(struct pfd_press *press)
{
    pthread_mutex_lock(&press->lock);
    enum pfd_status status = press->status;
    pthread_mutex_unlock(&press->lock);
    return status;
}
