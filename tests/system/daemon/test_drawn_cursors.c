/* SPDX-License-Identifier: MIT */
/*
 * test_drawn_cursors FIRST N: of N numbers, from the first one on, a run each
 * that is drawn by it: readers come, read a little, stall, stay and go, while
 * lines of all lengths come in and the ring and the pages let go of old ones.
 * Each reader has, item by item, what a reader has that was alone from the
 * start; what it lacks is what a gap record said. Of collapsed and sampled
 * entries, of which others depend on the time, each is counted once: it came, or
 * a line stands for it, or it was told to be left out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <uv.h>

#include "../../unit/suite.h"
#include "made.h"
#include "ring/cursor.h"
#include "stream/capture/chunk.h"
#include "stream/capture/wire.h"

enum {
    SOURCES = 2,
    READERS = 12,
    STEPS = 300,
    MOST = 3 << 20, /* bytes of messages in a run, about */
    DUMP_ENTRIES = 5000,
    HEADER = 16, /* bytes of a dump before its entries */
    MARK = 17,   /* bytes by which a gap record of the reader is told */
    TEST_S = 300,
};

/* ---- chance ---- */

static uint64_t state;

static unsigned draw(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % n;
}

static size_t pick(const size_t *of, size_t n)
{
    return of[draw((unsigned)n)];
}

#define PICK(...)                         \
    pick((const size_t[]){ __VA_ARGS__ }, \
         sizeof((const size_t[]){ __VA_ARGS__ }) / sizeof(size_t))

/* ck_assert() notes each time that it holds, which is too often here. */
#define HOLDS(condition, ...)          \
    do {                               \
        if (!(condition))              \
            ck_abort_msg(__VA_ARGS__); \
    } while (0)
#define EQUAL(a, b)                                                           \
    HOLDS((uint64_t)(a) == (uint64_t)(b), #a " is %" PRIu64 ", not %" PRIu64, \
          (uint64_t)(a), (uint64_t)(b))

/* Linked in place of pfdd_job_cpu_ns(): no cursor costs anything, so that none is
 * cut off for its cost on a slow machine. */
uint64_t __wrap_pfdd_job_cpu_ns(void);

uint64_t __wrap_pfdd_job_cpu_ns(void)
{
    return 0;
}

/* ---- bytes that grow ---- */

struct bytes {
    char *at; /* [n] of [size] */
    size_t n;
    size_t size;
};

static void add(struct bytes *b, const void *more, size_t n)
{
    if (b->n + n > b->size) {
        b->size = 2 * (b->n + n);
        b->at = realloc(b->at, b->size);
        HOLDS(b->at, "out of memory");
    }
    if (n)
        memcpy(b->at + b->n, more, n);
    b->n += n;
}

static void drop(struct bytes *b, size_t n)
{
    b->n -= n;
    memmove(b->at, b->at + n, b->n);
}

/* ---- lines of all lengths ---- */

static const size_t lengths[] = { 0, 1, 2, 20, 90, 400, 3000, 9000 };

enum {
    LENGTHS = sizeof lengths / sizeof lengths[0],
    NUMBERED = 20, /* bytes of those that say an argument, */
    LONG = 1000,   /* and of those that are few */
    FIRST_ID = 0x10001,
};

static struct pfd_strings *make_strings(void)
{
    struct pfd_strings *set = pfd_strings_new();
    for (unsigned i = 0; i < LENGTHS; i++) {
        static char text[1 << 14];
        size_t n = lengths[i];
        bool is_numbered = n >= NUMBERED;
        memset(text, 'a' + (int)i, n);
        if (is_numbered)
            memcpy(text, "%u ", 3);
        if (n)
            text[n - 1] = '\n';
        const struct pfd_string_info info = { .source = "made",
                                              .text = text,
                                              .n_text = n,
                                              .id = FIRST_ID + i,
                                              .argument_count = is_numbered };
        const uint64_t mask = 0;
        ck_assert_int_eq(
            pfd_strings_add(set, &info, &mask, is_numbered, NULL, NULL, NULL),
            PFD_OK);
    }
    return set;
}

