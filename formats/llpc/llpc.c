/* SPDX-License-Identifier: MIT */
/*
 * LLPC's DebugPrintf buffer, as the AMD Vulkan driver's shaders write it. The
 * wire layout and its sources are in README.md beside this file.
 */
#include "llpc.h"

#include <string.h>

#include "decode/format.h"

#define FINDING(kind) (UINT64_C(1) << PFD_FINDING_##kind)

enum {
    /* u64 bufferOffset, u32 reserved0, u32 reserved1 (LLPC's
     * docs/DdnDebugPrintf.md, "Buffer"; xgl icd/api/debug_printf.cpp). */
    HEADER = 16,
    /* u64: formatStringId << 16 | entrySize. */
    ENTRY_HEADER = LLPC_ENTRY_HEADER,
    DWORD = 4,
    /* An entry of two dwords is a header without payload. */
    SIZE_MIN = 2,
    /* Real ids are hashes; below this, the high dword was not written. */
    TORN_ID = 0x10000,
};

/* Ids are halves of hashes; small numbers stand everywhere. */
#define TELLING_ID (UINT64_C(1) << 32)

/* The shader clamps its offset: umin(offset, 1 << 29) dwords
 * (LLPC LowerDebugPrintf.cpp). */
#define CLAMP_DWORDS (UINT64_C(1) << 29)

struct header {
    uint64_t id;
    uint64_t n_bytes; /* of the entry */
    uint32_t size;    /* entrySize */
    bool zero;
};

struct state {
    uint64_t used;   /* bufferOffset, dwords */
    uint64_t end;    /* first byte that is no entry's; final once `closed` */
    uint64_t wanted; /* the same in a buffer that would have been big enough */
    bool opened;     /* the header is read */
    bool closed;     /* the end of the buffer is known */
    bool done;       /* what follows is no entry's */
    /* A search for the next entry beyond doubt, perhaps waiting for bytes. */
    bool is_lost;
    struct header lost; /* what stood where it began */
    uint64_t from;      /* where it began */
    uint64_t next;      /* next place to try */
    bool is_inside;     /* and that is inside of what stood there */
    uint64_t sought;    /* up to here there is none inside of what is at `at` */
};

/* ---- the walk ---- */

static struct header read_header(const struct pfd_walk *w, uint64_t at)
{
    uint64_t h = pfd_walk_u64(w, at);
    uint32_t size = h & 0xffff;
    return (struct header){ h >> 16, (uint64_t)size * DWORD, size, h == 0 };
}

static uint64_t dword(uint64_t at)
{
    return at / DWORD;
}

/* Writes a number of dwords times 4 as bytes: it can exceed 64 bits. */
static const char *bytes_text(unsigned __int128 bytes, char ret[48])
{
    char *at = ret + 47;
    *at = '\0';
    do {
        *--at = (char)('0' + (int)(bytes % 10));
        bytes /= 10;
    } while (bytes);
    return at;
}

/* Dwords behind the header that the buffer holds; its size is known. */
static uint64_t capacity_of(const struct pfd_walk *w)
{
    return (pfd_walk_end(w) - HEADER) / DWORD;
}

/* The buffer's size is known: where entries end. */
static void close_buffer(const struct pfd_walk *w, struct state *st)
{
    uint64_t end = HEADER + capacity_of(w) * DWORD;
    st->closed = true;
    if (end < st->end)
        st->end = end;
}

/* What was lost, and what is odd about the end: the last findings, since a
 * buffer that is read as it comes shows its size no earlier. */
static void report_end(struct pfd_walk *w, const struct state *st)
{
    uint64_t n_odd = (pfd_walk_end(w) - HEADER) % DWORD;
    uint64_t capacity = capacity_of(w);
    uint64_t held = capacity < CLAMP_DWORDS ? capacity : CLAMP_DWORDS;
    char lost[48];
    char whole[48];

    if (n_odd) {
        pfd_walk_finding(w, PFD_FINDING_odd_size, pfd_walk_end(w) - n_odd,
                         "the buffer ends in %u bytes that are no whole dword",
                         (unsigned)n_odd);
        w->batch->skipped_bytes += n_odd;
    }
    if (st->used <= held)
        return;
    unsigned __int128 n_lost = (unsigned __int128)(st->used - held) * DWORD;
    w->batch->lost_bytes = n_lost > UINT64_MAX ? UINT64_MAX : (uint64_t)n_lost;
    if (held == CLAMP_DWORDS)
        return; /* report_clamp() said it */
    pfd_walk_finding(
        w, PFD_FINDING_overflow, HEADER + capacity * DWORD,
        "bufferOffset is %llu dwords, the buffer holds %llu: %llu dwords "
        "(%s bytes) lost; a buffer of at least %s bytes would have held "
        "everything%s",
        (unsigned long long)st->used, (unsigned long long)capacity,
        (unsigned long long)(st->used - capacity), bytes_text(n_lost, lost),
        bytes_text((unsigned __int128)st->used * DWORD + HEADER, whole),
        st->used > CLAMP_DWORDS ? ", but shaders stop at 2 GiB" : "");
}

