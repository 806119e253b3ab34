/* SPDX-License-Identifier: MIT */
/*
 * LLPC's DebugPrintf buffer, as shaders of the AMD Vulkan driver write it.
 * README.md beside this file describes the wire layout, with sources.
 */
#include "layout.h"

/* Ids are halves of hashes, so larger ids do not occur by chance; small numbers
 * do. */
#define TELLING_ID (UINT64_C(1) << 32)

/* ---- the walk ---- */

static struct llpc_header read_header(const struct pfd_walk *w, uint64_t at)
{
    uint64_t h = pfd_walk_u64(w, at);
    uint32_t size = h & 0xffff;
    return (struct llpc_header){ h >> 16, (uint64_t)size * LLPC_DWORD, size,
                                 h == 0 };
}

/* Sets the end of entries, once the buffer's size is known. */
static void close_buffer(const struct pfd_walk *w, struct llpc_state *st)
{
    uint64_t end = LLPC_HEADER + llpc_capacity(w) * LLPC_DWORD;
    st->closed = true;
    if (end < st->end)
        st->end = end;
}

static enum pfd_status open_buffer(struct pfd_walk *w, struct llpc_state *st)
{
    if (pfd_walk_end(w) < LLPC_HEADER) {
        if (!w->last)
            return PFD_MORE;
        pfd_walk_finding(w, PFD_FINDING_no_header, 0,
                         "%llu bytes, a buffer header needs %d",
                         (unsigned long long)pfd_walk_end(w), LLPC_HEADER);
        w->batch->skipped_bytes += pfd_walk_end(w);
        w->at = pfd_walk_end(w);
        return PFD_END;
    }
    st->used = pfd_walk_u64(w, 0);
    bool has_more = w->view.n > LLPC_HEADER;
    /* Whether anything follows decides about such a header: wait for it. */
    if (st->used >= LLPC_USED_MAX && !has_more && !w->last)
        return PFD_MORE;
    st->opened = true;
    uint32_t reserved0 = pfd_walk_u32(w, 8);
    uint32_t reserved1 = pfd_walk_u32(w, 12);
    uint64_t clamped =
        st->used < LLPC_CLAMP_DWORDS ? st->used : LLPC_CLAMP_DWORDS;
    st->end = LLPC_HEADER + clamped * LLPC_DWORD;
    st->wanted = st->end;
    w->at = LLPC_HEADER;
    bool has_reserved = reserved0 || reserved1;
    st->is_absurd =
        (has_reserved && st->used > 2 * (uint64_t)LLPC_CLAMP_DWORDS) ||
        (has_more && st->used >= LLPC_USED_MAX);
    if (st->is_absurd) {
        llpc_report_absurd(w, st->used);
        return PFD_OK;
    }
    if (has_reserved) {
        pfd_walk_finding(w, PFD_FINDING_reserved, 8,
                         "reserved dwords are 0x%x and 0x%x, expected 0: a "
                         "newer layout, or not a printf buffer",
                         reserved0, reserved1);
    }
    if (st->used > LLPC_CLAMP_DWORDS)
        llpc_report_clamp(w, st->used);
    return PFD_OK;
}

/* Can it be an entry header? Zeros can: space that was not written yet. A
 * header whose entry the end of an overflown buffer cuts can, too. */
static bool plausible(const struct llpc_state *st, const struct llpc_header *h,
                      uint64_t at)
{
    return h->zero ||
           (h->size >= LLPC_SIZE_MIN && h->n_bytes <= st->wanted - at);
}

/* Is there an entry at `at` with a known id and exactly a size of one of its
 * strings? *next: the end of it. PFD_OK, PFD_END (no) or PFD_MORE. */
