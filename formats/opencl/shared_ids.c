/* SPDX-License-Identifier: MIT */
#include "shared_ids.h"

#include <string.h>

enum {
    DWORD = OPENCL_DWORD,
    ENTRY_HEADER = 4,
    /* More bits than any way takes. */
    NEVER = 1 << 29,
    /* Bits of an entry, without its arguments. */
    BITS_ENTRY = -4,
    /* Bits of bytes that belong to no entry: once, and for each dword. */
    BITS_LOST = 30,
    BITS_SKIPPED = 10,
    /* Bits of an entry that leads out of the range. */
    BITS_UNSEEN = 20,
    SOURCE_BITS_MAX = 10,
    /* Shares of an entry; shares that each file has in advance; rounds in which
     * the first entries of a buffer are shared out. */
    SHARES = 256,
    SHARES_FREE = SHARES / 8,
    ROUNDS = 4,
    /* Limits for examined dwords of arguments: gained with each place, saved up
     * at most, and used at one place. */
    WORK = 64,
    WORK_MAX = 4096,
    WORK_AT_ONCE = 1024,
};

struct planner {
    struct opencl_plan *plan;
    struct opencl_range *stretch;
    const struct pfd_walk *walk;
    uint64_t end; /* end of the range */
    uint32_t n_steps;
    uint32_t work; /* dwords that may still be examined */
    uint32_t gap;  /* places in a dword */
    bool is_end;   /* the range ends at the buffer's end */
};

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static uint64_t size_of(const struct pfd_string *s)
{
    return ENTRY_HEADER + (uint64_t)s->n_payload;
}

static uint64_t place_at(const struct opencl_range *s, uint32_t i)
{
    return s->from + (uint64_t)i * s->unit;
}

/* ---- forward ---- */

/* The place where an entry of s ends; false: impossible. */
static bool ends_at(const struct planner *p, uint64_t at,
                    const struct pfd_string *s, uint32_t *to)
{
    uint64_t end = at + size_of(s);
    if (end > p->end && p->is_end)
        return false;
    if (end > p->end)
        end = p->end;
    uint64_t n = (end - p->stretch->from) / p->stretch->unit;
    *to = n < p->stretch->n_places ? (uint32_t)n : p->stretch->n_places;
    return true;
}

static int32_t weigh(struct planner *p, uint32_t i, const struct pfd_string *s,
                     uint32_t work)
{
    const struct pfd_walk *w = p->walk;
    struct opencl_source *source = &p->plan->source[s->source % OPENCL_SOURCES];
    struct opencl_alone alone = {
        .string = s,
        .payload = w->view,
        .any = p->plan->any + i + p->gap,
        .unit = p->stretch->unit,
        .age = w->options->opencl_strings,
    };
    uint64_t at = place_at(p->stretch, i);
    int32_t bits = BITS_ENTRY + source->bits;
    uint32_t left = work;
    source->is_met = true;
    if (at + size_of(s) > p->end)
        return bits + BITS_UNSEEN;
    if (!work)
        return bits;
    pfd_byte_reader_seek(&alone.payload, at + ENTRY_HEADER - w->base);
    alone.payload = pfd_byte_reader_sub(&alone.payload, s->n_payload);
    bits += opencl_weigh_alone(&alone, &left);
    p->work -= work - left;
    return bits;
}

/* The strings of the ID at a place. */
static const struct pfd_string *strings_at(const struct planner *p, uint32_t i)
{
    uint64_t at = place_at(p->stretch, i);
    return at + ENTRY_HEADER > p->end
               ? NULL
               : pfd_table_find(p->walk->table, pfd_walk_u32(p->walk, at));
}

/* The number of dwords that each of the strings may examine. */
static uint32_t share_work(struct planner *p, const struct pfd_string *s)
{
    uint32_t n = 0;
    p->work = p->work + WORK < WORK_MAX ? p->work + WORK : WORK_MAX;
    for (; s; s = s->next)
        n++;
    return n ? (p->work < WORK_AT_ONCE ? p->work : WORK_AT_ONCE) / n : 0;
}

