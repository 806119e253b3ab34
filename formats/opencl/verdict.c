/* SPDX-License-Identifier: MIT */
#include "verdict.h"

enum {
    DWORD = OPENCL_DWORD,
    ENTRY_HEADER = OPENCL_ENTRY_HEADER,
    /* Limits for the comparison of one string's entries: bytes from its first
     * one on, entries that are passed, and places that are tried where the way
     * is lost. */
    SAMPLE_BYTES = OPENCL_RANGE_BYTES,
    SAMPLE_HOPS = 1024,
    SAMPLE_TRIES = 256,
    /* Limit of one string's evidence on the compiler's age. */
    AGE_BITS_MAX = 1000,
    /* Entries that are followed to accept a place. */
    CHAIN_DEPTH = 8,
};

/* ---- ahead of the walk ---- */

bool opencl_leads_on(const struct pfd_walk *w, const struct opencl_state *st,
                     uint64_t at, uint64_t limit)
{
    uint64_t end = st->buffer.end;
    for (unsigned i = 0; i <= CHAIN_DEPTH && (i == 0 || at != end); i++) {
        if (i > 0 &&
            (at + ENTRY_HEADER > limit ||
             (end - at >= ENTRY_HEADER && at + ENTRY_HEADER > pfd_walk_end(w))))
            return true;
        const struct pfd_string *s =
            end - at < ENTRY_HEADER
                ? NULL
                : pfd_table_find(w->table, pfd_walk_u32(w, at));
        if (!s)
            return false;
        if (at + opencl_size_of(s) > limit)
            return i > 0;
        if (opencl_size_of(s) > end - at)
            return false;
        at += opencl_size_of(s);
    }
    return true;
}

struct opencl_scout opencl_send_scout(const struct pfd_walk *w,
                                      const struct opencl_state *st,
                                      uint64_t at)
{
    uint64_t end = w->at + SAMPLE_BYTES;
    uint64_t planned = opencl_stretch_end(&st->stretch);
    if (end > st->buffer.end)
        end = st->buffer.end;
    if (end > pfd_walk_end(w))
        end = pfd_walk_end(w);
    if (w->has_collisions && end > planned)
        end = planned;
    return (
        struct opencl_scout){ .walk = w, .state = st, .at = at, .end = end };
}

/* The string of the entry at the scout's place; NULL: none. */
static const struct pfd_string *look_ahead(const struct opencl_scout *scout)
{
    const struct pfd_walk *w = scout->walk;
    const struct opencl_state *st = scout->state;
    struct opencl_choice choice;
    if (w->has_collisions) {
        opencl_plan_choose(opencl_plan_of(w), &st->stretch, w, scout->at,
                           scout->is_lost, &choice);
        return choice.string;
    }
    return !scout->is_lost || opencl_leads_on(w, st, scout->at, scout->end)
               ? pfd_table_find(w->table, pfd_walk_u32(w, scout->at))
               : NULL;
}

/* The string and place of the next entry that is entirely in the range; NULL:
 * none. */
const struct pfd_string *opencl_hop(struct opencl_scout *scout, uint64_t *at)
{
    for (; scout->at + ENTRY_HEADER <= scout->end &&
           scout->n_hops < SAMPLE_HOPS && scout->n_tries < SAMPLE_TRIES;
         scout->at += DWORD, scout->n_tries++) {
        const struct pfd_string *s = look_ahead(scout);
        scout->is_lost = !s || opencl_size_of(s) > scout->end - scout->at;
        if (!scout->is_lost) {
            *at = scout->at;
            scout->at += opencl_size_of(s);
            scout->n_hops++;
            return s;
        }
    }
    return NULL;
}

struct pfd_byte_reader opencl_payload_at(const struct pfd_walk *w, uint64_t at,
                                         const struct pfd_string *s)
{
    struct pfd_byte_reader c = w->view;
    pfd_byte_reader_seek(&c, at + ENTRY_HEADER - w->base);
    return pfd_byte_reader_sub(&c, s->n_payload);
}

/* ---- verdicts ---- */

/* Collects entries of s from `at` on. The one at `at` counts if it is taken for
 * one of s. False: there are no others, so it is used anyway. */
static bool collect(const struct pfd_walk *w, const struct opencl_state *st,
                    uint64_t at, const struct pfd_string *s, bool is_taken,
                    struct opencl_samples *ret)
{
    struct opencl_scout scout =
        opencl_send_scout(w, st, at + (is_taken ? opencl_size_of(s) : 0));
    const struct pfd_string *here;
    uint64_t first = at;
    ret->n = 0;
    if (is_taken)
        ret->payload[ret->n++] = opencl_payload_at(w, at, s);
    while (ret->n < OPENCL_SAMPLES_MAX && (here = opencl_hop(&scout, &at))) {
        if (here == s)
            ret->payload[ret->n++] = opencl_payload_at(w, at, s);
    }
    if (ret->n)
        return true;
    ret->payload[ret->n++] = opencl_payload_at(w, first, s);
    return false;
}