/* Streaks of a length, and such that change with each. */
static char *make_dump(size_t *n)
{
    struct bytes dump = { 0 };
    char header[HEADER] = { 0 };
    unsigned kind = 0;
    add(&dump, header, HEADER);
    for (uint32_t i = 0, left = 0; i < DUMP_ENTRIES; i++) {
        if (left-- == 0) {
            kind = draw(LENGTHS);
            left = (uint32_t)PICK(0, 1, 5, 300);
            left = lengths[kind] < LONG ? left : left % 4;
        }
        uint32_t id = FIRST_ID + kind;
        uint32_t n_dwords = 2 + (lengths[kind] >= NUMBERED);
        uint32_t words[] = { n_dwords | id << 16, id >> 16, i };
        add(&dump, words, n_dwords * sizeof *words);
    }
    uint64_t n_used = (dump.n - HEADER) / 4;
    memcpy(dump.at, &n_used, sizeof n_used);
    *n = dump.n;
    return dump.at;
}

/* ---- what there is ---- */

static struct made made[SOURCES];
static struct pfdd_ring whole; /* never lets go of anything */
static struct pfdd_render_cache whole_pages;
static struct pfdd_ring ring;
static struct pfdd_render_cache render_cache;
static uv_loop_t loop;
static struct pfdd_pool *pools[2];
static size_t n_messages; /* bytes, about */

static const struct wish {
    enum pfdd_form form;
    const char *more; /* keys of a request */
} wishes[] = {
    { PFDD_TEXT, "" },
    { PFDD_RAW, "" },
    { PFDD_JSON, "" },
    { PFDD_SSE, "" },
    { PFDD_ENTRIES, "" },
    { PFDD_TEXT, ",\"match\":\"7\"" },
    { PFDD_JSON, ",\"where\":\"a0 < 2000\"" },
    { PFDD_SSE, ",\"match\":\"[13]\",\"source\":\"first\"" },
    { PFDD_RAW, ",\"findings\":false" },
    { PFDD_ENTRIES, ",\"match\":\"7\"" },
    { PFDD_ENTRIES, ",\"source\":\"second\"" },
};

enum {
    WISHES = sizeof wishes / sizeof wishes[0],
    PLAIN = 2, /* all of JSON, */
    SMALL = 6, /* and what a condition leaves of it */
};

/* Of these entries are counted; their lines are like another wish's. */
static const struct counted_wish {
    struct wish wish;
    unsigned like;
} counted[] = {
    { { PFDD_JSON, ",\"collapse\":true" }, PLAIN },
    { { PFDD_JSON, ",\"collapse\":\"equal\",\"window\":50" }, PLAIN },
    { { PFDD_SSE, ",\"collapse\":true,\"window\":3" }, PLAIN },
    { { PFDD_JSON, ",\"sample\":3000" }, PLAIN },
    { { PFDD_SSE, ",\"sample\":1000000" }, PLAIN },
    { { PFDD_JSON, ",\"sample\":500,\"where\":\"a0 < 2000\"" }, SMALL },
    { { PFDD_JSON, ",\"sample\":1000,\"source\":\"first\"" }, PLAIN },
};

enum {
    COUNTED = sizeof counted / sizeof counted[0],
};

static void begin(struct pfdd_cursor *r, struct pfdd_render_cache *of,
                  const struct wish *wish, const char *from)
{
    static const char *const names[] = { "json", "text", "raw", "entries",
                                         "json" };
    struct pfdd_request request = { 0 };
    char text[256];
    char err[256];
    int n = snprintf(text, sizeof text, "{\"from\":%s,\"output\":\"%s\"%s}",
                     from, names[wish->form], wish->more);
    HOLDS(pfdd_request_read(&request, text, (size_t)n, err, sizeof err), "%s",
          err);
    request.form = wish->form;
    HOLDS(pfdd_request_finish(&request, err, sizeof err), "line %d", __LINE__);
    HOLDS(pfdd_cursor_init(r, of, &request), "line %d", __LINE__);
    pfdd_request_deinit(&request);
}

