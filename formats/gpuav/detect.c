/* SPDX-License-Identifier: MIT */
/*
 * Detects the age of a buffer. Over time, the header got a second word, the
 * sizes of records changed with the layer, and in 2023 error codes were
 * renumbered; README.md beside this file has the table.
 */
#include "core/spirv/khronos.h"
#include "core/spirv/shader_table.h"
#include "layout.h"

enum {
    DWORD = GPUAV_DWORD,
    SHADER_MAX = 1 << 20, /* of layers that stored the id in a word of its
                             own */
    GROUPS = 18,
    CODES = 41,
    OLD_GROUPS = 9,    /* until SDK 1.4.309 */
    OLD_SIZE_MAX = 13, /* of records without groups */
    /* Largest flags of a buffer with two header words. */
    FLAGS_MAX = 3,
    CHAIN = 3, /* consecutive records that cannot match by chance */
};

bool gpuav_is_size(uint32_t n)
{
    return (n >= 8 && n <= 14) || n == GPUAV_RECORD_MAX;
}

/* ---- one record ---- */

static bool is_stage(uint32_t word)
{
    return pfd_stage_of(word) != PFD_STAGE_UNKNOWN ||
           word == PFD_STAGE_UNKNOWN || word == INT32_MAX;
}

/* Is it a check by the layer's own commands? Those leave the whole header 0,
 * including its size, and write the error and the kind of check. */
static bool is_own_check(const uint8_t *bytes, size_t n_bytes, uint8_t data)
{
    if (n_bytes < GPUAV_OWN_CHECK * DWORD)
        return false;
    for (size_t i = 0; i < GPUAV_HEADER; i++) {
        if (gpuav_word(bytes, i))
            return false;
    }
    uint32_t error = gpuav_word(bytes, GPUAV_HEADER);
    uint32_t what = gpuav_word(bytes, GPUAV_HEADER + 1);
    bool is_error =
        error == 8 || error == 9 || (data == 2 && (error == 5 || error == 6));
    return is_error && what >= 1 && what <= 4;
}

/* Is it a record of the current layout? n_bytes of it are present. */
static bool is_now(const uint8_t *bytes, size_t n_bytes)
{
    uint32_t group = gpuav_word(bytes, 1) >> 24;
    uint32_t code = gpuav_word(bytes, 1) >> 18 & 0x3f;
    bool is_own = group == 4 || group == 5 || group == 6 || group == 7 ||
                  group == 10 || group == 12;
    if (group < 1 || group > GROUPS || code < 1 || code > CODES ||
        gpuav_word(bytes, 2) >> 27 > PFD_STAGE_UNKNOWN)
        return false;
    return is_own || n_bytes < GPUAV_NOW * DWORD ||
           (!gpuav_word(bytes, 10) && !gpuav_word(bytes, 11));
}

/* Are words i and i + 1 a group and a code? */
static bool has_group(const uint8_t *bytes, size_t n_bytes, size_t i)
{
    if (n_bytes < (i + 2) * DWORD)
        return false;
    uint32_t group = gpuav_word(bytes, i);
    uint32_t code = gpuav_word(bytes, i + 1);
    return group >= 1 && group <= OLD_GROUPS && code >= 1 && code <= CODES;
}

/* A size followed by zeros is no record: it can be a count. */
static bool is_blank(const uint8_t *bytes, size_t n_bytes, uint32_t size)
{
    for (size_t i = 1; i < size && (i + 1) * DWORD <= n_bytes; i++) {
        if (gpuav_word(bytes, i))
            return false;
    }
    return true;
}

/* Small 64-bit numbers, which are common in other files, are no records. */
static bool is_wide(const uint8_t *bytes, size_t n_bytes, uint32_t size)
{
    for (size_t i = 1; i < size && (i + 1) * DWORD <= n_bytes; i += 2) {
        if (gpuav_word(bytes, i))
            return false;
    }
    return true;
}