/* The slot of s, which may be free; NULL: the table is full. */
static struct opencl_verdict *place_of(struct opencl_state *st,
                                       const struct pfd_string *s)
{
    size_t i = s->index % OPENCL_VERDICTS;
    while (st->verdicts[i].string && st->verdicts[i].string != s)
        i = (i + 1) % OPENCL_VERDICTS;
    if (!st->verdicts[i].string && st->n_verdicts >= OPENCL_VERDICTS * 3 / 4)
        return NULL;
    return &st->verdicts[i];
}

/* By how many bits the ways of the older age exceed the newer one. */
static int32_t newer_by(const struct opencl_weights *weights)
{
    int64_t bits = (int64_t)weights->old.way[0].bits - weights->new_bits;
    if (bits > AGE_BITS_MAX)
        return AGE_BITS_MAX;
    return bits < -AGE_BITS_MAX ? -AGE_BITS_MAX : (int32_t)bits;
}

/* Weighs the entries of v's string from `at` on. */
static void weigh(const struct pfd_walk *w, struct opencl_state *st,
                  uint64_t at, bool is_taken, struct opencl_verdict *v,
                  struct opencl_samples *samples, struct opencl_weights *ret)
{
    v->is_guess = !collect(w, st, at, v->string, is_taken, samples);
    opencl_weigh(v->string, samples, &st->stale, ret);
    const struct pfd_way *way = ret->old.way;
    v->newer = newer_by(ret);
    if (!v->is_stale_seen && ret->all && way[0].choice &&
        v->newer <= -PFD_LIKELIHOOD_SURE &&
        way[1].bits - way[0].bits >= PFD_LIKELIHOOD_SURE) {
        opencl_see_stale(v->string, samples, way[0].choice, &st->stale);
        v->is_stale_seen = true;
    }
}

static struct opencl_verdict *add_verdict(struct opencl_state *st,
                                          const struct pfd_string *s)
{
    struct opencl_verdict *v = place_of(st, s);
    if (v && !v->string) {
        v->string = s;
        st->n_verdicts++;
    }
    return v;
}

/* All strings of a code object have a compiler of the same age, so strings that
 * follow soon are weighed as well. */
static void ask_neighbours(const struct pfd_walk *w, struct opencl_state *st)
{
    struct opencl_scout scout = opencl_send_scout(w, st, w->at);
    const struct pfd_string *s;
    uint64_t at;
    while ((s = opencl_hop(&scout, &at))) {
        struct opencl_samples samples;
        struct opencl_weights weights;
        if (!(s->flags & PFD_STRING_CHAR))
            continue;
        const struct opencl_verdict *known = place_of(st, s);
        if (known && !known->string)
            weigh(w, st, at, true, add_verdict(st, s), &samples, &weights);
    }
}

static int64_t others_say_newer(const struct opencl_state *st,
                                const struct opencl_verdict *v)
{
    int64_t newer = 0;
    for (size_t i = 0; i < OPENCL_VERDICTS; i++) {
        const struct opencl_verdict *other = &st->verdicts[i];
        if (other != v && other->string &&
            other->string->source == v->string->source)
            newer += other->newer;
    }
    return newer;
}

static uint64_t layout_of(const struct pfd_way *way, bool is_new)
{
    return OPENCL_LAYOUT_STRINGS | way->choice << OPENCL_FIRST_SHIFT |
           (is_new && !way->choice ? (uint64_t)OPENCL_LAYOUT_NEW : 0);
}

static void decide(const struct pfd_walk *w, struct opencl_state *st,
                   bool is_taken, struct opencl_verdict *v)
{
    struct opencl_samples samples;
    struct opencl_weights weights;
    struct pfd_ways ways;
    bool is_new;
    ask_neighbours(w, st);
    weigh(w, st, w->at, is_taken, v, &samples, &weights);
    opencl_decide(&weights, others_say_newer(st, v), w->options->opencl_strings,
                  &ways, &is_new);
    v->layout = layout_of(&ways.way[0], is_new);
    v->n_others = 0;
    for (unsigned i = 1; i < pfd_ways_left(&ways); i++)
        v->others[v->n_others++] = layout_of(&ways.way[i], is_new);
    v->is_doubtful =
        !opencl_find_literals(v->string, &samples, v->layout, &v->literals) ||
        v->n_others || (!weights.all && !(v->layout & OPENCL_LAYOUT_NEW));
    v->is_decided = true;
}

const struct opencl_verdict *opencl_verdict_of(const struct pfd_walk *w,
                                               struct opencl_state *st,
                                               const struct pfd_string *s,
                                               bool is_taken)
{
    static const struct opencl_verdict unknown = {
        .layout = OPENCL_LAYOUT_STRINGS,
        .is_doubtful = true,
    };
    struct opencl_verdict *v = add_verdict(st, s);
    if (v && (!v->is_decided || (v->is_guess && is_taken)))
        decide(w, st, is_taken, v);
    return v ? v : &unknown;
}