static enum pfd_status is_sound(const struct pfd_walk *w,
                                const struct llpc_state *st, uint64_t at,
                                uint64_t *next)
{
    if (st->end - at < LLPC_ENTRY_HEADER)
        return PFD_END;
    if (at + LLPC_ENTRY_HEADER > pfd_walk_end(w))
        return PFD_MORE;
    struct llpc_header h = read_header(w, at);
    if (h.size < LLPC_SIZE_MIN || h.n_bytes > st->end - at ||
        !llpc_law_holds(pfd_table_find(w->table, h.id),
                        h.n_bytes - LLPC_ENTRY_HEADER))
        return PFD_END;
    *next = at + h.n_bytes;
    /* The end of the bytes in view may cut it. */
    return *next > pfd_walk_end(w) ? PFD_MORE : PFD_OK;
}

/* The bytes that must follow a sound entry to prove it. */
enum proof {
    PROOF_PLAUSIBLE, /* the end, or a possible entry; none are needed if its id
                        does not occur by chance */
    PROOF_SOUND,     /* the end, or another sound entry */
};

/* Is there an entry at `at`, beyond doubt? PFD_OK, PFD_END (no), PFD_MORE. */
static enum pfd_status accept(const struct pfd_walk *w,
                              const struct llpc_state *st, uint64_t at,
                              enum proof proof)
{
    uint64_t next = 0;
    enum pfd_status status = is_sound(w, st, at, &next);
    if (status != PFD_OK || st->end - next < LLPC_ENTRY_HEADER)
        return status;
    if (proof == PROOF_SOUND)
        return is_sound(w, st, next, &next);
    if (next + LLPC_ENTRY_HEADER > pfd_walk_end(w))
        return PFD_MORE;
    struct llpc_header after = read_header(w, next);
    return plausible(st, &after, next) || read_header(w, at).id >= TELLING_ID
               ? PFD_OK
               : PFD_END;
}

/* Finds the first entry beyond doubt in [from, to), *ret; PFD_END: none. */
static enum pfd_status seek(const struct pfd_walk *w,
                            const struct llpc_state *st, uint64_t from,
                            uint64_t to, enum proof proof, uint64_t *ret)
{
    enum pfd_status status = PFD_END;
    uint64_t at = from;
    while (at + LLPC_ENTRY_HEADER <= to && status == PFD_END) {
        at = pfd_walk_pass(w, at, to);
        status = accept(w, st, at, proof);
        if (status == PFD_END)
            at += LLPC_DWORD;
    }
    *ret = at;
    return status;
}

/* Finds the first entry beyond doubt inside the claimed size of the one at
 * w->at. Bytes are searched once, however the buffer is split. */
static enum pfd_status seek_inside(struct pfd_walk *w, struct llpc_state *st,
                                   uint64_t claimed, enum proof proof,
                                   uint64_t *ret)
{
    uint64_t from = w->at + LLPC_ENTRY_HEADER;
    if (st->sought > from)
        from = st->sought;
    /* A header may straddle the end. */
    enum pfd_status status =
        seek(w, st, from, claimed + LLPC_ENTRY_HEADER - LLPC_DWORD, proof, ret);
    if (status == PFD_MORE)
        st->sought = *ret;
    return status;
}

/* Did the shader want to write more dwords than are stored? */
static bool is_cut(const struct llpc_state *st)
{
    return st->used > llpc_dword(st->end - LLPC_HEADER);
}

/* Loses the way at w->at: from the next dword on, the next entry beyond doubt
 * is searched for. */
static void lose_way(struct pfd_walk *w, struct llpc_state *st,
                     const struct llpc_header *h)
{
    st->is_lost = true;
    st->lost = *h;
    st->from = w->at;
    st->next = w->at + LLPC_DWORD;
    st->is_inside = false;
}

static enum pfd_status find_way(struct pfd_walk *w, struct llpc_state *st)
{
    uint64_t to = 0;
    enum pfd_status status =
        seek(w, st, st->next, st->end, PROOF_PLAUSIBLE, &to);
    if (status == PFD_MORE) {
        /* report_cut() shows the lost entry: keep its bytes. */
        st->next = to;
        w->at = st->lost.n_bytes > st->end - st->from ? st->from : to;
        return PFD_MORE;
    }
    if (status == PFD_END)
        to = st->end;
    llpc_report_gap(w, st, to);
    st->is_lost = false;
    w->at = to;
    return PFD_OK;
}

