/* SPDX-License-Identifier: MIT */
/*
 * Decides how the strings of an entry are stored, from several entries of one
 * printf call. Each way is weighed by the bits that it takes to describe the
 * bytes. A %s is a literal, so its text is described once, and an entry with
 * another text must be damaged. Numbers are mostly small. Bytes after the last
 * argument, where strings took less than their sizes, are stale, and can be
 * anything.
 */
#include <string.h>

#include "core/base/likelihood.h"
#include "layout.h"

enum {
    DWORD = OPENCL_DWORD,
    /* Samples of which one is assumed to be undamaged. */
    REFERENCES = 3,
    /* An argument is the same in all entries; and an exception in one entry. */
    BITS_CONSTANT = 2,
    BITS_EXCEPTION = 4,
    BITS_LINKED = 12, /* similar programs were linked */
    /* Dwords: a float without a known type; any value. The values of an
     * argument do not fit its type. */
    BITS_FLOAT = 3,
    BITS_ANY = 34,
    BITS_UNTYPED = 12,
    /* Each flipped bit of a damaged text; the limit for one dword. */
    BITS_FLIP = 4,
    FLIPS_MAX = 8,
    /* Stale dwords that look like small arguments: each, and the limit for all;
     * one that looks like a text; memory that was filled with zeros, or with
     * another byte. */
    BITS_STALE = 1,
    BITS_STALE_MAX = 12,
    BITS_SMALL = 24,
    BITS_STALE_TEXT = 6,

    BITS_ZEROS = 4,
    BITS_FILLED = 10,
    /* A dword is stale, but differs from other stale ones, which were all the
     * same: for each of those after the first, and the limit. */
    BITS_UNLIKE = 6,
    BITS_UNLIKE_MAX = 18,
    /* Limits for one entry by itself: bytes of each argument that are examined,
     * and strings that may be shorter. */
    LONE_BYTES = 128,
    LONE_SHIFTS = 8,
    LONE_NEVER = 1 << 24,
};

/* How a text fills its bytes. */
enum fill {
    FILL_OLD,   /* 1 to 3 zeros at the end, or a dword for the empty string */
    FILL_NEW,   /* likewise, or without zeros */
    FILL_SHORT, /* without zeros: the next argument follows */
};

struct weigher {
    const struct pfd_string *string;
    const struct opencl_samples *samples;
    const struct opencl_stale *stale;
    /* The likeliest ways so far, by the number of shorter strings. */
    struct pfd_ways old[OPENCL_SHIFTS_MAX + 1];
    uint32_t new_bits;
    unsigned n_shifts; /* strings so far that may be shorter */
    uint32_t at;       /* offset in the payload if no string is shorter */
};

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static const uint8_t *bytes_of(const struct weigher *w, size_t sample,
                               uint32_t at)
{
    return pfd_byte_reader_peek(&w->samples->payload[sample], at);
}

/* ---- texts ---- */

static bool is_sound(const uint8_t *bytes, uint32_t n, enum fill fill)
{
    static const uint8_t empty[DWORD] = { 0, 0xff, 0xff, 0xff };
    struct opencl_text t = opencl_look_at_text(bytes, n);
    if (n == DWORD && fill != FILL_SHORT && !memcmp(bytes, empty, DWORD))
        return true;
    if (t.is_full)
        return fill != FILL_OLD;
    return fill != FILL_SHORT && t.ended && t.n + DWORD > n;
}

/* The bits for a text that was damaged into another one: few flipped bits are
 * likelier than many. */
static uint64_t damage_bits(const uint8_t *text, const uint8_t *other,
                            uint32_t n)
{
    uint64_t bits = 0;
    unsigned in_dword = 0;
    if (!memcmp(text, other, n))
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        in_dword = i % DWORD ? in_dword : 0;
        unsigned flips =
            (unsigned)__builtin_popcount((unsigned)text[i] ^ other[i]);
        flips = least(flips, FLIPS_MAX - in_dword);
        in_dword += flips;
        bits += BITS_FLIP * flips;
    }
    return PFD_LIKELIHOOD_DAMAGE + bits;
}

