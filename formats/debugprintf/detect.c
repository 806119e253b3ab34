/* SPDX-License-Identifier: MIT */
#include "core/spirv/shader_table.h"
#include "layout.h"

enum {
    DWORD = 4,
    /* Distinct headers that are sampled; each stands for all records like
     * it. */
    SAMPLES_MAX = 512,
    SLOTS = 2 * SAMPLES_MAX,
    /* Limit for places tried after damage, times modules. */
    TRIES_MAX = 1 << 18,
    /* One damaged record among this many is no evidence against a module. */
    RARE = 64,
};

/* ---- all records of the first bytes ---- */

struct sample {
    struct debugprintf_head head;
    uint64_t hash;
    uint32_t n; /* records like this one */
};

/* How a chain of sizes ends. */
enum chain_end {
    CHAIN_BROKEN, /* at an impossible size */
    CHAIN_BEYOND, /* after the end that the count gives, without meeting it */
    CHAIN_BEFORE, /* before that end: records were lost */
    CHAIN_EXACT,
};

/* Facts about the first bytes, if they have this layout. */
struct tally {
    const struct pfd_walk *walk;
    const struct debugprintf_shape *shape;
    uint64_t n;     /* bytes */
    bool is_closed; /* the buffer ends there */
    bool has_modules;
    unsigned tries;
    enum chain_end end;
    uint64_t chain_at;  /* end of the chain, bytes */
    uint64_t n_records; /* dwords of records with a possible size */
    uint64_t plausible; /* dwords of plausible records */
    size_t n_samples;
    struct sample samples[SAMPLES_MAX];
    uint16_t slots[SLOTS]; /* hash table: index of a sample plus 1; 0: free */
};