/* ---- items of a stream of entries: each is its index in its buffer ---- */

struct stream {
    struct pfd_wire_reader *wire;
    struct pfd_chunk_reader *chunks;
};

static struct stream open_stream(void)
{
    struct stream ret = { .wire = pfd_wire_reader_new(0) };
    ck_assert_int_eq(pfd_chunk_reader_new(made[0].binding->strings->set, "any",
                                          NULL, &ret.chunks, NULL),
                     PFD_OK);
    return ret;
}

static void close_stream(struct stream *s)
{
    pfd_wire_reader_free(s->wire);
    pfd_chunk_reader_free(s->chunks);
}

/* False: nothing more has come whole. */
static bool next_frame(struct stream *s, struct bytes *pending,
                       struct pfd_wire_frame *ret)
{
    struct pfd_error err;
    for (;;) {
        size_t n = 0;
        enum pfd_status status = pfd_wire_reader_next(s->wire, ret, &err);
        if (status == PFD_OK)
            return true;
        HOLDS(status == PFD_MORE, "%s", err.text);
        if (!pending->n)
            return false;
        pfd_wire_reader_feed(s->wire, pending->at, pending->n, &n, NULL);
        drop(pending, n);
    }
}

static uint64_t next_item(struct stream *s)
{
    struct pfd_chunk_item item;
    enum pfd_status status = pfd_chunk_reader_next(s->chunks, &item, NULL);
    HOLDS(status == PFD_OK || status == PFD_END, "line %d", __LINE__);
    if (status == PFD_END)
        return 0;
    return item.type == PFD_CHUNK_ENTRY ? item.entry.index + 1
                                        : UINT64_MAX - item.type;
}

/* ---- who is alone ---- */

/* What each item is to a wish; of entries, see above. */
static struct lone {
    struct pfdd_cursor cursor;
    struct bytes text;
    struct bytes ends; /* size_t, of each item, from 1 on */
    struct bytes pending;
    struct stream stream;
} lone[WISHES];

static size_t n_of(const struct lone *l)
{
    return l->ends.n / sizeof(size_t);
}

static size_t end_of(const struct lone *l, uint64_t seq)
{
    const size_t *ends = (const void *)l->ends.at;
    return seq ? ends[seq - 1] : 0;
}

/* Items before this one have nothing more. */
static void fill_up(struct lone *l, uint64_t seq)
{
    while (n_of(l) + 1 < seq)
        add(&l->ends, &l->text.n, sizeof l->text.n);
}

static void learn_bytes(struct lone *l)
{
    const char *bytes = NULL;
    for (size_t n = 0; pfdd_cursor_peek(&l->cursor, &bytes, &n);) {
        const struct pfdd_rendered_block *p = l->cursor.rendered_block;
        size_t n_items = (size_t)(p->end - p->first);
        HOLDS(bytes == p->text + l->cursor.at, "line %d", __LINE__);
        size_t at = l->cursor.at;
        fill_up(l, p->first + l->cursor.item);
        for (size_t i = l->cursor.item; i < n_items; i++) {
            add(&l->text, p->text + at, p->ends[i] - at);
            at = p->ends[i];
            add(&l->ends, &l->text.n, sizeof l->text.n);
        }
        EQUAL(at, p->n);
        pfdd_cursor_consume(&l->cursor, n);
    }
    fill_up(l, whole.next_seq);
}

static void learn_entries(struct lone *l)
{
    const char *bytes = NULL;
    struct pfd_wire_frame f;
    for (size_t n = 0; pfdd_cursor_peek(&l->cursor, &bytes, &n);) {
        add(&l->pending, bytes, n);
        pfdd_cursor_consume(&l->cursor, n);
    }
    while (next_frame(&l->stream, &l->pending, &f)) {
        HOLDS(f.type != PFD_WIRE_GAP, "a gap for who is alone");
        if (f.type != PFD_WIRE_ENTRIES)
            continue;
        fill_up(l, f.sequence);
        EQUAL(n_of(l) + 1, f.sequence);
        pfd_chunk_reader_open(l->stream.chunks, f.bytes.at, f.bytes.n, NULL);
        for (uint64_t item; (item = next_item(&l->stream));) {
            add(&l->text, &item, sizeof item);
            add(&l->ends, &l->text.n, sizeof l->text.n);
        }
    }
    fill_up(l, whole.next_seq);
}