static void add_steps(struct planner *p, uint32_t i)
{
    struct opencl_place *place = &p->plan->place[i];
    int32_t here = least(place->before, place->before_lost);
    const struct pfd_string *s = strings_at(p, i);
    uint32_t work = share_work(p, s);
    for (uint16_t k = 0; s && k < OPENCL_CANDIDATES; k++, s = s->next) {
        uint32_t to;
        if (!ends_at(p, place_at(p->stretch, i), s, &to))
            continue;
        int32_t bits = weigh(p, i, s, work);
        struct opencl_place *there = &p->plan->place[to];
        there->before = least(there->before, here + bits);
        p->plan->step[p->n_steps++] =
            (struct opencl_step){ bits, (uint16_t)to, k };
        place->n_steps++;
    }
}

static uint32_t behind_gap(const struct planner *p, uint32_t i)
{
    uint32_t n = p->stretch->n_places;
    return i + p->gap < n ? i + p->gap : n;
}

/* An entry with a known ID is accepted, unless the way is lost. */
static int32_t lost_before(const struct opencl_place *place)
{
    return place->n_steps
               ? place->before_lost
               : least(place->before_lost, place->before + BITS_LOST);
}

static void go_forward(struct planner *p)
{
    for (uint32_t i = 0; i < p->stretch->n_places; i++) {
        struct opencl_place *place = &p->plan->place[i];
        place->step = p->n_steps;
        if (least(place->before, place->before_lost) >= NEVER)
            continue;
        if (p->n_steps + OPENCL_CANDIDATES > OPENCL_STEPS) {
            p->stretch->n_places = i;
            p->is_end = false;
            break;
        }
        add_steps(p, i);
        struct opencl_place *next = &p->plan->place[behind_gap(p, i)];
        next->before_lost =
            least(next->before_lost, lost_before(place) + BITS_SKIPPED);
    }
}

/* ---- backward ---- */

static int32_t step_after(const struct opencl_plan *plan,
                          const struct opencl_range *s,
                          const struct opencl_step *step)
{
    uint32_t to = step->to < s->n_places ? step->to : s->n_places;
    return step->bits + plan->place[to].after;
}

/* The likeliest entry here, and the bits from it to the end. */
static int32_t best_after(const struct opencl_plan *plan,
                          const struct opencl_range *s,
                          const struct opencl_place *place,
                          const struct opencl_step **best)
{
    const struct opencl_step *step = plan->step + place->step;
    int32_t bits = NEVER;
    *best = NULL;
    for (unsigned k = 0; k < place->n_steps; k++) {
        int32_t after = step_after(plan, s, step + k);
        if (after < bits) {
            bits = after;
            *best = step + k;
        }
    }
    return bits;
}

static int32_t skip_after(const struct planner *p, uint32_t i)
{
    return BITS_SKIPPED + p->plan->place[behind_gap(p, i)].after_lost;
}

static void go_backward(struct planner *p)
{
    uint32_t i = p->stretch->n_places;
    const struct opencl_step *best;
    p->plan->place[i].after = p->plan->place[i].after_lost = 0;
    while (i-- > 0) {
        struct opencl_place *place = &p->plan->place[i];
        if (least(place->before, place->before_lost) >= NEVER)
            continue;
        int32_t entry = best_after(p->plan, p->stretch, place, &best);
        int32_t skip = skip_after(p, i);
        place->after = best ? entry : BITS_LOST + skip;
        place->after_lost = least(entry, skip);
    }
}

/* ---- doubt ---- */

static const struct pfd_string *string_at(const struct pfd_walk *w, uint64_t at,
                                          unsigned which)
{
    const struct pfd_string *s = pfd_table_find(w->table, pfd_walk_u32(w, at));
    while (which--)
        s = s->next;
    return s;
}

static const struct opencl_step *step_on(const struct opencl_plan *plan,
                                         const struct opencl_range *s,
                                         uint32_t i, bool is_lost)
{
    const struct opencl_place *place = &plan->place[i];
    const struct opencl_step *best;
    int32_t entry = best_after(plan, s, place, &best);
    return best && (!is_lost || entry <= place->after_lost) ? best : NULL;
}

/* How far entries reach that are not on the likeliest way, if the way with them
 * is not much less likely; 0: none. */