static bool is_old(const uint8_t *bytes, size_t n_bytes, uint32_t size,
                   uint8_t data)
{
    if (gpuav_word(bytes, 1) >= SHADER_MAX || is_wide(bytes, n_bytes, size) ||
        gpuav_word(bytes, 2) >> 27 || !is_stage(gpuav_word(bytes, 3)))
        return false;
    if ((data == 1 && size > 11) || is_blank(bytes, n_bytes, size))
        return false;
    /* A module begins with a capability, which cannot fail. Checks of a whole
     * shader have position 0, too, but only in later layers. */
    if (size <= OLD_SIZE_MAX && !gpuav_word(bytes, 2))
        return false;
    switch (size) {
    case 8:
    case 9:
        return data == 1 && gpuav_word(bytes, 6) <= 1;
    case 14:
        return has_group(bytes, n_bytes, 7);
    case GPUAV_RECORD_MAX:
        return has_group(bytes, n_bytes, 9);
    default:
        return gpuav_word(bytes, GPUAV_HEADER) <= 9;
    }
}

uint32_t gpuav_plausible(const uint8_t *bytes, size_t n_bytes, uint8_t data)
{
    uint32_t size = gpuav_word(bytes, 0);
    if (size == 0)
        return is_own_check(bytes, n_bytes, data) ? GPUAV_OWN_CHECK : 0;
    if (!gpuav_is_size(size))
        return 0;
    bool is_one = size == GPUAV_NOW ? data == 2 && is_now(bytes, n_bytes)
                                    : is_old(bytes, n_bytes, size, data);
    return is_one ? size : 0;
}

/* ---- codes ---- */

/* Judges by the parameters that each error can have: an index out of bounds has
 * bounds, an uninitialized descriptor has none. */
bool gpuav_codes_fit(const uint8_t *bytes, uint32_t n, bool from_one)
{
    uint32_t code = gpuav_word(bytes, n < 10 ? 6 : GPUAV_HEADER);
    bool has_set = n == 13;
    bool empty = has_set && !gpuav_word(bytes, 11) && !gpuav_word(bytes, 12);
    if (n == GPUAV_RECORD_MAX)
        return gpuav_group_fits(bytes, from_one);
    if (n == GPUAV_NOW || n > 13)
        return true;
    if (from_one) {
        return has_set ? code == 1 || code == 3 || code == 4 ||
                             ((code == 2 || code == 7) && empty)
                       : n == 10 && (code == 3 || code == 5 || code == 6);
    }
    if (has_set) {
        return (code == 0 && !empty) || (code == 1 && empty) ||
               (code >= 4 && code <= 7);
    }
    return n < 10    ? code <= 1
           : n == 10 ? code <= 2 || code >= 8
                     : code <= 7 && code != 2;
}

/* ---- the buffer ---- */

struct tally {
    uint64_t n_records; /* dwords of records with a possible size */
    uint64_t plausible; /* dwords of plausible records */
    unsigned n;         /* plausible records */
    uint64_t leading;   /* their dwords before any damage */
    uint64_t now;       /* their dwords in the current layout */
    uint64_t stray;     /* nonzero dwords of no record, before the count's
                           end */
    uint64_t others;    /* also after it, and dwords of implausible records */
    unsigned breaks;    /* places where a record is not followed by a record */
    bool is_full;       /* the records fill the buffer, and the count exceeds
                           them by more than a record */
    bool is_exact;      /* a chain from the start ends where the count says */
    bool is_past;       /* it ends after that */
    bool is_sized;      /* a chain of sizes, of records that may be damaged,
                           ends where the count says */
    uint64_t strange;   /* dwords of records whose parameters do not fit their
                         error */
    unsigned end;       /* larger is better */
    unsigned fits[2];   /* records with codes from 0, and from 1 */
    unsigned can[2]; /* of 16 dwords: parameters that fit later, earlier codes
                         only */
    unsigned has[2]; /* and codes that exist in later, earlier layers only */
    bool has_sets;   /* records of 2023 */
    bool has_own;    /* has checks by the layer's own commands */
    bool is_cut;     /* the only record is cut */
};

/* Rates the end of a chain of sizes: where the count says (3), before (2),
 * after it (1). */