static uint64_t mix(uint64_t hash, uint32_t word)
{
    return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t hash_of(const struct tally *t, const struct debugprintf_head *h)
{
    struct debugprintf_masks m = debugprintf_masks_at(t->walk, t->shape, h->at);
    uint64_t hash =
        mix(mix(mix(mix(0, h->size), h->shader), h->position), h->format);
    hash = mix(mix(mix(hash, m.doubles), m.signed8), m.signed16);
    hash = mix(hash, debugprintf_stage_word(t->walk, t->shape, h));
    return hash ^ hash >> 32;
}

static void add_sample(struct tally *t, const struct debugprintf_head *h)
{
    uint64_t hash = hash_of(t, h);
    size_t slot = hash % SLOTS;
    t->n_records += h->size;
    if (debugprintf_is_plausible(t->walk, t->shape, h))
        t->plausible += h->size;
    for (; t->slots[slot]; slot = (slot + 1) % SLOTS) {
        struct sample *s = &t->samples[t->slots[slot] - 1];
        if (s->hash == hash) {
            s->n++;
            return;
        }
    }
    if (t->n_samples == SAMPLES_MAX)
        return;
    t->samples[t->n_samples++] = (struct sample){ *h, hash, 1 };
    t->slots[slot] = (uint16_t)t->n_samples;
}

/* The modules that a shader's records may belong to: the one that was given for
 * its number, or all loose ones. */
struct candidates {
    const struct pfd_shader_table *shader_table;
    const struct pfd_shader *told;
    size_t i;
};

static struct candidates candidates_for(
    const struct pfd_shader_table *shader_table, uint32_t id)
{
    return (struct candidates){
        shader_table, pfd_shader_table_find_numbered(shader_table, id), 0
    };
}

static const struct pfd_shader *next_candidate(struct candidates *c)
{
    if (c->told)
        return c->i++ ? NULL : c->told;
    while (c->i < c->shader_table->n) {
        const struct pfd_shader *s = &c->shader_table->shaders[c->i++];
        if (s->is_loose && pfd_spirv_call_count(s->module) > 0)
            return s;
    }
    return NULL;
}

bool debugprintf_is_of_call(const struct pfd_walk *w,
                            const struct debugprintf_shape *s,
                            const struct debugprintf_head *h, uint64_t left)
{
    struct candidates c = candidates_for(w->shader_table, h->shader);
    struct debugprintf_reading r;
    while ((r.shader = next_candidate(&c))) {
        for (size_t k = 0; k < s->n_numberings; k++) {
            r.numbering = s->numberings[k];
            if (debugprintf_call_of(w, s, h, &r, left))
                return true;
        }
    }
    return false;
}

/* Like debugprintf_is_of_call(), and counts the work. */
static bool try_record(struct tally *t, const struct debugprintf_head *h)
{
    t->tries += (unsigned)t->walk->shader_table->n;
    return debugprintf_is_of_call(t->walk, t->shape, h, t->n - h->at);
}

static bool size_fits(const struct tally *t, const struct debugprintf_head *h)
{
    return h->size >= t->shape->header && h->size <= DEBUGPRINTF_RECORD_MAX &&
           h->size <= (t->n - h->at) / DWORD;
}

/* The next place after `at` with a record of a known call; else the end. */
static uint64_t find_on(struct tally *t, uint64_t at, uint64_t end)
{
    uint64_t header = (uint64_t)t->shape->header * DWORD;
    for (at += DWORD;
         t->has_modules && t->tries < TRIES_MAX && at + header <= end;
         at += DWORD) {
        if (pfd_walk_u32(t->walk, at) == 0)
            continue;
        struct debugprintf_head h = debugprintf_head_at(t->walk, t->shape, at);
        if (size_fits(t, &h) && try_record(t, &h))
            return at;
    }
    return end;
}

/* The end of a record. If it belongs to no call, the first record of a known
 * call inside it. */
static uint64_t end_of_record(struct tally *t, const struct debugprintf_head *h)
{
    uint64_t end = h->at + (uint64_t)h->size * DWORD;
    return t->has_modules && !try_record(t, h) ? find_on(t, h->at, end) : end;
}

/* at: the end of the chain of sizes. */
static enum chain_end end_of_chain(const struct tally *t, uint64_t at,
                                   bool meets, uint64_t limit)
{
    uint32_t size = at + DWORD > t->n ? 0 : pfd_walk_u32(t->walk, at);
    bool is_zero = size == 0;
    bool is_cut = !t->is_closed && size >= t->shape->header &&
                  size <= DEBUGPRINTF_RECORD_MAX;
    if (!is_zero && !is_cut)
        return meets ? CHAIN_BEYOND : CHAIN_BROKEN;
    if (at == limit && is_zero)
        return CHAIN_EXACT;
    return at < limit ? CHAIN_BEFORE : CHAIN_BEYOND;
}

static void start_tally(const struct pfd_walk *w,
                        const struct debugprintf_shape *s, struct tally *t)
{
    *t = (struct tally){ .walk = w, .shape = s };
    t->n = w->view.n / DWORD * DWORD;
    t->is_closed = w->last && t->n < DEBUGPRINTF_EVIDENCE_BYTES;
    t->has_modules = w->shader_table && w->shader_table->n > 0;
    if (t->n > DEBUGPRINTF_EVIDENCE_BYTES)
        t->n = DEBUGPRINTF_EVIDENCE_BYTES;
}

/* Follows the sizes, also beyond the count, which may be wrong. The view has at
 * least two dwords. */
static void gather(const struct pfd_walk *w, const struct debugprintf_shape *s,
                   struct tally *t)
{
    start_tally(w, s, t);
    uint64_t header = (uint64_t)s->header * DWORD;
    uint64_t wanted = pfd_walk_u32(t->walk, (s->data - 1u) * (uint64_t)DWORD);
    uint64_t limit = (s->data + wanted) * DWORD;
    uint64_t at = (uint64_t)s->data * DWORD;
    bool meets = at == limit;
    bool in_chain = true;
    while (at + header <= t->n) {
        struct debugprintf_head h = debugprintf_head_at(t->walk, s, at);
        uint64_t next =
            size_fits(t, &h) ? end_of_record(t, &h) : find_on(t, at, t->n);
        if (next == at + (uint64_t)h.size * DWORD && size_fits(t, &h)) {
            add_sample(t, &h);
            meets |= in_chain && next == limit;
        } else if (in_chain) {
            t->end = end_of_chain(t, at, meets, limit);
            t->chain_at = at;
            in_chain = false;
        }
        at = next;
    }
    if (in_chain) {
        t->chain_at = at < t->n ? at : t->n;
        t->end = end_of_chain(t, t->chain_at, meets, limit);
    }
}

/* ---- modules ---- */

/* The number of this shader's records that belong to calls in this reading. */
static uint32_t count_sound(const struct tally *t, uint32_t id,
                            const struct debugprintf_reading *r)
{
    uint32_t n = 0;
    for (size_t i = 0; i < t->n_samples; i++) {
        const struct sample *s = &t->samples[i];
        if (s->head.shader == id &&
            debugprintf_call_of(t->walk, t->shape, &s->head, r,
                                t->n - s->head.at))
            n += s->n;
    }
    return n;
}

static uint32_t count_records(const struct tally *t, uint32_t id)
{
    uint32_t n = 0;
    for (size_t i = 0; i < t->n_samples; i++)
        n += t->samples[i].head.shader == id ? t->samples[i].n : 0;
    return n;
}

static bool is_before(const struct debugprintf_reading *a,
                      const struct debugprintf_reading *b)
{
    return a->numbering == b->numbering &&
           pfd_spirv_order(a->shader->module, b->shader->module) < 0;
}

/* Adds a reading. Readings of one numbering are sorted by the modules' words,
 * so that the order in which modules were given does not matter. */
static void add_reading(struct debugprintf_bound *b,
                        const struct debugprintf_reading *r)
{
    size_t i = b->n;
    while (i > 0 && is_before(r, &b->readings[i - 1]))
        i--;
    if (i == DEBUGPRINTF_READINGS_MAX)
        return;
    if (b->n == DEBUGPRINTF_READINGS_MAX)
        b->n--;
    memmove(&b->readings[i + 1], &b->readings[i],
            (b->n - i) * sizeof *b->readings);
    b->readings[i] = *r;
    b->n++;
}

/* Binds the modules that explain most records of b's shader in this numbering.
 * Keeps earlier readings that explain as many. */
static void bind_modules(const struct tally *t, struct debugprintf_bound *b,
                         enum debugprintf_numbering numbering)
{
    struct candidates c = candidates_for(t->walk->shader_table, b->id);
    struct debugprintf_reading r = { .numbering = numbering };
    while ((r.shader = next_candidate(&c))) {
        uint32_t sound = count_sound(t, b->id, &r);
        if (b->trust == DEBUGPRINTF_UNTOLD || sound > b->sound)
            b->n = 0;
        b->trust = DEBUGPRINTF_WRONG;
        if (b->n == 0 || sound == b->sound) {
            b->sound = sound;
            b->is_loose = r.shader->is_loose;
            add_reading(b, &r);
        }
    }
}

static enum debugprintf_trust trust_in(const struct debugprintf_bound *b)
{
    uint32_t contrary = b->n_records - b->sound;
    if (b->trust == DEBUGPRINTF_UNTOLD)
        return DEBUGPRINTF_UNTOLD;
    if (!b->sound || contrary > b->sound)
        return DEBUGPRINTF_WRONG;
    return contrary > b->sound / RARE ? DEBUGPRINTF_DOUBTED
                                      : DEBUGPRINTF_TRUSTED;
}

static struct debugprintf_bound *find_bound(struct debugprintf_detection *e,
                                            uint32_t id)
{
    for (size_t i = 0; i < e->n_bounds; i++) {
        if (e->bounds[i].id == id)
            return &e->bounds[i];
    }
    return NULL;
}

static struct debugprintf_bound *new_bound(struct debugprintf_detection *e,
                                           uint32_t id)
{
    if (e->n_bounds == DEBUGPRINTF_BOUNDS_MAX)
        return NULL;
    struct debugprintf_bound *b = &e->bounds[e->n_bounds++];
    *b = (struct debugprintf_bound){ .id = id };
    return b;
}

/* Binds all shaders of the first bytes with the decided layout and
 * numberings. */
static void bind_all(const struct tally *t, struct debugprintf_detection *e)
{
    e->n_bounds = 0;
    for (size_t i = 0; i < t->n_samples; i++) {
        uint32_t id = t->samples[i].head.shader;
        struct debugprintf_bound *b =
            find_bound(e, id) ? NULL : new_bound(e, id);
        if (!b)
            continue;
        b->n_records = count_records(t, id);
        for (size_t k = 0; k < e->n_numberings; k++)
            bind_modules(t, b, e->numberings[k]);
        b->trust = trust_in(b);
    }
}

/* Is the module the only one for another shader's records? */
static bool is_claimed(const struct debugprintf_detection *e,
                       const struct debugprintf_bound *by,
                       const struct pfd_shader *shader)
{
    for (size_t i = 0; i < e->n_bounds; i++) {
        const struct debugprintf_bound *b = &e->bounds[i];
        if (b != by && b->n == 1 && b->trust >= DEBUGPRINTF_DOUBTED &&
            b->readings[0].shader == shader)
            return true;
    }
    return false;
}

/* Moves readings forward whose modules no other shader claims. */
static void prefer_unclaimed(struct debugprintf_detection *e,
                             struct debugprintf_bound *b)
{
    for (size_t i = 1; i < b->n; i++) {
        struct debugprintf_reading r = b->readings[i];
        if (is_claimed(e, b, b->readings[0].shader) &&
            !is_claimed(e, b, r.shader)) {
            memmove(&b->readings[1], &b->readings[0], i * sizeof r);
            b->readings[0] = r;
        }
    }
}

/* ---- the layout ---- */

struct score {
    uint64_t sound; /* records */
    uint64_t contrary;
    bool is_clean; /* everything present can be records */
    enum chain_end end;
    uint64_t plausible;
};

static bool has_flags(const struct tally *t)
{
    return t->shape->data == 2 && pfd_walk_u32(t->walk, 0) != 0;
}

/* Compares scores; positive: a is better. */
static int compare(const struct score *a, const struct score *b)
{
    if (a->sound != b->sound)
        return a->sound > b->sound ? 1 : -1;
    if (a->sound && a->contrary != b->contrary)
        return a->contrary < b->contrary ? 1 : -1;
    if (a->is_clean != b->is_clean)
        return a->is_clean ? 1 : -1;
    if (a->end != b->end)
        return a->end > b->end ? 1 : -1;
    return a->plausible == b->plausible  ? 0
           : a->plausible > b->plausible ? 1
                                         : -1;
}

/* The evidence for the layout with this numbering. */
static struct score score_of(const struct tally *t,
                             enum debugprintf_numbering numbering,
                             struct debugprintf_detection *scratch)
{
    struct score ret = {
        .is_clean = t->n_records && t->plausible == t->n_records &&
                    t->end != CHAIN_BROKEN && !has_flags(t),
        .end = has_flags(t) ? CHAIN_BROKEN : t->end,
        .plausible = t->plausible,
    };
    scratch->n_numberings = 1;
    scratch->numberings[0] = numbering;
    bind_all(t, scratch);
    for (size_t i = 0; i < scratch->n_bounds; i++) {
        const struct debugprintf_bound *b = &scratch->bounds[i];
        if (b->trust == DEBUGPRINTF_UNTOLD)
            continue;
        ret.sound += b->sound;
        ret.contrary += b->n_records - b->sound;
    }
    return ret;
}

static void add_other(struct debugprintf_detection *e, const char *name)
{
    bool is_new = strcmp(name, e->shape->name) != 0;
    for (size_t i = 0; i < e->n_others; i++)
        is_new &= strcmp(name, e->others[i]) != 0;
    if (is_new)
        e->others[e->n_others++] = name;
}

/* Adds a layout that fits as well as the best one; of the same layout, the
 * numbering. */
static void keep_equal(struct debugprintf_detection *e,
                       const struct debugprintf_shape *s,
                       enum debugprintf_numbering numbering,
                       const struct score *score)
{
    if (s == e->shape) {
        if (score->sound)
            e->numberings[e->n_numberings++] = numbering;
    } else if (!score->sound &&
               (score->plausible || score->end < CHAIN_EXACT)) {
        add_other(e, s->name);
    }
}

struct best {
    struct score score;
    struct debugprintf_detection *found;
    struct debugprintf_detection scratch;
    struct tally tally;
};

static void try_shape(const struct pfd_walk *w,
                      const struct debugprintf_shape *s, struct best *best)
{
    struct tally *t = &best->tally;
    struct debugprintf_detection *e = best->found;
    gather(w, s, t);
    for (size_t i = 0; i < s->n_numberings; i++) {
        struct score score = score_of(t, s->numberings[i], &best->scratch);
        int order = e->shape ? compare(&score, &best->score) : 1;
        if (order > 0) {
            best->score = score;
            e->n_others = 0;
            e->shape = s;
            e->n_numberings = 1;
            e->numberings[0] = s->numberings[i];
        } else if (order == 0) {
            keep_equal(e, s, s->numberings[i], &score);
        }
    }
}

void debugprintf_decide(const struct pfd_walk *w,
                        struct debugprintf_detection *ret)
{
    enum pfd_printf_layout forced = w->options->printf_layout;
    struct best best = { .found = ret };
    *ret = (struct debugprintf_detection){ 0 };
    for (size_t i = 0; i < DEBUGPRINTF_N_SHAPES; i++) {
        const struct debugprintf_shape *s = &debugprintf_shapes[i];
        if (forced == PFD_PRINTF_LAYOUT_AUTO || s->layout == forced)
            try_shape(w, s, &best);
    }
    gather(w, ret->shape, &best.tally);
    bind_all(&best.tally, ret);
    for (size_t i = 0; i < ret->n_bounds; i++)
        prefer_unclaimed(ret, &ret->bounds[i]);
}

/* ---- records after the first bytes ---- */

/* Binds a record's shader by this record alone. */
static void bind_late(const struct pfd_walk *w,
                      const struct debugprintf_detection *e,
                      const struct debugprintf_head *h,
                      struct debugprintf_bound *b)
{
    struct debugprintf_bound next = { .id = h->shader, .is_late = true };
    struct candidates c = candidates_for(w->shader_table, h->shader);
    struct debugprintf_reading r;
    while ((r.shader = next_candidate(&c))) {
        next.trust = DEBUGPRINTF_WRONG;
        next.is_loose = r.shader->is_loose;
        for (size_t k = 0; k < e->n_numberings; k++) {
            r.numbering = e->numberings[k];
            if (debugprintf_call_of(w, e->shape, h, &r,
                                    (uint64_t)h->size * DWORD))
                add_reading(&next, &r);
        }
    }
    if (next.n)
        next.trust = DEBUGPRINTF_TRUSTED;
    *b = next;
}

static void narrow(const struct pfd_walk *w,
                   const struct debugprintf_detection *e,
                   const struct debugprintf_head *h,
                   struct debugprintf_bound *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++) {
        struct debugprintf_reading r = b->readings[i];
        if (debugprintf_call_of(w, e->shape, h, &r, (uint64_t)h->size * DWORD))
            b->readings[n++] = r;
    }
    b->n = n ? n : b->n;
}