/* The first sample with another text than sample i; samples->n: none. */
static size_t other_text(const struct weigher *w, size_t i, uint32_t at,
                         uint32_t n)
{
    size_t k = 0;
    while (k < w->samples->n &&
           !memcmp(bytes_of(w, i, at), bytes_of(w, k, at), n))
        k++;
    return k;
}

/* The bits if samples i and k are undamaged. k is i, or a sample with another
 * literal, of a linked program. */
static uint64_t text_bits_by(const struct weigher *w, size_t i, size_t k,
                             uint32_t at, uint32_t n, enum fill fill)
{
    const uint8_t *one = bytes_of(w, i, at);
    const uint8_t *two = bytes_of(w, k, at);
    bool is_whole = n % DWORD || is_sound(one, n, fill);
    size_t n_text = is_whole ? opencl_look_at_text(one, n).n : n;
    uint64_t bits = pfd_likelihood_text(one, n_text);
    if (i != k)
        bits += BITS_LINKED + pfd_likelihood_text(two, n);
    for (size_t j = 0; j < w->samples->n; j++) {
        const uint8_t *bytes = bytes_of(w, j, at);
        uint64_t by_one = damage_bits(one, bytes, n);
        uint64_t by_two = i != k ? damage_bits(two, bytes, n) : by_one;
        bits += (by_one < by_two ? by_one : by_two) +
                (is_whole ? 0 : PFD_LIKELIHOOD_DAMAGE);
    }
    return bits;
}

static uint64_t text_bits(const struct weigher *w, uint32_t at, uint32_t n,
                          enum fill fill)
{
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < w->samples->n && i < REFERENCES; i++) {
        size_t other = other_text(w, i, at, n);
        uint64_t bits = text_bits_by(w, i, i, at, n, fill);
        uint64_t linked = other < w->samples->n
                              ? text_bits_by(w, i, other, at, n, fill)
                              : bits;
        bits = linked < bits ? linked : bits;
        best = bits < best ? bits : best;
    }
    return best;
}

/* ---- numbers ---- */

/* A dword of unknown type. */
static unsigned dword_bits(uint32_t dword)
{
    unsigned bits = least(pfd_likelihood_integer(dword, DWORD),
                          pfd_likelihood_float(dword, DWORD) + BITS_FLOAT);
    return least(bits, BITS_ANY);
}

/* Characters are stored as integers: sign-extended or zero-extended. */
static bool is_char(uint64_t value)
{
    return value <= UINT8_MAX || (uint32_t)value >= (uint32_t)INT8_MIN;
}

static uint64_t typed_bits(const struct opencl_argument *a,
                           const uint8_t *bytes)
{
    uint32_t element = opencl_element(a);
    bool is_character =
        a->step && a->step->conv == 'c' && a->step->length == PFD_LENGTH_NONE;
    /* There are no floats of one byte, whatever the format string says. */
    bool is_float = element > 1 && a->step && pfd_step_is_float(a->step);
    uint64_t bits = 0;
    if (element != 1 && element != 2 && element != 4 && element != 8)
        return 8 * (uint64_t)a->size;
    for (uint32_t i = 0; i < a->n; i++) {
        uint64_t value = 0;
        memcpy(&value, bytes + (size_t)i * element, element);
        bits += is_float ? pfd_likelihood_float(value, element)
                : is_character && !is_char(value)
                    ? BITS_ANY
                    : pfd_likelihood_integer(value, element);
    }
    return bits;
}

/* The fourth component of a vector of three was not written, and does not
 * count. */
static uint32_t used_bytes(const struct opencl_argument *a)
{
    return a->n == 3 ? 3 * opencl_element(a) : a->size;
}

static uint64_t value_bits(const struct weigher *w, size_t sample,
                           const struct opencl_argument *a, uint32_t at,
                           bool is_typed)
{
    uint64_t bits = 0;
    if (is_typed)
        return typed_bits(a, bytes_of(w, sample, at));
    const struct pfd_byte_reader *payload = &w->samples->payload[sample];
    for (uint32_t i = 0; i < used_bytes(a); i += DWORD)
        bits += dword_bits(pfd_byte_reader_peek_u32(payload, at + i));
    return bits;
}

