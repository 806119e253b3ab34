/* SPDX-License-Identifier: MIT */
/*
 * ROCm's OpenCL printf buffer. The wire layout and its sources are in README.md
 * beside this file.
 */
#include "opencl.h"

#include <string.h>

#include "escape.h"
#include "rocm.h"

#define FINDING(kind) (UINT64_C(1) << PFD_FINDING_##kind)

enum {
    DWORD = 4,
    ENTRY_HEADER = 4, /* u32 ID */
    /* Entries of one string are compared over this many bytes, and so many of
     * them at most, to tell how its strings are stored. */
    SAMPLE_BYTES = 1 << 16,
    SAMPLES_MAX = 32,
    SAMPLE_HOPS = 1024, /* entries passed on the way */
    VERDICTS = 1024,
    /* How far a place is followed to believe it, and at what cost. */
    CHAIN_DEPTH = 8,
    CHAIN_VISITS = 256,
    /* Ways that the strings of one entry are tried in. */
    WAYS_MAX = 256,
    /* Real IDs count from 1. */
    LIKELY_ID = 1 << 16,
};

/*
 * A record's layout, where the string has %s: how compilers of two ages store
 * them (README.md). LAYOUT_SHIFTED << i: string i is of the older age, and one
 * dword shorter than its size; for those beyond, the entry itself tells.
 */
enum {
    LAYOUT_STRINGS = 1,
    LAYOUT_NEW = 2,
    LAYOUT_SHIFTED = 4,
    SHIFTS = 6,
};

/* What is known of one string's layout. */
struct verdict {
    const struct pfd_string *string;
    uint8_t layout;
    bool guessed;
};

struct state {
    struct pfd_rocm_buffer buffer;
    bool is_lost;
    uint32_t lost_id;
    uint64_t from; /* where it began */
    uint64_t next; /* place to try */
    struct verdict verdicts[VERDICTS];
};

/* ---- strings in entries ---- */

/* What one string's bytes [n] can be. */
struct text {
    size_t n;     /* up to the NUL */
    bool ended;   /* by a NUL, with nothing but zeros behind it */
    bool is_full; /* no NUL at all */
    bool broken;  /* a NUL before the last dword */
};

static struct text look_at_text(const uint8_t *bytes, uint32_t n)
{
    struct text t = { 0 };
    const uint8_t *nul = n ? memchr(bytes, 0, n) : NULL;
    t.n = nul ? (size_t)(nul - bytes) : n;
    t.is_full = !nul;
    t.ended = nul != NULL;
    for (size_t i = t.n; i < n; i++)
        t.ended &= bytes[i] == 0;
    t.broken = nul && n > DWORD && t.n < n - DWORD;
    return t;
}

/* Text that somebody may have written into a program. */
static bool is_readable(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((bytes[i] < 0x20 && !(bytes[i] >= '\a' && bytes[i] <= '\r')) ||
            bytes[i] == 0x7f)
            return false;
    }
    return pfd_is_utf8((const char *)bytes, n);
}

/*
 * The older compilers reserve align4(len + 1) bytes and write ceil(len / 4)
 * dwords: without a NUL in the last dword, that dword is already the next
 * argument. A size of 4 is never shifted: "" is a dword as well.
 */
static bool is_shifted(const uint8_t *bytes, uint32_t size, unsigned layout,
                       unsigned i)
{
    if (layout & LAYOUT_NEW || size <= DWORD)
        return false;
    if (i < SHIFTS && layout >> i & LAYOUT_SHIFTED)
        return true;
    struct text t = look_at_text(bytes, size);
    return !t.broken && (t.n == size - DWORD || !t.ended);
}

/* ---- laying out ---- */

struct layer {
    const struct pfd_string *string;
    const uint8_t *payload; /* NULL: only what the sizes say */
    uint32_t n_payload;
    unsigned layout;
    struct pfd_slot *slots;
    size_t n_slots;
    size_t next; /* size */
    uint32_t at; /* in the payload */
    unsigned n_strings;
    uint64_t findings;
};

static bool add_slot(struct layer *l, uint32_t at, uint32_t size,
                     enum pfd_store store)
{
    if (l->n_slots == PFD_ARGUMENTS_MAX || size > l->n_payload ||
        at > l->n_payload - size)
        return false;
    l->slots[l->n_slots++] = (struct pfd_slot){
        .at = at,
        .store = (unsigned)store & 15,
        .n_bytes = size & PFD_STRING_NULL,
    };
    return true;
}

