/* SPDX-License-Identifier: MIT */
/*
 * A pass by several threads. What is to be walked over is cut into stretches;
 * in each, a thread looks for the first entry beyond doubt, walks on from there,
 * and counts how many entries need no more than being given out. Then they are
 * given, one stretch after the other, where each begins at the very place that
 * has been come to: between two entries a walk knows nothing of those before.
 * Over whatever is not like that one thread walks, as without helpers.
 */
#include "stream/live/tail_slices.h"

#include "stream/live/thread_pool.h"

enum {
    WORTH_IT = 128 * 1024, /* bytes */
    BEHIND = 4 * 1024,     /* of the entry that a stretch ends in */
};

struct shared {
    const struct pfd_tail *tail;
    const struct pfd_tail_pass *pass;
    struct pfd_stretches *stretches;
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
    return t->format->split && w->at == t->at && left_of(w) >= WORTH_IT &&
           pfd_tail_pass_has_runs(t, p, w->at);
}

/* From where the walk is. */
static void lay_out(struct shared *s)
{
    const struct pfd_walk *w = &s->tail->walk;
    uint64_t from = w->at;
    uint64_t end = w->at + left_of(w);
    for (s->n = 0; s->n < PFD_STRETCHES && from < end; s->n++) {
        struct pfd_stretch *stretch = &s->stretches->at[s->n];
        uint64_t to = (from / PFD_STRETCH_BYTES + 1) * PFD_STRETCH_BYTES;
        if (to > end)
            to = end / 8 * 8;
        if (to <= from)
            return;
        stretch->from = from;
        stretch->to = to;
        from = to;
    }
}

/* False: there is no entry beyond doubt, or no memory. */
static bool begin(struct pfd_stretch *stretch, const struct pfd_tail *t)
{
    struct pfd_walk *w = &stretch->walk;
    if (!pfd_stretch_begin(stretch, &t->walk, t->format->state_size))
        return false;
    w->until = stretch->to;
    return stretch->from == w->at ||
           t->format->split(w, stretch->from, stretch->to);
}

static void walk(void *user, size_t i)
{
    const struct shared *s = user;
    struct pfd_stretch *stretch = &s->stretches->at[i];
    const struct pfd_tail_pass *p = s->pass;
    const struct pfd_batch *batch = &stretch->batch;
    stretch->n_plain = 0;
    if (!begin(stretch, s->tail))
        return;
    (void)s->tail->format->walk(&stretch->walk);
    if (!batch->n)
        return;
    const struct pfd_record *first = &batch->records[0];
    const struct pfd_record *last = &batch->records[batch->n - 1];
    uint64_t same = pfd_tail_same_until(p->copy, p->other, first->offset,
                                        last->offset + last->n_bytes);
    stretch->n_plain = pfd_tail_pass_count(s->tail, p, first, batch->n, same);
}

static bool begins_at(const struct pfd_stretch *stretch, uint64_t at)
{
    return stretch->n_plain && stretch->batch.records[0].offset == at;
}

static bool begins_behind(const struct pfd_stretch *stretch, uint64_t at)
{
    return stretch->n_plain && stretch->batch.records[0].offset > at;
}

static void give(const struct pfd_tail *t,
                 const struct pfd_entry_run *entry_runs, size_t n)
{
    const struct pfd_entry_run *given[PFD_STRETCHES];
    for (size_t i = 0; i < n; i++)
        given[i] = &entry_runs[i];
    if (t->o.runs && n)
        t->o.runs(t->o.item_user, given, n, t->generation);
    for (size_t i = 0; !t->o.runs && i < n; i++)
        t->o.run(t->o.item_user, given[i], t->generation);
}

/* Gives stretches from number i on, as far as each begins where the walk has
 * come to: the number of the next one then. */
static size_t give_some(struct pfd_tail *t, struct pfd_tail_pass *p,
                        const struct shared *s, size_t i)
{
    struct pfd_entry_run entry_runs[PFD_STRETCHES];
    struct pfd_walk *w = &t->walk;
    size_t n = 0;
    if (w->at != t->at || !pfd_tail_pass_has_runs(t, p, t->at))
        return i;
    for (; i < s->n && begins_at(&s->stretches->at[i], w->at); i++) {
        const struct pfd_stretch *stretch = &s->stretches->at[i];
        p->failed |= !pfd_tail_pass_take_run(
            t, p, stretch->batch.records, stretch->n_plain, &entry_runs[n++]);
        w->at = t->at;
    }
    give(t, entry_runs, n);
    return i;
}

/* Where one of them begins again, one thread has walked to it meanwhile. False:
 * it could not. */
static bool give_all(struct pfd_tail *t, struct pfd_tail_pass *p,
                     const struct shared *s)
{
    const struct pfd_stretch *all = s->stretches->at;
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

void pfd_tail_stretches_walk(struct pfd_tail *t, struct pfd_tail_pass *p)
{
    struct shared s = { .tail = t, .pass = p };
    if (!is_worth_it(t, p) || !pfd_helpers_hold(t->o.helpers))
        return;
    s.stretches = pfd_helpers_stretches(t->o.helpers);
    bool goes_on = s.stretches;
    while (goes_on) {
        lay_out(&s);
        pfd_helpers_share(t->o.helpers, s.n, walk, &s);
        goes_on = give_all(t, p, &s) && is_worth_it(t, p);
    }
    pfd_helpers_let_go(t->o.helpers);
}

void pfd_tail_share(void *tail, size_t n, void (*piece)(void *of, size_t i),
                    void *of)
{
    const struct pfd_tail *t = tail;
    pfd_helpers_share(t->o.helpers, n, piece, of);
}