static uint32_t reach(const struct planner *p, uint32_t i, int32_t most,
                      const struct opencl_step *taken)
{
    const struct opencl_place *place = &p->plan->place[i];
    const struct opencl_step *step = p->plan->step + place->step;
    int32_t before = least(place->before, place->before_lost);
    uint32_t to = 0;
    for (unsigned k = 0; k < place->n_steps; k++) {
        if (step + k != taken && step[k].to > to &&
            before + step_after(p->plan, p->stretch, step + k) < most)
            to = step[k].to;
    }
    return to;
}

/* The likelihood of a way that takes more bits than the likeliest, by their
 * number. */
static uint64_t likelihood(int32_t more)
{
    return more < PFD_LIKELIHOOD_SURE
               ? UINT64_C(1) << (PFD_LIKELIHOOD_SURE - more)
               : 0;
}

/* Distributes an entry's shares among the strings that it may have, by their
 * likelihood. */
static void share_entry(struct planner *p, uint32_t i,
                        const struct opencl_step *taken)
{
    const struct opencl_place *place = &p->plan->place[i];
    const struct opencl_step *step = p->plan->step + place->step;
    int32_t best = step_after(p->plan, p->stretch, taken);
    uint64_t sum = 0;
    for (unsigned k = 0; k < place->n_steps; k++)
        sum += likelihood(step_after(p->plan, p->stretch, step + k) - best);
    const struct pfd_string *s = strings_at(p, i);
    /* sum is not 0: the likeliest has a likelihood. */
    for (unsigned k = 0, which = 0; sum && k < place->n_steps; k++) {
        for (; which < step[k].which; which++)
            s = s->next;
        p->plan->source[s->source % OPENCL_SOURCES].n_shares +=
            SHARES *
            likelihood(step_after(p->plan, p->stretch, step + k) - best) / sum;
    }
}

/* Follows the likeliest way, and marks doubtful places. */
static void find_doubt(struct planner *p, bool is_lost)
{
    struct opencl_place *place = p->plan->place;
    uint32_t at = 0;
    uint32_t covered = 0;
    int32_t most =
        PFD_LIKELIHOOD_SURE + (is_lost ? place->after_lost : place->after);
    for (uint32_t i = 0; i < p->stretch->n_places; i++) {
        const struct opencl_step *taken = NULL;
        bool is_on_way = i == at;
        if (least(place[i].before, place[i].before_lost) >= NEVER)
            continue;
        if (is_on_way) {
            taken = step_on(p->plan, p->stretch, i, is_lost);
            is_lost = !taken;
            at = taken ? taken->to : behind_gap(p, i);
            place[i].is_elsewhere =
                covered > i || lost_before(&place[i]) + skip_after(p, i) < most;
        }
        uint32_t to = reach(p, i, most, taken);
        covered = to > covered ? to : covered;
        if (taken)
            share_entry(p, i, taken);
    }
}

/* ---- files ---- */

/* How often n has to be doubled to reach `of`; at most SOURCE_BITS_MAX. */
static int32_t bits_of(uint64_t n, uint64_t of)
{
    int32_t bits = 0;
    for (; bits < SOURCE_BITS_MAX && n << bits < of; bits++)
        ;
    return bits;
}

/* Files with more entries are likelier to have others as well: a buffer mostly
 * belongs to one program. */
static void weigh_sources(struct opencl_plan *plan)
{
    uint64_t n_all = 0;
    uint64_t n_met = 0;
    for (unsigned i = 0; i < OPENCL_SOURCES; i++) {
        n_met += plan->source[i].is_met;
        n_all +=
            plan->source[i].n_shares + plan->source[i].is_met * SHARES_FREE;
    }
    for (unsigned i = 0; i < OPENCL_SOURCES; i++) {
        uint64_t n = (plan->source[i].n_shares + SHARES_FREE) * n_met;
        plan->source[i].bits = bits_of(n, n_all) - bits_of(n_all, n);
    }
}

/* ---- plans ---- */