/* STRING for a size that no scalar has: shown as bytes, printed by none. */
static enum pfd_store store_of(uint32_t size)
{
    switch (size) {
    case 1:
        return PFD_STORE_BYTE;
    case 2:
        return PFD_STORE_WORD;
    case 4:
        return PFD_STORE_DWORD;
    case 8:
        return PFD_STORE_QWORD;
    default:
        return PFD_STORE_STRING;
    }
}

static bool lay_text(struct layer *l, uint32_t size)
{
    unsigned i = l->n_strings++;
    if (!l->payload) {
        bool ok = add_slot(l, l->at, 0, PFD_STORE_STRING);
        l->at += size;
        return ok;
    }
    if (size > l->n_payload - l->at)
        return false;
    const uint8_t *bytes = l->payload + l->at;
    uint32_t n = size;
    if (is_shifted(bytes, size, l->layout, i))
        n -= DWORD;
    size_t n_text = look_at_text(bytes, n).n;
    bool ok = add_slot(l, l->at, (uint32_t)n_text, PFD_STORE_STRING);
    l->at += n;
    return ok;
}

/* A vector of n components; the third of three is followed by a fourth that
 * nobody wrote. */
static bool lay_vector(struct layer *l, uint32_t size, uint32_t n)
{
    uint32_t element = size / (n == 3 ? 4 : n);
    bool ok = true;
    if (element * (n == 3 ? 4 : n) != size)
        element = 0;
    for (uint32_t i = 0; i < n && ok; i++)
        ok = add_slot(l, l->at + i * element, element, store_of(element));
    l->at += size;
    return ok;
}

/* The step at s and the components behind it; *ret: the next step. */
static bool lay_step(struct layer *l, const struct pfd_step *s,
                     const struct pfd_step **ret)
{
    uint32_t n = 1;
    while (s[n].flags & PFD_STEP_JOIN)
        n++;
    *ret = s + n;
    if (!pfd_step_takes(s))
        return true;
    if (l->next == l->string->n_arguments)
        return false;
    uint32_t size = opencl_size(l->string, l->next++);
    if (n > 1)
        return lay_vector(l, size, n);
    if (s->conv == 's')
        return lay_text(l, size);
    bool ok = add_slot(l, l->at, size, store_of(size));
    l->at += size;
    return ok;
}

static void lay_out(struct layer *l)
{
    const struct pfd_step *s = l->string->steps;
    bool ok = true;
    while (s->op != PFD_OP_END && ok)
        ok = lay_step(l, s, &s);
    while (ok && l->next < l->string->n_arguments) {
        uint32_t size = opencl_size(l->string, l->next++);
        ok = add_slot(l, l->at, size, store_of(size));
        l->at += size;
    }
}

static void opencl_layout(const struct pfd_string *s,
                          const struct pfd_program_facts *facts,
                          struct pfd_layout *ret)
{
    struct layer l = {
        .string = s,
        .n_payload = UINT32_MAX,
        .slots = ret->slots,
    };
    for (size_t i = 0; i < s->n_arguments; i++)
        ret->n_payload += opencl_size(s, i);
    lay_out(&l);
    ret->n_slots = l.n_slots;
}

static size_t opencl_slots(const struct pfd_look *look, struct pfd_slot *ret,
                           uint64_t *findings)
{
    struct pfd_cursor payload = look->bytes;
    struct layer l = {
        .string = look->record->string,
        .n_payload = (uint32_t)pfd_cursor_left(&look->bytes),
        .layout = (unsigned)look->record->layout,
        .slots = ret,
    };
    l.payload = pfd_cursor_bytes(&payload, l.n_payload);
    lay_out(&l);
    *findings |= l.findings;
    return l.n_slots;
}

/* With --compat clr, a message that does not end in a newline gets one. */
static void opencl_make(const struct pfd_look *look, struct pfd_made *ret)
{
    const struct pfd_string *s = look->record->string;
    pfd_text_add(ret->text, pfd_string_text(s), s->n_text);
    pfd_text_add(ret->text, "\n", 1);
    ret->n_slots = opencl_slots(look, ret->slots, &ret->findings);
}

/* ---- how old the compiler was ---- */

static const uint8_t *bytes_at(const struct pfd_walk *w, uint64_t at)
{
    return pfd_cursor_peek(&w->view, (size_t)(at - w->base));
}