static void report_clamp(struct pfd_walk *w, uint64_t used)
{
    uint64_t swapped = __builtin_bswap64(used);
    pfd_walk_finding(w, PFD_FINDING_over_2gib, 0,
                     "bufferOffset %llu is beyond 2^29 dwords, where shaders "
                     "stop writing%s",
                     (unsigned long long)used,
                     swapped < CLAMP_DWORDS
                         ? "; byte-swapped it would make sense: is this a "
                           "big-endian dump?"
                         : "");
}

static enum pfd_status open_buffer(struct pfd_walk *w, struct state *st)
{
    if (pfd_walk_end(w) < HEADER) {
        if (!w->last)
            return PFD_MORE;
        pfd_walk_finding(w, PFD_FINDING_no_header, 0,
                         "%llu bytes, a buffer header needs %d",
                         (unsigned long long)pfd_walk_end(w), HEADER);
        w->batch->skipped_bytes += pfd_walk_end(w);
        w->at = pfd_walk_end(w);
        return PFD_END;
    }
    st->opened = true;
    st->used = pfd_walk_u64(w, 0);
    uint32_t reserved0 = pfd_walk_u32(w, 8);
    uint32_t reserved1 = pfd_walk_u32(w, 12);
    uint64_t clamped = st->used < CLAMP_DWORDS ? st->used : CLAMP_DWORDS;
    st->end = HEADER + clamped * DWORD;
    st->wanted = st->end;
    w->at = HEADER;
    if (reserved0 || reserved1) {
        pfd_walk_finding(w, PFD_FINDING_reserved, 8,
                         "reserved dwords are 0x%x and 0x%x, expected 0: a "
                         "newer layout, or not a printf buffer",
                         reserved0, reserved1);
    }
    if (st->used > CLAMP_DWORDS)
        report_clamp(w, st->used);
    return PFD_OK;
}

/* Can an entry header be here? A zero header can: space not written yet; and
 * so can one whose entry the end of an overflown buffer cuts. */
static bool plausible(const struct state *st, const struct header *h,
                      uint64_t at)
{
    return h->zero || (h->size >= SIZE_MIN && h->n_bytes <= st->wanted - at);
}

/* Is there an entry at `at` with a known id and exactly a size that its string
 * has? *next: behind it. PFD_OK, PFD_END (no) or PFD_MORE. */
static enum pfd_status is_sound(const struct pfd_walk *w,
                                const struct state *st, uint64_t at,
                                uint64_t *next)
{
    if (st->end - at < ENTRY_HEADER)
        return PFD_END;
    if (at + ENTRY_HEADER > pfd_walk_end(w))
        return PFD_MORE;
    struct header h = read_header(w, at);
    if (h.size < SIZE_MIN || h.n_bytes > st->end - at ||
        !llpc_law_holds(pfd_table_find(w->table, h.id),
                        h.n_bytes - ENTRY_HEADER))
        return PFD_END;
    *next = at + h.n_bytes;
    /* The buffer's end may cut it. */
    return *next > pfd_walk_end(w) ? PFD_MORE : PFD_OK;
}

/* How much has to follow a sound entry, so that it is believed. */
enum proof {
    PROOF_PLAUSIBLE, /* the end, or something that can be an entry; nothing
                        behind an id that chance cannot make */
    PROOF_SOUND,     /* the end, or another sound entry */
};

