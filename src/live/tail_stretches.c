/* SPDX-License-Identifier: MIT */
/*
 * A pass by several threads. What is to be walked over is cut into stretches;
 * in each, a thread looks for the first entry beyond doubt, walks on from there,
 * and counts how many entries need no more than being given out. Then they are
 * given, one stretch after the other, while each begins at the very place that
 * has been come to: between two entries a walk knows nothing of those before.
 * Whatever is not like that is left for the pass that one thread makes.
 */
#include "live/tail_stretches.h"

#include "live/helpers.h"

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

/* What of it comes next; false: nothing does. */
static bool take(struct pfd_tail *t, struct pfd_tail_pass *p,
                 const struct pfd_stretch *stretch, struct pfd_run *ret)
{
    const struct pfd_record *first = stretch->batch.records;
    if (!stretch->n_plain || first->offset != t->at)
        return false;
    p->failed |= !pfd_tail_pass_take_run(t, p, first, stretch->n_plain, ret);
    return true;
}

/* False: what comes behind them is not like that. */
static bool give(struct pfd_tail *t, struct pfd_tail_pass *p,
                 const struct shared *s)
{
    struct pfd_run runs[PFD_STRETCHES];
    const struct pfd_run *taken[PFD_STRETCHES];
    bool goes_on = true;
    size_t n = 0;
    for (size_t i = 0; goes_on && i < s->n; i++) {
        const struct pfd_stretch *stretch = &s->stretches->at[i];
        goes_on = take(t, p, stretch, &runs[n]);
        taken[n] = &runs[n];
        n += goes_on;
        goes_on &= t->at >= stretch->to && !p->failed;
    }
    if (t->o.runs && n)
        t->o.runs(t->o.item_user, taken, n, t->generation);
    for (size_t i = 0; !t->o.runs && i < n; i++)
        t->o.run(t->o.item_user, taken[i], t->generation);
    return goes_on;
}

void pfd_tail_stretches_walk(struct pfd_tail *t, struct pfd_tail_pass *p)
{
    struct shared s = { .tail = t, .pass = p };
    bool goes_on = true;
    if (!is_worth_it(t, p) || !pfd_helpers_hold(t->o.helpers))
        return;
    s.stretches = pfd_helpers_stretches(t->o.helpers);
    while (s.stretches && goes_on && left_of(&t->walk) >= WORTH_IT) {
        lay_out(&s);
        pfd_helpers_share(t->o.helpers, s.n, walk, &s);
        goes_on = give(t, p, &s);
        t->walk.at = t->at;
    }
    pfd_helpers_let_go(t->o.helpers);
}

void pfd_tail_share(struct pfd_tail *t, size_t n,
                    void (*piece)(void *user, size_t i), void *user)
{
    pfd_helpers_share(t->o.helpers, n, piece, user);
}
