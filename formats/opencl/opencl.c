/* SPDX-License-Identifier: MIT */
/*
 * ROCm's OpenCL printf buffer. The wire layout and its sources are in README.md
 * beside this file.
 */
#include "opencl.h"

#include "escape.h"
#include "rocm.h"

#define FINDING(kind) (UINT64_C(1) << PFD_FINDING_##kind)

enum {
    DWORD = OPENCL_DWORD,
    ENTRY_HEADER = OPENCL_ENTRY_HEADER,
    /* Entries of one string are compared over this many bytes from its first
     * one on, so many entries are passed, so many places tried and so many
     * followed where the way is lost. */
    SAMPLE_BYTES = 1 << 16,
    SAMPLE_HOPS = 1024,
    SAMPLE_TRIES = 256,
    /* Strings with %s that a buffer can have; each costs what the numbers
     * above say, so that no buffer takes more than its size and that. */
    VERDICTS = 1024,
    /* One string's evidence on the compiler's age counts for so much. */
    AGE_BITS_MAX = 1000,
    /* How far a place is followed to believe it, and at what cost. */
    CHAIN_DEPTH = 8,
    CHAIN_VISITS = 256,
    /* Real IDs count from 1. */
    LIKELY_ID = 1 << 16,
};

/* What is known of how one string's entries are laid out. */
struct verdict {
    const struct pfd_string *string; /* NULL: free */
    uint64_t layout;
    uint64_t others[PFD_ALTERNATIVES_MAX]; /* [n_others] that fit as well */
    struct opencl_literals literals;
    int32_t newer; /* bits that speak for the newer compilers */
    uint8_t n_others;
    bool is_decided;
    bool is_doubtful;
    bool is_stale_seen; /* in state.stale */
};

struct state {
    struct pfd_rocm_buffer buffer;
    bool is_lost;
    uint32_t lost_id;
    uint64_t from; /* where it began */
    uint64_t next; /* place to try */
    struct opencl_stale stale;
    size_t n_verdicts;
    struct verdict verdicts[VERDICTS];
};

static uint64_t size_of(const struct pfd_string *s)
{
    return ENTRY_HEADER + (uint64_t)s->n_payload;
}

/* ---- where entries lead ---- */

/* How far a chain of entries is followed. */
struct chain {
    uint64_t limit;    /* beyond this place anything can be */
    unsigned n_visits; /* places looked at */
};

/* Is what stands at `at` the end, or an entry that leads to one? */
static bool leads_on(const struct pfd_walk *w, const struct state *st,
                     struct chain *chain, uint64_t at, unsigned depth)
{
    if (at == st->buffer.end || depth == 0 ||
        ++chain->n_visits > CHAIN_VISITS || at + ENTRY_HEADER > chain->limit)
        return true;
    if (st->buffer.end - at < ENTRY_HEADER)
        return false;
    if (at + ENTRY_HEADER > pfd_walk_end(w))
        return true;
    const struct pfd_string *s = pfd_table_find(w->table, pfd_walk_u32(w, at));
    for (; s; s = s->next) {
        if (at + size_of(s) > chain->limit)
            return true;
        if (size_of(s) <= st->buffer.end - at &&
            leads_on(w, st, chain, at + size_of(s), depth - 1))
            return true;
    }
    return false;
}

static bool is_good(const struct pfd_walk *w, const struct state *st,
                    struct chain *chain, uint64_t at,
                    const struct pfd_string *s)
{
    return at + size_of(s) <= chain->limit &&
           size_of(s) <= st->buffer.end - at &&
           leads_on(w, st, chain, at + size_of(s), CHAIN_DEPTH);
}

/* The string of an ID that several have: one that leads on, as far as `limit`
 * shows. */
