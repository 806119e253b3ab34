/* SPDX-License-Identifier: MIT */
#include "ring/cursor.h"

#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "ring/json_fields.h"

#define LATELY_NS UINT64_C(250000000)
/* How long a cursor may hold a block: until it is taken back, and until a
 * cursor that cannot give it back is ended. */
#define PAGE_NS     (4 * LATELY_NS)
#define PAGE_MAX_NS (8 * LATELY_NS)
#define PATIENCE_NS UINT64_C(5000000000)
#define PERIOD_NS   (6 * PATIENCE_NS)
/* Processor time beyond the allowance for each inspected entry. */
#define DEBT_MAX_NS INT64_C(2000000000)

static const struct pfdd_ring_reader_hooks reader_hooks;
static const struct pfdd_block_reader_hooks block_reader_hooks;

/* ---- where it stands ---- */

/* The first item of that time or later; sources may report times out of
 * order. */
static uint64_t find_time(const struct pfdd_ring *ring, uint64_t time)
{
    for (size_t i = 0; i < ring->n_chunks; i++) {
        const struct pfdd_chunk *c = pfdd_ring_at(ring, i);
        if (c->time >= time)
            return c->first_seq;
    }
    return ring->next_seq;
}

uint64_t pfdd_cursor_seq(const struct pfdd_cursor *r)
{
    return r->has_entered ? r->rendered_block->first + r->item : r->seq;
}

/* The first item that it still needs from the ring. A block that is being
 * rendered may end before the cursor's position. */
static uint64_t next_of(const struct pfdd_cursor *r)
{
    return r->rendered_block && r->rendered_block->end > r->seq
               ? r->rendered_block->end
               : r->seq;
}

bool pfdd_cursor_has_missed(const struct pfdd_cursor *r)
{
    return r->missed || next_of(r) < pfdd_ring_oldest(r->ring);
}

uint64_t pfdd_cursor_dropped(const struct pfdd_cursor *r)
{
    uint64_t next = next_of(r);
    uint64_t oldest = pfdd_ring_oldest(r->ring);
    return r->missed + (next < oldest ? oldest - next : 0);
}

bool pfdd_cursor_is_done(const struct pfdd_cursor *r)
{
    return r->out.at == r->out.n &&
           (r->is_over ||
            (!r->rendered_block && r->seq >= r->ring->next_seq &&
             !(pfdd_cursor_collapser(r) && pfdd_cursor_collapser(r)->waits)));
}

static uint64_t seq_of(const struct pfdd_ring_reader *reader)
{
    return pfdd_cursor_seq((const struct pfdd_cursor *)reader);
}

/* It consumed bytes lately, does not sample, and sources have not waited for it
 * too long. Called repeatedly while sources wait. */
static bool is_awaited(struct pfdd_ring_reader *reader, uint64_t now_ns)
{
    struct pfdd_cursor *r = (struct pfdd_cursor *)reader;
    bool samples = r->render_choice && r->render_choice->wants.sample;
    if (samples || now_ns - r->times.taken_ns > LATELY_NS)
        return false;
    if (now_ns - r->times.period_ns > PERIOD_NS) {
        r->times.period_ns = now_ns;
        r->times.waited_ns = 0;
    }
    if (now_ns - r->times.awaited_ns < LATELY_NS)
        r->times.waited_ns += now_ns - r->times.awaited_ns;
    r->times.awaited_ns = now_ns;
    return r->times.waited_ns < PATIENCE_NS;
}

/* ---- waiting for memory ---- */

/* Cursors get memory for blocks in the order in which they began to wait; those
 * with a render choice queue apart from the others. Cursors of the
 * configuration, which have no quota, do not queue. */
static bool has_turn(const struct pfdd_cursor *r)
{
    for (const struct pfdd_cursor *o = pfdd_cursors_first(r->ring); o;
         o = pfdd_cursors_next(o)) {
        if (o != r && o->waits && !o->render_choice == !r->render_choice)
            return r->is_called || !r->account.of;
    }
    return true;
}

static void end_turn(struct pfdd_cursor *r)
{
    if (r->is_called && !r->waits)
        pfdd_ring_put_last(r->ring, &r->reader);
    r->is_called = false;
}

/* ---- life ---- */

