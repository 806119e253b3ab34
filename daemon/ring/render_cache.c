/* SPDX-License-Identifier: MIT */
#include "ring/render_cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ring/cursor.h"

enum {
    LINE_FIRST = 384, /* bytes of a line, until some have been seen */
    PIECES_MAX = 256,
    ITEMS_MAX = 16384, /* of a page: their ends take 64 KiB */
};

void pfdd_pages_init(struct pfdd_pages *pages, struct pfdd_ring *ring,
                     struct pfdd_pool *shared, struct pfdd_pool *chosen,
                     unsigned n_ahead, size_t n_bytes_max)
{
    *pages = (struct pfdd_pages){ .ring = ring,
                                  .shared = shared,
                                  .chosen = chosen,
                                  .n_ahead = n_ahead,
                                  .n_bytes_max = n_bytes_max };
}

/* ---- blocks ---- */

static void keep_block(struct pfdd_pages *pages, char *block)
{
    if (pages->n_blocks > pages->n_ahead ||
        pages->n_blocks == PFDD_BLOCKS_MAX ||
        pages->n_bytes + PFDD_BLOCK > pages->n_bytes_max) {
        free(block);
        return;
    }
    pages->blocks[pages->n_blocks++] = block;
    pages->n_bytes += PFDD_BLOCK;
}

/* NULL: there is none. */
static char *take_block(struct pfdd_pages *pages)
{
    if (!pages->n_blocks)
        return NULL;
    pages->n_bytes -= PFDD_BLOCK;
    return pages->blocks[--pages->n_blocks];
}

static bool drop_block(struct pfdd_pages *pages)
{
    char *block = take_block(pages);
    free(block);
    return block;
}

/* ---- life ---- */

static void free_input(struct pfdd_page *p)
{
    while (p->n_pieces)
        pfdd_chunk_unref(p->pieces[--p->n_pieces]);
    pfdd_strings_unref(p->strings);
    p->strings = NULL;
}

static void charge(struct pfdd_page *p, size_t n)
{
    p->of->n_bytes += n - p->n_charged;
    if (p->is_chosen)
        p->of->n_chosen += n - p->n_charged;
    p->n_charged = n;
}

void pfdd_page_unref(struct pfdd_page *page)
{
    if (!page || --page->refs > 0)
        return;
    free_input(page);
    charge(page, 0);
    while (page->n_buffers)
        pfdd_buffer_unref(page->buffers[--page->n_buffers].buffer);
    free(page->buffers);
    if (page->is_block) {
        keep_block(page->of, page->text);
    } else {
        free(page->text);
    }
    free(page->ends);
    free(page);
}

static size_t page_bytes(const struct pfdd_page *p)
{
    return sizeof *p + (p->is_block ? (size_t)PFDD_BLOCK : p->n) +
           p->n_ends * sizeof *p->ends + p->n_buffers * sizeof *p->buffers;
}

/* ---- the list of a form ---- */

/* The first that ends behind the item, or n. */
static size_t find(const struct pfdd_page_list *list, uint64_t seq)
{
    size_t low = 0;
    size_t high = list->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->items[middle]->end <= seq) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void remove_at(struct pfdd_page_list *list, size_t i)
{
    struct pfdd_page *p = list->items[i];
    list->n--;
    memmove(list->items + i, list->items + i + 1,
            (list->n - i) * sizeof(void *));
    pfdd_page_unref(p);
}

static bool insert(struct pfdd_page_list *list, size_t i, struct pfdd_page *p)
{
    if (list->n == list->size) {
        size_t size = list->size ? 2 * list->size : 16;
        void *items = realloc(list->items, size * sizeof(void *));
        if (!items)
            return false;
        list->items = items;
        list->size = size;
    }
    memmove(list->items + i + 1, list->items + i,
            (list->n - i) * sizeof(void *));
    list->items[i] = p;
    list->n++;
    p->refs++;
    return true;
}

void pfdd_pages_deinit(struct pfdd_pages *pages)
{
    for (unsigned form = 0; form < PFDD_N_FORMS; form++) {
        struct pfdd_page_list *list = &pages->lists[form];
        while (list->n)
            remove_at(list, list->n - 1);
        free(list->items);
        *list = (struct pfdd_page_list){ 0 };
    }
    while (drop_block(pages))
        continue;
    assert(pages->n_bytes == 0);
}

/* ---- room ---- */

