/* SPDX-License-Identifier: MIT */
#include "spool/spool_reader.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    INPUT = 24 * 1024,    /* bytes of chunks; gives about one rendered block */
    LINES = 256 * 1024,   /* bytes of lines, except the last one */
    ENTRIES = 256 * 1024, /* bytes of chunks that are not rendered */
    RECORD = 1 << 20,     /* a larger buffer is freed after use */
    ROOM = 1 << 20,       /* counted for each reader, at least */
};

#define SUPPLY_OF(at) PFDD_MEMBER_OF(struct pfdd_spool_reader, at, job)

/* ---- reading, on the disk thread ---- */

static void forget_places(struct pfdd_spool_reader *s)
{
    for (unsigned i = 0; i < PFDD_PLACES; i++) {
        pfdd_buffer_unref(s->place.buffers[i]);
        s->place.buffers[i] = NULL;
    }
}

static void take_buffer(struct pfdd_spool_reader *s)
{
    struct pfdd_segment_reader *r = &s->place.reader;
    uint32_t place = 0;
    bool no_memory = false;
    struct pfdd_buffer *b =
        pfdd_spool_record_buffer(r->bytes, r->n, &place, &no_memory);
    if (no_memory) {
        r->error = ENOMEM;
        return;
    }
    if (!b) {
        pfdd_segment_lose(r);
        return;
    }
    _Static_assert(PFDD_PLACES > UINT8_MAX, "a record says it in a byte");
    pfdd_buffer_unref(s->place.buffers[place]);
    s->place.buffers[place] = b;
    pfdd_segment_step(r);
}

/* A chunk without entries goes with any strings. */
static bool goes_with(const struct pfdd_spool_reader *s,
                      const struct pfdd_spool_record_head *head,
                      uint64_t number)
{
    bool has_place = s->batch.n_chunks < PFDD_SPOOL_READER_PIECES;
    return s->batch.n_chunks == 0 ||
           (has_place && number == s->batch.end_seq &&
            (!head->manifest.number || !s->batch.needs.number ||
             head->manifest.number == s->batch.needs.number));
}

static void add_piece(struct pfdd_spool_reader *s,
                      const struct pfdd_spool_record_head *head, uint64_t end)
{
    struct pfdd_segment_reader *r = &s->place.reader;
    struct pfdd_chunk *c =
        pfdd_chunk_new(&head->contents, r->bytes + PFDD_SPOOL_RECORD_CHUNK,
                       r->n - PFDD_SPOOL_RECORD_CHUNK);
    if (!c) {
        r->error = ENOMEM;
        return;
    }
    c->first_seq = r->number;
    c->time = head->time;
    c->buffer = pfdd_buffer_ref(s->place.buffers[head->place]);
    if (s->batch.n_chunks == 0)
        s->batch.first_seq = r->number > r->seq ? r->number : r->seq + 1;
    s->batch.chunks[s->batch.n_chunks++] = c;
    s->batch.n_bytes += c->n;
    s->batch.end_seq = end;
    if (head->manifest.number)
        s->batch.needs = head->manifest;
    r->seq = end - 1;
    pfdd_segment_step(r);
}

/* False: the chunk has to be read next time. */
static bool take_chunk(struct pfdd_spool_reader *s)
{
    struct pfdd_segment_reader *r = &s->place.reader;
    struct pfdd_spool_record_head head;
    if (!pfdd_spool_record_get(r->bytes, r->n, &head) ||
        r->number > PFDD_SEQUENCE_MAX || !s->place.buffers[head.place]) {
        pfdd_segment_lose(r);
        return true;
    }
    uint64_t end = r->number + pfdd_spool_record_items(&head);
    if (end <= r->seq + 1) {
        pfdd_segment_step(r);
        return true;
    }
    if (!goes_with(s, &head, r->number))
        return false;
    add_piece(s, &head, end);
    return true;
}

/* Skips a line of a version 1 segment. That version had no outputs of log
 * records or of chunks, so none of them needs it. */
static bool pass_line(struct pfdd_spool_reader *s)
{
    struct pfdd_segment_reader *r = &s->place.reader;
    r->seq = r->number > r->seq ? r->number : r->seq;
    pfdd_segment_step(r);
    return true;
}