static const struct pfd_string *choose(const struct pfd_walk *w,
                                       const struct state *st, uint64_t at,
                                       uint64_t limit,
                                       const struct pfd_string *first,
                                       uint64_t *findings)
{
    struct chain chain = { .limit = limit };
    const struct pfd_string *best = NULL;
    unsigned n = 0;
    for (const struct pfd_string *s = first; s; s = s->next) {
        if (is_good(w, st, &chain, at, s) && n++ == 0)
            best = s;
    }
    *findings |= n == 1 ? FINDING(duplicate_id) : FINDING(ambiguous);
    return best ? best : first;
}

/* A known ID, and a way that leads on from it. */
static bool accept(const struct pfd_walk *w, const struct state *st,
                   uint64_t at, uint64_t limit)
{
    const struct pfd_string *s = pfd_table_find(w->table, pfd_walk_u32(w, at));
    struct chain chain = { .limit = limit };
    for (; s; s = s->next) {
        if (is_good(w, st, &chain, at, s))
            return true;
    }
    return false;
}

/* ---- how strings are stored ---- */

/* A way through entries that are looked at, but not decoded. */
struct scout {
    const struct pfd_walk *walk;
    const struct state *state;
    uint64_t at;
    uint64_t end;
    unsigned n_hops;
    unsigned n_tries;
};

static struct scout send_scout(const struct pfd_walk *w, const struct state *st,
                               uint64_t at)
{
    uint64_t end = w->at + SAMPLE_BYTES;
    if (end > st->buffer.end)
        end = st->buffer.end;
    if (end > pfd_walk_end(w))
        end = pfd_walk_end(w);
    return (struct scout){ .walk = w, .state = st, .at = at, .end = end };
}

/* The string of the next entry that is all within the stretch, and its place;
 * NULL: there is none. */
static const struct pfd_string *hop(struct scout *scout, uint64_t *at)
{
    const struct pfd_walk *w = scout->walk;
    while (scout->at + ENTRY_HEADER <= scout->end &&
           scout->n_hops < SAMPLE_HOPS && scout->n_tries < SAMPLE_TRIES) {
        uint64_t unused = 0;
        const struct pfd_string *s =
            pfd_table_find(w->table, pfd_walk_u32(w, scout->at));
        *at = scout->at;
        if (s && s->next) {
            scout->n_tries++;
            s = choose(w, scout->state, scout->at, scout->end, s, &unused);
        }
        if (s && size_of(s) <= scout->end - scout->at) {
            scout->at += size_of(s);
            scout->n_hops++;
            return s;
        }
        /* As the walk finds its way again. */
        do {
            scout->at += DWORD;
        } while (scout->at + ENTRY_HEADER <= scout->end &&
                 ++scout->n_tries < SAMPLE_TRIES &&
                 !accept(w, scout->state, scout->at, scout->end));
    }
    return NULL;
}

static void add_sample(const struct pfd_walk *w, uint64_t at,
                       const struct pfd_string *s, struct opencl_samples *ret)
{
    struct pfd_cursor c = w->view;
    pfd_cursor_seek(&c, at + ENTRY_HEADER - w->base);
    ret->payload[ret->n++] = pfd_cursor_sub(&c, s->n_payload);
}

/* Entries of s: the one at `at`, and those behind it. */
static void collect(const struct pfd_walk *w, const struct state *st,
                    uint64_t at, const struct pfd_string *s,
                    struct opencl_samples *ret)
{
    struct scout scout = send_scout(w, st, at + size_of(s));
    const struct pfd_string *here;
    ret->n = 0;
    add_sample(w, at, s, ret);
    while (ret->n < OPENCL_SAMPLES_MAX && (here = hop(&scout, &at))) {
        if (here == s)
            add_sample(w, at, s, ret);
    }
}

/* The place of s, which may be free; NULL: there is no room for more. */
static struct verdict *place_of(struct state *st, const struct pfd_string *s)
{
    size_t i = s->index % VERDICTS;
    while (st->verdicts[i].string && st->verdicts[i].string != s)
        i = (i + 1) % VERDICTS;
    if (!st->verdicts[i].string && st->n_verdicts >= VERDICTS * 3 / 4)
        return NULL;
    return &st->verdicts[i];
}