static bool is_idle(const struct pfdd_page *p)
{
    return p->is_ready && p->refs == 1;
}

/* One whose items the ring has no more: nobody can ask for it. */
static bool drop_dead(struct pfdd_pages *pages)
{
    uint64_t oldest = pfdd_ring_oldest(pages->ring);
    for (unsigned form = 0; form < PFDD_N_FORMS; form++) {
        struct pfdd_page_list *list = &pages->lists[form];
        for (size_t i = 0; i < list->n && list->items[i]->end <= oldest; i++) {
            if (is_idle(list->items[i])) {
                remove_at(list, i);
                return true;
            }
        }
    }
    return false;
}

/* The last one that all readers of its form have behind them: what it takes is
 * still in the processor's cache, and who comes later begins with older ones. */
static bool drop_read(struct pfdd_pages *pages)
{
    struct pfdd_page_list *last = NULL;
    size_t at = 0;
    for (unsigned form = 0; form < PFDD_N_FORMS; form++) {
        struct pfdd_page_list *list = &pages->lists[form];
        size_t i =
            list->n ? find(list, pfdd_readers_lowest(pages->ring, form)) : 0;
        while (i > 0 && !is_idle(list->items[i - 1]))
            i--;
        if (i > 0 &&
            (!last || list->items[i - 1]->end > last->items[at]->end)) {
            last = list;
            at = i - 1;
        }
    }
    if (last)
        remove_at(last, at);
    return last != NULL;
}

/* Of a list, the idle page before an item that a reader has farthest to, if it
 * is farther than the others' (*far, items). */
static bool find_far(const struct pfdd_page_list *list, uint64_t before,
                     uint64_t *far, size_t *at)
{
    uint64_t reader = 0; /* where the last one before the page stands */
    bool found = false;
    for (size_t i = 0; i < list->n; i++) {
        struct pfdd_page *p = list->items[i];
        if (p->is_next)
            reader = p->first;
        p->is_next = false;
        if (is_idle(p) && p->end <= before && p->first - reader >= *far) {
            *far = p->first - reader;
            *at = i;
            found = true;
        }
    }
    return found;
}

/* The one that will be wanted last, of those that end before this item. */
static bool drop_farthest(struct pfdd_pages *pages, uint64_t before)
{
    struct pfdd_page_list *farthest = NULL;
    uint64_t far = 0;
    size_t at = 0;
    for (struct pfdd_reader *r = pages->ring->readers; r; r = r->next) {
        struct pfdd_page_list *list = &pages->lists[r->form];
        size_t i = r->choice ? list->n : find(list, pfdd_reader_seq(r));
        if (i < list->n)
            list->items[i]->is_next = true;
    }
    for (unsigned form = 0; form < PFDD_N_FORMS; form++) {
        if (find_far(&pages->lists[form], before, &far, &at))
            farthest = &pages->lists[form];
    }
    if (farthest)
        remove_at(farthest, at);
    return farthest != NULL;
}

static bool drop_one(struct pfdd_pages *pages, uint64_t before)
{
    return drop_dead(pages) || drop_read(pages) || drop_farthest(pages, before);
}

/* Is a page's text gathered in a block? */
static bool uses_block(enum pfdd_form form)
{
    return form != PFDD_SSE && form != PFDD_ENTRIES;
}

/* n_used: blocks that are kept and will be part of it. */
static bool has_room(const struct pfdd_pages *pages, size_t n, unsigned n_used)
{
    size_t kept = pages->n_blocks < n_used ? pages->n_blocks : n_used;
    return pages->n_bytes - kept * PFDD_BLOCK + n <= pages->n_bytes_max;
}

/* For n bytes; by pages that end before this item, others stay. A page's block
 * is kept, and is the next one's. */
static bool make_room(struct pfdd_pages *pages, size_t n, unsigned n_used,
                      uint64_t before)
{
    while (!has_room(pages, n, n_used)) {
        if (!(pages->n_blocks > n_used && drop_block(pages)) &&
            !drop_one(pages, before) &&
            !(before == UINT64_MAX && pfdd_readers_let_go(pages->ring, false)))
            return false;
    }
    return true;
}

bool pfdd_pages_reserve(struct pfdd_pages *pages, size_t n)
{
    if (!make_room(pages, n, 0, UINT64_MAX))
        return false;
    pages->n_bytes += n;
    return true;
}