/* Is there an entry at `at`, beyond doubt? PFD_OK, PFD_END (no), PFD_MORE. */
static enum pfd_status accept(const struct pfd_walk *w, const struct state *st,
                              uint64_t at, enum proof proof)
{
    uint64_t next = 0;
    enum pfd_status status = is_sound(w, st, at, &next);
    if (status != PFD_OK || st->end - next < ENTRY_HEADER)
        return status;
    if (proof == PROOF_SOUND)
        return is_sound(w, st, next, &next);
    if (next + ENTRY_HEADER > pfd_walk_end(w))
        return PFD_MORE;
    struct header after = read_header(w, next);
    return plausible(st, &after, next) || read_header(w, at).id >= TELLING_ID
               ? PFD_OK
               : PFD_END;
}

/* The first entry beyond doubt in [from, to), *ret; PFD_END: none. */
static enum pfd_status seek(const struct pfd_walk *w, const struct state *st,
                            uint64_t from, uint64_t to, enum proof proof,
                            uint64_t *ret)
{
    enum pfd_status status = PFD_END;
    uint64_t at = from;
    while (at + ENTRY_HEADER <= to && status == PFD_END) {
        at = pfd_walk_pass(w, at, to);
        status = accept(w, st, at, proof);
        if (status == PFD_END)
            at += DWORD;
    }
    *ret = at;
    return status;
}

/* The first entry beyond doubt inside of the one at w->at, as its size claims
 * it. What stood there before is looked at once, whatever comes in pieces. */
static enum pfd_status seek_inside(struct pfd_walk *w, struct state *st,
                                   uint64_t claimed, enum proof proof,
                                   uint64_t *ret)
{
    uint64_t from = w->at + ENTRY_HEADER;
    if (st->sought > from)
        from = st->sought;
    /* A header may straddle the end. */
    enum pfd_status status =
        seek(w, st, from, claimed + ENTRY_HEADER - DWORD, proof, ret);
    if (status == PFD_MORE)
        st->sought = *ret;
    return status;
}

/* The stored dwords are fewer than the shader wanted to write. */
static bool is_cut(const struct state *st)
{
    return st->used > dword(st->end - HEADER);
}

enum {
    PARTIAL_STEPS = 64,
    PARTIAL_ARGUMENTS = 64,
    PARTIAL_ROOM = 4096
};

/* ", so far 'message'" for an entry of which only the start is there. */
static void describe_partial(const struct pfd_walk *w, uint64_t at,
                             uint64_t end, const struct pfd_string *s,
                             struct pfd_quoted *ret)
{
    struct pfd_step steps[PARTIAL_STEPS];
    struct pfd_slot slots[PARTIAL_ARGUMENTS];
    char text[PARTIAL_ROOM];
    size_t room = 0;
    uint64_t findings = 0;

    ret->text[0] = '\0';
    if (llpc_is_abort(s) || s->n_steps > PARTIAL_STEPS ||
        s->n_arguments > PARTIAL_ARGUMENTS || s->room > PARTIAL_ROOM)
        return;
    bool cut = s->flags & PFD_STRING_CUT;
    struct pfd_cursor payload = w->view;
    pfd_cursor_seek(&payload, at + ENTRY_HEADER - w->base);
    size_t n_payload = (size_t)(end - at - ENTRY_HEADER);
    const uint8_t *bytes = pfd_cursor_bytes(&payload, n_payload);
    if (!bytes)
        return;
    memcpy(steps, s->steps, s->n_steps * sizeof *steps);
    size_t n = llpc_fill_slots(s, 0, cut, (uint32_t)n_payload, slots);
    pfd_program_bind(steps, s->n_steps, slots, n, cut, &room);
    char *done = pfd_program_print(text, steps, pfd_string_text(s), PFD_RAW,
                                   bytes, &findings);
    pfd_quote(ret, text, (size_t)(done - text));
}

/*
 * An entry whose size leads past the end: of the buffer, if bufferOffset counts
 * all of it; else of what was ever written. The bytes up to `to` are its own.
 */
