/* SPDX-License-Identifier: MIT */
#include "ring/render_cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_FIRST = 384, /* bytes of a line, before a block was rendered */
    PIECES_MAX = 256,
    ITEMS_MAX = 16384, /* of a rendered block: their ends take 64 KiB */
};

void pfdd_render_cache_init(struct pfdd_render_cache *render_cache,
                            struct pfdd_ring *ring, struct pfdd_pool *shared,
                            struct pfdd_pool *chosen, unsigned n_ahead,
                            size_t n_bytes_max)
{
    *render_cache = (struct pfdd_render_cache){ .ring = ring,
                                                .shared = shared,
                                                .chosen = chosen,
                                                .n_ahead = n_ahead,
                                                .n_bytes_max = n_bytes_max };
}

/* ---- text blocks ---- */

static void keep_block(struct pfdd_render_cache *render_cache, char *block)
{
    if (render_cache->n_blocks > render_cache->n_ahead ||
        render_cache->n_blocks == PFDD_BLOCKS_MAX ||
        render_cache->n_bytes + PFDD_BLOCK > render_cache->n_bytes_max) {
        free(block);
        return;
    }
    render_cache->blocks[render_cache->n_blocks++] = block;
    render_cache->n_bytes += PFDD_BLOCK;
}

/* NULL: none is stored. */
static char *take_block(struct pfdd_render_cache *render_cache)
{
    if (!render_cache->n_blocks)
        return NULL;
    render_cache->n_bytes -= PFDD_BLOCK;
    return render_cache->blocks[--render_cache->n_blocks];
}

static bool drop_block(struct pfdd_render_cache *render_cache)
{
    char *block = take_block(render_cache);
    free(block);
    return block;
}

/* ---- life ---- */

static void free_input(struct pfdd_rendered_block *p)
{
    while (p->n_pieces)
        pfdd_chunk_unref(p->pieces[--p->n_pieces]);
    pfdd_strings_unref(p->strings);
    p->strings = NULL;
}

static void charge(struct pfdd_rendered_block *p, size_t n)
{
    p->of->n_bytes += n - p->n_charged;
    if (p->is_private)
        p->of->n_private += n - p->n_charged;
    p->n_charged = n;
}

void pfdd_rendered_block_unref(struct pfdd_rendered_block *rendered_block)
{
    if (!rendered_block || --rendered_block->refs > 0)
        return;
    free_input(rendered_block);
    charge(rendered_block, 0);
    while (rendered_block->n_buffers) {
        pfdd_buffer_unref(
            rendered_block->buffers[--rendered_block->n_buffers].buffer);
    }
    free(rendered_block->buffers);
    if (rendered_block->is_block) {
        keep_block(rendered_block->of, rendered_block->text);
    } else {
        free(rendered_block->text);
    }
    free(rendered_block->ends);
    free(rendered_block);
}

static size_t block_bytes(const struct pfdd_rendered_block *p)
{
    return sizeof *p + (p->is_block ? (size_t)PFDD_BLOCK : p->n) +
           p->n_ends * sizeof *p->ends + p->n_buffers * sizeof *p->buffers;
}

/* ---- the rendered blocks of a form ---- */

/* The first block that ends after the item, or n. */
static size_t find(const struct pfdd_rendered_block_list *list, uint64_t seq)
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

static void remove_at(struct pfdd_rendered_block_list *list, size_t i)
{
    struct pfdd_rendered_block *p = list->items[i];
    list->n--;
    memmove(list->items + i, list->items + i + 1,
            (list->n - i) * sizeof(void *));
    pfdd_rendered_block_unref(p);
}

static bool insert(struct pfdd_rendered_block_list *list, size_t i,
                   struct pfdd_rendered_block *p)
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

void pfdd_render_cache_deinit(struct pfdd_render_cache *render_cache)
{
    for (unsigned form = 0; form < PFDD_N_FORMS; form++) {
        struct pfdd_rendered_block_list *list = &render_cache->lists[form];
        while (list->n)
            remove_at(list, list->n - 1);
        free(list->items);
        *list = (struct pfdd_rendered_block_list){ 0 };
    }
    while (drop_block(render_cache))
        continue;
    assert(render_cache->n_bytes == 0);
}

/* ---- eviction ---- */

static bool is_idle(const struct pfdd_rendered_block *p)
{
    return p->is_ready && p->refs == 1;
}