/* The values either one by one, or as one constant with exceptions. */
static uint64_t column_bits(const struct weigher *w,
                            const struct opencl_argument *a, uint32_t at,
                            bool is_typed)
{
    uint64_t each = 0;
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < w->samples->n; i++) {
        uint64_t bits = value_bits(w, i, a, at, is_typed);
        uint64_t constant = BITS_CONSTANT + bits;
        each += bits;
        for (size_t k = 0; i < REFERENCES && k < w->samples->n; k++) {
            if (memcmp(bytes_of(w, i, at), bytes_of(w, k, at), used_bytes(a)) !=
                0)
                constant += BITS_EXCEPTION + value_bits(w, k, a, at, is_typed);
        }
        if (i < REFERENCES && constant < best)
            best = constant;
    }
    return each < best ? each : best;
}

/* Values that do not fit their type cost once, not in every entry: programs
 * print anything. */
static uint64_t argument_bits(const struct weigher *w,
                              const struct opencl_argument *a, uint32_t at)
{
    uint64_t typed = column_bits(w, a, at, true);
    if (used_bytes(a) % DWORD)
        return typed;
    uint64_t any = column_bits(w, a, at, false) + BITS_UNTYPED;
    return typed < any ? typed : any;
}

/* ---- bytes after the last argument ---- */

/* A dword that is the same in all entries, as in memory that was filled
 * once. */
static unsigned filled_bits(uint32_t dword)
{
    uint8_t bytes[DWORD];
    memcpy(bytes, &dword, DWORD);
    if (!dword)
        return BITS_ZEROS;
    if (dword == bytes[0] * UINT32_C(0x01010101))
        return BITS_FILLED;
    struct opencl_text t = opencl_look_at_text(bytes, DWORD);
    unsigned bits = dword_bits(dword);
    return t.n && (t.is_full || t.ended)
               ? least(bits, BITS_STALE_TEXT + pfd_likelihood_text(bytes, t.n))
               : bits;
}

/* Is the next dword the same as this one in all entries? */
static bool is_repeated(const struct weigher *w, uint32_t at)
{
    for (size_t i = 0; i < w->samples->n; i++) {
        const struct pfd_byte_reader *payload = &w->samples->payload[i];
        if (pfd_byte_reader_peek_u32(payload, at) !=
            pfd_byte_reader_peek_u32(payload, at + DWORD))
            return false;
    }
    return true;
}

static uint64_t stale_column_bits(const struct weigher *w, uint32_t at)
{
    uint32_t first = pfd_byte_reader_peek_u32(&w->samples->payload[0], at);
    uint64_t each = 0;
    uint64_t constant = BITS_CONSTANT + filled_bits(first);
    unsigned small = 0;
    bool is_unlike = false;
    for (size_t i = 0; i < w->samples->n; i++) {
        uint32_t dword = pfd_byte_reader_peek_u32(&w->samples->payload[i], at);
        unsigned bits = dword_bits(dword);
        is_unlike |= dword != w->stale->dword;
        each += bits;
        small += bits < BITS_SMALL ? BITS_STALE : 0;
        if (dword != first)
            constant += BITS_EXCEPTION + bits;
    }
    each += least(small, BITS_STALE_MAX);
    uint64_t bits = each < constant ? each : constant;
    if (at + 2 * DWORD <= w->at && is_repeated(w, at) && bits > BITS_ZEROS)
        bits = BITS_ZEROS;
    if (w->stale->n > 1 && !w->stale->differs && is_unlike)
        bits += least(BITS_UNLIKE * (w->stale->n - 1), BITS_UNLIKE_MAX);
    return bits;
}