/* How much more the ways of the older age take than the newer one. */
static int32_t newer_by(const struct opencl_weights *weights)
{
    int64_t bits = (int64_t)weights->old.way[0].bits - weights->new_bits;
    if (bits > AGE_BITS_MAX)
        return AGE_BITS_MAX;
    return bits < -AGE_BITS_MAX ? -AGE_BITS_MAX : (int32_t)bits;
}

/* What the entries of v's string from `at` on say of it. */
static void weigh(const struct pfd_walk *w, struct state *st, uint64_t at,
                  struct verdict *v, struct opencl_samples *samples,
                  struct opencl_weights *ret)
{
    collect(w, st, at, v->string, samples);
    opencl_weigh(v->string, samples, &st->stale, ret);
    const struct pfd_way *way = ret->old.way;
    v->newer = newer_by(ret);
    if (!v->is_stale_seen && ret->all && way[0].choice &&
        v->newer <= -PFD_BITS_SURE &&
        way[1].bits - way[0].bits >= PFD_BITS_SURE) {
        opencl_see_stale(v->string, samples, way[0].choice, &st->stale);
        v->is_stale_seen = true;
    }
}

static struct verdict *add_verdict(struct state *st, const struct pfd_string *s)
{
    struct verdict *v = place_of(st, s);
    if (v && !v->string) {
        v->string = s;
        st->n_verdicts++;
    }
    return v;
}

/* The compiler's age is one for all strings of a code object: those that
 * follow soon have their say as well. */
static void ask_neighbours(const struct pfd_walk *w, struct state *st)
{
    struct scout scout = send_scout(w, st, w->at);
    const struct pfd_string *s;
    uint64_t at;
    while ((s = hop(&scout, &at))) {
        struct opencl_samples samples;
        struct opencl_weights weights;
        if (!(s->flags & PFD_STRING_CHAR))
            continue;
        const struct verdict *known = place_of(st, s);
        if (known && !known->string)
            weigh(w, st, at, add_verdict(st, s), &samples, &weights);
    }
}

