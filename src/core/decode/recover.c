/* SPDX-License-Identifier: MIT */
#include "core/decode/recover.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/ranges.h"
#include "core/base/zero.h"
#include "core/decode/walk.h"

enum {
    BATCH = 512,
    PAGE = 4096
};

struct search {
    const struct pfd_recover *r;
    const struct pfd_format *format;
    const struct pfd_table *table;
    const uint8_t *bytes; /* [n] */
    size_t n;
    struct pfd_walk walk;
    struct pfd_record_batch batch;
    struct pfd_entry_source of;
    struct pfd_options options;
    uint64_t n_entries;
    bool failed; /* out of memory */
    bool stopped;
};

/* The first page from this one on that is not in a hole. */
static size_t pass_holes(const struct pfd_recover *r, size_t page)
{
    size_t i = pfd_range_find(r->holes, r->n_holes, page);
    if (i < r->n_holes && r->holes[i].from <= page)
        return (size_t)r->holes[i].to / PAGE * PAGE;
    return page;
}

struct pfd_recover_run pfd_recover_measure(const struct pfd_format *format,
                                           const struct pfd_table *table,
                                           const uint8_t *bytes, size_t n,
                                           size_t from)
{
    const struct pfd_format_live *live = format->live;
    struct pfd_recover_run run = {
        .from = from,
        .to = from,
        .header = PFD_NO_OFFSET,
    };
    for (;;) {
        size_t n_entry =
            live->entry_at(table, bytes + run.to, n - (size_t)run.to);
        if (!n_entry)
            break;
        run.to += n_entry;
        run.n_entries++;
    }
    if (from < live->n_header)
        return run;
    const uint8_t *header = bytes + from - live->n_header;
    uint64_t used = live->is_header(header) ? live->used(table, header) : 0;
    if (used >= run.to - from + live->n_header) {
        run.header = from - live->n_header;
        run.used = run.header + used;
    }
    return run;
}

static bool give(struct search *s, const struct pfd_record *r)
{
    uint32_t n = 0;
    struct pfd_entry entry;
    const uint8_t *payload =
        pfd_record_batch_payload(&s->batch, &s->walk.view, 0, r, &n);
    if (!pfd_entry_make(&s->of, r, payload, n, s->n_entries, &entry)) {
        s->failed = true;
        return false;
    }
    s->n_entries++;
    s->stopped = !s->r->entry(s->r->user, &entry);
    return !s->stopped;
}

static void give_run(struct search *s, const struct pfd_recover_run *run)
{
    enum pfd_status status = PFD_OK;
    if (s->r->run && !s->r->run(s->r->user, run))
        return;
    memset(s->walk.state, 0, s->format->state_size);
    s->walk.view = pfd_byte_reader(s->bytes, (size_t)run->to);
    s->walk.base = 0;
    s->walk.last = true;
    s->walk.at = run->from;
    s->format->live->resume(&s->walk, run->to);
    while (status == PFD_OK && !s->failed && !s->stopped) {
        pfd_record_batch_clear(&s->batch);
        status = s->format->walk(&s->walk);
        for (size_t i = 0; i < s->batch.n; i++) {
            const struct pfd_record *r = &s->batch.records[i];
            if (r->kind == PFD_RECORD_ENTRY && !give(s, r))
                return;
        }
    }
}

static void search(struct search *s)
{
    const struct pfd_format_live *live = s->format->live;
    size_t unit = live->unit;
    size_t at = 0;
    while (at + unit <= s->n && !s->failed && !s->stopped) {
        /* Most of a memory image is zero. */
        if (at % PAGE == 0 && pass_holes(s->r, at) > at) {
            at = pass_holes(s->r, at);
            continue;
        }
        if (at % PAGE == 0 && s->n - at >= PAGE &&
            pfd_is_zero(s->bytes + at, PAGE)) {
            at += PAGE;
            continue;
        }
        size_t to = (at / PAGE + 1) * PAGE;
        at = live->find(s->table, s->bytes, s->n, at, to < s->n ? to : s->n);
        if (at >= to || at >= s->n)
            continue;
        struct pfd_recover_run run =
            pfd_recover_measure(s->format, s->table, s->bytes, s->n, at);
        if (run.n_entries == 1 && !live->is_telling(s->bytes + at)) {
            at += unit;
            continue;
        }
        give_run(s, &run);
        at = (size_t)run.to;
    }
}

static enum pfd_status search_format(struct search *s, struct pfd_error *err)
{
    bool ok = pfd_record_batch_init(&s->batch, BATCH) &&
              pfd_entry_source_init(&s->of, s->r->source) &&
              pfd_walk_init(&s->walk, s->format, s->r->strings, &s->options);
    if (ok) {
        s->walk.batch = &s->batch;
        pfd_entry_source_set(&s->of, s->r->strings, s->format, &s->options);
        search(s);
    }
    pfd_walk_deinit(&s->walk);
    pfd_record_batch_deinit(&s->batch);
    pfd_entry_source_deinit(&s->of);
    if (!ok || s->failed)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    if (s->stopped)
        return pfd_fail(err, PFD_ERR_STOPPED, PFD_NO_OFFSET, "stopped");
    return PFD_OK;
}

enum pfd_status pfd_recover(const struct pfd_recover *recover,
                            const void *bytes, size_t n, uint64_t *n_entries,
                            struct pfd_error *err)
{
    enum pfd_status status = PFD_ERR_UNSUPPORTED;
    uint64_t total = 0;
    for (const struct pfd_format *const *f = pfd_formats; *f; f++) {
        const struct pfd_table *table =
            pfd_strings_table(recover->strings, &(*f)->strings);
        struct search s = {
            .r = recover,
            .format = *f,
            .table = table,
            .bytes = bytes,
            .n = n,
        };
        if (!(*f)->live || !(*f)->live->find || !table->n)
            continue;
        status = search_format(&s, err);
        total += s.n_entries;
        if (status != PFD_OK)
            break;
    }
    if (n_entries)
        *n_entries = total;
    if (status == PFD_ERR_UNSUPPORTED) {
        return pfd_fail(err, status, PFD_NO_OFFSET,
                        "no format strings of a format that can be searched "
                        "for are loaded");
    }
    return status;
}