static bool begin(struct pfdd_cursor *r, struct pfdd_request *request)
{
    if (!pfdd_render_choice_new(request, &r->render_choice))
        return false;
    if (r->render_choice && r->render_choice->wants.collapse) {
        r->render_choice->collapser =
            pfdd_collapser_new(r->form, &r->render_choice->wants, uv_hrtime());
    }
    if (r->render_choice && r->render_choice->wants.sample_new)
        r->render_choice->sampler.limited_from = r->ring->next_seq;
    bool ok = !r->render_choice || !r->render_choice->wants.collapse ||
              r->render_choice->collapser;
    bool has_much = r->render_choice && (r->render_choice->wants.entries ||
                                         r->render_choice->collapser);
    if (ok && (has_much ? pfdd_cursor_hold_sparing
                        : pfdd_cursor_hold)(r, pfdd_cursor_bytes(r)))
        return true;
    pfdd_render_choice_free(r->render_choice);
    return false;
}

bool pfdd_cursor_init_of(struct pfdd_cursor *r,
                         struct pfdd_render_cache *render_cache,
                         struct pfdd_request *request,
                         struct pfdd_user_accounts *users,
                         const struct pfdd_peer_key *key)
{
    struct pfdd_ring *ring = render_cache->ring;
    const struct pfdd_from *from = &request->from;
    render_cache->readers = &block_reader_hooks;
    *r = (struct pfdd_cursor){ .reader.hooks = &reader_hooks,
                               .ring = ring,
                               .render_cache = render_cache,
                               .form = request->form,
                               .seq = ring->next_seq };
    if (request->wants.map && !request->wants.encoding) {
        request->wants.encoding = &pfdd_json_fields_encoding;
        r->form = PFDD_TEXT;
    }
    if (users && !pfdd_user_accounts_join(users, key, &r->account))
        return false;
    if (!begin(r, request)) {
        pfdd_user_accounts_leave(&r->account);
        return false;
    }
    pfdd_ring_join(ring, &r->reader);
    if (from->is_time) {
        r->seq = find_time(ring, from->value);
    } else if (from->is_seq && from->value < ring->next_seq) {
        /* "oldest" is 0; sequence numbers begin with 1. */
        r->seq = from->value ? from->value : pfdd_ring_oldest(ring);
    }
    return true;
}

bool pfdd_cursor_init(struct pfdd_cursor *r,
                      struct pfdd_render_cache *render_cache,
                      struct pfdd_request *request)
{
    return pfdd_cursor_init_of(r, render_cache, request, NULL, NULL);
}

static void drop_block(struct pfdd_cursor *r)
{
    pfdd_rendered_block_unref(r->rendered_block);
    r->rendered_block = NULL;
    r->has_entered = false;
    r->item = r->at = r->n_announced = 0;
}

void pfdd_cursor_deinit(struct pfdd_cursor *r)
{
    struct pfdd_rendered_block *p = r->rendered_block;
    pfdd_ring_leave(r->ring, &r->reader);
    pfdd_preamble_deinit(&r->preamble);
    free(r->out.bytes);
    if (p && !p->is_shared && !p->is_ready) {
        pfdd_rendered_block_leave_behind(p, &r->account);
    } else {
        pfdd_render_choice_free(r->render_choice);
        pfdd_user_accounts_leave(&r->account);
    }
    drop_block(r);
}

/* ---- blocks ---- */

static size_t end_of(const struct pfdd_rendered_block *p, size_t item)
{
    return p->ends[item];
}

static size_t n_items_of(const struct pfdd_rendered_block *p)
{
    return (size_t)(p->end - p->first);
}

/* The first item that does not end within the first `at` bytes of the block.
 * Entries are written with the last one of their frame: earlier ones have no
 * bytes of their own, and remain until it is written. */
static size_t first_left(const struct pfdd_cursor *r, size_t at)
{
    const struct pfdd_rendered_block *p = r->rendered_block;
    size_t ret = r->item;
    for (size_t i = r->item; i < n_items_of(p) && end_of(p, i) <= at; i++) {
        bool has_bytes = end_of(p, i) > (i ? end_of(p, i - 1) : 0);
        if (has_bytes || p->form != PFDD_ENTRIES)
            ret = i + 1;
    }
    return ret;
}

/* Counts the items from the current one up to `to` as consumed. Those without bytes
 * were not wanted, but in entries and where they are collapsed. */
static void count_up_to(struct pfdd_cursor *r, size_t to)
{
    const struct pfdd_rendered_block *p = r->rendered_block;
    uint64_t n = to - r->item;
    bool has_gaps = r->render_choice && p->form != PFDD_ENTRIES &&
                    !pfdd_cursor_collapser(r);
    r->lines += n;
    for (size_t i = r->item; has_gaps && i < to; i++)
        n -= end_of(p, i) == (i ? end_of(p, i - 1) : 0);
    r->written += n;
}

/* The block is ready. It may begin before the item, or it was full before the
 * item. A block that failed has no text, and need not have the ends of items. */