static int64_t others_say_newer(const struct state *st, const struct verdict *v)
{
    int64_t newer = 0;
    for (size_t i = 0; i < VERDICTS; i++) {
        const struct verdict *other = &st->verdicts[i];
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

static void decide(const struct pfd_walk *w, struct state *st,
                   struct verdict *v)
{
    struct opencl_samples samples;
    struct opencl_weights weights;
    struct pfd_ways ways;
    bool is_new;
    ask_neighbours(w, st);
    weigh(w, st, w->at, v, &samples, &weights);
    opencl_decide(&weights, others_say_newer(st, v), w->options->opencl_strings,
                  &ways, &is_new);
    v->layout = layout_of(&ways.way[0], is_new);
    for (unsigned i = 1; i < pfd_ways_left(&ways); i++)
        v->others[v->n_others++] = layout_of(&ways.way[i], is_new);
    v->is_doubtful =
        !opencl_find_literals(v->string, &samples, v->layout, &v->literals) ||
        v->n_others || (!weights.all && !(v->layout & OPENCL_LAYOUT_NEW));
    v->is_decided = true;
}

/* The verdict on the string of the entry here. */
static const struct verdict *verdict_of(const struct pfd_walk *w,
                                        struct state *st,
                                        const struct pfd_string *s)
{
    static const struct verdict unknown = {
        .layout = OPENCL_LAYOUT_STRINGS,
        .is_doubtful = true,
    };
    struct verdict *v = add_verdict(st, s);
    if (v && !v->is_decided)
        decide(w, st, v);
    return v ? v : &unknown;
}

/* ---- the walk ---- */

static void lose_way(struct pfd_walk *w, struct state *st)
{
    st->is_lost = true;
    st->from = w->at;
    st->lost_id = pfd_walk_u32(w, w->at);
    st->next = w->at + DWORD;
}

static void report_gap(struct pfd_walk *w, const struct state *st, uint64_t to)
{
    struct pfd_walk_gap then;
    uint32_t id = st->lost_id;
    const struct pfd_string *s = pfd_table_find(w->table, id);
    w->batch->skipped_bytes += to - st->from;
    pfd_walk_describe_gap(&then, st->from, to, st->buffer.end);
    if (!s) {
        pfd_walk_finding(w, PFD_FINDING_unknown_id, st->from,
                         "no string has ID %u, so where its entry ends is not "
                         "known; %s",
                         id, then.text);
        return;
    }
    struct pfd_quoted text;
    pfd_quote(&text, pfd_string_text(s), s->n_text);
    pfd_walk_finding(
        w, PFD_FINDING_truncated_entry, st->from,
        "ID %u ('%s') takes %llu bytes, only %llu are left; %s", id, text.text,
        (unsigned long long)size_of(s),
        (unsigned long long)pfd_rocm_left(&st->buffer, st->from, size_of(s)),
        then.text);
}

/* Places are believed by what follows, so much of which must be in view. */
static bool sees_enough(const struct pfd_walk *w, const struct state *st,
                        uint64_t at)
{
    return w->last || at + SAMPLE_BYTES <= pfd_walk_end(w) ||
           st->buffer.end <= pfd_walk_end(w);
}

static enum pfd_status find_way(struct pfd_walk *w, struct state *st)
{
    uint64_t end = st->buffer.end;
    for (; end - st->next >= ENTRY_HEADER && st->next < end;
         st->next += DWORD) {
        if (!sees_enough(w, st, st->next)) {
            w->at = st->next;
            return PFD_MORE;
        }
        st->next = pfd_walk_pass(w, st->next, end);
        if (accept(w, st, st->next, st->next + SAMPLE_BYTES))
            break;
    }
    if (st->next > end || end - st->next < ENTRY_HEADER) {
        if (end > pfd_walk_end(w))
            return PFD_MORE;
        st->next = end;
    }
    report_gap(w, st, st->next);
    st->is_lost = false;
    w->at = st->next;
    return PFD_OK;
}

static bool needs_newline(const struct pfd_walk *w, const struct pfd_string *s)
{
    return w->options->compat == PFD_COMPAT_CLR &&
           (!s->n_text || pfd_string_text(s)[s->n_text - 1] != '\n');
}

/* Other texts than the string's entries have: it is damaged, or no entry of
 * this string. */
static bool has_other_texts(const struct pfd_walk *w, const struct verdict *v,
                            const struct pfd_record *r)
{
    struct pfd_cursor c = w->view;
    pfd_cursor_seek(&c, r->offset + ENTRY_HEADER - w->base);
    c = pfd_cursor_sub(&c, r->string->n_payload);
    return !opencl_is_literal(&v->literals, opencl_hash(&v->literals, &c));
}

/* The layout of the batch's newest entry, and others that it may have. */
static void lay_out_entry(struct pfd_walk *w, struct state *st,
                          struct pfd_record *r)
{
    const struct verdict *v = verdict_of(w, st, r->string);
    r->layout = v->layout;
    if (!v->is_doubtful && !has_other_texts(w, v, r))
        return;
    r->findings |= FINDING(string_layout);
    struct pfd_record other = *r;
    for (size_t i = 0; i < v->n_others; i++) {
        other.layout = v->others[i];
        pfd_walk_alternative(w, &other);
    }
}

/* The other strings of its ID that fit the batch's newest entry. A longer one
 * would need bytes of the next. */
static void add_other_strings(struct pfd_walk *w, struct state *st,
                              const struct pfd_record *r)
{
    struct chain chain = { .limit = r->offset + SAMPLE_BYTES };
    struct pfd_record other = *r;
    const struct pfd_string *s = pfd_table_find(w->table, r->key);
    for (; s; s = s->next) {
        if (s == r->string || size_of(s) > r->n_bytes ||
            !is_good(w, st, &chain, r->offset, s))
            continue;
        other.string = s;
        other.flags = needs_newline(w, s) ? PFD_RECORD_MADE : 0;
        other.layout =
            s->flags & PFD_STRING_CHAR ? verdict_of(w, st, s)->layout : 0;
        pfd_walk_alternative(w, &other);
    }
}

static void add_entry(struct pfd_walk *w, struct state *st,
                      const struct pfd_string *s, uint64_t findings)
{
    struct pfd_record *r = pfd_walk_record(w);
    *r = (struct pfd_record){
        .offset = w->at,
        .string = s,
        .key = s->key,
        .findings = findings,
        .n_bytes = (uint32_t)size_of(s),
        .n_header = ENTRY_HEADER,
        .kind = PFD_RECORD_ENTRY,
    };
    if (needs_newline(w, s))
        r->flags |= PFD_RECORD_MADE;
    if (s->flags & PFD_STRING_CHAR)
        lay_out_entry(w, st, r);
    if (findings & FINDING(ambiguous))
        add_other_strings(w, st, r);
    w->at += size_of(s);
}

static enum pfd_status step(struct pfd_walk *w, struct state *st)
{
    if (st->buffer.end - w->at < ENTRY_HEADER)
        return pfd_rocm_finish(w, &st->buffer, "no room for an ID");
    if (!sees_enough(w, st, w->at))
        return PFD_MORE;
    uint64_t next = pfd_walk_pass(w, w->at, st->buffer.end);
    if (next > w->at && pfd_table_find(w->table, 0)) {
        pfd_walk_report_hole(w, w->at, next); /* each zero would be an entry */
        w->at = next;
        return PFD_OK;
    }
    uint64_t findings = 0;
    const struct pfd_string *s =
        pfd_table_find(w->table, pfd_walk_u32(w, w->at));
    if (s && s->next)
        s = choose(w, st, w->at, w->at + SAMPLE_BYTES, s, &findings);
    if (!s || size_of(s) > st->buffer.end - w->at) {
        lose_way(w, st);
        return PFD_OK;
    }
    if (w->at + size_of(s) > pfd_walk_end(w))
        return PFD_MORE;
    add_entry(w, st, s, findings);
    return PFD_OK;
}

static enum pfd_status opencl_walk(struct pfd_walk *w)
{
    struct state *st = w->state;
    enum pfd_status status = pfd_rocm_begin(w, &st->buffer, ENTRY_HEADER);
    while (status == PFD_OK && pfd_walk_has_room(w))
        status = st->is_lost ? find_way(w, st) : step(w, st);
    return status;
}

static int opencl_probe(const struct pfd_cursor *first, uint64_t n_buffer)
{
    struct pfd_cursor c = *first;
    int score = pfd_rocm_probe(first, n_buffer);
    pfd_cursor_skip(&c, PFD_ROCM_HEADER);
    uint32_t id = pfd_cursor_u32(&c);
    if (score >= 50 && id && id < LIKELY_ID)
        score += 10;
    return score;
}

static const char *const header_words[] = {
    "bytes used",
    "capacity in bytes",
};

static const char *const entry_words[] = {
    "entry: ID of its format string",
};

const struct pfd_format pfd_format_opencl = {
    .info = {
        .name = "opencl",
        .title = "printf of AMD's OpenCL (ROCm)",
        .header_words = header_words,
        .n_header_words = sizeof header_words / sizeof *header_words,
        .entry_words = entry_words,
        .n_entry_words = sizeof entry_words / sizeof *entry_words,
    },
    .state_size = sizeof(struct state),
    .strings = { .name = "opencl",
                 .table = 1,
                 .tight = true,
                 .layout = opencl_layout },
    .load = opencl_load,
    .probe = opencl_probe,
    .buffer_word = pfd_rocm_buffer_word,
    .walk = opencl_walk,
    .is_record = opencl_is_record,
    .slots = opencl_slots,
    .make = opencl_make,
};