void pfdd_pages_release(struct pfdd_pages *pages, size_t n)
{
    pages->n_bytes -= n;
}

void pfdd_pages_kick(struct pfdd_pages *pages)
{
    pfdd_readers_wake(pages->ring, NULL);
    pfdd_readers_end_runs(pages->ring);
}

/* ---- making ---- */

static void page_done(struct pfdd_job *job);

static void run_job(struct pfdd_job *job)
{
    pfdd_page_render((struct pfdd_page *)job);
}

/* A page with little text does not keep a block. A chunk's is about half of one,
 * and copying that would be the loop's time. */
static void fit(struct pfdd_page *p)
{
    if (!p->is_block || (p->n > PFDD_BLOCK / 3 && p->n <= PFDD_BLOCK))
        return;
    char *fits = malloc(p->n ? p->n : 1);
    if (!fits)
        return;
    memcpy(fits, p->text, p->n);
    keep_block(p->of, p->text);
    p->text = fits;
    p->is_block = false;
}

/* One that could not be made is tried again by whoever asks next. */
void pfdd_page_settle(struct pfdd_page *p)
{
    struct pfdd_page_list *list = &p->of->lists[p->form];
    p->is_ready = true;
    if (!p->has_failed) {
        p->end = p->full;
        if (p->is_shared && p->end > p->first)
            list->line = p->n / (size_t)(p->end - p->first) + 1;
    }
    fit(p);
    free_input(p);
    charge(p, page_bytes(p));
    p->of->n_made++;
    p->of->n_long += p->n_long;
    if (p->is_shared && p->has_failed)
        remove_at(list, find(list, p->first));
}

void pfdd_page_leave_behind(struct pfdd_page *page, struct pfdd_reader *reader)
{
    page->reader = NULL;
    page->reader_quota = reader->reader_quota;
    page->n_held = reader->n_held;
    page->of->n_left += page->n_held;
}

static void free_what_was_left(struct pfdd_page *p)
{
    pfdd_choice_free(p->choice);
    p->of->n_left -= p->n_held;
    pfdd_reader_quota_change(p->reader_quota, p->n_held, 0);
    pfdd_reader_quota_leave(p->reader_quota);
}

static void page_done(struct pfdd_job *job)
{
    struct pfdd_page *p = (struct pfdd_page *)job;
    struct pfdd_pages *pages = p->of;
    pfdd_page_settle(p);
    if (!p->is_shared && !p->reader)
        free_what_was_left(p);
    pfdd_readers_wake(pages->ring, p);
    pfdd_page_unref(p); /* the job's */
    pfdd_readers_wake(pages->ring, NULL);
}

static void make(struct pfdd_page *p, struct pfdd_pool *pool)
{
    if (!pool) {
        pfdd_page_render(p);
        pfdd_page_settle(p);
        return;
    }
    p->job.run = run_job;
    p->job.done = page_done;
    p->refs++;
    pfdd_pool_submit(pool, &p->job);
}

static struct pfdd_strings *strings_of(const struct pfdd_chunk *c)
{
    return c->buffer->binding->strings;
}

/* Chunks up to an item, as many as make a page of text. */
static size_t count_pieces(const struct pfdd_pages *pages, enum pfdd_form form,
                           size_t from, uint64_t first, uint64_t limit)
{
    const struct pfdd_ring *ring = pages->ring;
    size_t line = pages->lists[form].line;
    size_t wanted = PFDD_PAGE / (line ? line : LINE_FIRST);
    size_t n_items = wanted < ITEMS_MAX ? wanted : ITEMS_MAX;
    size_t n = 0;
    const struct pfdd_strings *strings = NULL;
    while (from + n < ring->n_chunks && n < PIECES_MAX) {
        const struct pfdd_chunk *c = pfdd_ring_at(ring, from + n);
        uint64_t end = c->first_seq + c->n_items;
        if (c->first_seq >= limit || (strings && strings_of(c) != strings) ||
            (n > 0 && end > first + n_items))
            break;
        strings = strings_of(c);
        n++;
    }
    return n;
}

static bool is_noted(const struct pfdd_page *p, const struct pfdd_chunk *c)
{
    for (size_t i = 0; i < p->n_buffers; i++) {
        if (p->buffers[i].buffer == c->buffer &&
            p->buffers[i].generation == c->contents.generation)
            return true;
    }
    return false;
}