static void learn(void)
{
    for (unsigned i = 0; i < WISHES; i++) {
        struct lone *l = &lone[i];
        bool is_entries = wishes[i].form == PFDD_ENTRIES;
        (is_entries ? learn_entries : learn_bytes)(l);
        HOLDS(pfdd_cursor_is_done(&l->cursor), "line %d", __LINE__);
        EQUAL(n_of(l) + 1, whole.next_seq);
    }
}

/* ---- those who are looked at ---- */

static struct subject {
    bool is_there;
    const struct wish *wish;
    const struct lone *like;
    struct pfdd_cursor cursor;
    uint64_t first;       /* sequence number that it began with */
    uint64_t seq;         /* of the item that is to come */
    size_t at;            /* bytes of it that came */
    uint64_t missed;      /* that gap records told of */
    struct bytes pending; /* came, and not looked at */
    struct stream stream;
    /* Of a cursor that counts entries: the ones that came, or that a line stands for, */
    bool counts;
    uint64_t n_entries;
    uint64_t n_missed;   /* that are in a gap, */
    uint64_t n_left_out; /* and that were told to be left out */
    const char *lent;    /* [lent_bytes.n] that a writer has, or NULL */
    struct bytes lent_bytes;
} subjects[READERS];

/* Items before this one were nothing to it. */
static void pass_to(struct subject *s, uint64_t seq)
{
    EQUAL(s->at, 0);
    HOLDS(seq >= s->seq, "item %" PRIu64 " comes after %" PRIu64, seq,
          s->seq - 1);
    HOLDS(end_of(s->like, seq - 1) == end_of(s->like, s->seq - 1),
          "items %" PRIu64 " to %" PRIu64 " are lacking of %s%s", s->seq,
          seq - 1, s->wish->form == PFDD_ENTRIES ? "entries" : "lines",
          s->wish->more);
    s->seq = seq;
}

/* n items are gone, the next one is `next`. */
static void miss(struct subject *s, uint64_t n, uint64_t next)
{
    pass_to(s, next - n);
    s->seq = next;
    s->missed += n;
}

/* ---- lines ---- */

static const char *mark_of(enum pfdd_form form)
{
    return form == PFDD_TEXT ? "! gap: "
           : form == PFDD_SSE
               ? "event: gap\ndata: {\"type\":\"gap\",\"missed\":"
               : "{\"type\":\"gap\",\"missed\":";
}

/* A gap record of the reader's own, if there is one whole. False: there is
 * none. */
static bool take_gap(struct subject *s)
{
    const char *mark = mark_of(s->wish->form);
    size_t n_mark = strlen(mark);
    const char *end = s->wish->form == PFDD_SSE ? "\n\n" : "\n";
    char record[256] = "";
    size_t n = s->pending.n < sizeof record ? s->pending.n : sizeof record - 1;
    if (s->at || s->wish->form == PFDD_RAW || n < n_mark ||
        memcmp(s->pending.at, mark, n_mark) != 0)
        return false;
    memcpy(record, s->pending.at, n);
    const char *behind = strstr(record, end);
    if (!behind)
        return false;
    const char *next = strstr(
        record, s->wish->form == PFDD_TEXT ? "next is " : "\"next_sequence\":");
    HOLDS(next, "out of memory");
    miss(s, strtoull(record + n_mark, NULL, 10),
         strtoull(strpbrk(next, "0123456789"), NULL, 10));
    drop(&s->pending, (size_t)(behind - record) + strlen(end));
    return true;
}

/* May what came be the beginning of a gap record? */
static bool may_be_gap(const struct subject *s)
{
    const char *mark = mark_of(s->wish->form);
    size_t n = strlen(mark);
    n = s->pending.n < n ? s->pending.n : n;
    return !s->at && s->wish->form != PFDD_RAW &&
           !memcmp(s->pending.at, mark, n);
}