static void add_entry(struct pfd_walk *w, const struct llpc_header *h,
                      const struct pfd_string *first, uint64_t findings)
{
    struct pfd_record *r = pfd_walk_record(w);
    *r = (struct pfd_record){
        .offset = w->at,
        .key = h->id,
        .findings = findings,
        .n_bytes = (uint32_t)h->n_bytes,
        .n_header = LLPC_ENTRY_HEADER,
        .kind = PFD_RECORD_ENTRY,
    };
    if (first)
        llpc_choose(w, first, r);
    w->at += h->n_bytes;
}

/* Does a size lead to the end, or to an entry of a known id? PFD_OK, PFD_END
 * (no) or PFD_MORE. */
static enum pfd_status leads_on(const struct pfd_walk *w,
                                const struct llpc_state *st, uint64_t to)
{
    if (st->end - to < LLPC_ENTRY_HEADER)
        return PFD_OK;
    if (to + LLPC_ENTRY_HEADER > pfd_walk_end(w))
        return PFD_MORE;
    struct llpc_header after = read_header(w, to);
    return plausible(st, &after, to) && pfd_table_find(w->table, after.id)
               ? PFD_OK
               : PFD_END;
}

/*
 * An unknown id. Its size is believed when it leads to the end or to a possible
 * entry, and contains no entry beyond doubt.
 */
static enum pfd_status step_unknown(struct pfd_walk *w, struct llpc_state *st,
                                    const struct llpc_header *h)
{
    uint64_t next = w->at + h->n_bytes;
    uint64_t found = 0;
    enum pfd_status status = leads_on(w, st, next);
    if (status == PFD_MORE)
        return PFD_MORE;
    if (status == PFD_END) {
        struct llpc_header after = read_header(w, next);
        if (!plausible(st, &after, next)) {
            lose_way(w, st, h);
            return PFD_OK;
        }
    }
    status = seek_inside(
        w, st, next, status == PFD_OK ? PROOF_SOUND : PROOF_PLAUSIBLE, &found);
    if (status == PFD_MORE)
        return PFD_MORE;
    if (status == PFD_OK) {
        lose_way(w, st, h);
        st->next = found;
        st->is_inside = true;
        return PFD_OK;
    }
    add_entry(w, h, NULL,
              h->id < LLPC_TORN_ID ? PFD_FINDING_BIT(torn_header)
                                   : PFD_FINDING_BIT(unknown_id));
    return PFD_OK;
}

/* For an entry with too small a size: finds the end that one of its strings
 * gives, if that leads on. */
static enum pfd_status seek_behind(const struct pfd_walk *w,
                                   const struct llpc_state *st,
                                   uint64_t claimed, const struct pfd_string *s,
                                   uint64_t *ret)
{
    enum pfd_status status = PFD_END;
    for (; s && status == PFD_END; s = s->next) {
        uint64_t n = LLPC_ENTRY_HEADER + llpc_payload(s);
        *ret = w->at + n;
        if (n <= st->end - w->at && *ret > claimed)
            status = leads_on(w, st, *ret);
    }
    return status;
}

/*
 * A known id with a size that none of its strings has. The size may be right
 * (see the size law in README.md), or damaged: then sound entries are inside
 * the claimed size, or begin after it, at the end that a string gives.
 */
static enum pfd_status step_odd(struct pfd_walk *w, struct llpc_state *st,
                                struct llpc_header *h,
                                const struct pfd_string *s)
{
    uint64_t claimed = w->at + h->n_bytes;
    uint64_t found = 0;
    enum pfd_status led = leads_on(w, st, claimed);
    enum pfd_status status = led;
    if (status != PFD_MORE) {
        status =
            seek_inside(w, st, claimed,
                        led == PFD_OK ? PROOF_SOUND : PROOF_PLAUSIBLE, &found);
    }
    if (status == PFD_END && led == PFD_END)
        status = seek_behind(w, st, claimed, s, &found);
    if (status == PFD_MORE)
        return PFD_MORE;
    if (status == PFD_OK)
        h->n_bytes = found - w->at;
    add_entry(w, h, s, status == PFD_OK ? PFD_FINDING_BIT(bad_size) : 0);
    return PFD_OK;
}