struct debugprintf_bound *debugprintf_bound_of(const struct pfd_walk *w,
                                               struct debugprintf_detection *e,
                                               const struct debugprintf_head *h)
{
    struct debugprintf_bound *b = find_bound(e, h->shader);
    if (!b) {
        b = new_bound(e, h->shader);
        b = b ? b : &e->spare;
        bind_late(w, e, h, b);
    } else if (b->is_late && b->trust == DEBUGPRINTF_WRONG) {
        bind_late(w, e, h, b);
    } else if (b->is_late && b->n > 1) {
        narrow(w, e, h, b);
    }
    return b;
}

bool debugprintf_is_sound(const struct pfd_walk *w,
                          struct debugprintf_detection *e,
                          const struct debugprintf_head *h, uint64_t left)
{
    struct debugprintf_bound *b = find_bound(e, h->shader);
    struct debugprintf_bound late;
    if (!b) {
        b = &late;
        bind_late(w, e, h, b);
    }
    for (size_t i = 0; b->trust >= DEBUGPRINTF_DOUBTED && i < b->n; i++) {
        if (debugprintf_call_of(w, e->shape, h, &b->readings[i], left))
            return true;
    }
    return false;
}

/* ---- without modules ---- */

/* Are there more dwords after the chain than in it? If the count contradicts
 * the chain, any are too many. */