/* Takes a line of a version 1 segment. False: that is enough. */
static bool take_line(struct pfdd_spool_reader *s)
{
    struct pfdd_segment_reader *r = &s->place.reader;
    bool is_line = r->n <= PFDD_SPOOL_LINE_MAX && r->bytes[r->n - 1] == '\n' &&
                   r->number <= PFDD_SEQUENCE_MAX;
    if (is_line && r->number > r->seq) {
        char *lines = realloc(s->lines, s->n_lines + r->n);
        if (!lines) {
            r->error = ENOMEM;
            return false;
        }
        s->lines = lines;
        memcpy(lines + s->n_lines, r->bytes, r->n);
        s->n_lines += r->n;
        r->seq = r->number;
        s->batch.end_seq = r->number + 1;
    }
    if (is_line) {
        pfdd_segment_step(r);
    } else {
        pfdd_segment_lose(r);
    }
    return s->n_lines < LINES;
}

static bool take_record(struct pfdd_spool_reader *s)
{
    if (s->place.reader.version == PFDD_SEGMENT_LINES && s->is_entries) {
        s->has_lines = true;
        return false;
    }
    if (s->place.reader.version == PFDD_SEGMENT_LINES) {
        bool no_lines =
            s->is_raw || (s->render_choice && s->render_choice->wants.encoding);
        return no_lines ? pass_line(s) : take_line(s);
    }
    if (s->place.reader.number)
        return take_chunk(s);
    take_buffer(s);
    return true;
}

void pfdd_spool_reader_fetch(struct pfdd_spool_reader *s)
{
    struct pfdd_segment_reader *r = &s->place.reader;
    uint64_t before = r->segment;
    size_t enough = s->is_entries ? ENTRIES : INPUT;
    bool is_open = pfdd_segment_enter(r, s->of->dir, &s->place.todo);
    if (r->segment != before)
        forget_places(s);
    while (is_open && !r->error &&
           s->batch.n_chunks < PFDD_SPOOL_READER_PIECES &&
           s->batch.n_bytes < enough && pfdd_segment_peek(r, &s->place.todo)) {
        if (!take_record(s))
            break;
    }
    if (r->size > RECORD) {
        free(r->bytes);
        r->bytes = NULL;
        r->size = 0;
    }
    if (s->of->blob_store && s->batch.needs.number) {
        pfdd_blob_store_manifest(s->of->blob_store, s->batch.needs.number,
                                 &s->batch.needs.n, &s->batch.n_needed);
    }
}

/* ---- steps ---- */

static void run(struct pfdd_job *job)
{
    struct pfdd_spool_reader *s = SUPPLY_OF(job);
    s->step(s);
}

static size_t read_bytes(const struct pfdd_spool_reader *s)
{
    return s->batch.n_bytes + s->n_lines + s->place.reader.size +
           pfdd_spool_preamble_memory(&s->spool_preamble);
}

static void start(struct pfdd_spool_reader *s, struct pfdd_pool *pool,
                  void (*step)(struct pfdd_spool_reader *s),
                  void (*done)(struct pfdd_job *job))
{
    s->is_busy = true;
    s->n_before = read_bytes(s);
    s->step = step;
    s->job.run = run;
    s->job.done = done;
    pfdd_pool_submit(pool, &s->job);
}

static void drop_text(struct pfdd_spool_reader *s)
{
    pfdd_rendered_block_unref(s->rendered_block);
    s->rendered_block = NULL;
    s->text = NULL;
    s->n = s->at = 0;
    free(s->lines);
    s->lines = NULL;
    s->n_lines = 0;
}

static void drop_pieces(struct pfdd_spool_reader *s)
{
    while (s->batch.n_chunks)
        pfdd_chunk_unref(s->batch.chunks[--s->batch.n_chunks]);
    s->batch.n_bytes = s->batch.n_needed = 0;
    s->batch.has_preamble = false;
    s->batch.needs = (struct pfdd_manifest){ 0 };
}

void pfdd_spool_reader_forget(struct pfdd_spool_reader *s)
{
    drop_text(s);
    drop_pieces(s);
}

static void begin(struct pfdd_spool_reader *s)
{
    pfdd_spool_reader_forget(s);
    pfdd_spool_preamble_deinit(&s->spool_preamble);
    s->is_entries = s->wants_entries;
    s->has_lines = false;
    forget_places(s);
    pfdd_segment_reader_deinit(&s->place.reader);
    pfdd_segment_reader_init(&s->place.reader, s->begin);
    s->end = s->begin + 1;
    s->is_stale = s->waits = false;
}

/* Ends a step. False: its result is obsolete. */
static bool end_step(struct pfdd_spool_reader *s)
{
    s->is_busy = false;
    if (!s->is_stale)
        return true;
    begin(s);
    s->changed(s);
    return false;
}

/* ---- lines ---- */

static void find_lines(struct pfdd_spool_reader *s);