static void report_cut(struct pfd_walk *w, const struct state *st, uint64_t to,
                       const char *then)
{
    const struct header *h = &st->lost;
    const struct pfd_string *s = pfd_table_find(w->table, h->id);
    bool cut = h->n_bytes <= st->wanted - st->from;
    uint64_t end = cut ? st->end : st->wanted;
    struct pfd_quoted so_far = { "" };
    if (s && to - st->from >= ENTRY_HEADER)
        describe_partial(w, st->from, to, s, &so_far);
    pfd_walk_finding(
        w, cut ? PFD_FINDING_truncated_entry : PFD_FINDING_size_past_end,
        st->from,
        "entrySize %u (id 0x%012llx), only %llu dwords left%s%s%s; "
        "%s",
        h->size, (unsigned long long)h->id,
        (unsigned long long)dword(end - st->from),
        so_far.text[0] ? ": so far '" : "", so_far.text,
        so_far.text[0] ? "'" : "", then);
}

/* Says why the walk lost its way at st->from, and what came of it. */
static void report_gap(struct pfd_walk *w, const struct state *st, uint64_t to)
{
    const struct header *h = &st->lost;
    struct pfd_walk_gap then;

    w->batch->skipped_bytes += to - st->from;
    pfd_walk_describe_gap(&then, st->from, to, st->end);
    if (h->zero) {
        pfd_walk_finding(w, PFD_FINDING_unwritten, st->from,
                         "zero entry header in the used part, not written yet "
                         "or lost; %s",
                         then.text);
    } else if (h->size < SIZE_MIN) {
        pfd_walk_finding(w, PFD_FINDING_bad_size, st->from,
                         "entrySize %u (id 0x%012llx), at least %d expected; "
                         "%s",
                         h->size, (unsigned long long)h->id, SIZE_MIN,
                         then.text);
    } else if (h->n_bytes > st->end - st->from) {
        report_cut(w, st, to, then.text);
    } else {
        pfd_walk_finding(
            w,
            h->id < TORN_ID ? PFD_FINDING_torn_header : PFD_FINDING_unknown_id,
            st->from,
            "no string has id 0x%012llx, and entrySize %u leads %s; %s",
            (unsigned long long)h->id, h->size,
            st->is_inside ? "over sound entries" : "to no entry", then.text);
    }
}

/* Leaves the path at w->at: the next entry beyond doubt is sought from the
 * next dword on. */
static void lose_way(struct pfd_walk *w, struct state *st,
                     const struct header *h)
{
    st->is_lost = true;
    st->lost = *h;
    st->from = w->at;
    st->next = w->at + DWORD;
    st->is_inside = false;
}

static enum pfd_status find_way(struct pfd_walk *w, struct state *st)
{
    uint64_t to = 0;
    enum pfd_status status =
        seek(w, st, st->next, st->end, PROOF_PLAUSIBLE, &to);
    if (status == PFD_MORE) {
        /* report_cut() shows what was there: keep the bytes from there. */
        st->next = to;
        w->at = st->lost.n_bytes > st->end - st->from ? st->from : to;
        return PFD_MORE;
    }
    if (status == PFD_END)
        to = st->end;
    report_gap(w, st, to);
    st->is_lost = false;
    w->at = to;
    return PFD_OK;
}

static void add_entry(struct pfd_walk *w, const struct header *h,
                      const struct pfd_string *first, uint64_t findings)
{
    struct pfd_record *r = pfd_walk_record(w);
    *r = (struct pfd_record){
        .offset = w->at,
        .key = h->id,
        .findings = findings,
        .n_bytes = (uint32_t)h->n_bytes,
        .n_header = ENTRY_HEADER,
        .kind = PFD_RECORD_ENTRY,
    };
    if (first)
        llpc_choose(w, first, r);
    w->at += h->n_bytes;
}

/* Does a size lead to the end, or to an entry of a known id? PFD_OK, PFD_END
 * (no) or PFD_MORE. */
static enum pfd_status leads_on(const struct pfd_walk *w,
                                const struct state *st, uint64_t to)
{
    if (st->end - to < ENTRY_HEADER)
        return PFD_OK;
    if (to + ENTRY_HEADER > pfd_walk_end(w))
        return PFD_MORE;
    struct header after = read_header(w, to);
    return plausible(st, &after, to) && pfd_table_find(w->table, after.id)
               ? PFD_OK
               : PFD_END;
}

/*
 * An id that no string has. Its size is believed when it leads to the end or
 * to something that can be an entry, and no entry beyond doubt is inside of
 * what it claims.
 */