void opencl_see_stale(const struct pfd_string *string,
                      const struct opencl_samples *samples, uint64_t shifts,
                      struct opencl_stale *to)
{
    uint32_t n = DWORD * (uint32_t)__builtin_popcountll(shifts);
    for (size_t i = 0; i < samples->n; i++) {
        for (uint32_t at = string->n_payload - n; at < string->n_payload;
             at += DWORD) {
            uint32_t dword = pfd_byte_reader_peek_u32(&samples->payload[i], at);
            to->differs |= to->n > 0 && dword != to->dword;
            to->dword = dword;
            to->n += to->n < OPENCL_STALE_MAX;
        }
    }
}

/* ---- all ways ---- */

/* The fourth component of a vector of three, which was not written. */
static uint64_t fourth_bits(const struct weigher *w,
                            const struct opencl_argument *a, uint32_t at)
{
    uint32_t n = a->size - used_bytes(a);
    uint64_t bits = 0;
    if (n % DWORD)
        return 8 * (uint64_t)n * w->samples->n;
    for (uint32_t i = 0; i < n; i += DWORD)
        bits += stale_column_bits(w, at + used_bytes(a) + i);
    return bits;
}

static void weigh_value(struct weigher *w, const struct opencl_argument *a)
{
    for (unsigned k = 0; k <= w->n_shifts; k++) {
        if (w->old[k].n || k == 0) {
            uint32_t at = w->at - k * DWORD;
            uint64_t bits = argument_bits(w, a, at) + fourth_bits(w, a, at);
            pfd_ways_all_add(&w->old[k], bits);
            if (k == 0)
                w->new_bits = pfd_likelihood_add(w->new_bits, bits);
        }
    }
}

static void weigh_text(struct weigher *w, const struct opencl_argument *a)
{
    bool can_shift = opencl_can_shift(a);
    unsigned i = w->n_shifts;
    w->new_bits =
        pfd_likelihood_add(w->new_bits, text_bits(w, w->at, a->size, FILL_NEW));
    for (unsigned k = i + 1; k-- > 0;) {
        uint32_t at = w->at - k * DWORD;
        if (can_shift) {
            struct pfd_ways *shorter = &w->old[k + 1];
            uint64_t bits = text_bits(w, at, a->size - DWORD, FILL_SHORT);
            for (unsigned j = 0; j < w->old[k].n; j++) {
                const struct pfd_way *way = &w->old[k].way[j];
                pfd_ways_add(shorter, pfd_likelihood_add(way->bits, bits),
                             way->choice | UINT64_C(1) << i);
            }
        }
        pfd_ways_all_add(&w->old[k], text_bits(w, at, a->size, FILL_OLD));
    }
    w->n_shifts += can_shift;
}

static void weigh_argument(struct weigher *w, const struct opencl_argument *a)
{
    if (a->is_text) {
        weigh_text(w, a);
    } else {
        weigh_value(w, a);
    }
    w->at += a->size;
}

/* The ways to the end of the payload. Each shorter string leaves one more stale
 * dword. */
static void gather(const struct weigher *w, bool all, struct pfd_ways *ret)
{
    uint64_t stale = 0;
    ret->n = 0;
    for (unsigned k = 0; k <= w->n_shifts; k++) {
        if (k > 0 && all)
            stale += stale_column_bits(w, w->at - k * DWORD);
        for (unsigned j = 0; j < w->old[k].n; j++) {
            const struct pfd_way *way = &w->old[k].way[j];
            pfd_ways_add(ret, pfd_likelihood_add(way->bits, stale),
                         way->choice);
        }
    }
}

void opencl_weigh(const struct pfd_string *string,
                  const struct opencl_samples *samples,
                  const struct opencl_stale *stale, struct opencl_weights *ret)
{
    struct weigher w = { string, samples, stale, .n_shifts = 0 };
    struct opencl_arguments arguments = opencl_arguments(string);
    struct opencl_argument a;
    ret->all = true;
    pfd_ways_add(&w.old[0], 0, 0);
    while (ret->all && opencl_next_argument(&arguments, &a)) {
        ret->all = !opencl_can_shift(&a) || w.n_shifts < OPENCL_SHIFTS_MAX;
        if (ret->all)
            weigh_argument(&w, &a);
    }
    gather(&w, ret->all, &ret->old);
    ret->new_bits = w.new_bits;
}

/* ---- one entry by itself ---- */