static void render(struct pfdd_spool_reader *s)
{
    pfdd_rendered_block_render(s->rendered_block);
}

static void on_rendered(struct pfdd_job *job)
{
    struct pfdd_spool_reader *s = SUPPLY_OF(job);
    struct pfdd_rendered_block *p = s->rendered_block;
    pfdd_rendered_block_settle(p);
    if (!end_step(s))
        return;
    if (p->has_failed) {
        drop_text(s);
        s->waits = true;
    } else {
        s->text = p->text;
        s->n = p->n;
        s->end = p->end;
        s->batch.first_seq = p->end;
    }
    if (!s->waits && s->n == 0)
        pfdd_spool_reader_take(s, 0); /* no lines come of it: go on */
    s->changed(s);
}

static void start_render(struct pfdd_spool_reader *s,
                         struct pfdd_strings *strings)
{
    s->rendered_block = pfdd_rendered_block_of(
        &s->of->render_cache, s->batch.chunks, s->batch.n_chunks, strings,
        s->render_choice, s->batch.first_seq, s->is_entries);
    s->waits = !s->rendered_block;
    if (s->rendered_block) {
        start(s, s->of->printers, render, on_rendered);
    } else {
        s->changed(s);
    }
}

/* ---- strings ---- */

static void load(struct pfdd_spool_reader *s)
{
    uint32_t n = 0;
    s->loaded = pfdd_manifest_load(s->of->dir, s->batch.needs.number,
                                   s->of->n_strings_max, &n);
    /* Unreadable objects will be unreadable the next time, too. */
    if (n > s->batch.needs.n)
        s->batch.needs.n = n;
}

static void on_loaded(struct pfdd_job *job)
{
    struct pfdd_spool_reader *s = SUPPLY_OF(job);
    pfdd_strings_unref(s->strings);
    s->strings = s->loaded ? pfdd_strings_new(s->loaded) : NULL;
    s->loaded = NULL;
    s->manifest = s->batch.needs;
    if (!end_step(s))
        return;
    s->waits = !s->strings;
    if (s->strings) {
        start_render(s, s->strings);
    } else {
        s->changed(s);
    }
}

/* Strings that another reader has loaded. */
static struct pfdd_strings *find_loaded(const struct pfdd_spool_reader *s)
{
    for (struct pfdd_spool_reader *o = s->of->first; o; o = o->next) {
        if (o->strings && o->manifest.number == s->batch.needs.number &&
            o->manifest.n >= s->batch.needs.n)
            return o->strings;
    }
    return NULL;
}

static void keep_strings(struct pfdd_spool_reader *s,
                         struct pfdd_strings *strings)
{
    if (strings == s->strings)
        return;
    pfdd_strings_ref(strings);
    pfdd_strings_unref(s->strings);
    s->strings = strings;
    s->manifest = s->batch.needs;
}

/* Loading takes as much memory again. */
static size_t room_to_load(const struct pfdd_spool_reader *s)
{
    size_t n = s->batch.n_needed < s->of->n_strings_max ? s->batch.n_needed
                                                        : s->of->n_strings_max;
    return 2 * n + ROOM;
}

/* ---- preamble ---- */

static void write_preamble(struct pfdd_spool_reader *s)
{
    const struct pfdd_spool_preamble_of of = {
        .dir = s->of->dir,
        .manifest = s->batch.needs,
        .n_max = s->of->n_strings_max,
        .chunks = s->batch.chunks,
        .n = s->batch.n_chunks,
    };
    struct pfd_text out = { 0 };
    s->no_memory = !pfdd_spool_preamble_write(&s->spool_preamble, &of, &out,
                                              &s->batch.has_preamble);
    if (s->no_memory)
        pfd_text_free(&out);
    s->lines = out.data;
    s->n_lines = out.n;
}

static void on_briefed(struct pfdd_job *job)
{
    struct pfdd_spool_reader *s = SUPPLY_OF(job);
    if (!end_step(s))
        return;
    s->waits = s->no_memory;
    s->text = s->lines;
    s->n = s->n_lines;
    if (!s->waits && s->n == 0) {
        find_lines(s);
    } else {
        s->changed(s);
    }
}

static void start_preamble(struct pfdd_spool_reader *s)
{
    struct pfdd_spool_readers *of = s->of;
    s->waits = !pfdd_spool_preamble_has(&s->spool_preamble, &s->batch.needs) &&
               !of->has_room(of->user, room_to_load(s));
    if (s->waits) {
        s->changed(s);
    } else {
        start(s, of->loaders, write_preamble, on_briefed);
    }
}

/* True: a part of a chunk was consumed before: it has to be decoded and encoded
 * anew. */