/* Distance of places: a dword, if all strings' payloads are whole dwords. */
static uint32_t unit_of(const struct pfd_table *table)
{
    for (size_t i = 0; i <= table->mask; i++) {
        for (const struct pfd_string *s = table->slots[i].string; s;
             s = s->next) {
            if (s->n_payload % DWORD)
                return 1;
        }
    }
    return DWORD;
}

static void weigh_dwords(struct planner *p)
{
    uint32_t *any = p->plan->any;
    for (uint32_t i = p->stretch->n_places + 1; i-- > 0;) {
        uint64_t at = place_at(p->stretch, i);
        any[i] =
            at + DWORD > p->end
                ? 0
                : any[i + p->gap] + opencl_any_bits(pfd_walk_u32(p->walk, at));
    }
}

static void make(struct planner *p, bool is_lost)
{
    static const struct opencl_place none = {
        .before = NEVER,
        .before_lost = NEVER,
        .after = NEVER,
        .after_lost = NEVER,
    };
    for (uint32_t i = 0; i <= p->stretch->n_places; i++)
        p->plan->place[i] = none;
    *(is_lost ? &p->plan->place[0].before_lost : &p->plan->place[0].before) = 0;
    p->n_steps = 0;
    p->work = WORK_MAX;
    go_forward(p);
    go_backward(p);
    find_doubt(p, is_lost);
}

void opencl_plan_make(struct opencl_plan *plan, struct opencl_range *ret,
                      const struct pfd_walk *walk, uint64_t at,
                      uint64_t buffer_end, bool is_lost)
{
    bool is_first = !ret->unit;
    uint32_t unit = is_first ? unit_of(walk->table) : ret->unit;
    uint64_t end = at + (uint64_t)OPENCL_PLACES * unit;
    bool is_end = buffer_end < end;
    if (is_end)
        end = buffer_end;
    *ret = (struct opencl_range){
        .from = at,
        .unit = unit,
        .n_places = (uint32_t)((end - at + unit - 1) / unit),
    };
    if (is_first)
        memset(plan->source, 0, sizeof plan->source);
    struct planner p = {
        .plan = plan,
        .stretch = ret,
        .walk = walk,
        .end = end,
        .gap = DWORD / unit,
        .is_end = is_end,
    };
    weigh_dwords(&p);
    for (unsigned i = 0; i < (is_first ? ROUNDS : 1); i++) {
        for (unsigned k = 0; is_first && k < OPENCL_SOURCES; k++)
            plan->source[k].n_shares = 0;
        make(&p, is_lost);
        weigh_sources(plan);
    }
    ret->n_decided = p.is_end ? ret->n_places : ret->n_places * 3 / 4 + 1;
}

/* ---- choices ---- */

/* Adds the other strings, the likeliest first. */
static void add_others(const struct opencl_plan *plan,
                       const struct opencl_range *s,
                       const struct opencl_place *place,
                       const struct opencl_step *taken, struct pfd_ways *ret)
{
    const struct opencl_step *step = plan->step + place->step;
    int32_t best = step_after(plan, s, taken);
    for (unsigned k = 0; k < place->n_steps; k++) {
        int32_t more = step_after(plan, s, step + k) - best;
        if (step + k != taken && more < PFD_LIKELIHOOD_SURE)
            pfd_ways_add(ret, (uint32_t)more, step[k].which);
    }
}

void opencl_plan_choose(const struct opencl_plan *plan,
                        const struct opencl_range *s,
                        const struct pfd_walk *walk, uint64_t at, bool is_lost,
                        struct opencl_choice *ret)
{
    uint32_t i = (uint32_t)((at - s->from) / s->unit);
    const struct opencl_place *place = &plan->place[i];
    const struct opencl_step *taken = step_on(plan, s, i, is_lost);
    struct pfd_ways others = { .n = 0 };
    *ret = (struct opencl_choice){ .string = NULL };
    if (!taken)
        return;
    ret->string = string_at(walk, at, taken->which);
    add_others(plan, s, place, taken, &others);
    for (unsigned k = 0; k < others.n && k < PFD_ALTERNATIVES_MAX; k++) {
        ret->other[ret->n_others++] =
            string_at(walk, at, (unsigned)others.way[k].choice);
    }
    ret->is_sure = !ret->n_others && !place->is_elsewhere;
}
