/* SPDX-License-Identifier: MIT */
#include "core/filter/filter.h"
#include "ring/cursor.h"

/* Bytes that a filter may take while a page is made, where they are there. */
enum {
    MATCHING = 512 << 10,
    EACH_STRING = 128,
};

enum {
    SPARED = 64,         /* this part of what all may have */
    SPARED_BY_ROOMS = 8, /* likewise: for readers that come meanwhile */
};

/* Of what it matches, and asks of strings: so much it always has. */
static size_t filter_bytes(const struct pfdd_render_choice *render_choice)
{
    size_t n = pfd_filter_run_memory(render_choice->run);
    if (!render_choice->wants.entries)
        return 0;
    return n > PFD_FILTER_ROOM_MIN ? n : PFD_FILTER_ROOM_MIN;
}

/* Of what it collapses, which becomes output of its own: so much it always
 * has. */
static size_t collapse_bytes(const struct pfdd_cursor *r)
{
    size_t n = r->out.n;
    if (!r->render_choice || !r->render_choice->collapser)
        return n;
    n += pfdd_collapser_memory(r->render_choice->collapser);
    return n > PFDD_COLLAPSER_MIN ? n : PFDD_COLLAPSER_MIN;
}

size_t pfdd_cursor_bytes(const struct pfdd_cursor *r)
{
    const struct pfdd_render_choice *render_choice = r->render_choice;
    size_t n =
        sizeof *r + collapse_bytes(r) + pfdd_preamble_memory(&r->preamble);
    if (render_choice) {
        n += sizeof *render_choice +
             pfd_filter_memory(render_choice->wants.entries) +
             filter_bytes(render_choice);
    }
    return n;
}

/* Gives back what its filter keeps beyond the least room. False: nothing. */
static bool trim(struct pfdd_cursor *r)
{
    bool is_used = r->rendered_block && !r->rendered_block->is_ready;
    if (is_used || !r->account.of || !r->render_choice)
        return false;
    size_t n = filter_bytes(r->render_choice);
    if (n <= PFD_FILTER_ROOM_MIN)
        return false;
    pfd_filter_run_set_room(r->render_choice->run, PFD_FILTER_ROOM_MIN);
    n -= filter_bytes(r->render_choice);
    size_t n_held = r->account.n_bytes;
    return n && pfdd_resource_account_change(&r->account,
                                             n_held > n ? n_held - n : 0);
}

/* Of a cursor of the same user. False: none has any. */
static bool trim_one(const struct pfdd_cursor *r)
{
    for (struct pfdd_cursor *o = pfdd_cursors_first(r->ring); o;
         o = pfdd_cursors_next(o)) {
        if (o->account.of == r->account.of && trim(o))
            return true;
    }
    return false;
}

bool pfdd_cursor_hold(struct pfdd_cursor *r, size_t n)
{
    while (!pfdd_resource_account_change(&r->account, n)) {
        if (!trim_one(r))
            return false;
    }
    return true;
}

bool pfdd_cursor_hold_sparing(struct pfdd_cursor *r, size_t n)
{
    size_t spare = pfdd_resource_account_max(&r->account) / SPARED;
    return pfdd_cursor_hold(r, n + spare) && pfdd_cursor_hold(r, n);
}

size_t pfdd_cursor_memory(const struct pfdd_cursor *r)
{
    return r->account.n_bytes;
}

/* Beside its own, as much as there is, from what it has to `most`. */
static size_t hold_more(struct pfdd_cursor *r, size_t own, size_t has,
                        size_t most)
{
    size_t n = most > has ? most : has;
    size_t spare = pfdd_resource_account_max(&r->account) / SPARED_BY_ROOMS;
    while (n > has &&
           !pfdd_resource_account_change(&r->account, own + n + spare))
        n = n / 2 > has ? n / 2 : has;
    pfdd_resource_account_change(&r->account, own + n);
    return n;
}

/* For the strings of the item that it has to come. */
static size_t most_of_filter(const struct pfdd_cursor *r)
{
    size_t i = pfdd_ring_find(r->ring, r->seq);
    const struct pfdd_buffer *buffer = pfdd_ring_at(r->ring, i)->buffer;
    return MATCHING +
           EACH_STRING * pfd_strings_count(buffer->binding->strings->set);
}

void pfdd_cursor_hold_rooms(struct pfdd_cursor *r)
{
    struct pfdd_render_choice *render_choice = r->render_choice;
    size_t n = pfdd_cursor_bytes(r);
    if (render_choice->collapser) {
        size_t has = collapse_bytes(r);
        size_t room = hold_more(r, n - has, has, PFDD_COLLAPSER_MAX);
        pfdd_collapser_set_room(render_choice->collapser, room);
        n += room - has;
    }
    if (render_choice->wants.entries) {
        size_t has = filter_bytes(render_choice);
        render_choice->room = hold_more(r, n - has, has, most_of_filter(r));
    }
}
