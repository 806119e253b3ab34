/* SPDX-License-Identifier: MIT */
/*
 * A pass on several threads. The bytes to walk are cut into slices. In each
 * slice a thread looks for the first entry beyond doubt, walks on from there,
 * and counts the entries that only have to be emitted. Then the slices are
 * emitted in order, each if it begins exactly where the walk has arrived:
 * between two entries a walk depends on nothing before. All other bytes are
 * walked by one thread, as without a pool.
 */
#include "stream/live/tail_control.h"
#include "stream/live/tail_pass.h"
#include "stream/live/walk_pool.h"

enum {
    WORTH_IT = 128 * 1024, /* bytes */
    BEHIND = 4 * 1024,     /* of the entry in which a slice ends */
};

struct shared {
    const struct pfd_tail *tail;
    const struct pfd_tail_pass *pass;
    struct pfd_walk_slices *walk_slices;
    size_t n;
};

static uint64_t left_of(const struct pfd_walk *w)
{
    uint64_t end = pfd_walk_end(w);
    return end - w->at > BEHIND ? end - w->at - BEHIND : 0;
}

static bool is_worth_it(const struct pfd_tail *t, const struct pfd_tail_pass *p)
{
    const struct pfd_walk *w = &t->walk;
    return t->format->split && w->at == t->place.at && left_of(w) >= WORTH_IT &&
           pfd_tail_pass_has_runs(t, p, w->at);
}

/* Cuts slices, from the walk's position on. */
static void lay_out(struct shared *s)
{
    const struct pfd_walk *w = &s->tail->walk;
    uint64_t from = w->at;
    uint64_t end = w->at + left_of(w);
    for (s->n = 0; s->n < PFD_WALK_SLICES && from < end; s->n++) {
        struct pfd_walk_slice *walk_slice = &s->walk_slices->at[s->n];
        uint64_t to = (from / PFD_WALK_SLICE_BYTES + 1) * PFD_WALK_SLICE_BYTES;
        if (to > end)
            to = end / 8 * 8;
        if (to <= from)
            return;
        walk_slice->from = from;
        walk_slice->to = to;
        from = to;
    }
}

/* False: there is no entry beyond doubt, or no memory. */
static bool begin(struct pfd_walk_slice *walk_slice, const struct pfd_tail *t)
{
    struct pfd_walk *w = &walk_slice->walk;
    if (!pfd_walk_slice_begin(walk_slice, &t->walk, t->format->state_size))
        return false;
    w->until = walk_slice->to;
    return walk_slice->from == w->at ||
           t->format->split(w, walk_slice->from, walk_slice->to);
}

static void walk(void *user, size_t i)
{
    const struct shared *s = user;
    struct pfd_walk_slice *walk_slice = &s->walk_slices->at[i];
    const struct pfd_tail_pass *p = s->pass;
    const struct pfd_record_batch *batch = &walk_slice->batch;
    walk_slice->n_plain = 0;
    if (!begin(walk_slice, s->tail))
        return;
    (void)s->tail->format->walk(&walk_slice->walk);
    if (!batch->n)
        return;
    const struct pfd_record *first = &batch->records[0];
    const struct pfd_record *last = &batch->records[batch->n - 1];
    uint64_t same = pfd_tail_same_until(p->copy, p->other, first->offset,
                                        last->offset + last->n_bytes);
    walk_slice->n_plain =
        pfd_tail_pass_count(s->tail, p, first, batch->n, same);
}

static bool begins_at(const struct pfd_walk_slice *walk_slice, uint64_t at)
{
    return walk_slice->n_plain && walk_slice->batch.records[0].offset == at;
}

static bool begins_behind(const struct pfd_walk_slice *walk_slice, uint64_t at)
{
    return walk_slice->n_plain && walk_slice->batch.records[0].offset > at;
}

static void give(const struct pfd_tail *t,
                 const struct pfd_entry_run *entry_runs, size_t n)
{
    const struct pfd_entry_run *given[PFD_WALK_SLICES];
    for (size_t i = 0; i < n; i++)
        given[i] = &entry_runs[i];
    if (t->runs.runs && n)
        t->runs.runs(t->o.item_user, given, n, t->place.generation);
    for (size_t i = 0; !t->runs.runs && i < n; i++)
        t->runs.run(t->o.item_user, given[i], t->place.generation);
}

/* Emits slices from index i on, as long as each begins at the walk's position;
 * returns the index of the next one. */
static size_t give_some(struct pfd_tail *t, struct pfd_tail_pass *p,
                        const struct shared *s, size_t i)
{
    struct pfd_entry_run entry_runs[PFD_WALK_SLICES];
    struct pfd_walk *w = &t->walk;
    size_t n = 0;
    if (w->at != t->place.at || !pfd_tail_pass_has_runs(t, p, t->place.at))
        return i;
    for (; i < s->n && begins_at(&s->walk_slices->at[i], w->at); i++) {
        const struct pfd_walk_slice *walk_slice = &s->walk_slices->at[i];
        p->failed |=
            !pfd_tail_pass_take_run(t, p, walk_slice->batch.records,
                                    walk_slice->n_plain, &entry_runs[n++]);
        w->at = t->place.at;
    }
    give(t, entry_runs, n);
    return i;
}

/* Emits all slices; one thread walks up to the next slice that fits. False: it
 * could not. */
static bool give_all(struct pfd_tail *t, struct pfd_tail_pass *p,
                     const struct shared *s)
{
    const struct pfd_walk_slice *all = s->walk_slices->at;
    for (size_t i = 0; i < s->n && !p->failed;) {
        i = give_some(t, p, s, i);
        while (i < s->n && !begins_behind(&all[i], t->walk.at))
            i++;
        uint64_t next =
            i < s->n ? all[i].batch.records[0].offset : all[s->n - 1].to;
        if (!pfd_tail_pass_walk(t, p, next))
            return false;
    }
    return !p->failed;
}

void pfd_tail_slices_walk(struct pfd_tail *t, struct pfd_tail_pass *p)
{
    struct shared s = { .tail = t, .pass = p };
    if (!is_worth_it(t, p) || !pfd_walk_pool_hold(t->runs.walk_pool))
        return;
    s.walk_slices = pfd_walk_pool_slices(t->runs.walk_pool);
    bool goes_on = s.walk_slices;
    while (goes_on) {
        lay_out(&s);
        pfd_walk_pool_share(t->runs.walk_pool, s.n, walk, &s);
        goes_on = give_all(t, p, &s) && is_worth_it(t, p);
    }
    pfd_walk_pool_let_go(t->runs.walk_pool);
}

void pfd_tail_share(void *tail, size_t n, void (*piece)(void *of, size_t i),
                    void *of)
{
    const struct pfd_tail *t = tail;
    pfd_walk_pool_share(t->runs.walk_pool, n, piece, of);
}