static bool is_cut(const struct pfdd_spool_reader *s)
{
    for (size_t i = 0; i < s->batch.n_chunks; i++) {
        const struct pfdd_chunk *c = s->batch.chunks[i];
        if (c->first_seq < s->batch.first_seq &&
            s->batch.first_seq < c->first_seq + c->n_items)
            return true;
    }
    return false;
}

static bool needs_strings(const struct pfdd_spool_reader *s)
{
    return s->batch.needs.number &&
           (!s->is_entries || s->render_choice || is_cut(s));
}

/* ---- rendering ---- */

static void find_lines(struct pfdd_spool_reader *s)
{
    struct pfdd_spool_readers *of = s->of;
    if (s->is_entries && !s->batch.has_preamble) {
        start_preamble(s);
        return;
    }
    struct pfdd_strings *strings =
        needs_strings(s) ? of->live(of->user, s->batch.needs.number) : of->none;
    if (strings) {
        start_render(s, strings);
        return;
    }
    strings = find_loaded(s);
    if (strings) {
        keep_strings(s, strings);
        start_render(s, strings);
        return;
    }
    s->waits = !of->has_room(of->user, room_to_load(s));
    if (s->waits) {
        s->changed(s);
    } else {
        start(s, of->loaders, load, on_loaded);
    }
}

/* ---- init and free ---- */

void pfdd_spool_reader_init(
    struct pfdd_spool_reader *s, struct pfdd_spool_readers *of, uint64_t seq,
    void (*changed)(struct pfdd_spool_reader *spool_reader))
{
    *s = (struct pfdd_spool_reader){
        .of = of,
        .changed = changed,
        .begin = seq,
        .next = of->first,
    };
    of->first = s;
    pfdd_segment_reader_init(&s->place.reader, seq);
    s->end = seq + 1;
}

void pfdd_spool_reader_deinit(struct pfdd_spool_reader *s)
{
    struct pfdd_spool_reader **at = &s->of->first;
    assert(!s->is_busy);
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    begin(s);
    pfdd_strings_unref(s->strings);
    s->strings = NULL;
}

void pfdd_spool_reader_rewind(struct pfdd_spool_reader *s, uint64_t seq)
{
    s->begin = seq;
    if (s->is_busy) {
        s->is_stale = true;
        s->text = NULL;
        s->n = s->at = 0;
    } else {
        begin(s);
    }
}

static void on_fetched(struct pfdd_job *job)
{
    struct pfdd_spool_reader *s = SUPPLY_OF(job);
    if (!end_step(s))
        return;
    if (s->batch.n_chunks && !s->is_raw) {
        find_lines(s);
        return;
    }
    s->text = s->lines;
    s->n = s->n_lines;
    if (s->n || s->batch.n_chunks)
        s->end = s->batch.end_seq;
    s->changed(s);
}

void pfdd_spool_reader_read(struct pfdd_spool_reader *s,
                            const struct pfdd_segment *todo)
{
    assert(!s->is_busy && pfdd_spool_reader_is_empty(s));
    s->place.todo = *todo;
    start(s, s->of->disk, pfdd_spool_reader_fetch, on_fetched);
}

uint64_t pfdd_spool_reader_last(const struct pfdd_spool_reader *s)
{
    const struct pfdd_rendered_block *p = s->rendered_block;
    if (s->n == 0 || !p)
        return s->n && !s->is_entries ? s->end - 1 : 0;
    uint64_t n = p->end - p->first;
    while (n > 1 && p->ends[n - 2] == p->n)
        n--;
    return p->first + n - 1;
}

bool pfdd_spool_reader_is_empty(const struct pfdd_spool_reader *s)
{
    return s->at == s->n && s->batch.n_chunks == 0;
}

void pfdd_spool_reader_retry(struct pfdd_spool_reader *s)
{
    if (s->waits && !s->is_busy)
        find_lines(s);
}

void pfdd_spool_reader_take(struct pfdd_spool_reader *s, size_t n)
{
    assert(n <= s->n - s->at);
    s->at += n;
    if (s->at < s->n)
        return;
    drop_text(s);
    if (s->batch.n_chunks && s->batch.first_seq < s->batch.end_seq) {
        find_lines(s);
    } else {
        drop_pieces(s);
    }
}

size_t pfdd_spool_reader_memory(const struct pfdd_spool_reader *s)
{
    size_t n = s->is_busy ? s->n_before : read_bytes(s);
    size_t n_strings = s->strings ? s->strings->n_bytes : 0;
    return sizeof *s + n_strings + (n > ROOM ? n : ROOM);
}