static void check_lines(struct subject *s)
{
    while (s->pending.n) {
        if (take_gap(s))
            continue;
        if (may_be_gap(s))
            return;
        size_t from = end_of(s->like, s->seq - 1) + s->at;
        size_t n = end_of(s->like, s->seq) - from;
        HOLDS(s->seq < whole.next_seq, "a line too many");
        n = s->pending.n < n ? s->pending.n : n;
        HOLDS(!memcmp(s->pending.at, s->like->text.at + from, n),
              "item %" PRIu64 " is another one: %.*s", s->seq,
              (int)(s->pending.n < 200 ? s->pending.n : 200), s->pending.at);
        drop(&s->pending, n);
        s->at += n;
        if (from + n == end_of(s->like, s->seq)) {
            s->seq++;
            s->at = 0;
        }
    }
}

/* ---- entries ---- */

static void check_entries(struct subject *s)
{
    struct pfd_wire_frame f;
    while (next_frame(&s->stream, &s->pending, &f)) {
        if (f.type == PFD_WIRE_GAP)
            miss(s, f.lost_entries, f.sequence);
        if (f.type != PFD_WIRE_ENTRIES)
            continue;
        pass_to(s, f.sequence);
        pfd_chunk_reader_open(s->stream.chunks, f.bytes.at, f.bytes.n, NULL);
        for (uint64_t item; (item = next_item(&s->stream)); s->seq++) {
            size_t at = end_of(s->like, s->seq - 1);
            EQUAL(end_of(s->like, s->seq) - at, sizeof item);
            HOLDS(!memcmp(s->like->text.at + at, &item, sizeof item), "line %d",
                  __LINE__);
        }
    }
}

/* ---- entries that are counted ---- */

static bool begins(const char *line, const char *with)
{
    return !strncmp(line, with, strlen(with));
}