static bool is_swamped(const struct tally *t)
{
    bool is_contradicted = t->end == CHAIN_BEYOND;
    uint64_t n_others = 0;
    for (uint64_t at = t->chain_at; at + DWORD <= t->n; at += DWORD)
        n_others += pfd_walk_u32(t->walk, at) != 0;
    if (is_contradicted) {
        return n_others || t->plausible < t->n_records ||
               t->chain_at + DWORD > t->n;
    }
    return n_others > t->n_records;
}

/* Is the rest, from the chain's end to the count, shorter than a record? Then
 * no record can have been lost. */
static bool is_no_loss(const struct tally *t)
{
    uint64_t wanted =
        pfd_walk_u32(t->walk, (t->shape->data - 1u) * (uint64_t)DWORD);
    uint64_t limit = (t->shape->data + wanted) * DWORD;
    return t->end == CHAIN_BEFORE &&
           limit - t->chain_at < (uint64_t)t->shape->header * DWORD;
}

/* Are there few records, of calls that hardly repeat, or are some doubtful? With
 * so few words of header the count has to be theirs. */
static bool is_scant(const struct tally *t)
{
    enum {
        FEW = 4,
        REPEATED = 3
    };
    bool repeats = t->n_samples > FEW;
    for (size_t i = 0; i < t->n_samples && !repeats; i++)
        repeats = t->samples[i].n >= REPEATED;
    return t->shape->header <= 4 && t->end != CHAIN_EXACT &&
           (!repeats || t->plausible < t->n_records);
}

