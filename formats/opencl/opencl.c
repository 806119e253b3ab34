/* SPDX-License-Identifier: MIT */
/*
 * ROCm's OpenCL printf buffer. README.md beside this file describes the wire
 * layout, with sources.
 */
#include "core/base/escape.h"
#include "core/decode/rocm_layout.h"
#include "verdict.h"

enum {
    DWORD = OPENCL_DWORD,
    ENTRY_HEADER = OPENCL_ENTRY_HEADER,
    /* Entries that are followed to recognise a buffer. */
    FOUND_ENTRIES = 64,
    /* Bytes after the entry that a reading as a longer string may take. */
    LONGER_MAX = 512,
    /* Real IDs are numbered from 1. */
    LIKELY_ID = 1 << 16,
};

/* The string at a place of which enough is in view; it may not fit into the
 * rest. */
static struct opencl_choice choose(const struct pfd_walk *w,
                                   struct opencl_state *st, uint64_t at,
                                   bool is_lost)
{
    struct opencl_choice ret = { .is_sure = true };
    if (!w->has_collisions) {
        if (!is_lost || opencl_leads_on(w, st, at, at + OPENCL_RANGE_BYTES))
            ret.string = pfd_table_find(w->table, pfd_walk_u32(w, at));
        return ret;
    }
    if (!opencl_plan_decides(&st->stretch, at)) {
        opencl_plan_make((struct opencl_plan *)(st + 1), &st->stretch, w, at,
                         st->buffer.end, is_lost);
    }
    opencl_plan_choose(opencl_plan_of(w), &st->stretch, w, at, is_lost, &ret);
    return ret;
}

/* ---- the walk ---- */

static void lose_way(struct pfd_walk *w, struct opencl_state *st)
{
    st->is_lost = true;
    st->from = w->at;
    st->lost_id = pfd_walk_u32(w, w->at);
    st->next = w->at + DWORD;
}

static void report_gap(struct pfd_walk *w, struct opencl_state *st, uint64_t to)
{
    struct pfd_walk_gap then;
    uint32_t id = st->lost_id;
    const struct pfd_string *s = pfd_table_find(w->table, id);
    w->batch->skipped_bytes += to - st->from;
    if (pfd_rocm_is_none(w, &st->buffer, st->from, to))
        return;
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
    pfd_walk_finding(w, PFD_FINDING_truncated_entry, st->from,
                     "ID %u ('%s') takes %llu bytes, only %llu are left; %s",
                     id, text.text, (unsigned long long)opencl_size_of(s),
                     (unsigned long long)pfd_rocm_left(&st->buffer, st->from,
                                                       opencl_size_of(s)),
                     then.text);
}

/* A place is accepted by the bytes after it, so enough of those must be in
 * view. */
static bool sees_enough(const struct pfd_walk *w, const struct opencl_state *st,
                        uint64_t at)
{
    return w->last || at + OPENCL_RANGE_BYTES <= pfd_walk_end(w) ||
           st->buffer.end <= pfd_walk_end(w);
}

