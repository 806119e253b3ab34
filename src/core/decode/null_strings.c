/* SPDX-License-Identifier: MIT */
/*
 * Finds null strings in HIP messages: they take no bytes, so the next argument
 * is at their place. Every combination is followed through the payload and
 * scored by the bits that it takes to encode the values (likelihood.h): one
 * that uses up the payload with usual texts and numbers needs by far the fewest
 * bits.
 */
#include <string.h>

#include "core/decode/rocm_layout.h"

enum {
    SLOT = 8,
    /* Limit of offsets that are followed at once. Beyond it the worst offset is
     * dropped, by its bits and an average for the bytes that remain. */
    PLACES_MAX = 32,
    BITS_PER_BYTE = 5,
    BITS_FAR = 60,
    /* Limit of text bytes that are scored in one payload, beside its size. */
    LOOKS_MAX = 1 << 16,
    /* Cost of a null string; of nonzero bytes between a NUL and the end of the
     * padding; of a missing NUL. */
    BITS_NULL = 8,
    BITS_PADDING = 4,
    BITS_GARBAGE = 8,
    BITS_CLIPPED = 28,
    /* Cost of a nonzero upper half in an argument of 32 bits: its sign, or any
     * bits. */
    BITS_SIGN = 6,
    BITS_UPPER = 52,
    /* Cost of arguments without a conversion; of a rest that is no argument;
     * bytes of it that count. */
    BITS_REST = 12,
    BITS_ODD_REST = 40,
    REST_SEEN = 256,
};
_Static_assert((int)PFD_WAYS_MAX == 1 + (int)PFD_ALTERNATIVES_MAX,
               "every way but the best is an alternative");

/* The likeliest ways to reach one offset. */
struct place {
    uint32_t at;
    struct pfd_ways ways;
};

struct front {
    struct place place[PLACES_MAX];
    size_t n;
};

struct search {
    struct pfd_byte_reader payload;
    uint32_t n; /* bytes of it */
    size_t n_looked;
    bool all; /* no likely way was dropped */
};

static struct search search_of(const struct pfd_byte_reader *payload)
{
    uint32_t n = (uint32_t)pfd_byte_reader_left(payload);
    return (struct search){
        .payload =
            pfd_byte_reader(pfd_byte_reader_peek(payload, payload->at), n),
        .n = n,
        .all = true,
    };
}

static uint64_t estimate(const struct search *s, const struct place *p)
{
    return p->ways.way[0].bits + (uint64_t)BITS_PER_BYTE * (s->n - p->at);
}

/* Room for an offset with this score; NULL: the offset is dropped. */
static struct place *make_room(struct search *s, struct front *front,
                               uint64_t bits)
{
    struct place *worst = front->place;
    if (front->n < PLACES_MAX)
        return &front->place[front->n++];
    for (size_t i = 1; i < front->n; i++) {
        if (estimate(s, &front->place[i]) > estimate(s, worst))
            worst = &front->place[i];
    }
    uint64_t most = estimate(s, worst);
    if ((bits > most ? bits : most) < estimate(s, front->place) + BITS_FAR)
        s->all = false;
    return bits < most ? worst : NULL;
}

/* The place with offset `at` in a front, with at least this score; NULL: it is
 * dropped. */
static struct place *place_at(struct search *s, struct front *front,
                              uint32_t at, uint32_t bits)
{
    for (size_t i = 0; i < front->n; i++) {
        if (front->place[i].at == at)
            return &front->place[i];
    }
    struct place *place =
        make_room(s, front, bits + (uint64_t)BITS_PER_BYTE * (s->n - at));
    if (place)
        *place = (struct place){ .at = at };
    return place;
}

/* Extends the ways of `from` to `at`, which adds so many bits. */
static void extend(struct search *s, struct front *to, const struct place *from,
                   uint32_t at, uint64_t bits, uint64_t choice)
{
    uint32_t best = pfd_likelihood_add(from->ways.way[0].bits, bits);
    struct place *place = place_at(s, to, at, best);
    for (unsigned i = 0; place && i < from->ways.n; i++) {
        const struct pfd_way *way = &from->ways.way[i];
        pfd_ways_add(&place->ways, pfd_likelihood_add(way->bits, bits),
                     way->choice | choice);
    }
}

/* ---- bits of arguments ---- */

static uint64_t text_bits(struct search *s, uint32_t at, uint32_t *n_used)
{
    uint32_t n_text;
    const uint8_t *text =
        (const uint8_t *)pfd_rocm_text(&s->payload, at, &n_text, n_used);
    uint64_t bits = pfd_likelihood_text(text, n_text);
    unsigned n_garbage = 0;
    s->n_looked += n_text;
    if (n_text == *n_used)
        return bits + BITS_CLIPPED;
    for (uint32_t i = n_text + 1; i < *n_used; i++)
        n_garbage += text[i] != 0;
    return bits + (n_garbage ? BITS_PADDING + BITS_GARBAGE * n_garbage : 0);
}

static uint64_t number_bits(const struct search *s, const struct pfd_step *step,
                            uint32_t at)
{
    uint64_t value = pfd_byte_reader_peek_u64(&s->payload, at);
    uint32_t low = (uint32_t)value;
    if (pfd_step_is_float(step))
        return pfd_likelihood_float(value, SLOT);
    if (pfd_rocm_is_wide(step))
        return pfd_likelihood_integer(value, SLOT);
    unsigned bits = pfd_likelihood_integer(low, sizeof low);
    if (value >> 32 == 0)
        return bits;
    return bits +
           (value == (uint64_t)(int64_t)(int32_t)low ? BITS_SIGN : BITS_UPPER);
}