/* An entry with a commit word, which tells whether it is complete. */
static void step_committed(struct pfd_walk *w, const struct llpc_header *h,
                           const struct pfd_string *s)
{
    struct pfd_byte_reader c = w->view;
    struct pfd_quoted text;
    size_t n = (size_t)h->n_bytes - LLPC_DWORD;
    pfd_byte_reader_seek(&c, w->at - w->base);
    const uint8_t *bytes = pfd_byte_reader_bytes(&c, n);
    uint32_t stored = pfd_byte_reader_u32(&c);
    if (bytes && stored == llpc_commit_word(bytes, n, w->at)) {
        struct pfd_record *r = &w->batch->records[w->batch->n];
        add_entry(w, h, s, 0);
        r->flags |= PFD_RECORD_SURE;
        return;
    }
    pfd_quote(&text, pfd_string_text(s), s->n_text);
    pfd_walk_finding(w, PFD_FINDING_unwritten, w->at,
                     "the entry of '%s' is not whole, by its commit word; %u "
                     "dwords skipped",
                     text.text, h->size);
    w->batch->skipped_bytes += h->n_bytes;
    w->at += h->n_bytes;
}

/* Handles the end: at most one dword is left. */
static enum pfd_status finish(struct pfd_walk *w, struct llpc_state *st)
{
    uint64_t left = st->done ? 0 : st->end - w->at;
    if (left) {
        if (!w->last && w->at + left > pfd_walk_end(w))
            return PFD_MORE;
        pfd_walk_finding(
            w,
            is_cut(st) ? PFD_FINDING_truncated_entry : PFD_FINDING_stray_dword,
            w->at, "one used dword is left, no room for an entry header");
        w->batch->skipped_bytes += left;
        w->at = st->end;
    }
    /* The rest is stale, and is not read; only its size counts. */
    if (pfd_walk_end(w) > w->at)
        w->at = pfd_walk_end(w);
    st->done = true;
    if (!w->last)
        return PFD_MORE;
    llpc_report_end(w, st);
    return PFD_END;
}

static enum pfd_status step(struct pfd_walk *w, struct llpc_state *st)
{
    if (st->end - w->at < LLPC_ENTRY_HEADER)
        return finish(w, st);
    if (w->at + LLPC_ENTRY_HEADER > pfd_walk_end(w))
        return PFD_MORE;
    struct llpc_header h = read_header(w, w->at);
    if (h.size < LLPC_SIZE_MIN || h.n_bytes > st->end - w->at) {
        lose_way(w, st, &h);
        return PFD_OK;
    }
    if (w->at + h.n_bytes > pfd_walk_end(w))
        return PFD_MORE;
    const struct pfd_string *s = pfd_table_find(w->table, h.id);
    if (!s)
        return step_unknown(w, st, &h);
    if (!llpc_law_holds(s, h.n_bytes - LLPC_ENTRY_HEADER))
        return step_odd(w, st, &h, s);
    if (llpc_is_committed(s)) {
        step_committed(w, &h, s);
    } else {
        add_entry(w, &h, s, 0);
    }
    return PFD_OK;
}

/* A walk that lost its way stays at that place until it finds the way again. */
static bool is_over(const struct pfd_walk *w)
{
    return w->until && w->at >= w->until;
}

static enum pfd_status llpc_walk(struct pfd_walk *w)
{
    struct llpc_state *st = w->state;
    if (!st->opened) {
        enum pfd_status status = open_buffer(w, st);
        if (status != PFD_OK)
            return status;
    }
    if (w->last && !st->closed)
        close_buffer(w, st);
    while (pfd_walk_has_room(w) && !is_over(w)) {
        enum pfd_status status = PFD_OK;
        if (st->done)
            return finish(w, st);
        if (st->is_lost) {
            status = find_way(w, st);
        } else {
            llpc_walk_sound(w, st);
        }
        if (status == PFD_OK && pfd_walk_has_room(w) && !is_over(w) &&
            !st->is_lost)
            status = step(w, st);
        if (status != PFD_OK)
            return status;
    }
    return PFD_OK;
}