/* The bits beyond those of the same dwords with unknown types, by the number of
 * shorter strings so far. */
struct loner {
    const struct opencl_alone *of;
    int32_t bits[LONE_SHIFTS + 1];
    unsigned n_shifts;
    uint32_t at; /* offset if no string is shorter */
};

static int32_t lesser(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t any_bits(const struct loner *l, uint32_t at, uint32_t n)
{
    const uint32_t *any = l->of->any;
    uint32_t unit = l->of->unit;
    return (int32_t)(any[at / unit] - any[(at + n) / unit]);
}

static int32_t lone_value_bits(const struct loner *l,
                               const struct opencl_argument *a, uint32_t at)
{
    uint32_t n = used_bytes(a);
    if (n % DWORD || n > LONE_BYTES)
        return 0;
    uint64_t bits = typed_bits(a, pfd_byte_reader_peek(&l->of->payload, at));
    return lesser((int32_t)bits - any_bits(l, at, n), BITS_UNTYPED);
}

/* Examines only the end of a long text. */
static int32_t lone_text_bits(const struct loner *l, uint32_t at, uint32_t n,
                              enum fill fill)
{
    uint32_t seen = least(n, LONE_BYTES);
    if (n % DWORD)
        return 0;
    at += n - seen;
    const uint8_t *bytes = pfd_byte_reader_peek(&l->of->payload, at);
    bool sound = is_sound(bytes, seen, fill);
    size_t n_text = sound ? opencl_look_at_text(bytes, seen).n : seen;
    int32_t bits =
        (int32_t)pfd_likelihood_text(bytes, n_text) - any_bits(l, at, seen);
    return sound ? bits : lesser(bits + PFD_LIKELIHOOD_DAMAGE, BITS_ANY);
}

static void add_lone_text(struct loner *l, const struct opencl_argument *a)
{
    bool may_be_short = opencl_can_shift(a) && l->n_shifts < LONE_SHIFTS &&
                        l->of->age != PFD_OPENCL_STRINGS_NEW;
    for (unsigned k = l->n_shifts + 1; k-- > 0;) {
        uint32_t at = l->at - k * DWORD;
        bool is_old = k > 0 || l->of->age == PFD_OPENCL_STRINGS_OLD;
        if (may_be_short) {
            int32_t bits = lone_text_bits(l, at, a->size - DWORD, FILL_SHORT);
            l->bits[k + 1] = lesser(l->bits[k + 1], l->bits[k] + bits);
        }
        l->bits[k] +=
            lone_text_bits(l, at, a->size, is_old ? FILL_OLD : FILL_NEW);
    }
    l->n_shifts += may_be_short;
}

/* Dwords that are examined for an argument. */
static uint32_t lone_work(const struct loner *l,
                          const struct opencl_argument *a)
{
    uint32_t n = least(a->size, LONE_BYTES) / DWORD + 1;
    return (l->n_shifts + 1) * (a->is_text ? 2 * n : n);
}

int32_t opencl_weigh_alone(const struct opencl_alone *alone, uint32_t *work)
{
    struct loner l = { .of = alone };
    struct opencl_arguments arguments = opencl_arguments(alone->string);
    struct opencl_argument a;
    for (unsigned k = 1; k <= LONE_SHIFTS; k++)
        l.bits[k] = LONE_NEVER;
    while (opencl_next_argument(&arguments, &a) && lone_work(&l, &a) <= *work) {
        *work -= lone_work(&l, &a);
        if (a.is_text)
            add_lone_text(&l, &a);
        for (unsigned k = 0; k <= l.n_shifts && !a.is_text; k++)
            l.bits[k] += lone_value_bits(&l, &a, l.at - k * DWORD);
        l.at += a.size;
    }
    for (unsigned k = 1; k <= l.n_shifts; k++)
        l.bits[0] = lesser(l.bits[0], l.bits[k]);
    return l.bits[0];
}

unsigned opencl_any_bits(uint32_t dword)
{
    return dword_bits(dword);
}

/* ---- the same literals in every entry ---- */

/* The ranges of the texts in a layout; false: one text of the sample is
 * invalid. */
static bool find_texts(const struct pfd_string *string, uint64_t layout,
                       const struct pfd_byte_reader *sample,
                       struct opencl_literals *ret)
{
    struct opencl_arguments arguments = opencl_arguments(string);
    struct opencl_argument a;
    enum fill fill = layout & OPENCL_LAYOUT_NEW ? FILL_NEW : FILL_OLD;
    uint64_t shifts = layout >> OPENCL_FIRST_SHIFT;
    uint32_t at = 0;
    bool ok = true;
    ret->n_ranges = 0;
    while (opencl_next_argument(&arguments, &a)) {
        bool is_short = opencl_can_shift(&a) && shifts & 1;
        uint32_t n = a.size - (is_short ? DWORD : 0);
        if (opencl_can_shift(&a))
            shifts >>= 1;
        if (a.is_text && ret->n_ranges < OPENCL_RANGES_MAX) {
            ok &= is_sound(pfd_byte_reader_peek(sample, at), n,
                           is_short ? FILL_SHORT : fill) ||
                  n % DWORD;
            ret->range[ret->n_ranges].at = at;
            ret->range[ret->n_ranges++].n =
                least(n, OPENCL_LITERAL_SEEN) / DWORD * DWORD;
        }
        at += n;
    }
    return ok;
}

uint64_t opencl_hash(const struct opencl_literals *l,
                     const struct pfd_byte_reader *payload)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < l->n_ranges; i++) {
        uint32_t at = l->range[i].at;
        for (uint32_t k = 0; k < l->range[i].n; k += DWORD) {
            hash ^= pfd_byte_reader_peek_u32(payload, at + k);
            hash *= UINT64_C(0x9e3779b97f4a7c15);
            hash ^= hash >> 29;
        }
    }
    return hash;
}