/* Behind a name in a line; 0: it has none. */
static uint64_t number_of(const char *line, const char *name)
{
    const char *at = strstr(line, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static uint64_t entries_in(uint64_t from, uint64_t to)
{
    static const char entry[] = "{\"type\":\"entry\"";
    uint64_t n = 0;
    for (; from < to; from++) {
        size_t at = end_of(&lone[PLAIN], from - 1);
        n += end_of(&lone[PLAIN], from) - at > sizeof entry &&
             !memcmp(lone[PLAIN].text.at + at, entry, sizeof entry - 1);
    }
    return n;
}

/* A line that stands for one entry is the lone cursor's line, and comes once. */
static void check_entry(struct subject *s, const char *line, size_t n)
{
    uint64_t seq = number_of(line, "\"sequence\":");
    if (s->cursor.render_choice->wants.collapse) {
        uint64_t stands_for = number_of(line, "\"collapsed\":");
        s->n_entries += stands_for ? stands_for : 1;
        return;
    }
    HOLDS(seq >= s->seq && seq < whole.next_seq, "entry %" PRIu64, seq);
    size_t at = end_of(s->like, seq - 1);
    EQUAL(end_of(s->like, seq) - at, n + 1); /* with its end */
    HOLDS(!memcmp(s->like->text.at + at, line, n), "entry %" PRIu64, seq);
    s->seq = seq + 1;
    s->n_entries++;
}

static void check_counted_line(struct subject *s, const char *line, size_t n)
{
    if (begins(line, "{\"type\":\"entry\"")) {
        check_entry(s, line, n);
    } else if (begins(line, "{\"type\":\"left_out\"")) {
        const char *sampled = strstr(line, "\"sampled\"");
        s->n_left_out = number_of(line, "\"entries\":") +
                        number_of(sampled, "\"entries\":");
    } else if (strstr(line, "\"next_sequence\":")) { /* the reader's own gap */
        uint64_t n_items = number_of(line, "\"missed\":");
        uint64_t next = number_of(line, "\"next_sequence\":");
        s->missed += n_items;
        s->n_missed += entries_in(next - n_items, next);
    }
}

static void check_counted(struct subject *s)
{
    static const char data[] = "data: ";
    const char *end;
    while (s->pending.n && (end = memchr(s->pending.at, '\n', s->pending.n))) {
        size_t n = (size_t)(end - s->pending.at);
        bool is_data = s->wish->form == PFDD_SSE && n >= sizeof data - 1 &&
                       !memcmp(s->pending.at, data, sizeof data - 1);
        size_t from = is_data ? sizeof data - 1 : 0;
        char *line = strndup(s->pending.at + from, n - from);
        HOLDS(line, "out of memory");
        check_counted_line(s, line, n - from);
        free(line);
        drop(&s->pending, n + 1);
    }
}

static void check_counts(const struct subject *s)
{
    uint64_t n = entries_in(s->first, ring.next_seq);
    uint64_t n_told = s->n_entries + s->n_missed + s->n_left_out;
    if (s->cursor.render_choice->wants.collapse) {
        EQUAL(n_told, n);
    } else { /* what is made again is counted again, never too little */
        HOLDS(n_told >= n, "%" PRIu64 " of %" PRIu64 " entries", n_told, n);
    }
}

/* ---- what they do ---- */

static void check_what_came(struct subject *s)
{
    if (s->counts) {
        check_counted(s);
    } else if (s->wish->form == PFDD_ENTRIES) {
        check_entries(s);
    } else {
        check_lines(s);
    }
}

/* n items are gone, some before `next`: the others of those are nothing. */
static void miss_silently(struct subject *s, uint64_t n, uint64_t next)
{
    uint64_t first = s->seq;
    while (first + n < next &&
           end_of(s->like, first) == end_of(s->like, first - 1))
        first++;
    miss(s, n, first + n);
    pass_to(s, next);
}

/* False: there is nothing now. Of raw there is no record of a gap. */
static bool peek(struct subject *s, const char **bytes, size_t *n)
{
    uint64_t missed = s->cursor.missed;
    bool ret = pfdd_cursor_peek(&s->cursor, bytes, n);
    bool is_silent =
        s->wish->form == PFDD_RAW ||
        (s->cursor.render_choice && s->cursor.render_choice->wants.no_findings);
    if (s->cursor.missed != missed && is_silent) {
        EQUAL(s->pending.n, 0);
        miss_silently(s, s->cursor.missed - missed,
                      pfdd_cursor_seq(&s->cursor));
    }
    return ret;
}

static void take(struct subject *s, const char *bytes, size_t n)
{
    add(&s->pending, bytes, n);
    pfdd_cursor_consume(&s->cursor, n);
    check_what_came(s);
}

/* Bytes that somebody writes stay what they are. */
static void end_writing(struct subject *s)
{
    if (!s->lent)
        return;
    HOLDS(!memcmp(s->lent, s->lent_bytes.at, s->lent_bytes.n), "line %d",
          __LINE__);
    s->cursor.is_lent = false;
    take(s, s->lent, s->lent_bytes.n);
    s->lent = NULL;
    s->lent_bytes.n = 0;
}

static void read_some(struct subject *s, unsigned n_times)
{
    const char *bytes = NULL;
    size_t n = 0;
    end_writing(s);
    while (n_times-- && peek(s, &bytes, &n)) {
        size_t bite = PICK(1, 7, 1000, 30000, 1 << 20, 1 << 20);
        bite = n < bite ? n : bite;
        if (draw(8) == 0) {
            s->lent = bytes;
            s->cursor.is_lent = true;
            add(&s->lent_bytes, bytes, bite);
            return;
        }
        take(s, bytes, bite);
    }
}

/* For something else that is made of the ring. */
static void take_room(size_t n)
{
    static size_t n_taken;
    pfdd_render_cache_release(&render_cache, n_taken);
    n_taken = n && pfdd_render_cache_reserve(&render_cache, n) ? n : 0;
}

static bool are_drawn; /* the steps, which have not come to their end */

/* In the middle of what others are told, too: readers that have not taken
 * anything for long lose their pages. */
static void on_wake(struct pfdd_cursor *c)
{
    for (unsigned i = 0; i < READERS && are_drawn && draw(2); i++)
        subjects[i].cursor.times.taken_ns = 0;
    if (are_drawn && draw(4) == 0)
        take_room(draw(2) ? render_cache.n_bytes_max / PICK(1, 2, 4) : 0);
    if (draw(2))
        read_some(c->user, draw(6));
}

static void come(struct subject *s)
{
    char from[48] = "\"oldest\"";
    unsigned i = draw(WISHES + COUNTED);
    bool counts = i >= WISHES;
    const struct counted_wish *of = &counted[counts ? i - WISHES : 0];
    uint64_t oldest = pfdd_ring_oldest(&ring);
    uint64_t n_there = ring.next_seq - oldest;
    if (draw(2) && n_there) {
        snprintf(from, sizeof from, "%" PRIu64,
                 oldest + draw((unsigned)n_there));
    } else if (draw(4) == 0) {
        snprintf(from, sizeof from, "\"1970-01-01T00:00:00.%09uZ\"",
                 draw(STEPS));
    }
    *s = (struct subject){ .is_there = true,
                           .counts = counts,
                           .wish = counts ? &of->wish : &wishes[i],
                           .like = &lone[counts ? of->like : i] };
    begin(&s->cursor, &render_cache, s->wish, from);
    s->cursor.wake = on_wake;
    s->cursor.user = s;
    s->cursor.reader.must_have_all = draw(16) == 0;
    s->first = s->seq = pfdd_cursor_seq(&s->cursor);
    if (s->wish->form == PFDD_ENTRIES)
        s->stream = open_stream();
}

static void go(struct subject *s)
{
    end_writing(s);
    pfdd_cursor_deinit(&s->cursor);
    close_stream(&s->stream);
    free(s->pending.at);
    free(s->lent_bytes.at);
    *s = (struct subject){ 0 };
}

static void check_end(struct subject *s)
{
    HOLDS(!s->cursor.is_costly, "cut off for its cost");
    EQUAL(s->pending.n, 0);
    if (s->counts) {
        check_counts(s);
    } else {
        pass_to(s, ring.next_seq);
    }
    EQUAL(s->missed, s->cursor.missed);
    EQUAL(s->cursor.lines + s->missed, ring.next_seq - s->first);
}

/* All that there is. False: there is more. */
static bool read_all(void)
{
    bool ret = true;
    for (unsigned i = 0; i < READERS; i++) {
        struct subject *s = &subjects[i];
        if (!s->is_there)
            continue;
        read_some(s, UINT32_MAX);
        if (s->counts && s->cursor.render_choice->collapser &&
            !s->cursor.rendered_block)
            s->cursor.render_choice->collapser->ended_ns = 0; /* long ago */
        ret &= pfdd_cursor_is_done(&s->cursor) && !s->lent;
    }
    return ret;
}

/* ---- what happens ---- */

static void append(unsigned step)
{
    struct made *m = &made[draw(SOURCES)];
    unsigned n = draw(64) ? (unsigned)PICK(1, 3, 20, 200, 1500, 4000)
                          : 20000; /* more than a page may have */
    size_t n_bytes = 0;
    if (n_messages > MOST)
        return;
    made_entries(m, n);
    if (draw(4) == 0)
        made_finding(m, PFD_FINDING_overflow, PFD_NO_INDEX, "a \"lot\"");
    if (draw(8) == 0)
        made_gap(m, 5, "sender_lost");
    struct pfdd_stamp stamp = { .time = step, .buffer = m->buffer };
    struct pfdd_chunk *c = made_chunk(m);
    struct pfdd_chunk *copy = pfdd_chunk_new(&c->contents, c->bytes, c->n);
    pfdd_ring_append(&whole, &stamp, c);
    n_bytes = lone[0].text.n;
    learn();
    n_messages += lone[0].text.n - n_bytes;
    pfdd_ring_append(&ring, &stamp, copy);
}

static struct subject *any_there(void)
{
    struct subject *s = &subjects[draw(READERS)];
    return s->is_there ? s : NULL;
}

static void step(unsigned i)
{
    struct subject *s = any_there();
    unsigned what = draw(16);
    if (what < 4) {
        append(i);
    } else if (what < 6 && !subjects[i % READERS].is_there) {
        come(&subjects[i % READERS]);
    } else if (what < 12 && s) {
        read_some(s, draw(6));
    } else if (what == 12 && s) {
        s->cursor.times.taken_ns = 0; /* long ago */
    } else if (what == 13 && s) {
        go(s);
    } else if (what == 14) {
        take_room(PICK(0, 0, 1000, 300000));
    } else {
        uv_run(&loop, UV_RUN_NOWAIT);
        pfdd_cursors_kick(&ring);
    }
    HOLDS(render_cache.n_bytes <= render_cache.n_bytes_max + (1u << 20),
          "pages take %zu", render_cache.n_bytes);
}

/* ---- a run ---- */

static void open_all(void)
{
    static const char *const names[] = { "first", "second" };
    bool has_pools = draw(2);
    uv_loop_init(&loop);
    for (unsigned i = 0; i < SOURCES; i++) {
        size_t n = 0;
        char *dump = make_dump(&n);
        HOLDS(made_of(&made[i], make_strings(), dump, n, names[i]), "line %d",
              __LINE__);
    }
    for (unsigned i = 0; i < 2 && has_pools; i++)
        pools[i] = pfdd_pool_new(&loop, 1 + draw(3));
    pfdd_ring_init(&whole, SIZE_MAX / 2, 1);
    pfdd_render_cache_init(&whole_pages, &whole, NULL, NULL, 0, SIZE_MAX / 2);
    pfdd_ring_init(&ring, PICK(8 << 10, 64 << 10, 1 << 20, 8 << 20), 1);
    pfdd_render_cache_init(&render_cache, &ring, pools[0], pools[1], draw(4),
                           PICK(1 << 20, 2 << 20, 8 << 20));
    for (unsigned i = 0; i < WISHES; i++) {
        if (wishes[i].form == PFDD_ENTRIES)
            lone[i].stream = open_stream();
        begin(&lone[i].cursor, &whole_pages, &wishes[i], "\"oldest\"");
    }
}

static void close_all(void)
{
    for (unsigned i = 0; i < WISHES; i++) {
        pfdd_cursor_deinit(&lone[i].cursor);
        close_stream(&lone[i].stream);
        free(lone[i].text.at);
        free(lone[i].ends.at);
        free(lone[i].pending.at);
    }
    for (unsigned i = 0; i < 2; i++) {
        while (pools[i] && pfdd_pool_pending(pools[i]))
            uv_run(&loop, UV_RUN_ONCE);
        pfdd_pool_close(pools[i]);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    pfdd_render_cache_deinit(&render_cache);
    pfdd_render_cache_deinit(&whole_pages);
    pfdd_ring_deinit(&ring);
    pfdd_ring_deinit(&whole);
    for (unsigned i = 0; i < SOURCES; i++)
        made_deinit(&made[i]);
}

START_TEST(each_has_what_it_would_have_alone)
{
    state = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(_i + 1);
    open_all();
    are_drawn = true;
    for (unsigned i = 0; i < STEPS; i++)
        step(i);
    are_drawn = false;
    take_room(0);
    while (!read_all()) {
        uv_run(&loop, UV_RUN_NOWAIT);
        pfdd_cursors_kick(&ring);
    }
    for (unsigned i = 0; i < READERS; i++) {
        if (!subjects[i].is_there)
            continue;
        check_end(&subjects[i]);
        go(&subjects[i]);
    }
    close_all();
}
END_TEST

int main(int argc, char **argv)
{
    if (argc < 3)
        return EXIT_FAILURE;
    int first = atoi(argv[1]);
    Suite *suite = suite_create("drawn cursors");
    TCase *tcase = tcase_create("drawn cursors");
    tcase_set_timeout(tcase, TEST_S);
    tcase_add_loop_test(tcase, each_has_what_it_would_have_alone, first,
                        first + suite_turns(atoi(argv[2]), 4));
    suite_add_tcase(suite, tcase);
    return suite_run_all(suite);
}