static enum pfd_status step_unknown(struct pfd_walk *w, struct state *st,
                                    const struct header *h)
{
    uint64_t next = w->at + h->n_bytes;
    uint64_t found = 0;
    enum pfd_status status = leads_on(w, st, next);
    if (status == PFD_MORE)
        return PFD_MORE;
    if (status == PFD_END) {
        struct header after = read_header(w, next);
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
              h->id < TORN_ID ? FINDING(torn_header) : FINDING(unknown_id));
    return PFD_OK;
}

/* Where an entry that claims too little ends by one of its strings, if that
 * leads on. */
static enum pfd_status seek_behind(const struct pfd_walk *w,
                                   const struct state *st, uint64_t claimed,
                                   const struct pfd_string *s, uint64_t *ret)
{
    enum pfd_status status = PFD_END;
    for (; s && status == PFD_END; s = s->next) {
        uint64_t n = ENTRY_HEADER + llpc_payload(s);
        *ret = w->at + n;
        if (n <= st->end - w->at && *ret > claimed)
            status = leads_on(w, st, *ret);
    }
    return status;
}

/*
 * A known id, and a size that none of its strings has. That can be as it should
 * (see the size law in README.md), or the size is damaged: then sound entries
 * are inside of what it claims, or begin behind it, where a string ends.
 */
static enum pfd_status step_odd(struct pfd_walk *w, struct state *st,
                                struct header *h, const struct pfd_string *s)
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
    add_entry(w, h, s, status == PFD_OK ? FINDING(bad_size) : 0);
    return PFD_OK;
}

/* Fewer dwords than an entry header are left, or none. */
static enum pfd_status finish(struct pfd_walk *w, struct state *st)
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
    /* What follows is stale, and never looked at; only its size counts. */
    if (pfd_walk_end(w) > w->at)
        w->at = pfd_walk_end(w);
    st->done = true;
    if (!w->last)
        return PFD_MORE;
    report_end(w, st);
    return PFD_END;
}

static enum pfd_status step(struct pfd_walk *w, struct state *st)
{
    if (st->end - w->at < ENTRY_HEADER)
        return finish(w, st);
    if (w->at + ENTRY_HEADER > pfd_walk_end(w))
        return PFD_MORE;
    struct header h = read_header(w, w->at);
    if (h.size < SIZE_MIN || h.n_bytes > st->end - w->at) {
        lose_way(w, st, &h);
        return PFD_OK;
    }
    if (w->at + h.n_bytes > pfd_walk_end(w))
        return PFD_MORE;
    const struct pfd_string *s = pfd_table_find(w->table, h.id);
    if (!s)
        return step_unknown(w, st, &h);
    if (!llpc_law_holds(s, h.n_bytes - ENTRY_HEADER))
        return step_odd(w, st, &h, s);
    add_entry(w, &h, s, 0);
    return PFD_OK;
}

/* The hot loop: entries that are exactly what their string says. */
static void walk_sound(struct pfd_walk *w, const struct state *st)
{
    /* Copies: records are written through pointers that could be anything's. */
    const struct pfd_cursor view = w->view;
    const struct pfd_table table = *w->table;
    const uint64_t base = w->base;
    uint64_t n_view = pfd_walk_end(w);
    uint64_t end = st->end < n_view ? st->end : n_view;
    uint64_t at = w->at;
    size_t room = pfd_walk_room(w);
    struct pfd_record *r = &w->batch->records[w->batch->n];
    struct pfd_record *last = r + room;
    for (; r < last && end - at >= ENTRY_HEADER; r++) {
        uint64_t h = pfd_cursor_peek_u64(&view, (size_t)(at - base));
        uint64_t n_bytes = (h & 0xffff) * DWORD;
        const struct pfd_string *s = pfd_table_find(&table, h >> 16);
        if (!s || s->n_payload + (uint64_t)ENTRY_HEADER != n_bytes ||
            n_bytes > end - at || s->next)
            break;
        *r = (struct pfd_record){
            .offset = at,
            .string = s,
            .key = h >> 16,
            .n_bytes = (uint32_t)n_bytes,
            .n_header = ENTRY_HEADER,
            .kind = PFD_RECORD_ENTRY,
        };
        at += n_bytes;
    }
    w->batch->n = (size_t)(r - w->batch->records);
    w->at = at;
}