static bool llpc_split(struct pfd_walk *w, uint64_t from, uint64_t to)
{
    struct llpc_state *st = w->state;
    uint64_t found = 0;
    if (to > st->end)
        to = st->end;
    if (seek(w, st, from, to, PROOF_SOUND, &found) != PFD_OK)
        return false;
    st->is_lost = false;
    st->done = false;
    st->sought = 0;
    w->at = found;
    return true;
}

/* ---- buffers that are still being written ---- */

static uint64_t llpc_used(const struct pfd_table *table, const uint8_t *header)
{
    (void)table;
    struct pfd_byte_reader c = pfd_byte_reader(header, LLPC_HEADER);
    uint64_t used = pfd_byte_reader_u64(&c);
    return LLPC_HEADER +
           (used < LLPC_CLAMP_DWORDS ? used : LLPC_CLAMP_DWORDS) * LLPC_DWORD;
}

static void llpc_resume(struct pfd_walk *w, uint64_t end)
{
    struct llpc_state *st = w->state;
    st->used = llpc_dword(end - LLPC_HEADER);
    st->end = end;
    st->opened = true;
    st->closed = true;
}

static size_t llpc_entry_at(const struct pfd_table *table, const uint8_t *bytes,
                            size_t n)
{
    struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    uint64_t h = pfd_byte_reader_u64(&c);
    uint64_t n_bytes = (h & 0xffff) * LLPC_DWORD;
    if (n_bytes < LLPC_SIZE_MIN * LLPC_DWORD || n_bytes > n)
        return 0;
    const struct pfd_string *s = pfd_table_find(table, h >> 16);
    return llpc_law_holds(s, n_bytes - LLPC_ENTRY_HEADER) ? (size_t)n_bytes : 0;
}

/* Can one of the four headers that begin in these 16 bytes have a known id? Ids
 * are filtered by their upper bits first. */
static inline bool has_mark(const uint64_t *marks,
                            const struct pfd_byte_reader *c, size_t at)
{
    bool is_there = false;
    for (size_t i = 0; i < 4; i++) {
        uint32_t high = pfd_byte_reader_peek_u32(c, at + (i + 1) * LLPC_DWORD);
        is_there |= pfd_table_marks(marks, (uint16_t)(high >> 16));
    }
    return is_there;
}

static size_t llpc_find(const struct pfd_table *table, const uint8_t *bytes,
                        size_t n, size_t from, size_t to)
{
    const struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    const uint64_t *marks = table->marks;
    size_t at = from;
    while (table->n && at < to && n - at >= LLPC_ENTRY_HEADER) {
        if (n - at >= 5 * LLPC_DWORD && !has_mark(marks, &c, at)) {
            at += 4 * LLPC_DWORD;
            continue;
        }
        uint32_t low = pfd_byte_reader_peek_u32(&c, at);
        uint32_t high = pfd_byte_reader_peek_u32(&c, at + LLPC_DWORD);
        uint64_t id = (uint64_t)high << 16 | low >> 16;
        /* Sizes of zero and one, and ids of zeros, are common by chance. */
        if ((low & 0xffff) >= LLPC_SIZE_MIN && id &&
            pfd_table_find(table, id) &&
            llpc_entry_at(table, bytes + at, n - at))
            return at;
        at += LLPC_DWORD;
    }
    return n - from < to - from ? n : to;
}

static bool llpc_is_telling(const uint8_t *entry)
{
    struct pfd_byte_reader c = pfd_byte_reader(entry, LLPC_ENTRY_HEADER);
    return pfd_byte_reader_u64(&c) >> 16 >= TELLING_ID;
}

static bool llpc_is_header(const uint8_t *header)
{
    struct pfd_byte_reader c = pfd_byte_reader(header, LLPC_HEADER);
    uint64_t used = pfd_byte_reader_u64(&c);
    return used >= LLPC_SIZE_MIN && used < UINT64_C(1) << 40 &&
           pfd_byte_reader_u64(&c) == 0;
}