/* A text is accepted if two entries have it, or if there is only one entry. */
static bool is_confirmed(const struct opencl_literals *l,
                         const struct opencl_samples *samples, uint64_t hash)
{
    unsigned n = 0;
    for (size_t i = 0; i < samples->n; i++)
        n += opencl_hash(l, &samples->payload[i]) == hash;
    return n > 1 || samples->n == 1;
}

bool opencl_find_literals(const struct pfd_string *string,
                          const struct opencl_samples *samples, uint64_t layout,
                          struct opencl_literals *ret)
{
    *ret = (struct opencl_literals){ .n_hashes = 0 };
    for (size_t i = 0; i < samples->n && ret->n_hashes < OPENCL_LITERALS_MAX;
         i++) {
        if (!find_texts(string, layout, &samples->payload[i], ret))
            continue;
        uint64_t hash = opencl_hash(ret, &samples->payload[i]);
        if (!opencl_is_literal(ret, hash) && is_confirmed(ret, samples, hash))
            ret->hash[ret->n_hashes++] = hash;
    }
    return ret->n_hashes > 0;
}

/* ---- the decision ---- */

void opencl_decide(const struct opencl_weights *weights, int64_t newer,
                   enum pfd_opencl_strings age, struct pfd_ways *ret,
                   bool *is_new)
{
    uint64_t for_old = newer > 0 ? (uint64_t)newer : 0;
    uint64_t for_new = newer < 0 ? (uint64_t)-newer : 0;
    uint32_t new_bits = pfd_likelihood_add(weights->new_bits, for_new);
    bool may_be_new = age != PFD_OPENCL_STRINGS_OLD;
    ret->n = 0;
    *is_new = may_be_new;
    for (unsigned i = 0; i < weights->old.n && age != PFD_OPENCL_STRINGS_NEW;
         i++) {
        const struct pfd_way *way = &weights->old.way[i];
        uint32_t bits = pfd_likelihood_add(way->bits, for_old);
        if (way->choice || !may_be_new || bits < new_bits)
            pfd_ways_add(ret, bits, way->choice);
        if (!way->choice && bits < new_bits)
            *is_new = may_be_new = false;
    }
    if (may_be_new)
        pfd_ways_add(ret, new_bits, 0);
}