static bool note_buffers(struct pfdd_page *p)
{
    p->buffers = calloc(p->n_pieces, sizeof *p->buffers);
    for (size_t i = 0; p->buffers && i < p->n_pieces; i++) {
        const struct pfdd_chunk *c = p->pieces[i];
        if (!is_noted(p, c)) {
            p->buffers[p->n_buffers++] =
                (struct pfdd_page_buffer){ pfdd_buffer_ref(c->buffer),
                                           c->contents.generation };
        }
    }
    return p->buffers;
}

/* Of the items from `first` on, before `limit`; it may end inside of its first
 * chunk. n_used: see has_room(). NULL: no room. */
static struct pfdd_page *new_page(struct pfdd_pages *pages, enum pfdd_form form,
                                  uint64_t first, uint64_t limit,
                                  unsigned n_used)
{
    const struct pfdd_ring *ring = pages->ring;
    size_t from = pfdd_ring_find(ring, first);
    size_t n = count_pieces(pages, form, from, first, limit);
    assert(n > 0); /* the ring has it */
    const struct pfdd_chunk *last = pfdd_ring_at(ring, from + n - 1);
    uint64_t end = last->first_seq + last->n_items;
    end = end < limit ? end : limit;
    end = end - first < ITEMS_MAX ? end : first + ITEMS_MAX;
    size_t room = sizeof(struct pfdd_page) + n * sizeof(void *) +
                  (size_t)(end - first) * sizeof(uint32_t) + PFDD_BLOCK;
    struct pfdd_page *p = make_room(pages, room, n_used, UINT64_MAX)
                              ? calloc(1, sizeof *p + n * sizeof(void *))
                              : NULL;
    if (!p)
        return NULL;
    p->of = pages;
    p->refs = 1;
    p->form = form;
    p->first = first;
    p->end = end;
    for (; p->n_pieces < n; p->n_pieces++) {
        struct pfdd_chunk *c = pfdd_ring_at(ring, from + p->n_pieces);
        p->pieces[p->n_pieces] = pfdd_chunk_ref(c);
    }
    p->strings = pfdd_strings_ref(strings_of(p->pieces[0]));
    charge(p, room);
    if (form == PFDD_ENTRIES && !note_buffers(p)) {
        pfdd_page_unref(p);
        return NULL;
    }
    return p;
}

/* Where the page of an item begins: with its chunk, so that all find the same,
 * or where the page before it was full. */
static uint64_t first_of(const struct pfdd_pages *pages,
                         const struct pfdd_page_list *list, size_t i,
                         uint64_t seq)
{
    const struct pfdd_ring *ring = pages->ring;
    uint64_t first = pfdd_ring_at(ring, pfdd_ring_find(ring, seq))->first_seq;
    uint64_t before = i > 0 ? list->items[i - 1]->end : 0;
    return before > first ? before : first;
}

/* Of entries, a chunk goes out whole: is the item inside of one, that others
 * may have had the beginning of? */
static bool is_inside(const struct pfdd_pages *pages, uint64_t seq)
{
    const struct pfdd_ring *ring = pages->ring;
    return pfdd_ring_at(ring, pfdd_ring_find(ring, seq))->first_seq < seq;
}

/* The rest of its chunk, for one reader. */
static struct pfdd_page *make_rest(struct pfdd_pages *pages,
                                   enum pfdd_form form, uint64_t seq)
{
    const struct pfdd_ring *ring = pages->ring;
    const struct pfdd_chunk *c = pfdd_ring_at(ring, pfdd_ring_find(ring, seq));
    struct pfdd_page *p =
        new_page(pages, form, seq, c->first_seq + c->n_items, 0);
    if (p)
        make(p, pages->shared);
    return p;
}

struct pfdd_page *pfdd_pages_get(struct pfdd_pages *pages, enum pfdd_form form,
                                 uint64_t seq)
{
    struct pfdd_page_list *list = &pages->lists[form];
    size_t i = find(list, seq);
    bool is_there = i < list->n && list->items[i]->first <= seq;
    uint64_t first =
        is_there ? list->items[i]->first : first_of(pages, list, i, seq);
    if (form == PFDD_ENTRIES && first < seq && is_inside(pages, seq))
        return make_rest(pages, form, seq);
    if (is_there) {
        list->items[i]->refs++;
        return list->items[i];
    }
    uint64_t limit = i < list->n ? list->items[i]->first : UINT64_MAX;
    struct pfdd_page *p = new_page(pages, form, first, limit, uses_block(form));
    if (!p)
        return NULL;
    p->is_shared = true;
    if (uses_block(form))
        p->text = take_block(pages);
    p->is_block = p->text;
    /* What had to go for it moved the others. */
    if (!insert(list, find(list, first), p)) {
        pfdd_page_unref(p);
        return NULL;
    }
    make(p, pages->shared);
    return p;
}