static void enter_block(struct pfdd_cursor *r)
{
    const struct pfdd_rendered_block *p = r->rendered_block;
    r->times.entered_ns = uv_hrtime();
    r->is_beyond = r->seq >= p->end && !p->has_failed;
    if (r->is_beyond) {
        drop_block(r);
        return;
    }
    r->has_entered = true;
    r->item = (size_t)(r->seq - p->first);
    r->at = r->item && !p->has_failed ? end_of(p, r->item - 1) : 0;
    if (r->render_choice)
        pfdd_cursor_charge_all(r);
}

static void leave_block(struct pfdd_cursor *r)
{
    struct pfdd_render_choice *render_choice = r->render_choice;
    r->seq = r->rendered_block->end;
    drop_block(r);
    if (render_choice && render_choice->debt_ns < 0)
        render_choice->debt_ns = 0;
    if (render_choice && render_choice->debt_ns > DEBT_MAX_NS) {
        r->is_costly = true;
        pfdd_cursor_cut_off(r, "what is matched costs more than it may");
    }
    pfdd_cursor_charge_all(r);
}

/* Skips chunks of other sources, unless left-out entries are counted. */
static void skip_others(struct pfdd_cursor *r)
{
    const struct pfdd_selection *w =
        r->render_choice ? &r->render_choice->wants : NULL;
    bool is_chosen = w && !w->sample && (w->source || w->host);
    size_t i = is_chosen ? pfdd_ring_find(r->ring, r->seq) : r->ring->n_chunks;
    for (; i < r->ring->n_chunks; i++) {
        const struct pfdd_chunk *c = pfdd_ring_at(r->ring, i);
        if (c->contents.n[PFDD_GAP] ||
            pfdd_buffer_is_of(c->buffer, w->source, w->host))
            return;
        r->lines += c->first_seq + c->n_items - r->seq;
        r->seq = c->first_seq + c->n_items;
    }
}

/* NULL: there is no room now. A block that was full before the item may be gone
 * before the next one is rendered, so that one begins with the item. */
static struct pfdd_rendered_block *ask_for_page(struct pfdd_cursor *r)
{
    if (!r->render_choice) {
        return pfdd_render_cache_get(r->render_cache, r->form, r->seq,
                                     r->is_beyond);
    }
    struct pfdd_rendered_block *p = pfdd_render_cache_get_private(
        r->render_cache, r->form, r->render_choice, r->seq);
    if (!p)
        return NULL;
    /* Not before: room for the block may come from cursors that need memory to
     * give theirs back. */
    pfdd_cursor_hold_rooms(r);
    pfdd_rendered_block_start_private(p);
    return p;
}

/* False: there is none now. */
static bool find_block(struct pfdd_cursor *r)
{
    uint64_t oldest = pfdd_ring_oldest(r->ring);
    if (r->seq < oldest && !r->is_over) {
        pfdd_cursor_flush_collapser(r);
        pfdd_cursor_miss(r, oldest - r->seq, "subscriber_lag");
        return true;
    }
    skip_others(r);
    if (r->seq >= r->ring->next_seq || r->is_over)
        return false;
    struct pfdd_rendered_block *p = has_turn(r) ? ask_for_page(r) : NULL;
    r->waits = !p;
    end_turn(r);
    if (!p)
        return false;
    /* Before the cursor holds its block: memory for further ones may be taken
     * from cursors that hold one. */
    if (!r->render_choice)
        pfdd_render_cache_prepare(r->render_cache, r->form, p->end);
    r->rendered_block = p;
    if (r->rendered_block->is_ready)
        enter_block(r);
    return true;
}

/* Writes the preamble for the next buffer of the block. */
static bool write_preamble(struct pfdd_cursor *r)
{
    const struct pfdd_rendered_block_buffer *b =
        &r->rendered_block->buffers[r->n_announced];
    uint64_t n_streams = r->preamble.n_streams;
    bool done = false;
    if (!pfdd_preamble_write(&r->preamble, &r->render_cache->objects, b->buffer,
                             b->generation, pfdd_cursor_add_bytes, r, &done))
        r->is_over = true;
    r->n_announced += done;
    pfdd_cursor_charge(r);
    if (r->preamble.n_streams != n_streams)
        r->n_announced = 0;
    return !r->is_over;
}