static unsigned end_of(uint64_t at, uint64_t limit, bool is_zero)
{
    return !is_zero ? 0 : at == limit ? 3 : at < limit ? 2 : 1;
}

/* size: 0 if the record is not plausible. */
static void count_record(struct tally *t, const uint8_t *bytes,
                         uint32_t n_words, uint32_t size)
{
    bool fits[2] = { gpuav_codes_fit(bytes, size, false),
                     gpuav_codes_fit(bytes, size, true) };
    t->n_records += n_words;
    t->plausible += size;
    t->n += size != 0;
    t->now += size == GPUAV_NOW ? size : 0;
    t->has_own |= size && !gpuav_word(bytes, 0);
    t->has_sets |= size == 13;
    if (size == GPUAV_RECORD_MAX) {
        bool has[2] = { gpuav_group_has(bytes, false),
                        gpuav_group_has(bytes, true) };
        for (unsigned k = 0; k < 2; k++) {
            t->can[k] += fits[k] && !fits[!k];
            t->has[k] += has[k] && !has[!k];
        }
        return;
    }
    t->strange += size && !fits[0] && !fits[1] ? size : 0;
    for (unsigned k = 0; size && k < 2; k++)
        t->fits[k] += fits[k];
}

/* Decides on the codes of records of 16 dwords: by the modules' makers or by
 * codes that only one age has, then by parameters. */
static void decide_groups(const struct pfd_walk *w, const struct tally *t,
                          struct gpuav_age *ret)
{
    unsigned made[2] = { 0 };
    for (size_t i = 0; i < w->shader_table->n; i++) {
        enum pfd_spirv_instrumenter maker =
            pfd_spirv_instrumenter(w->shader_table->shaders[i].module);
        made[0] += maker == PFD_SPIRV_BY_LAYER_2025;
        made[1] += maker == PFD_SPIRV_BY_LAYER_2024;
    }
    const unsigned *evidence[] = { made, t->has, t->can };
    ret->either = true;
    for (size_t i = 0; ret->either && i < 3; i++) {
        const unsigned *n = evidence[i];
        ret->earlier = n[1] && !n[0];
        ret->either = !n[0] == !n[1];
        if (n[0] && n[1])
            return;
    }
}

/* Does a record begin at `at` that the evidence ends in? is_closed: the buffer
 * ends there, too. */
static bool is_beyond(const struct pfd_walk *w, size_t at, size_t n,
                      bool is_closed)
{
    uint32_t size = n - at < DWORD ? 0 : pfd_walk_u32(w, at);
    return !is_closed &&
           (n - at < DWORD || (gpuav_is_size(size) && size * DWORD > n - at));
}

/* Follows the sizes; after damage, continues at the next plausible record. */
static struct tally tally_of(const struct pfd_walk *w, uint8_t data)
{
    struct tally t = { 0 };
    struct pfd_byte_reader c = w->view;
    size_t n = c.n < GPUAV_EVIDENCE_BYTES ? c.n : GPUAV_EVIDENCE_BYTES;
    size_t at = (size_t)data * DWORD;
    size_t end = 0; /* end of the chain from the start */
    uint64_t wanted = pfd_walk_u32(w, (data - 1u) * (uint64_t)DWORD);
    uint64_t limit = (data + wanted) * DWORD;
    bool is_chain = true;
    bool is_closed = w->last && n == c.n;
    while (n - at >= 8 * DWORD && !is_beyond(w, at, n, is_closed)) {
        pfd_byte_reader_seek(&c, at);
        const uint8_t *bytes = pfd_byte_reader_bytes(&c, n - at);
        if (!bytes)
            break;
        uint32_t size = gpuav_plausible(bytes, n - at, data);
        uint32_t next = size || end ? size : gpuav_word(bytes, 0);
        bool is_record = gpuav_is_size(next) && (size_t)next * DWORD <= n - at;
        if (is_record) {
            count_record(&t, bytes, next, size);
            t.others += size ? 0 : next;
            t.leading += end ? 0 : size;
            at += (size_t)next * DWORD;
        } else {
            t.is_cut |= !end && !t.n_records && size >= GPUAV_NOW && w->last &&
                        wanted >= size;
            end = end ? end : at;
            t.stray += at < limit && gpuav_word(bytes, 0) != 0;
            t.others += gpuav_word(bytes, 0) != 0;
            t.breaks += is_chain && gpuav_word(bytes, 0) != 0;
            at += DWORD;
        }
        is_chain = is_record;
    }
    end = end ? end : at;
    bool is_zero = n - end < DWORD || pfd_walk_u32(w, end) == 0 ||
                   (end == at && is_beyond(w, at, n, is_closed));
    t.end = end_of(end, limit, is_zero);
    t.is_exact = t.leading && end == limit;
    t.is_past = end > limit;
    t.is_sized = is_zero && end == limit && wanted;
    t.is_full =
        t.leading && limit >= end + 8 * DWORD &&
        (n == GPUAV_EVIDENCE_BYTES || n - end < GPUAV_RECORD_MAX * DWORD);
    return t;
}