static uint64_t rest_bits(const struct search *s, uint32_t at)
{
    uint64_t bits = at < s->n ? BITS_REST : 0;
    uint32_t end = s->n - at > REST_SEEN ? at + REST_SEEN : s->n;
    for (; end - at >= SLOT; at += SLOT) {
        bits += pfd_likelihood_integer(
            pfd_byte_reader_peek_u64(&s->payload, at), SLOT);
    }
    return bits + (s->n % SLOT == at % SLOT ? 0 : BITS_ODD_REST);
}

/* ---- the usual case, decided faster ---- */

enum {
    FITS_LOOKED = 32,
    TEXT_LOOKED = 256,
    BITS_USUAL = 8, /* of a byte, at most */
};

/* The number of ways to use up the payload exactly, up to two; a search beyond
 * the limit counts as two. */
static unsigned count_fits(const struct search *s, const struct pfd_step *step,
                           uint32_t at, unsigned *n_looked)
{
    uint32_t n_text;
    uint32_t n_used;
    for (; step->op != PFD_OP_END && !pfd_rocm_is_text(step); step++) {
        uint32_t n = pfd_step_takes(step) ? SLOT : 0;
        if (s->n - at < n)
            return 0;
        at += n;
    }
    if (step->op == PFD_OP_END)
        return at == s->n;
    if (++*n_looked > FITS_LOOKED)
        return 2;
    unsigned n_fits = count_fits(s, step + 1, at, n_looked);
    if (at < s->n && n_fits < 2) {
        pfd_rocm_text(&s->payload, at, &n_text, &n_used);
        n_fits += count_fits(s, step + 1, at + n_used, n_looked);
    }
    return n_fits;
}

/* True: no string is null, and every argument has a usual value. */
static bool is_usual(const struct search *s, const struct pfd_step *step,
                     uint32_t at)
{
    uint32_t n_text;
    uint32_t n_used;
    for (; step->op != PFD_OP_END; step++) {
        if (!pfd_step_takes(step))
            continue;
        n_used = SLOT;
        if (s->n - at < SLOT)
            return false;
        if (pfd_rocm_is_text(step)) {
            const char *text = pfd_rocm_text(&s->payload, at, &n_text, &n_used);
            if (n_text == n_used || n_text > TEXT_LOOKED ||
                pfd_likelihood_text((const uint8_t *)text, n_text) >
                    BITS_USUAL * n_text)
                return false;
        } else if (number_bits(s, step, at) > BITS_USUAL * SLOT) {
            return false;
        }
        at += n_used;
    }
    return at == s->n;
}

bool pfd_rocm_is_plain(const struct pfd_step *steps,
                       const struct pfd_byte_reader *payload, uint32_t from)
{
    struct search s = search_of(payload);
    unsigned n_looked = 0;
    return is_usual(&s, steps, from) &&
           count_fits(&s, steps, from, &n_looked) == 1;
}

/* ---- all ways ---- */

static void take_number(struct search *s, struct front *front,
                        const struct pfd_step *step)
{
    size_t n = 0;
    for (size_t i = 0; i < front->n; i++) {
        struct place *p = &front->place[i];
        if (s->n - p->at < SLOT)
            continue;
        pfd_ways_all_add(&p->ways, number_bits(s, step, p->at));
        p->at += SLOT;
        front->place[n++] = *p;
    }
    front->n = n;
}

static void take_string(struct search *s, const struct front *from,
                        struct front *to, unsigned number)
{
    to->n = 0;
    for (size_t i = 0; i < from->n; i++) {
        const struct place *p = &from->place[i];
        uint32_t n_used;
        if (s->n_looked > LOOKS_MAX + 2 * (size_t)s->n) {
            s->all = false;
        } else if (p->at < s->n) {
            uint64_t bits = text_bits(s, p->at, &n_used);
            extend(s, to, p, p->at + n_used, bits, 0);
        }
        extend(s, to, p, p->at, BITS_NULL, UINT64_C(1) << number);
    }
}

static void gather(const struct search *s, const struct front *front,
                   struct pfd_ways *ret)
{
    ret->n = 0;
    for (size_t i = 0; i < front->n; i++) {
        const struct place *p = &front->place[i];
        uint64_t rest = rest_bits(s, p->at);
        for (unsigned k = 0; k < p->ways.n; k++) {
            pfd_ways_add(ret, pfd_likelihood_add(p->ways.way[k].bits, rest),
                         p->ways.way[k].choice);
        }
    }
}

bool pfd_rocm_weigh(const struct pfd_step *steps,
                    const struct pfd_byte_reader *payload, uint32_t from,
                    struct pfd_ways *ret)
{
    struct front fronts[2];
    struct front *front = fronts;
    struct search s = search_of(payload);
    unsigned number = 0;
    front->n = 1;
    front->place[0] = (struct place){ from, { .n = 1 } };
    for (const struct pfd_step *step = steps; step->op != PFD_OP_END; step++) {
        if (pfd_rocm_is_text(step) && number < PFD_ROCM_NULLS_MAX) {
            struct front *next = &fronts[front == fronts];
            take_string(&s, front, next, number++);
            front = next;
        } else if (pfd_rocm_is_text(step)) {
            s.all = false;
        } else if (pfd_step_takes(step)) {
            take_number(&s, front, step);
        }
    }
    gather(&s, front, ret);
    return s.all;
}
