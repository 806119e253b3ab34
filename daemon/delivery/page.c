/* SPDX-License-Identifier: MIT */
#include "delivery/page.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "delivery/reader.h"

enum {
    INPUT = 24 * 1024, /* bytes of chunks: a page of JSON, about */
    PIECES_MAX = 256,
    GROWTH = 128 * 1024, /* bytes of text beyond PFDD_PAGE, about */
};

void pfdd_pages_init(struct pfdd_pages *pages, struct pfdd_ring *ring,
                     struct pfdd_pool *shared, struct pfdd_pool *chosen,
                     size_t n_bytes_max)
{
    *pages = (struct pfdd_pages){ .ring = ring,
                                  .shared = shared,
                                  .chosen = chosen,
                                  .n_bytes_max = n_bytes_max };
}

/* ---- life ---- */

static void free_input(struct pfdd_page *p)
{
    while (p->n_pieces)
        pfdd_chunk_unref(p->pieces[--p->n_pieces]);
    pfdd_strings_unref(p->strings);
    p->strings = NULL;
}

void pfdd_page_unref(struct pfdd_page *page)
{
    if (!page || --page->refs > 0)
        return;
    free_input(page);
    page->of->n_bytes -= page->n_charged;
    free(page->text);
    free(page->ends);
    free(page);
}

static size_t page_bytes(const struct pfdd_page *p)
{
    return sizeof *p + p->n + (size_t)(p->end - p->first) * sizeof *p->ends;
}

static void charge(struct pfdd_page *p, size_t n)
{
    p->of->n_bytes += n - p->n_charged;
    p->n_charged = n;
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
    assert(pages->n_bytes == 0);
}

/* ---- room ---- */

/* The oldest that nobody reads. */
static bool drop_one(struct pfdd_pages *pages)
{
    struct pfdd_page_list *oldest = NULL;
    size_t at = 0;
    for (unsigned form = 0; form < PFDD_N_FORMS; form++) {
        struct pfdd_page_list *list = &pages->lists[form];
        size_t i = 0;
        while (i < list->n &&
               (list->items[i]->refs > 1 || !list->items[i]->is_ready))
            i++;
        if (i < list->n &&
            (!oldest || list->items[i]->first < oldest->items[at]->first)) {
            oldest = list;
            at = i;
        }
    }
    if (oldest)
        remove_at(oldest, at);
    return oldest != NULL;
}

static bool has_room(const struct pfdd_pages *pages, size_t n)
{
    return pages->n_bytes + n <= pages->n_bytes_max;
}

static bool make_room(struct pfdd_pages *pages, size_t n)
{
    while (!has_room(pages, n)) {
        if (!drop_one(pages) && !pfdd_readers_let_go(pages->ring))
            return false;
    }
    return true;
}

void pfdd_pages_kick(struct pfdd_pages *pages)
{
    pfdd_readers_wake(pages->ring, NULL);
}

/* ---- making ---- */

static void page_done(struct pfdd_job *job);

static void run_job(struct pfdd_job *job)
{
    pfdd_page_render((struct pfdd_page *)job);
}

/* One that could not be made is tried again by whoever asks next. */
static void settle(struct pfdd_page *p)
{
    struct pfdd_page_list *list = &p->of->lists[p->form];
    p->is_ready = true;
    if (!p->has_failed)
        p->end = p->full;
    free_input(p);
    charge(p, page_bytes(p));
    p->of->n_made++;
    p->of->n_long += p->n_long;
    if (p->is_shared && p->has_failed)
        remove_at(list, find(list, p->first));
}

static void page_done(struct pfdd_job *job)
{
    struct pfdd_page *p = (struct pfdd_page *)job;
    struct pfdd_pages *pages = p->of;
    settle(p);
    if (!p->is_shared && !p->reader)
        pfdd_choice_free(p->choice);
    pfdd_readers_wake(pages->ring, p);
    pfdd_page_unref(p); /* the job's */
    pfdd_readers_wake(pages->ring, NULL);
}