/* True: bytes are set, or the caller should try again. */
static bool read_block(struct pfdd_cursor *r, const char **bytes, size_t *n)
{
    struct pfdd_rendered_block *p = r->rendered_block;
    if (!r->has_entered || r->is_over)
        return false;
    if (p->has_failed) {
        uint64_t end = p->end;
        drop_block(r);
        if (pfdd_cursor_collapser(
                r)) { /* some of its entries may be counted already */
            pfdd_cursor_cut_off(r, "out of memory for what is collapsed");
            return true;
        }
        r->waits = r->reader.must_have_all;
        if (!r->waits)
            pfdd_cursor_miss(r, end - r->seq, "no_memory");
        return !r->waits;
    }
    if (r->form == PFDD_ENTRIES && r->n_announced < p->n_buffers)
        return write_preamble(r);
    if (r->at < p->n) {
        *bytes = p->text + r->at;
        *n = p->n - r->at;
        return true;
    }
    count_up_to(r, n_items_of(p));
    leave_block(r);
    return true;
}

bool pfdd_cursor_peek(struct pfdd_cursor *r, const char **bytes, size_t *n)
{
    *n = 0;
    if (r->form == PFDD_ENTRIES && !r->preamble.has_begun && !r->is_over &&
        !pfdd_preamble_begin(&r->preamble, pfdd_cursor_add_bytes, r))
        r->is_over = true;
    while (*n == 0) {
        if (r->out.at < r->out.n) {
            *bytes = r->out.bytes + r->out.at;
            *n = r->out.n - r->out.at;
        } else if (!(r->rendered_block ? read_block(r, bytes, n)
                                       : find_block(r))) {
            return false;
        }
    }
    return true;
}

static void take_out(struct pfdd_cursor *r, size_t n)
{
    r->out.at += n;
    if (r->out.at < r->out.n)
        return;
    free(r->out.bytes);
    r->out.bytes = NULL;
    r->out.at = r->out.n = 0;
    if (!r->rendered_block || r->has_entered)
        pfdd_cursor_charge_all(r);
}

void pfdd_cursor_consume(struct pfdd_cursor *r, size_t n)
{
    r->times.taken_ns = uv_hrtime();
    if (r->out.at < r->out.n) {
        take_out(r, n);
        return;
    }
    const struct pfdd_rendered_block *p = r->rendered_block;
    r->at += n;
    size_t item = first_left(r, r->at);
    count_up_to(r, item);
    r->item = item;
    if (item < n_items_of(p))
        return;
    leave_block(r);
    if (!r->render_choice)
        pfdd_render_cache_prepare(r->render_cache, r->form, r->seq);
}

void pfdd_cursor_pass(struct pfdd_cursor *r, uint64_t seq)
{
    r->times.taken_ns = uv_hrtime();
    r->lines += seq - r->seq;
    r->written += seq - r->seq;
    r->seq = seq;
}

/* ---- all cursors of a ring ---- */

static void wake(struct pfdd_ring_reader *reader)
{
    struct pfdd_cursor *r = (struct pfdd_cursor *)reader;
    if (r->wake)
        r->wake(r);
}

static void wake_all(struct pfdd_ring *ring,
                     const struct pfdd_rendered_block *rendered_block)
{
    struct pfdd_cursor *next = pfdd_cursors_first(ring);
    for (size_t n = ring->n_readers; n && next; n--) {
        struct pfdd_cursor *r = next;
        bool is_meant =
            rendered_block ? r->rendered_block == rendered_block : r->waits;
        next = pfdd_cursors_next(r);
        if (!is_meant)
            continue;
        if (rendered_block)
            enter_block(r);
        r->is_called = !rendered_block;
        r->waits = false;
        wake(&r->reader);
    }
}

static uint64_t shared_seq(const struct pfdd_ring_reader *reader,
                           enum pfdd_form form)
{
    const struct pfdd_cursor *r = (const struct pfdd_cursor *)reader;
    return r->form == form && !r->render_choice ? pfdd_cursor_seq(r)
                                                : UINT64_MAX;
}

static void flush_collapsers(struct pfdd_ring *ring)
{
    struct pfdd_cursor *next = NULL;
    uint64_t now = uv_hrtime();
    for (struct pfdd_cursor *r = pfdd_cursors_first(ring); r; r = next) {
        struct pfdd_collapser *collapser = pfdd_cursor_collapser(r);
        next = pfdd_cursors_next(r);
        /* Lines would move output that a job is writing. */
        if (r->rendered_block || r->is_lent || !collapser ||
            !pfdd_collapser_is_due(collapser, now))
            continue;
        pfdd_cursor_flush_collapser(r);
        wake(&r->reader);
    }
}

void pfdd_cursors_kick(struct pfdd_ring *ring)
{
    wake_all(ring, NULL);
    flush_collapsers(ring);
}