/* Do the records begin after two words? Without records, the flags decide: a
 * count is never so small. */
static bool starts_at_two(const struct pfd_walk *w, const struct tally t[2])
{
    /* A damaged record has no more than its size, but one that the count
     * denies is likelier made of the words before and in the damaged one. */
    for (unsigned k = 0; k < 2; k++) {
        if (t[k].is_past && t[!k].is_sized)
            return !k;
    }
    if (t[0].leading != t[1].leading)
        return t[1].leading > t[0].leading;
    if (t[0].plausible != t[1].plausible)
        return t[1].plausible > t[0].plausible;
    if (t[0].plausible && t[0].end != t[1].end)
        return t[1].end > t[0].end;
    return pfd_walk_u32(w, 0) <= FLAGS_MAX;
}

struct gpuav_age gpuav_decide(const struct pfd_walk *w)
{
    struct tally t[2] = { tally_of(w, 1), tally_of(w, 2) };
    bool two = starts_at_two(w, t);
    const unsigned *fits = t[two].fits;
    struct gpuav_age ret = {
        .data = two ? 2 : 1,
        .from_one =
            fits[1] > fits[0] || (t[two].has_sets && fits[1] == fits[0]),
        .is_even = fits[0] == fits[1],
    };
    decide_groups(w, &t[two], &ret);
    return ret;
}

/* ---- the format ---- */

/* The likelihood that the buffer's first record is at dword `data`. */
static int likelihood_of(const struct pfd_walk *w, uint8_t data)
{
    struct tally t = tally_of(w, data);
    uint32_t flags = pfd_walk_u32(w, 0);
    if (!t.plausible || (data == 2 && flags > FLAGS_MAX))
        return data == 2 && flags <= FLAGS_MAX && t.is_cut ? 60 : 5;
    /* A record or two that fill the count can be chance, where the words
     * behind it are none. */
    bool is_sure = t.is_exact && t.leading >= CHAIN * 8;
    /* Behind a hole anything may happen to look like a record or two, with
     * words of none beside them. */
    if (t.plausible < t.n_records / 4 ||
        (!t.leading && t.n < CHAIN && t.stray) ||
        ((!t.leading || t.is_past) &&
         (t.others * 2 > t.plausible || t.breaks * 3 > t.n)) ||
        (t.n < CHAIN && !t.is_exact && !t.is_full && !t.now) ||
        (!is_sure && (t.others > t.plausible || t.breaks * 2 > t.n)))
        return 25;
    if (t.now > t.n_records / 4)
        return 85;
    if (t.plausible < t.n_records || t.strange || t.stray || !t.end ||
        (!t.is_exact && t.others))
        return 50;
    /* Printf records of that period have a format id above 9 instead. */
    return data == 2 && flags == 1 ? 80 : t.has_own ? 75 : 72;
}

int gpuav_probe(const struct pfd_byte_reader *first, uint64_t n_buffer)
{
    struct pfd_walk w = { .view = *first, .last = n_buffer != 0 };
    if (first->n < (2 + 8) * DWORD)
        return 0;
    int one = likelihood_of(&w, 1);
    int two = likelihood_of(&w, 2);
    return one > two ? one : two;
}
