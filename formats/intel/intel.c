/* SPDX-License-Identifier: MIT */
/*
 * The printf buffer of Intel's OpenCL: the walk. strings.c reads texts, entry.c
 * values.
 */
#include <string.h>

#include "core/base/zero.h"
#include "layout.h"

enum {
    RANGE_BYTES = 64 * 1024, /* that decide a question */
    CHAIN_DEPTH = 4,         /* entries that are followed to accept a place */
    BASES_MAX = 256,         /* addresses of the texts that are tried */
    NO_ROOM = -1,            /* what a call writes that finds none */
    /* More than this, and so many times the bytes there: no counter. */
    USED_MAX = 1 << 26,
    TIMES_MAX = 64,
};

/* How entries refer to their texts. */
struct reference {
    uint32_t n_header;
    uint64_t base; /* of the section, where that is by address */
};

struct walk {
    bool is_open;
    bool is_lost;
    bool is_doubtful; /* other bases lead as far */
    uint64_t used;
    uint64_t end;
    uint64_t from;                        /* where the way was lost */
    uint64_t next;                        /* the next place to try */
    uint64_t lost_value;                  /* of the reference there */
    const struct pfd_string *lost_string; /* of it; NULL: none */
    struct reference reference;
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- one entry ---- */

/* The key of a reference; UINT64_MAX: none can be it. */
static uint64_t key_of(const struct reference *r, uint64_t value)
{
    if (r->n_header == INTEL_BY_INDEX)
        return (uint32_t)value;
    return value - r->base > UINT32_MAX ? UINT64_MAX
                                        : INTEL_OFFSET_KEY | (value - r->base);
}

static const struct pfd_string *find_string(const struct pfd_walk *w,
                                            const struct reference *r,
                                            uint64_t value)
{
    uint64_t key = key_of(r, value);
    return key == UINT64_MAX ? NULL : pfd_table_find(w->table, key);
}

static uint64_t value_at(const struct pfd_walk *w, const struct reference *r,
                         uint64_t at)
{
    return r->n_header == INTEL_BY_INDEX ? pfd_walk_u32(w, at)
                                         : pfd_walk_u64(w, at);
}

struct entry {
    const struct pfd_string *string; /* NULL: not known */
    uint64_t n;                      /* bytes; 0: they go over the end */
    bool fits;                       /* its values are those of its text */
};

static struct entry entry_at(const struct pfd_walk *w,
                             const struct reference *r, uint64_t at,
                             uint64_t end)
{
    struct entry ret = { .n = 0 };
    uint32_t n = 0;
    end = least(end, pfd_walk_end(w));
    if (end - at < r->n_header)
        return ret;
    ret.string = find_string(w, r, value_at(w, r, at));
    if (!ret.string)
        return ret;
    size_t from = (size_t)(at + r->n_header - w->base);
    struct pfd_byte_reader payload =
        pfd_byte_reader(pfd_byte_reader_peek(&w->view, from),
                        (size_t)least(end - at - r->n_header, RANGE_BYTES));
    if (intel_measure(&payload, r->n_header, ret.string, &n, &ret.fits))
        ret.n = r->n_header + (uint64_t)n;
    return ret;
}

static bool is_no_room(const struct pfd_walk *w, uint64_t at)
{
    return pfd_walk_end(w) - at >= INTEL_DWORD &&
           pfd_walk_u32(w, at) == (uint32_t)NO_ROOM;
}

/* ---- how it refers to texts ---- */

/* How far entries lead whose values are those of their texts. */
static uint64_t reach(const struct pfd_walk *w, const struct walk *st,
                      const struct reference *r)
{
    uint64_t limit = least(st->end, INTEL_HEADER + RANGE_BYTES);
    uint64_t at = INTEL_HEADER;
    while (at < limit && at < pfd_walk_end(w)) {
        struct entry e = entry_at(w, r, at, st->end);
        if (!e.n || !e.fits)
            break;
        at += e.n;
    }
    return at;
}

/* Memory that a driver allocates begins a page. */
static bool is_likelier(const struct reference *a, const struct reference *b)
{
    enum {
        PAGE = 4096
    };
    return a->n_header == b->n_header && !(a->base % PAGE) && b->base % PAGE;
}

static void try_reference(const struct pfd_walk *w, struct walk *st,
                          const struct reference *r, uint64_t *best)
{
    uint64_t to = reach(w, st, r);
    if (to < *best)
        return;
    st->is_doubtful = to == *best;
    if (to > *best || is_likelier(r, &st->reference))
        st->reference = *r;
    *best = to;
}

/* By index, or by address: the first entry's then begins one of the texts. */
static void choose_reference(const struct pfd_walk *w, struct walk *st)
{
    struct reference r = { .n_header = INTEL_BY_INDEX };
    uint64_t best = INTEL_HEADER;
    size_t n = 0;
    st->reference = r;
    try_reference(w, st, &r, &best);
    if (pfd_walk_end(w) < INTEL_HEADER + INTEL_BY_ADDRESS)
        return;
    r.n_header = INTEL_BY_ADDRESS;
    for (size_t i = 0; i <= w->table->mask && n < BASES_MAX; i++) {
        const struct pfd_string *s = pfd_table_at(w->table, i);
        if (!s || !(s->key & INTEL_OFFSET_KEY))
            continue;
        n++;
        r.base = pfd_walk_u64(w, INTEL_HEADER) - (s->key & UINT32_MAX);
        try_reference(w, st, &r, &best);
        if (best == INTEL_HEADER)
            st->reference = r; /* no evidence yet */
    }
    st->is_doubtful &= best > INTEL_HEADER;
}

static enum pfd_status begin(struct pfd_walk *w, struct walk *st)
{
    uint64_t n = pfd_walk_end(w);
    if (n < INTEL_HEADER) {
        if (!w->last)
            return PFD_MORE;
        pfd_walk_finding(w, PFD_FINDING_no_header, 0,
                         "%llu bytes, the buffer begins with a counter of %d",
                         (unsigned long long)n, INTEL_HEADER);
        w->batch->skipped_bytes += n;
        w->at = n;
        return PFD_END;
    }
    st->used = st->end = pfd_walk_u32(w, 0);
    if (st->used < INTEL_HEADER) {
        st->end = INTEL_HEADER;
        pfd_walk_finding(w, PFD_FINDING_bad_header, 0,
                         "the counter says %llu bytes, and begins with its own "
                         "%d: nothing is read",
                         (unsigned long long)st->used, INTEL_HEADER);
    }
    if (!w->last && n < least(st->end, INTEL_HEADER + RANGE_BYTES))
        return PFD_MORE;
    choose_reference(w, st);
    st->is_open = true;
    w->at = INTEL_HEADER;
    return PFD_OK;
}

/* ---- where the way is lost ---- */

static bool is_zero(const struct pfd_walk *w, uint64_t at, uint64_t n)
{
    size_t from = (size_t)(at - w->base);
    return pfd_is_zero(pfd_byte_reader_peek(&w->view, from), (size_t)n);
}

/* Is there an entry, with known ones behind it? */
static bool leads_on(const struct pfd_walk *w, const struct walk *st,
                     uint64_t at)
{
    for (unsigned i = 0; i <= CHAIN_DEPTH && at != st->end; i++) {
        struct entry e = entry_at(w, &st->reference, at, st->end);
        if (!e.n || !e.fits)
            return i > 0 && is_no_room(w, at);
        if (i == 0 && is_zero(w, at, e.n))
            return false;
        at += e.n;
    }
    return true;
}

static bool sees_enough(const struct pfd_walk *w, const struct walk *st,
                        uint64_t at)
{
    uint64_t end = pfd_walk_end(w);
    return w->last || at + 2 * RANGE_BYTES <= end || st->end <= end;
}

static void lose_way(const struct pfd_walk *w, struct walk *st)
{
    bool has_value = st->reference.n_header <= pfd_walk_end(w) - w->at;
    st->lost_value =
        has_value ? value_at(w, &st->reference, w->at) : UINT64_MAX;
    st->lost_string = find_string(w, &st->reference, st->lost_value);
    st->is_lost = true;
    st->from = w->at;
    st->next = w->at + INTEL_DWORD;
}

static void report_gap(struct pfd_walk *w, struct walk *st, uint64_t to)
{
    struct pfd_walk_gap then;
    w->batch->skipped_bytes += to - st->from;
    pfd_walk_describe_gap(&then, st->from, to, st->end);
    if (st->lost_string) {
        struct pfd_quoted text;
        pfd_quote(&text, pfd_string_text(st->lost_string),
                  st->lost_string->n_text);
        pfd_walk_finding(w, PFD_FINDING_truncated_entry, st->from,
                         "the values of '%s' go over the end; %s", text.text,
                         then.text);
        return;
    }
    pfd_walk_finding(w, PFD_FINDING_unknown_id, st->from,
                     "no text has the %s 0x%llx, so where its entry ends is "
                     "not known; %s",
                     st->reference.n_header == INTEL_BY_INDEX ? "index"
                                                              : "address",
                     (unsigned long long)st->lost_value, then.text);
}

static enum pfd_status find_way(struct pfd_walk *w, struct walk *st)
{
    uint64_t end = least(st->end, pfd_walk_end(w));
    while (st->next < st->end && st->end - st->next >= INTEL_DWORD) {
        if (!sees_enough(w, st, st->next)) {
            w->at = st->next;
            return PFD_MORE;
        }
        if (end - st->next < INTEL_DWORD)
            break;
        st->next = pfd_walk_pass(w, st->next, end);
        if (leads_on(w, st, st->next) || is_no_room(w, st->next))
            break;
        st->next += INTEL_DWORD;
    }
    if (st->next > st->end || st->end - st->next < INTEL_DWORD)
        st->next = st->end;
    report_gap(w, st, st->next);
    st->is_lost = false;
    w->at = st->next;
    return PFD_OK;
}

/* ---- entries ---- */

/* Appends the entry's bytes and the texts that its %s print. */
static void copy_texts(struct pfd_walk *w, const struct reference *ref,
                       struct pfd_record *r)
{
    struct intel_value v;
    uint32_t at = 0;
    uint32_t n = r->n_bytes - r->n_header;
    const uint8_t *bytes =
        pfd_byte_reader_peek(&w->view, (size_t)(r->offset - w->base));
    struct pfd_byte_reader payload = pfd_byte_reader(bytes + r->n_header, n);
    pfd_walk_copy_add(w, bytes, r->n_bytes);
    while (intel_next_value(&payload, r->n_header, &at, &v) == INTEL_VALUE) {
        uint64_t value = 0;
        if (v.type != INTEL_STRING)
            continue;
        memcpy(&value, payload.base + v.at, r->n_header);
        const struct pfd_string *s = find_string(w, ref, value);
        uint32_t n_text = s ? s->n_text : UINT32_MAX;
        pfd_walk_copy_add(w, &n_text, sizeof n_text);
        if (s)
            pfd_walk_copy_add(w, pfd_string_text(s), n_text);
    }
    pfd_walk_copy_done(w, r);
}

static bool has_text(const struct pfd_walk *w, const struct pfd_record *r)
{
    struct intel_value v;
    uint32_t at = 0;
    struct pfd_byte_reader payload = pfd_byte_reader(
        pfd_byte_reader_peek(&w->view,
                             (size_t)(r->offset - w->base) + r->n_header),
        r->n_bytes - r->n_header);
    while (intel_next_value(&payload, r->n_header, &at, &v) == INTEL_VALUE) {
        if (v.type == INTEL_STRING)
            return true;
    }
    return false;
}

static void add_entry(struct pfd_walk *w, struct walk *st,
                      const struct entry *e)
{
    struct pfd_record *r = pfd_walk_record(w);
    *r = (struct pfd_record){
        .offset = w->at,
        .string = e->string,
        .key = e->string->key,
        .n_bytes = (uint32_t)e->n,
        .n_header = (uint8_t)st->reference.n_header,
        .layout = 1,
        .kind = PFD_RECORD_ENTRY,
    };
    if (e->string->next || st->is_doubtful)
        r->findings |= PFD_FINDING_BIT(ambiguous);
    if (!e->fits)
        r->flags |= PFD_RECORD_SYNTHESIZED; /* conversions are adapted */
    if (has_text(w, r))
        copy_texts(w, &st->reference, r);
    w->at += e->n;
}

/* ---- the end ---- */

static void report_loss(struct pfd_walk *w, const struct walk *st,
                        uint64_t room)
{
    if (st->used > USED_MAX && st->used / TIMES_MAX > pfd_walk_end(w)) {
        pfd_walk_finding(w, PFD_FINDING_bad_header, 0,
                         "the counter says that %llu bytes are used, %llu are "
                         "here: it is damaged, or this is another file",
                         (unsigned long long)st->used,
                         (unsigned long long)pfd_walk_end(w));
        return;
    }
    if (st->used <= room)
        return;
    pfd_walk_report_overflow(w, "calls asked for", st->used, room);
}

static enum pfd_status finish(struct pfd_walk *w, struct walk *st,
                              uint64_t room)
{
    if (pfd_walk_end(w) > w->at)
        w->at = pfd_walk_end(w);
    st->end = w->at;
    if (!w->last)
        return PFD_MORE;
    report_loss(w, st, room);
    return PFD_END;
}

static enum pfd_status step(struct pfd_walk *w, struct walk *st)
{
    uint64_t left = st->end > w->at ? st->end - w->at : 0;
    if (!sees_enough(w, st, w->at))
        return PFD_MORE;
    if (left >= INTEL_DWORD && is_no_room(w, w->at) &&
        st->used > pfd_walk_end(w))
        return finish(w, st, w->at);
    if (left < INTEL_DWORD) {
        if (left && st->end <= pfd_walk_end(w)) {
            pfd_walk_finding(w, PFD_FINDING_stray_dword, w->at,
                             "%llu used bytes are left, no room for an entry",
                             (unsigned long long)left);
            w->batch->skipped_bytes += left;
        }
        return finish(w, st, pfd_walk_end(w));
    }
    uint64_t next = pfd_walk_pass(w, w->at, st->end);
    if (next > w->at) {
        pfd_walk_report_hole(w, w->at, next);
        w->at = next;
        return PFD_OK;
    }
    struct entry e = entry_at(w, &st->reference, w->at, st->end);
    if (e.n) {
        add_entry(w, st, &e);
    } else {
        lose_way(w, st);
    }
    return PFD_OK;
}

static enum pfd_status intel_walk(struct pfd_walk *w)
{
    struct walk *st = w->state;
    enum pfd_status status = st->is_open ? PFD_OK : begin(w, st);
    if (w->last && st->end > pfd_walk_end(w))
        st->end = pfd_walk_end(w);
    while (status == PFD_OK && pfd_walk_has_room(w))
        status = st->is_lost ? find_way(w, st) : step(w, st);
    return status;
}

static int intel_probe(const struct pfd_byte_reader *first, uint64_t n_buffer)
{
    struct pfd_byte_reader c = *first;
    uint32_t used = pfd_byte_reader_u32(&c);
    (void)n_buffer;
    return pfd_byte_reader_left(&c) >= INTEL_DWORD && used > INTEL_HEADER &&
                   used % INTEL_DWORD == 0
               ? 20
               : 0;
}

static const char *const header_words[] = {
    "bytes used, this dword and asked for ones included",
};

static const char *const entry_words[] = {
    "entry: index or address of its text",
};

const struct pfd_format pfd_format_intel = {
    .info = {
        .name = "intel",
        .title = "printf of Intel's OpenCL and SYCL (compute-runtime)",
        .header_words = header_words,
        .n_header_words = sizeof header_words / sizeof *header_words,
        .entry_words = entry_words,
        .n_entry_words = sizeof entry_words / sizeof *entry_words,
    },
    .state_size = sizeof(struct walk),
    .record_version = 1,
    .strings = { .name = "intel", .tight = true, .layout = intel_layout },
    .load = intel_load,
    .probe = intel_probe,
    .walk = intel_walk,
    .is_record = intel_is_record,
    .slots = intel_slots,
    .make = intel_make,
    .adapt = intel_adapt,
};