static enum pfd_status llpc_walk(struct pfd_walk *w)
{
    struct state *st = w->state;
    if (!st->opened) {
        enum pfd_status status = open_buffer(w, st);
        if (status != PFD_OK)
            return status;
    }
    if (w->last && !st->closed)
        close_buffer(w, st);
    while (pfd_walk_has_room(w)) {
        enum pfd_status status = PFD_OK;
        if (st->done)
            return finish(w, st);
        if (st->is_lost) {
            status = find_way(w, st);
        } else {
            walk_sound(w, st);
        }
        if (status == PFD_OK && pfd_walk_has_room(w) && !st->is_lost)
            status = step(w, st);
        if (status != PFD_OK)
            return status;
    }
    return PFD_OK;
}

/* ---- buffers that are being written ---- */

static uint64_t llpc_used(const uint8_t *header)
{
    struct pfd_cursor c = pfd_cursor(header, HEADER);
    uint64_t used = pfd_cursor_u64(&c);
    return HEADER + (used < CLAMP_DWORDS ? used : CLAMP_DWORDS) * DWORD;
}

static void llpc_resume(struct pfd_walk *w, uint64_t end)
{
    struct state *st = w->state;
    st->used = dword(end - HEADER);
    st->end = end;
    st->opened = true;
    st->closed = true;
}

static size_t llpc_entry_at(const struct pfd_table *table, const uint8_t *bytes,
                            size_t n)
{
    struct pfd_cursor c = pfd_cursor(bytes, n);
    uint64_t h = pfd_cursor_u64(&c);
    uint64_t n_bytes = (h & 0xffff) * DWORD;
    if (n_bytes < SIZE_MIN * DWORD || n_bytes > n)
        return 0;
    const struct pfd_string *s = pfd_table_find(table, h >> 16);
    return llpc_law_holds(s, n_bytes - ENTRY_HEADER) ? (size_t)n_bytes : 0;
}

static size_t llpc_find(const struct pfd_table *table, const uint8_t *bytes,
                        size_t n, size_t from, size_t to)
{
    const struct pfd_cursor c = pfd_cursor(bytes, n);
    for (size_t at = from; at < to && n - at >= ENTRY_HEADER; at += DWORD) {
        uint32_t low = pfd_cursor_peek_u32(&c, at);
        uint32_t high = pfd_cursor_peek_u32(&c, at + DWORD);
        /* Sizes of zero and one, and ids that only zeros make, are common. */
        if ((low & 0xffff) < SIZE_MIN || (low >> 16 | high) == 0)
            continue;
        uint64_t id = (uint64_t)high << 16 | low >> 16;
        if (__builtin_expect(!!pfd_table_find(table, id), 0) &&
            llpc_entry_at(table, bytes + at, n - at))
            return at;
    }
    return n - from < to - from ? n : to;
}

static bool llpc_is_telling(const uint8_t *entry)
{
    struct pfd_cursor c = pfd_cursor(entry, ENTRY_HEADER);
    return pfd_cursor_u64(&c) >> 16 >= TELLING_ID;
}

static bool llpc_is_header(const uint8_t *header)
{
    struct pfd_cursor c = pfd_cursor(header, HEADER);
    uint64_t used = pfd_cursor_u64(&c);
    return used >= SIZE_MIN && used < UINT64_C(1) << 40 &&
           pfd_cursor_u64(&c) == 0;
}

static const struct pfd_format_live llpc_live = {
    .n_header = HEADER,
    .unit = DWORD,
    .used = llpc_used,
    .resume = llpc_resume,
    .find = llpc_find,
    .entry_at = llpc_entry_at,
    .is_telling = llpc_is_telling,
    .is_header = llpc_is_header,
};

static int llpc_probe(const struct pfd_cursor *first, uint64_t n_buffer)
{
    struct pfd_cursor c = *first;
    uint64_t used = pfd_cursor_u64(&c);
    uint64_t reserved = pfd_cursor_u64(&c); /* two dwords */
    if (!pfd_cursor_ok(&c) || reserved)
        return 0;
    return used <= (n_buffer ? n_buffer / DWORD : CLAMP_DWORDS) ? 60 : 20;
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
    .state_size = sizeof(struct state),
    .strings = { .name = "llpc", .table = 0, .layout = llpc_layout },
    .load = llpc_load,
    .probe = llpc_probe,
    .walk = llpc_walk,
    .is_record = llpc_is_record,
    .slots = llpc_slots,
    .layout_text = llpc_layout_text,
    .live = &llpc_live,
    .make = llpc_abort_make,
};