static enum pfd_status find_way(struct pfd_walk *w, struct opencl_state *st)
{
    uint64_t end = st->buffer.end;
    for (; end - st->next >= ENTRY_HEADER && st->next < end;
         st->next += DWORD) {
        if (!sees_enough(w, st, st->next)) {
            w->at = st->next;
            return PFD_MORE;
        }
        st->next = pfd_walk_pass(w, st->next, end);
        if (choose(w, st, st->next, true).string)
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

/* Does the entry have other texts than its string's entries? Then it is
 * damaged, or belongs to another string. */
static bool has_other_texts(const struct pfd_walk *w,
                            const struct opencl_verdict *v,
                            const struct pfd_record *r)
{
    struct pfd_byte_reader c = opencl_payload_at(w, r->offset, r->string);
    return !opencl_is_literal(&v->literals, opencl_hash(&v->literals, &c));
}

/* Copies the bytes of the batch's newest reading, where readings have bytes of
 * their own. */
static void copy_bytes(struct pfd_walk *w)
{
    struct pfd_record *r = &w->batch->records[w->batch->n - 1];
    size_t at = (size_t)(r->offset - w->base);
    pfd_walk_copy_add(w, pfd_byte_reader_peek(&w->view, at), r->n_bytes);
    pfd_walk_copy_done(w, r);
}

static void add_reading(struct pfd_walk *w, const struct pfd_record *reading)
{
    size_t n = w->batch->n;
    pfd_walk_alternative(w, reading);
    if (w->batch->n > n && reading->flags & PFD_RECORD_COPIED)
        copy_bytes(w);
}

/* Sets the layout of the batch's newest entry, and adds others that it may
 * have. */
static void lay_out_entry(struct pfd_walk *w, struct opencl_state *st,
                          struct pfd_record *r)
{
    const struct opencl_verdict *v = opencl_verdict_of(w, st, r->string, true);
    r->layout = v->layout;
    if (!v->is_doubtful && !has_other_texts(w, v, r))
        return;
    r->findings |= PFD_FINDING_BIT(string_layout);
    struct pfd_record other = *r;
    for (size_t i = 0; i < v->n_others; i++) {
        other.layout = v->others[i];
        add_reading(w, &other);
    }
}

/* Weighs r and, unless it is to be weighed alone, the entries after it whose
 * scalars differ from those of the one before. */
static void weigh_halves(const struct pfd_walk *w,
                         const struct opencl_state *st,
                         const struct pfd_record *r, bool is_alone,
                         struct opencl_halves *h)
{
    struct opencl_scout scout =
        opencl_send_scout(w, st, r->offset + r->n_bytes);
    struct opencl_samples samples = { .n = 0 };
    const struct pfd_string *here;
    uint64_t at;
    samples.payload[samples.n++] = opencl_payload_at(w, r->offset, r->string);
    while (!is_alone && samples.n < OPENCL_SAMPLES_MAX &&
           (here = opencl_hop(&scout, &at))) {
        if (here == r->string) {
            samples.payload[samples.n++] = opencl_payload_at(w, at, here);
            opencl_drop_equal(h, &samples);
        }
    }
    opencl_weigh_halves(h, &samples);
}

/* Marks scalars of 16 bits in the batch's newest entry, and adds other ways to
 * read it. */
static void mark_halves(struct pfd_walk *w, struct opencl_state *st,
                        struct pfd_record *r)
{
    struct opencl_halves lone;
    struct opencl_half_ways ways;
    struct opencl_halves *h =
        opencl_halves_of(&st->halves, r->string, r->layout, &lone);
    if (!h->n)
        return;
    struct pfd_byte_reader payload = opencl_payload_at(w, r->offset, r->string);
    enum opencl_seen seen = opencl_see_halves(h, &payload);
    if (seen == OPENCL_SEEN_NOTHING)
        return;
    if (seen == OPENCL_SEEN_FIRST)
        weigh_halves(w, st, r, h == &lone, h);
    opencl_half_ways(h, &payload, &ways);
    struct pfd_record other = *r;
    r->layout |= ways.marks;
    if (ways.is_told || ways.is_left_out)
        r->findings |= PFD_FINDING_BIT(types_guessed);
    if (ways.n_others)
        r->findings |= PFD_FINDING_BIT(ambiguous);
    other.findings = r->findings;
    for (unsigned i = 0; i < ways.n_others; i++) {
        other.layout = h->layout | ways.other[i];
        add_reading(w, &other);
    }
}

/* A longer string takes bytes of the next entries: only few, and only those
 * that are in view however the buffer is split. */
static bool can_be_shown(const struct pfd_record *r, const struct pfd_string *s)
{
    uint64_t n = opencl_size_of(s);
    return n <= r->n_bytes ||
           (n <= r->n_bytes + (uint64_t)LONGER_MAX && n <= OPENCL_RANGE_BYTES);
}

/* Adds the other strings of its ID that the batch's newest entry may have. */
static void add_other_strings(struct pfd_walk *w, struct opencl_state *st,
                              const struct pfd_record *r,
                              const struct opencl_choice *choice)
{
    for (unsigned i = 0; i < choice->n_others; i++) {
        const struct pfd_string *s = choice->other[i];
        struct pfd_record other = *r;
        if (!can_be_shown(r, s))
            continue;
        other.string = s;
        if (opencl_size_of(s) > r->n_bytes)
            other.n_bytes = (uint32_t)opencl_size_of(s);
        other.flags &= (uint8_t)~PFD_RECORD_SYNTHESIZED;
        if (needs_newline(w, s))
            other.flags |= PFD_RECORD_SYNTHESIZED;
        other.layout = s->flags & PFD_STRING_CHAR
                           ? opencl_verdict_of(w, st, s, false)->layout
                           : 0;
        add_reading(w, &other);
    }
}

static bool has_longer(const struct pfd_record *r,
                       const struct opencl_choice *choice)
{
    bool is_longer = false;
    for (unsigned i = 0; i < choice->n_others; i++) {
        is_longer |= opencl_size_of(choice->other[i]) > r->n_bytes &&
                     can_be_shown(r, choice->other[i]);
    }
    return is_longer;
}

static void add_entry(struct pfd_walk *w, struct opencl_state *st,
                      const struct opencl_choice *choice)
{
    struct pfd_record *r = pfd_walk_record(w);
    const struct pfd_string *s = choice->string;
    *r = (struct pfd_record){
        .offset = w->at,
        .string = s,
        .key = s->key,
        .n_bytes = (uint32_t)opencl_size_of(s),
        .n_header = ENTRY_HEADER,
        .kind = PFD_RECORD_ENTRY,
    };
    if (!choice->is_sure) {
        r->findings = PFD_FINDING_BIT(ambiguous);
    } else if (w->has_collisions && pfd_table_find(w->table, s->key)->next) {
        r->findings = PFD_FINDING_BIT(duplicate_id);
    }
    if (needs_newline(w, s))
        r->flags |= PFD_RECORD_SYNTHESIZED;
    if (choice->n_others && has_longer(r, choice))
        copy_bytes(w);
    if (s->flags & PFD_STRING_CHAR)
        lay_out_entry(w, st, r);
    if (!r->n_alternatives && opencl_may_have_halves(&st->halves, s, r->layout))
        mark_halves(w, st, r);
    add_other_strings(w, st, r, choice);
    w->at += opencl_size_of(s);
}

static enum pfd_status step(struct pfd_walk *w, struct opencl_state *st)
{
    if (st->buffer.end - w->at < ENTRY_HEADER)
        return pfd_rocm_finish(w, &st->buffer, "no room for an ID");
    if (!sees_enough(w, st, w->at))
        return PFD_MORE;
    uint64_t next = pfd_walk_pass(w, w->at, st->buffer.end);
    if (next > w->at && pfd_table_find(w->table, 0)) {
        pfd_walk_report_hole(w, w->at, next); /* every zero would be an entry */
        w->at = next;
        return PFD_OK;
    }
    struct opencl_choice choice = choose(w, st, w->at, false);
    const struct pfd_string *s = choice.string;
    if (!s || opencl_size_of(s) > st->buffer.end - w->at) {
        lose_way(w, st);
        return PFD_OK;
    }
    if (w->at + opencl_size_of(s) > pfd_walk_end(w))
        return PFD_MORE;
    add_entry(w, st, &choice);
    return PFD_OK;
}

static enum pfd_status opencl_walk(struct pfd_walk *w)
{
    struct opencl_state *st = w->state;
    enum pfd_status status = pfd_rocm_begin(w, &st->buffer, ENTRY_HEADER);
    while (status == PFD_OK && pfd_walk_has_room(w))
        status = st->is_lost ? find_way(w, st) : step(w, st);
    return status;
}

static int opencl_probe(const struct pfd_byte_reader *first, uint64_t n_buffer)
{
    struct pfd_byte_reader c = *first;
    int score = pfd_rocm_probe(first, n_buffer);
    pfd_byte_reader_skip(&c, PFD_ROCM_HEADER);
    uint32_t id = pfd_byte_reader_u32(&c);
    if (score >= 50 && id && id < LIKELY_ID)
        score += 10;
    return score;
}

static struct pfd_rocm_chain opencl_chain(const struct pfd_table *table,
                                          struct pfd_byte_reader c,
                                          bool is_pages)
{
    struct pfd_rocm_chain ret = { 0 };
    /* Small numbers are common: if the header is weak evidence, all entries
     * must lead on. */
    unsigned n_most = is_pages ? FOUND_ENTRIES : 4 * FOUND_ENTRIES;
    uint64_t kinds = 0; /* a bit for each kind that was met */
    while (ret.n < n_most && pfd_byte_reader_left(&c)) {
        const struct pfd_string *s =
            pfd_table_find(table, pfd_byte_reader_u32(&c));
        if (!pfd_byte_reader_ok(&c) || !s ||
            s->n_payload > pfd_byte_reader_left(&c))
            return ret;
        pfd_byte_reader_skip(&c, s->n_payload);
        kinds |= UINT64_C(1) << s->key % 64;
        ret.n++;
    }
    ret.n_kinds = (unsigned)__builtin_popcountll(kinds);
    ret.is_whole = is_pages || ret.n == n_most || !pfd_byte_reader_left(&c);
    return ret;
}

static size_t opencl_find(const struct pfd_field *field, size_t from, size_t to,
                          struct pfd_whole *ret)
{
    return pfd_rocm_find(opencl_chain, field, from, to, ret);
}

static const char *const header_words[] = {
    "bytes used",
    "capacity in bytes",
};

static const char *const entry_words[] = {
    "entry: ID of its format string",
};

static const char *const age_words[] = { "auto", "old", "new" };

static const struct pfd_format_option strings_option = {
    .info = {
        .name = "opencl-strings",
        .value = "AGE",
        .words = age_words,
        .n_words = sizeof age_words / sizeof *age_words,
        .help = "how OpenCL's %s is stored: auto (default), old or new",
    },
    .member = offsetof(struct pfd_options, opencl_strings),
};

static const struct pfd_format_option *const options[] = {
    &strings_option,
    &pfd_option_compat,
    NULL,
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
    .options = options,
    .state_size = sizeof(struct opencl_state),
    .collisions_size = sizeof(struct opencl_plan),
    .record_version = 1,
    .strings = { .name = "opencl",
                 .tight = true,
                 .layout = opencl_layout },
    .load = opencl_load,
    .probe = opencl_probe,
    .buffer_word = pfd_rocm_buffer_word,
    .walk = opencl_walk,
    .is_record = opencl_is_record,
    .is_record_by_size = true,
    .slots = opencl_slots,
    .layout_text = opencl_layout_text,
    .make = opencl_make,
    .find = opencl_find,
    .measure = pfd_rocm_measure,
};