static const struct pfd_format_live llpc_live = {
    .n_header = LLPC_HEADER,
    .unit = LLPC_DWORD,
    .used = llpc_used,
    .resume = llpc_resume,
    .find = llpc_find,
    .entry_at = llpc_entry_at,
    .is_telling = llpc_is_telling,
    .is_header = llpc_is_header,
};

/* Is the id at this place zero? */
static bool has_no_id(const struct pfd_byte_reader *first, size_t at)
{
    return at + LLPC_ENTRY_HEADER <= first->n &&
           !(pfd_byte_reader_peek_u64(first, at) >> 16);
}

/* Is the place of the first entry empty, or a possible entry? */
static bool can_begin(const struct pfd_byte_reader *first)
{
    const size_t at = LLPC_HEADER;
    if (at + LLPC_ENTRY_HEADER > first->n ||
        !pfd_byte_reader_peek_u64(first, at))
        return true;
    return (pfd_byte_reader_peek_u32(first, at) & 0xffff) >= LLPC_SIZE_MIN &&
           !has_no_id(first, at);
}

/* Do sizes lead from entry to entry, up to the end of the examined bytes or too
 * far for chance? */
static bool has_chain(const struct pfd_byte_reader *first)
{
    enum {
        CHAIN_SURE = 8
    };
    unsigned n = 0;
    size_t at = LLPC_HEADER;
    while (at + LLPC_DWORD <= first->n && n < CHAIN_SURE) {
        uint32_t size = pfd_byte_reader_peek_u32(first, at) & 0xffff;
        if (size < LLPC_SIZE_MIN || has_no_id(first, at))
            return false;
        at += (size_t)size * LLPC_DWORD;
        n += at <= first->n;
    }
    return n >= CHAIN_SURE || (n && at == first->n);
}

static int llpc_probe(const struct pfd_byte_reader *first, uint64_t n_buffer)
{
    struct pfd_byte_reader c = *first;
    uint64_t used = pfd_byte_reader_u64(&c);
    uint64_t reserved = pfd_byte_reader_u64(&c); /* both dwords */
    if (!pfd_byte_reader_ok(&c) || reserved)
        return 0;
    if (used <= (n_buffer ? n_buffer / LLPC_DWORD : LLPC_CLAMP_DWORDS))
        return !used || can_begin(first) ? 60 : 40;
    if (used >= LLPC_USED_MAX || !can_begin(first))
        return 20;
    if (used < 2 * LLPC_CLAMP_DWORDS)
        return has_chain(first) ? 60 : 40;
    return has_chain(first) ? 40 : 20;
}

static void llpc_make(const struct pfd_record_view *record_view,
                      struct pfd_synthesized *ret)
{
    if (llpc_is_extension(record_view->record->string)) {
        llpc_extension_make(record_view, ret);
    } else {
        llpc_abort_make(record_view, ret);
    }
}

static const char *const header_words[] = {
    "bufferOffset, low half",
    "bufferOffset, high half",
    "reserved0",
    "reserved1",
};

static const char *const entry_words[] = {
    "entry: id bits 0-15, entrySize",
    "entry: id bits 16-47",
};

const struct pfd_format pfd_format_llpc = {
    .info = {
        .name = "llpc",
        .title = "DebugPrintf of AMD's Vulkan shader compiler (LLPC, xgl)",
        .header_words = header_words,
        .n_header_words = sizeof header_words / sizeof *header_words,
        .entry_words = entry_words,
        .n_entry_words = sizeof entry_words / sizeof *entry_words,
    },
    .state_size = sizeof(struct llpc_state),
    .strings = { .name = "llpc", .layout = llpc_layout },
    .load = llpc_load,
    .probe = llpc_probe,
    .walk = llpc_walk,
    .split = llpc_split,
    .is_record = llpc_is_record,
    .is_record_by_size = true,
    .slots = llpc_slots,
    .layout_text = llpc_layout_text,
    .live = &llpc_live,
    .make = llpc_make,
    .origins = { .list = llpc_origin, .names = llpc_origin_names, .flag = PFD_STRING_OWN },
};