/* Is one long record all there is, and the count is not its own? Any file whose
 * second number is near its length is like that. */
static bool is_one_long(const struct tally *t)
{
    enum {
        LONG = 64
    };
    return t->end != CHAIN_EXACT && t->n_samples == 1 && t->samples[0].n == 1 &&
           t->samples[0].head.size > LONG;
}

/* The likelihood that a buffer has this layout. A header of four words matches
 * nearly anything. */
static int likelihood_of(const struct tally *t)
{
    if (!t->n_records)
        return 15;
    if (t->end == CHAIN_BROKEN || has_flags(t))
        return 20;
    if (t->plausible < t->n_records / 2 || is_no_loss(t) || is_scant(t) ||
        is_one_long(t) ||
        ((t->end != CHAIN_EXACT || t->n_samples <= 2) && is_swamped(t)))
        return 25;
    if (t->plausible < t->n_records || t->end < CHAIN_BEFORE)
        return 50;
    return t->shape->header > 4 ? 70 : 60;
}

/* A possible header, followed by zeros or the start of a record. */
static bool is_bare(const struct pfd_byte_reader *first)
{
    enum {
        FLAGS_MAX = 3,
        COUNT_MAX = 1 << 24,
        RECORD = 8 /* dwords of the smallest record */
    };
    bool has_flags = pfd_byte_reader_peek_u32(first, 0) <= FLAGS_MAX;
    uint32_t count = pfd_byte_reader_peek_u32(first, has_flags ? DWORD : 0);
    bool is_zero = true;
    for (size_t at = 2 * DWORD; at + DWORD <= first->n && is_zero; at += DWORD)
        is_zero = !pfd_byte_reader_peek_u32(first, at);
    size_t size = (has_flags ? 2 : 1) * (size_t)DWORD;
    return count && count < COUNT_MAX &&
           (is_zero || (first->n < size + RECORD * DWORD &&
                        pfd_byte_reader_peek_u32(first, size) <= count));
}

int debugprintf_probe(const struct pfd_byte_reader *first, uint64_t n_buffer)
{
    struct pfd_walk w = { .view = *first, .last = n_buffer != 0 };
    struct tally t;
    int best = 0;
    for (size_t i = 0; i < DEBUGPRINTF_N_SHAPES && first->n >= 4 * DWORD; i++) {
        gather(&w, &debugprintf_shapes[i], &t);
        int likelihood = likelihood_of(&t);
        best = likelihood > best ? likelihood : best;
    }
    if (best < 30 && first->n >= 4 * DWORD && is_bare(first))
        best = 30;
    return best;
}