/* The bytes of one %s in several entries of its string. */
struct samples {
    uint64_t at[SAMPLES_MAX]; /* of payloads */
    size_t n;
};

static bool last_dwords_differ(const struct pfd_walk *w,
                               const struct samples *samples, uint32_t at)
{
    for (size_t i = 1; i < samples->n; i++) {
        if (memcmp(bytes_at(w, samples->at[0] + at),
                   bytes_at(w, samples->at[i] + at), DWORD) != 0)
            return true;
    }
    return false;
}

/* Can the string be all of its size but for padding, as its last dword says? */
static bool can_be_whole(const struct pfd_walk *w,
                         const struct samples *samples, uint32_t at,
                         uint32_t size)
{
    const uint8_t *first = bytes_at(w, samples->at[0] + at);
    struct text t = look_at_text(first, size);
    if (t.broken || last_dwords_differ(w, samples, at + size - DWORD))
        return false;
    if (t.n == 0) /* an empty string is a dword: 00 ff ff ff */
        return size == DWORD;
    return (t.is_full || (t.ended && t.n > size - DWORD)) &&
           is_readable(first, t.n);
}

/* Can it be one dword shorter, the last one being the next argument? */
static bool can_be_shifted(const struct pfd_walk *w,
                           const struct samples *samples, uint32_t at,
                           uint32_t size)
{
    const uint8_t *first = bytes_at(w, samples->at[0] + at);
    return size > DWORD && !look_at_text(first, size - DWORD).ended &&
           is_readable(first, size - DWORD);
}

/*
 * The ways in which a string's %s can lie, if compilers of one age wrote them
 * and every text is one that can be read. The first is kept.
 */
struct ways {
    const struct pfd_walk *w;
    const struct pfd_string *string;
    const struct samples *samples;
    bool is_new;
    unsigned n;       /* ways found */
    unsigned n_tried; /* bounded */
    uint8_t layout;   /* of the first */
};

static void find_ways(struct ways *ways, const struct pfd_step *step,
                      size_t next, uint32_t at, unsigned i, uint8_t layout)
{
    const struct pfd_string *s = ways->string;
    if (ways->n > 1 || ways->n_tried++ > WAYS_MAX)
        return;
    for (; step->op != PFD_OP_END && next < s->n_arguments; step++) {
        if (!pfd_step_takes(step) || step->flags & PFD_STEP_JOIN)
            continue;
        uint32_t size = opencl_size(s, next++);
        if (step->conv == 's' && size >= DWORD &&
            !(step[1].flags & PFD_STEP_JOIN)) {
            const uint8_t *first = bytes_at(ways->w, ways->samples->at[0] + at);
            bool full = look_at_text(first, size).is_full;
            bool is_last = next == s->n_arguments;
            bool whole = can_be_whole(ways->w, ways->samples, at, size) &&
                         (ways->is_new || !full);
            if (whole)
                find_ways(ways, step + 1, next, at + size, i + 1, layout);
            /* What follows the last one, or one that several entries agree
             * on, is not looked for elsewhere. */
            if (whole && ways->n && (is_last || ways->samples->n > 1))
                return;
            if (!ways->is_new && i < SHIFTS &&
                can_be_shifted(ways->w, ways->samples, at, size)) {
                find_ways(ways, step + 1, next, at + size - DWORD, i + 1,
                          (uint8_t)(layout | LAYOUT_SHIFTED << i));
            }
            return;
        }
        at += size;
    }
    if (ways->n++ == 0)
        ways->layout = layout;
}

/* False: the entries contradict this age of compilers. */
static bool assume(const struct pfd_walk *w, const struct pfd_string *s,
                   const struct samples *samples, bool is_new,
                   struct verdict *ret)
{
    struct ways ways = {
        .w = w,
        .string = s,
        .samples = samples,
        .is_new = is_new,
    };
    find_ways(&ways, s->steps, 0, 0, 0, 0);
    ret->layout |= ways.layout;
    ret->guessed = ways.n > 1;
    return ways.n > 0;
}

static uint64_t size_of(const struct pfd_string *s)
{
    return ENTRY_HEADER + (uint64_t)s->n_payload;
}