static void make(struct pfdd_page *p, struct pfdd_pool *pool)
{
    if (!pool) {
        pfdd_page_render(p);
        settle(p);
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
static size_t count_pieces(const struct pfdd_ring *ring, size_t from,
                           uint64_t limit)
{
    size_t n = 0;
    size_t n_bytes = 0;
    const struct pfdd_strings *strings = NULL;
    while (from + n < ring->n_chunks && n < PIECES_MAX && n_bytes < INPUT) {
        const struct pfdd_chunk *c = pfdd_ring_at(ring, from + n);
        if (c->first_seq >= limit || (strings && strings_of(c) != strings))
            break;
        strings = strings_of(c);
        n_bytes += c->n;
        n++;
    }
    return n;
}

/* Of the items from `first` on, before `limit`. NULL: no room. */
static struct pfdd_page *new_page(struct pfdd_pages *pages, uint64_t first,
                                  uint64_t limit)
{
    const struct pfdd_ring *ring = pages->ring;
    size_t from = pfdd_ring_find(ring, first);
    size_t n = count_pieces(ring, from, limit);
    assert(n > 0); /* the ring has it */
    const struct pfdd_chunk *last = pfdd_ring_at(ring, from + n - 1);
    uint64_t end = last->first_seq + last->n_items;
    size_t room = sizeof(struct pfdd_page) + n * sizeof(void *) +
                  (size_t)(end - first) * sizeof(uint32_t) + PFDD_PAGE + GROWTH;
    struct pfdd_page *p = make_room(pages, room)
                              ? calloc(1, sizeof *p + n * sizeof(void *))
                              : NULL;
    if (!p)
        return NULL;
    p->of = pages;
    p->refs = 1;
    p->first = first;
    p->end = end < limit ? end : limit;
    for (; p->n_pieces < n; p->n_pieces++) {
        struct pfdd_chunk *c = pfdd_ring_at(ring, from + p->n_pieces);
        p->pieces[p->n_pieces] = pfdd_chunk_ref(c);
    }
    p->strings = pfdd_strings_ref(strings_of(p->pieces[0]));
    charge(p, room);
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

struct pfdd_page *pfdd_pages_get(struct pfdd_pages *pages, enum pfdd_form form,
                                 uint64_t seq)
{
    struct pfdd_page_list *list = &pages->lists[form];
    size_t i = find(list, seq);
    if (i < list->n && list->items[i]->first <= seq) {
        list->items[i]->refs++;
        return list->items[i];
    }
    uint64_t first = first_of(pages, list, i, seq);
    uint64_t limit = i < list->n ? list->items[i]->first : UINT64_MAX;
    struct pfdd_page *p = new_page(pages, first, limit);
    if (!p)
        return NULL;
    p->form = form;
    p->is_shared = true;
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
    if (seq < pages->ring->next_seq && seq >= pfdd_ring_oldest(pages->ring) &&
        has_room(pages, 2 * (PFDD_PAGE + GROWTH)))
        pfdd_page_unref(pfdd_pages_get(pages, form, seq));
}

struct pfdd_page *pfdd_pages_choose(struct pfdd_pages *pages,
                                    struct pfdd_reader *reader, uint64_t seq)
{
    struct pfdd_choice *choice = reader->choice;
    struct pfdd_page *p = new_page(pages, seq, UINT64_MAX);
    if (!p)
        return NULL;
    p->form = reader->form;
    p->reader = reader;
    p->choice = choice;
    if (choice->strings != p->strings) {
        pfd_filter_run_free(choice->run);
        choice->run = NULL;
        pfdd_strings_unref(choice->strings);
        choice->strings = pfdd_strings_ref(p->strings);
    }
    make(p, pages->chosen);
    return p;
}

void pfdd_choice_free(struct pfdd_choice *choice)
{
    if (!choice)
        return;
    pfd_filter_run_free(choice->run);
    pfdd_strings_unref(choice->strings);
    pfdd_wants_deinit(&choice->wants);
    free(choice);
}