void pfdd_pages_prepare(struct pfdd_pages *pages, enum pfdd_form form,
                        uint64_t seq)
{
    const uint64_t before = seq;
    for (unsigned i = 0; i < pages->n_ahead; i++) {
        if (seq >= pages->ring->next_seq ||
            seq < pfdd_ring_oldest(pages->ring) ||
            !make_room(pages, 2 * PFDD_BLOCK, uses_block(form), before))
            return;
        struct pfdd_page *p = pfdd_pages_get(pages, form, seq);
        if (!p)
            return;
        seq = p->end;
        pfdd_page_unref(p);
    }
}

/* Who chooses leaves room for a page of the others. */
static bool may_choose(struct pfdd_pages *pages)
{
    while (pages->n_chosen &&
           pages->n_chosen + PFDD_BLOCK > pages->n_bytes_max / 4 * 3) {
        if (!pfdd_readers_let_go(pages->ring, true))
            return false;
    }
    return true;
}

struct pfdd_page *pfdd_pages_choose(struct pfdd_pages *pages,
                                    struct pfdd_reader *reader, uint64_t seq)
{
    struct pfdd_choice *choice = reader->choice;
    struct pfdd_page *p =
        may_choose(pages) ? new_page(pages, reader->form, seq, UINT64_MAX, 0)
                          : NULL;
    if (!p)
        return NULL;
    p->is_chosen = true;
    pages->n_chosen += p->n_charged;
    p->reader = reader;
    p->choice = choice;
    pfdd_choice_use(choice, p->strings);
    make(p, pages->chosen);
    return p;
}

struct pfdd_page *pfdd_page_of(struct pfdd_pages *pages,
                               struct pfdd_chunk *const *chunks, size_t n,
                               struct pfdd_strings *strings,
                               struct pfdd_choice *choice, uint64_t first,
                               bool is_entries)
{
    struct pfdd_page *p = calloc(1, sizeof *p + n * sizeof(void *));
    if (!p)
        return NULL;
    p->of = pages;
    p->refs = 1;
    p->form = is_entries                         ? PFDD_ENTRIES
              : choice && choice->wants.encoding ? PFDD_TEXT
                                                 : PFDD_JSON;
    p->choice = choice;
    p->first = first;
    p->end = chunks[n - 1]->first_seq + chunks[n - 1]->n_items;
    for (; p->n_pieces < n; p->n_pieces++)
        p->pieces[p->n_pieces] = pfdd_chunk_ref(chunks[p->n_pieces]);
    p->strings = pfdd_strings_ref(strings);
    if (choice)
        pfdd_choice_use(choice, strings);
    charge(p, sizeof *p + PFDD_BLOCK);
    return p;
}

static bool is_choosy(const struct pfdd_wants *w)
{
    return w->entries || w->source || w->entries_only || w->no_findings ||
           w->fields || w->collapse || w->sample || w->encoding || w->map;
}

bool pfdd_choice_new(struct pfdd_request *request, struct pfdd_choice **ret)
{
    *ret = NULL;
    if (!is_choosy(&request->wants))
        return true;
    *ret = calloc(1, sizeof **ret);
    if (!*ret)
        return false;
    (*ret)->wants = request->wants;
    request->wants = (struct pfdd_wants){ 0 };
    return true;
}

void pfdd_choice_use(struct pfdd_choice *choice, struct pfdd_strings *strings)
{
    if (choice->strings == strings)
        return;
    pfd_filter_run_free(choice->run);
    choice->run = NULL;
    pfdd_strings_unref(choice->strings);
    choice->strings = pfdd_strings_ref(strings);
}

void pfdd_choice_free(struct pfdd_choice *choice)
{
    if (!choice)
        return;
    pfd_filter_run_free(choice->run);
    pfdd_strings_unref(choice->strings);
    pfdd_runs_free(choice->runs);
    pfdd_wants_deinit(&choice->wants);
    free(choice);
}