/* Entries of s from `at` on, as far as the way is clear. */
static void collect(const struct pfd_walk *w, const struct state *st,
                    uint64_t at, const struct pfd_string *s,
                    struct samples *ret)
{
    uint64_t end = at + SAMPLE_BYTES;
    if (end > st->buffer.end)
        end = st->buffer.end;
    if (end > pfd_walk_end(w))
        end = pfd_walk_end(w);
    uint64_t first = at;
    ret->n = 0;
    for (unsigned i = 0;
         i < SAMPLE_HOPS && end - at >= ENTRY_HEADER && ret->n < SAMPLES_MAX;
         i++) {
        const struct pfd_string *here =
            at == first ? s : pfd_table_find(w->table, pfd_walk_u32(w, at));
        if (!here || size_of(here) > end - at)
            break;
        if (here == s)
            ret->at[ret->n++] = at + ENTRY_HEADER;
        at += size_of(here);
    }
}

static void decide(const struct pfd_walk *w, const struct state *st,
                   const struct pfd_string *s, struct verdict *ret)
{
    struct samples samples;
    struct verdict old = { .string = s, .layout = LAYOUT_STRINGS };
    struct verdict new = { .string = s, .layout = LAYOUT_STRINGS | LAYOUT_NEW };
    collect(w, st, w->at, s, &samples);
    *ret = old;
    if (!samples.n)
        return; /* bigger than what is compared: the entry itself tells */
    bool old_fits = assume(w, s, &samples, false, &old);
    bool new_fits = assume(w, s, &samples, true, &new);
    switch (w->options->opencl_strings) {
    case PFD_OPENCL_STRINGS_NEW:
        *ret = new;
        return;
    case PFD_OPENCL_STRINGS_OLD:
        *ret = old;
        return;
    case PFD_OPENCL_STRINGS_AUTO:
        break;
    }
    /* Where both fit and differ, the last dword is text in every entry. */
    *ret = new_fits && (!old_fits || old.layout != LAYOUT_STRINGS) ? new : old;
    ret->guessed |= new_fits && old_fits && old.layout != LAYOUT_STRINGS;
}

static const struct verdict *verdict_of(const struct pfd_walk *w,
                                        struct state *st,
                                        const struct pfd_string *s)
{
    struct verdict *v = &st->verdicts[s->index % VERDICTS];
    if (v->string != s)
        decide(w, st, s, v);
    return v;
}

/* ---- the walk ---- */

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

/* The string of an ID that several have: one that leads on. */
static const struct pfd_string *choose(const struct pfd_walk *w,
                                       const struct state *st,
                                       const struct pfd_string *first,
                                       uint64_t *findings)
{
    struct chain chain = { .limit = w->at + SAMPLE_BYTES };
    const struct pfd_string *best = NULL;
    unsigned n = 0;
    for (const struct pfd_string *s = first; s; s = s->next) {
        if (is_good(w, st, &chain, w->at, s) && n++ == 0)
            best = s;
    }
    *findings |= n == 1 ? FINDING(duplicate_id) : FINDING(ambiguous);
    return best ? best : first;
}

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

/* A known ID, and a way that leads on from it. */
static bool accept(const struct pfd_walk *w, const struct state *st,
                   uint64_t at)
{
    const struct pfd_string *s = pfd_table_find(w->table, pfd_walk_u32(w, at));
    struct chain chain = { .limit = at + SAMPLE_BYTES };
    for (; s; s = s->next) {
        if (is_good(w, st, &chain, at, s))
            return true;
    }
    return false;
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
        if (accept(w, st, st->next))
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
    if (s->flags & PFD_STRING_CHAR) {
        const struct verdict *v = verdict_of(w, st, s);
        r->layout = v->layout;
        if (v->guessed)
            r->findings |= FINDING(string_layout);
    }
    if (needs_newline(w, s))
        r->flags |= PFD_RECORD_MADE;
    w->at += size_of(s);
}

static enum pfd_status step(struct pfd_walk *w, struct state *st)
{
    if (st->buffer.end - w->at < ENTRY_HEADER)
        return pfd_rocm_finish(w, &st->buffer, "no room for an ID");
    if (!sees_enough(w, st, w->at))
        return PFD_MORE;
    uint64_t findings = 0;
    const struct pfd_string *s =
        pfd_table_find(w->table, pfd_walk_u32(w, w->at));
    if (s && s->next)
        s = choose(w, st, s, &findings);
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
    if (score >= 60 && id && id < LIKELY_ID)
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
    .slots = opencl_slots,
    .make = opencl_make,
};