/* Evicts a block whose items have left the ring: no cursor can ask for it. */
static bool drop_dead(struct pfdd_render_cache *render_cache)
{
    uint64_t oldest = pfdd_ring_oldest(render_cache->ring);
    for (unsigned form = 0; form < PFDD_N_FORMS; form++) {
        struct pfdd_rendered_block_list *list = &render_cache->lists[form];
        for (size_t i = 0; i < list->n && list->items[i]->end <= oldest; i++) {
            if (is_idle(list->items[i])) {
                remove_at(list, i);
                return true;
            }
        }
    }
    return false;
}

/* The lowest position of all readers that share blocks of a form; UINT64_MAX:
 * there is none. */
static uint64_t lowest_seq(const struct pfdd_render_cache *render_cache,
                           enum pfdd_form form)
{
    uint64_t ret = UINT64_MAX;
    for (const struct pfdd_ring_reader *r = render_cache->ring->readers; r;
         r = r->next) {
        uint64_t seq = render_cache->readers->shared_seq(r, form);
        ret = seq < ret ? seq : ret;
    }
    return ret;
}

/* Evicts the newest block that all cursors of its form have passed. Its memory
 * is still in the processor's cache, and a later cursor begins with older
 * items. */
static bool drop_read(struct pfdd_render_cache *render_cache)
{
    struct pfdd_rendered_block_list *last = NULL;
    size_t at = 0;
    for (unsigned form = 0; form < PFDD_N_FORMS; form++) {
        struct pfdd_rendered_block_list *list = &render_cache->lists[form];
        size_t i = list->n ? find(list, lowest_seq(render_cache, form)) : 0;
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

/* Finds the idle block that ends before an item and is the most
 * items ahead of the last cursor before it, if that is at least *far. */
static bool find_far(const struct pfdd_rendered_block_list *list,
                     uint64_t before, uint64_t *far, size_t *at)
{
    uint64_t reader = 0; /* position of the last cursor before the block */
    bool found = false;
    for (size_t i = 0; i < list->n; i++) {
        struct pfdd_rendered_block *p = list->items[i];
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

/* Marks the blocks of a form that readers are in, or come to next. */
static void mark_next(struct pfdd_render_cache *render_cache,
                      enum pfdd_form form)
{
    const struct pfdd_rendered_block_list *list = &render_cache->lists[form];
    for (const struct pfdd_ring_reader *r = render_cache->ring->readers; r;
         r = r->next) {
        size_t i = find(list, render_cache->readers->shared_seq(r, form));
        if (i < list->n)
            list->items[i]->is_next = true;
    }
}

/* Evicts the block that ends before an item and is needed furthest ahead. */
static bool drop_farthest(struct pfdd_render_cache *render_cache,
                          uint64_t before)
{
    struct pfdd_rendered_block_list *farthest = NULL;
    uint64_t far = 0;
    size_t at = 0;
    for (unsigned form = 0; form < PFDD_N_FORMS; form++) {
        mark_next(render_cache, form);
        if (find_far(&render_cache->lists[form], before, &far, &at))
            farthest = &render_cache->lists[form];
    }
    if (farthest)
        remove_at(farthest, at);
    return farthest != NULL;
}

static bool drop_one(struct pfdd_render_cache *render_cache, uint64_t before)
{
    return drop_dead(render_cache) || drop_read(render_cache) ||
           drop_farthest(render_cache, before);
}

/* True: text of this form is rendered into a text block. */
static bool uses_block(enum pfdd_form form)
{
    return form != PFDD_SSE && form != PFDD_ENTRIES;
}

static bool take_back(struct pfdd_render_cache *render_cache, bool who_choose)
{
    return render_cache->readers &&
           render_cache->readers->take_back(render_cache->ring, who_choose);
}

/* n_used: stored text blocks that will be part of the n bytes. */
static bool has_room(const struct pfdd_render_cache *render_cache, size_t n,
                     unsigned n_used)
{
    size_t kept =
        render_cache->n_blocks < n_used ? render_cache->n_blocks : n_used;
    return render_cache->n_bytes - kept * PFDD_BLOCK + n <=
           render_cache->n_bytes_max;
}

/* Frees n bytes by evicting blocks that end before an item. Text blocks of
 * evicted ones are stored for the next block. */
static bool make_room(struct pfdd_render_cache *render_cache, size_t n,
                      unsigned n_used, uint64_t before)
{
    while (!has_room(render_cache, n, n_used)) {
        if (!(render_cache->n_blocks > n_used && drop_block(render_cache)) &&
            !drop_one(render_cache, before) &&
            !(before == UINT64_MAX && take_back(render_cache, false)))
            return false;
    }
    return true;
}

bool pfdd_render_cache_reserve(struct pfdd_render_cache *render_cache, size_t n)
{
    if (!make_room(render_cache, n, 0, UINT64_MAX))
        return false;
    render_cache->n_bytes += n;
    return true;
}

void pfdd_render_cache_release(struct pfdd_render_cache *render_cache, size_t n)
{
    render_cache->n_bytes -= n;
}

/* ---- rendering ---- */

static void block_done(struct pfdd_job *job);

static void run_job(struct pfdd_job *job)
{
    pfdd_rendered_block_render((struct pfdd_rendered_block *)job);
}

/* A rendered block with little text does not keep its text block. The text of a
 * full chunk takes about half of one: copying that would cost the loop too
 * much. */
static void fit(struct pfdd_rendered_block *p)
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

/* A shared block that failed is removed: the next cursor that asks has it
 * rendered again. */
void pfdd_rendered_block_settle(struct pfdd_rendered_block *p)
{
    struct pfdd_rendered_block_list *list = &p->of->lists[p->form];
    p->is_ready = true;
    if (!p->has_failed) {
        p->end = p->full;
        if (p->is_shared && p->end > p->first)
            list->line = p->n / (size_t)(p->end - p->first) + 1;
    }
    fit(p);
    free_input(p);
    charge(p, block_bytes(p));
    p->of->n_made++;
    p->of->n_long += p->n_long;
    if (p->is_shared && p->has_failed)
        remove_at(list, find(list, p->first));
}

void pfdd_rendered_block_leave_behind(
    struct pfdd_rendered_block *rendered_block,
    struct pfdd_resource_account *account)
{
    rendered_block->is_left = true;
    rendered_block->account = *account;
    rendered_block->of->n_left += account->n_bytes;
    *account = (struct pfdd_resource_account){ 0 };
}

static void free_what_was_left(struct pfdd_rendered_block *p)
{
    pfdd_render_choice_free(p->render_choice);
    p->of->n_left -= p->account.n_bytes;
    pfdd_user_accounts_leave(&p->account);
}

static void block_done(struct pfdd_job *job)
{
    struct pfdd_rendered_block *p = (struct pfdd_rendered_block *)job;
    struct pfdd_render_cache *render_cache = p->of;
    pfdd_rendered_block_settle(p);
    if (p->is_left)
        free_what_was_left(p);
    render_cache->readers->wake(render_cache->ring, p);
    pfdd_rendered_block_unref(p); /* the job's reference */
    render_cache->readers->wake(render_cache->ring, NULL);
}

static void make(struct pfdd_rendered_block *p, struct pfdd_pool *pool)
{
    if (!pool) {
        pfdd_rendered_block_render(p);
        pfdd_rendered_block_settle(p);
        return;
    }
    p->job.run = run_job;
    p->job.done = block_done;
    p->refs++;
    pfdd_pool_submit(pool, &p->job);
}

static struct pfdd_strings *strings_of(const struct pfdd_chunk *c)
{
    return c->buffer->binding->strings;
}

/* Number of chunks, up to an item, that fill a rendered block. */
static size_t count_pieces(const struct pfdd_render_cache *render_cache,
                           enum pfdd_form form, size_t from, uint64_t first,
                           uint64_t limit)
{
    const struct pfdd_ring *ring = render_cache->ring;
    size_t line = render_cache->lists[form].line;
    size_t wanted = PFDD_RENDERED_BLOCK / (line ? line : LINE_FIRST);
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

static bool is_noted(const struct pfdd_rendered_block *p,
                     const struct pfdd_chunk *c)
{
    for (size_t i = 0; i < p->n_buffers; i++) {
        if (p->buffers[i].buffer == c->buffer &&
            p->buffers[i].generation == c->contents.generation)
            return true;
    }
    return false;
}

static bool note_buffers(struct pfdd_rendered_block *p)
{
    p->buffers = calloc(p->n_pieces, sizeof *p->buffers);
    for (size_t i = 0; p->buffers && i < p->n_pieces; i++) {
        const struct pfdd_chunk *c = p->pieces[i];
        if (!is_noted(p, c)) {
            p->buffers[p->n_buffers++] =
                (struct pfdd_rendered_block_buffer){ pfdd_buffer_ref(c->buffer),
                                                     c->contents.generation };
        }
    }
    return p->buffers;
}

/* A block of the items from `first` on, before `limit`; it may end within its
 * first chunk. n_used: see has_room(). NULL: no memory. */
static struct pfdd_rendered_block *new_block(
    struct pfdd_render_cache *render_cache, enum pfdd_form form, uint64_t first,
    uint64_t limit, unsigned n_used)
{
    const struct pfdd_ring *ring = render_cache->ring;
    size_t from = pfdd_ring_find(ring, first);
    size_t n = count_pieces(render_cache, form, from, first, limit);
    assert(n > 0); /* the ring has the item */
    const struct pfdd_chunk *last = pfdd_ring_at(ring, from + n - 1);
    uint64_t end = last->first_seq + last->n_items;
    end = end < limit ? end : limit;
    end = end - first < ITEMS_MAX ? end : first + ITEMS_MAX;
    size_t room = sizeof(struct pfdd_rendered_block) + n * sizeof(void *) +
                  (size_t)(end - first) * sizeof(uint32_t) + PFDD_BLOCK;
    struct pfdd_rendered_block *p =
        make_room(render_cache, room, n_used, UINT64_MAX)
            ? calloc(1, sizeof *p + n * sizeof(void *))
            : NULL;
    if (!p)
        return NULL;
    p->of = render_cache;
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
        pfdd_rendered_block_unref(p);
        return NULL;
    }
    return p;
}

/* Where the block of an item begins: with its chunk, so that all cursors find
 * the same block, or where the previous block was full. */
static uint64_t first_of(const struct pfdd_render_cache *render_cache,
                         const struct pfdd_rendered_block_list *list, size_t i,
                         uint64_t seq)
{
    const struct pfdd_ring *ring = render_cache->ring;
    uint64_t first = pfdd_ring_at(ring, pfdd_ring_find(ring, seq))->first_seq;
    uint64_t before = i > 0 ? list->items[i - 1]->end : 0;
    return before > first ? before : first;
}

/* Entries are written by whole chunks. True: the item is inside a chunk, of
 * which other cursors may have had the beginning. */
static bool is_inside(const struct pfdd_render_cache *render_cache,
                      uint64_t seq)
{
    const struct pfdd_ring *ring = render_cache->ring;
    return pfdd_ring_at(ring, pfdd_ring_find(ring, seq))->first_seq < seq;
}

/* Renders the rest of the item's chunk for one cursor. */
static struct pfdd_rendered_block *make_rest(
    struct pfdd_render_cache *render_cache, enum pfdd_form form, uint64_t seq)
{
    const struct pfdd_ring *ring = render_cache->ring;
    const struct pfdd_chunk *c = pfdd_ring_at(ring, pfdd_ring_find(ring, seq));
    struct pfdd_rendered_block *p =
        new_block(render_cache, form, seq, c->first_seq + c->n_items, 0);
    if (p)
        make(p, render_cache->shared);
    return p;
}

struct pfdd_rendered_block *pfdd_render_cache_get(
    struct pfdd_render_cache *render_cache, enum pfdd_form form, uint64_t seq,
    bool is_exact)
{
    struct pfdd_rendered_block_list *list = &render_cache->lists[form];
    size_t i = find(list, seq);
    bool is_there = i < list->n && list->items[i]->first <= seq;
    uint64_t first = is_there   ? list->items[i]->first
                     : is_exact ? seq
                                : first_of(render_cache, list, i, seq);
    if (form == PFDD_ENTRIES && first < seq && is_inside(render_cache, seq))
        return make_rest(render_cache, form, seq);
    if (is_there) {
        list->items[i]->refs++;
        return list->items[i];
    }
    uint64_t limit = i < list->n ? list->items[i]->first : UINT64_MAX;
    struct pfdd_rendered_block *p =
        new_block(render_cache, form, first, limit, uses_block(form));
    if (!p)
        return NULL;
    p->is_shared = true;
    if (uses_block(form))
        p->text = take_block(render_cache);
    p->is_block = p->text;
    /* Eviction may have moved the list: find the place again. */
    if (!insert(list, find(list, first), p)) {
        pfdd_rendered_block_unref(p);
        return NULL;
    }
    make(p, render_cache->shared);
    return p;
}

void pfdd_render_cache_prepare(struct pfdd_render_cache *render_cache,
                               enum pfdd_form form, uint64_t seq)
{
    const uint64_t before = seq;
    for (unsigned i = 0; i < render_cache->n_ahead; i++) {
        if (seq >= render_cache->ring->next_seq ||
            seq < pfdd_ring_oldest(render_cache->ring) ||
            !make_room(render_cache, 2 * PFDD_BLOCK, uses_block(form), before))
            return;
        struct pfdd_rendered_block *p =
            pfdd_render_cache_get(render_cache, form, seq, false);
        if (!p)
            return;
        seq = p->end;
        pfdd_rendered_block_unref(p);
    }
}

/* Evicts private blocks until one more leaves room for shared ones. */
static bool make_room_for_private(struct pfdd_render_cache *render_cache)
{
    while (render_cache->n_private && render_cache->n_private + PFDD_BLOCK >
                                          render_cache->n_bytes_max / 4 * 3) {
        if (!take_back(render_cache, true))
            return false;
    }
    return true;
}

struct pfdd_rendered_block *pfdd_render_cache_get_private(
    struct pfdd_render_cache *render_cache, enum pfdd_form form,
    struct pfdd_render_choice *render_choice, uint64_t seq)
{
    struct pfdd_rendered_block *p =
        make_room_for_private(render_cache)
            ? new_block(render_cache, form, seq, UINT64_MAX, 0)
            : NULL;
    if (!p)
        return NULL;
    p->is_private = true;
    render_cache->n_private += p->n_charged;
    p->render_choice = render_choice;
    pfdd_render_choice_use(render_choice, p->strings);
    return p;
}

void pfdd_rendered_block_start_private(
    struct pfdd_rendered_block *rendered_block)
{
    make(rendered_block, rendered_block->of->chosen);
}

struct pfdd_rendered_block *pfdd_rendered_block_of(
    struct pfdd_render_cache *render_cache, struct pfdd_chunk *const *chunks,
    size_t n, struct pfdd_strings *strings,
    struct pfdd_render_choice *render_choice, uint64_t first, bool is_entries)
{
    struct pfdd_rendered_block *p = calloc(1, sizeof *p + n * sizeof(void *));
    if (!p)
        return NULL;
    p->of = render_cache;
    p->refs = 1;
    p->form = is_entries                                       ? PFDD_ENTRIES
              : render_choice && render_choice->wants.encoding ? PFDD_TEXT
                                                               : PFDD_JSON;
    p->render_choice = render_choice;
    p->first = first;
    p->end = chunks[n - 1]->first_seq + chunks[n - 1]->n_items;
    for (; p->n_pieces < n; p->n_pieces++)
        p->pieces[p->n_pieces] = pfdd_chunk_ref(chunks[p->n_pieces]);
    p->strings = pfdd_strings_ref(strings);
    if (render_choice)
        pfdd_render_choice_use(render_choice, strings);
    charge(p, sizeof *p + PFDD_BLOCK);
    return p;
}

static bool is_choosy(const struct pfdd_selection *w)
{
    return w->entries || w->source || w->host || w->entries_only ||
           w->no_findings || w->fields || w->collapse || w->sample ||
           w->encoding || w->map;
}

bool pfdd_render_choice_new(struct pfdd_request *request,
                            struct pfdd_render_choice **ret)
{
    *ret = NULL;
    if (!is_choosy(&request->wants))
        return true;
    *ret = calloc(1, sizeof **ret);
    if (!*ret)
        return false;
    (*ret)->wants = request->wants;
    request->wants = (struct pfdd_selection){ 0 };
    return true;
}

void pfdd_render_choice_use(struct pfdd_render_choice *render_choice,
                            struct pfdd_strings *strings)
{
    if (render_choice->strings == strings)
        return;
    pfd_filter_run_free(render_choice->run);
    render_choice->run = NULL;
    pfdd_strings_unref(render_choice->strings);
    render_choice->strings = pfdd_strings_ref(strings);
}

void pfdd_render_choice_free(struct pfdd_render_choice *render_choice)
{
    if (!render_choice)
        return;
    pfd_filter_run_free(render_choice->run);
    pfdd_strings_unref(render_choice->strings);
    pfdd_collapser_free(render_choice->collapser);
    pfdd_wants_deinit(&render_choice->wants);
    free(render_choice);
}