/* True: a record ends at the cursor's position in its block. */
static bool is_between(const struct pfdd_cursor *r)
{
    const char *end = r->form == PFDD_SSE ? "\n\n" : "\n";
    size_t n = strlen(end);
    if (r->form == PFDD_ENTRIES)
        return r->at == 0;
    return r->at == 0 ||
           (r->at >= n && !memcmp(r->rendered_block->text + r->at - n, end, n));
}

/* Ends the stream at the cursor's position in its block. A client ignores an
 * event that the stream ends in, so there the error is written as a comment. */
static void end_inside(struct pfdd_cursor *r)
{
    static const char why[] = "no memory for the rest of what this subscriber "
                              "does not take";
    static const char comment[] = "\n: error: ";
    bool ends_line = r->form == PFDD_TEXT || r->form == PFDD_JSON;
    bool is_inside = !is_between(r);
    r->seq = r->rendered_block->first + r->item;
    r->is_over = r->is_cut = true;
    drop_block(r);
    if (is_inside && r->form == PFDD_SSE) {
        pfdd_cursor_add_out(r, comment, sizeof comment - 1);
        pfdd_cursor_add_out(r, why, sizeof why - 1);
        pfdd_cursor_add_out(r, "\n", 1);
    } else if (!is_inside || (ends_line && pfdd_cursor_add_out(r, "\n", 1))) {
        pfdd_cursor_cut_off(r, why);
    }
    pfdd_cursor_charge_all(r);
}

/* End of the items that the cursor has begun: one line, or, where entries are
 * collapsed, the whole block. */
static size_t end_of_begun(const struct pfdd_cursor *r)
{
    const struct pfdd_rendered_block *p = r->rendered_block;
    size_t end = r->item;
    if (pfdd_cursor_collapser(r))
        return n_items_of(p);
    if (r->at > (r->item ? end_of(p, r->item - 1) : 0)) {
        while (end_of(p, end++) <= r->at)
            continue;
    }
    return end;
}

/* Copies the rest of the begun items to the cursor's own output and drops the
 * block; other items are rendered again later. False: the quota does not allow
 * it, and the cursor keeps its block. */
static bool give_back_block(struct pfdd_cursor *r)
{
    const struct pfdd_rendered_block *p = r->rendered_block;
    size_t end = end_of_begun(r);
    size_t n_rest = end > r->item ? end_of(p, end - 1) - r->at : 0;
    size_t n_held = r->account.n_bytes;
    if (!pfdd_cursor_hold(r, n_held + n_rest))
        return false;
    if (n_rest && !pfdd_cursor_add_out(r, p->text + r->at, n_rest)) {
        pfdd_cursor_hold(r, n_held);
        return false;
    }
    count_up_to(r, end);
    r->seq = p->first + end;
    drop_block(r);
    return true;
}

/* True: the block can be taken back. While cursors are woken one by one, those
 * that have not entered the block yet stand elsewhere than at its beginning. */
static bool holds_block(const struct pfdd_cursor *r, bool who_choose)
{
    return r->has_entered && !r->rendered_block->has_failed && !r->is_lent &&
           (r->render_choice || !who_choose);
}

/* Of the cursors with a quota that have held a block for too long, the one that
 * has held it longest. */
static struct pfdd_cursor *find_slowest(const struct pfdd_ring *ring,
                                        bool who_choose)
{
    uint64_t now = uv_hrtime();
    struct pfdd_cursor *ret = NULL;
    for (struct pfdd_cursor *r = pfdd_cursors_first(ring); r;
         r = pfdd_cursors_next(r)) {
        if (holds_block(r, who_choose) && r->account.of &&
            now - r->times.entered_ns > PAGE_MAX_NS &&
            (!ret || r->times.entered_ns < ret->times.entered_ns))
            ret = r;
    }
    return ret;
}

static bool take_back_block(struct pfdd_ring *ring, bool who_choose)
{
    uint64_t now = uv_hrtime();
    for (struct pfdd_cursor *r = pfdd_cursors_first(ring); r;
         r = pfdd_cursors_next(r)) {
        bool is_slow = now - r->times.taken_ns > LATELY_NS ||
                       now - r->times.entered_ns > PAGE_NS;
        if (holds_block(r, who_choose) && is_slow && give_back_block(r))
            return true;
    }
    struct pfdd_cursor *slowest = find_slowest(ring, who_choose);
    if (slowest)
        end_inside(slowest);
    return slowest;
}

static const struct pfdd_ring_reader_hooks reader_hooks = { seq_of, is_awaited,
                                                            wake };
static const struct pfdd_block_reader_hooks block_reader_hooks = {
    wake_all, shared_seq, take_back_block
};
