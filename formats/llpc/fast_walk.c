/* SPDX-License-Identifier: MIT */
/*
 * The hot loops: take entries that are exactly as their strings describe, up to
 * the first other one, which llpc.c handles.
 */
#include "layout.h"

enum {
    AHEAD = 32,      /* entries */
    PREFETCH = 2048, /* bytes: processors do so within a page of memory */
    KNOWN_BITS = 10, /* log2 of the number of cached headers */
};

/* The range of entries; offsets are in the view. Loops copy it to a local
 * variable whose address is not taken, since they write through pointers that
 * might alias it. */
struct entry_range {
    struct pfd_byte_reader view;
    struct pfd_table table;
    size_t at;  /* of the next entry */
    size_t to;  /* last place where an entry may begin */
    size_t end; /* end of the bytes that may be read */
};

/* False: no entry fits into the range. */
static inline bool find_stretch(const struct pfd_walk *w,
                                const struct llpc_state *st,
                                struct entry_range *ret)
{
    uint64_t n_view = pfd_walk_end(w);
    uint64_t end = st->end < n_view ? st->end : n_view;
    uint64_t to = end - LLPC_ENTRY_HEADER;
    if (end - w->at < LLPC_ENTRY_HEADER)
        return false;
    if (w->until && w->until - 1 < to)
        to = w->until - 1;
    if (to < w->at)
        return false;
    *ret = (struct entry_range){
        .view = w->view,
        .table = *w->table,
        .at = (size_t)(w->at - w->base),
        .to = (size_t)(to - w->base),
        .end = (size_t)(end - w->base),
    };
    return true;
}

static inline size_t bytes_of(uint64_t header)
{
    return (header & 0xffff) * LLPC_DWORD;
}

/* The string that describes an entry with this header exactly; NULL: none. */
static inline const struct pfd_string *find_exact(const struct pfd_table *table,
                                                  uint64_t header)
{
    return pfd_table_find_exact(table, header >> 16,
                                (uint32_t)bytes_of(header) - LLPC_ENTRY_HEADER);
}

/*
 * Look-ups in a large table miss the cache. So the strings of the next entries,
 * found by their sizes, are prefetched together. Returns the number of these
 * entries.
 */
static size_t look_ahead(const struct entry_range *s, size_t at)
{
    uint64_t ids[AHEAD];
    size_t n = 0;
    while (n < AHEAD && at <= s->to) {
        uint64_t h = pfd_byte_reader_peek_u64(&s->view, at);
        size_t n_bytes = bytes_of(h);
        ids[n++] = h >> 16;
        pfd_table_prefetch(&s->table, h >> 16);
        if (n_bytes < LLPC_ENTRY_HEADER || n_bytes > s->end - at)
            break;
        at += n_bytes;
    }
    for (size_t i = 0; i < n; i++)
        pfd_table_prefetch_string(&s->table, ids[i]);
    return n;
}

static inline __attribute__((always_inline)) void add_sound(
    struct pfd_walk *w, const struct entry_range *in, bool is_large)
{
    const struct entry_range s = *in;
    size_t at = s.at;
    struct pfd_record *r = &w->batch->records[w->batch->n];
    struct pfd_record *last = r + pfd_walk_room(w);
    size_t n_ahead = 0;
    for (; r < last && at <= s.to; r++) {
        if (is_large && __builtin_expect(!n_ahead--, 0))
            n_ahead = look_ahead(in, at) - 1;
        uint64_t header = pfd_byte_reader_peek_u64(&s.view, at);
        __builtin_prefetch(s.view.base + at + PREFETCH);
        size_t n_bytes = bytes_of(header);
        const struct pfd_string *string = find_exact(&s.table, header);
        if (!string || n_bytes > s.end - at)
            break;
        *r = (struct pfd_record){
            .offset = w->base + at,
            .string = string,
            .key = header >> 16,
            .n_bytes = (uint32_t)n_bytes,
            .n_header = LLPC_ENTRY_HEADER,
            .kind = PFD_RECORD_ENTRY,
        };
        at += n_bytes;
    }
    w->batch->n = (size_t)(r - w->batch->records);
    w->at = w->base + at;
}

/* A cached header, and the count of its entries. NULL: no string describes it
 * exactly, or it has findings. */
struct known {
    uint64_t header;
    uint64_t *count;
};

static inline size_t known_place(uint64_t header)
{
    uint64_t product = header * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(product >> (64 - KNOWN_BITS));
}

static uint64_t *find_count(const struct pfd_table *table, uint64_t *counts,
                            uint64_t header)
{
    const struct pfd_string *s = find_exact(table, header);
    return s && !s->findings ? &counts[s->index] : NULL;
}

/*
 * Like add_sound(), for up to max entries that are only counted. Headers are
 * cached, because their look-up is most of the work.
 */
static void count_sound(struct pfd_walk *w, const struct entry_range *in,
                        size_t max)
{
    const struct entry_range s = *in;
    struct known known[1 << KNOWN_BITS] = { 0 };
    size_t at = s.at;
    size_t n = 0;
    for (; n < max && at <= s.to; n++) {
        uint64_t header = pfd_byte_reader_peek_u64(&s.view, at);
        struct known *k = &known[known_place(header)];
        size_t n_bytes = bytes_of(header);
        if (__builtin_expect(k->header != header, 0)) {
            *k = (struct known){ header, find_count(&in->table,
                                                    w->batch->counts, header) };
        }
        if (!k->count || n_bytes > s.end - at)
            break;
        ++*k->count;
        at += n_bytes;
    }
    w->batch->n_counted += n;
    w->batch->counted_header = LLPC_ENTRY_HEADER;
    w->at = w->base + at;
}

void llpc_walk_sound(struct pfd_walk *w, const struct llpc_state *st)
{
    struct entry_range entry_range;
    size_t n_countable = pfd_walk_countable(w);
    if (!find_stretch(w, st, &entry_range))
        return;
    if (n_countable) {
        count_sound(w, &entry_range, n_countable);
    } else if (pfd_table_is_large(&entry_range.table)) {
        add_sound(w, &entry_range, true);
    } else {
        add_sound(w, &entry_range, false);
    }
}
