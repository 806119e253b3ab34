/* SPDX-License-Identifier: MIT */
/* Where a described ring begins and ends, and what it lost. */
#include "core/base/zero.h"
#include "walk.h"

enum {
    /* A counter of more than this, and so many times what is there, is none,
     * where no entry is; ABSURD_BYTES are never asked for. */
    WANTED_MAX = 1 << 26,
    TIMES_MAX = 64,
};

#define ABSURD_BYTES (UINT64_C(1) << 48)

uint64_t ring_word_slowly(const struct pfd_walk *w, const struct ring *st,
                          uint64_t at, unsigned n)
{
    uint64_t ret = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t place = ring_place(st, at + i);
        if (place < w->base || place >= pfd_walk_end(w))
            break;
        uint8_t byte =
            *pfd_byte_reader_peek(&w->view, (size_t)(place - w->base));
        ret |= (uint64_t)byte << (8 * i);
    }
    return ret;
}

void ring_look_at_view(const struct pfd_walk *w, struct ring *st)
{
    uint64_t end = pfd_walk_end(w);
    st->straight = st->fold < end ? st->fold : end;
}

bool ring_is_absurd(const struct pfd_walk *w, const struct ring *st)
{
    return st->wanted != UINT64_MAX && st->wanted > WANTED_MAX &&
           st->wanted / TIMES_MAX > pfd_walk_end(w);
}

/* ---- a counter ---- */

static uint64_t product(uint64_t n, uint64_t unit, uint64_t from)
{
    return n > (UINT64_MAX - 1 - from) / unit ? UINT64_MAX - 1
                                              : from + n * unit;
}

uint64_t ring_wanted(const uint64_t *v, uint64_t counter)
{
    uint64_t ret =
        v[RING_SLOT_BYTES]
            ? product(counter, v[RING_SLOT_BYTES], v[RING_DATA])
            : product(counter, v[RING_COUNTER_UNIT], v[RING_COUNTER_FROM]);
    return ret < v[RING_DATA] ? v[RING_DATA] : ret;
}

static void take_counter(const struct pfd_walk *w, struct ring *st)
{
    const struct pfd_string *other = pfd_table_find(w->table, COUNTER_KEY);
    bool is_here = !st->number[RING_COUNTER_FILE];
    st->wanted = UINT64_MAX;
    if (!ring_has(st, RING_COUNTER) || (!is_here && !other))
        return;
    st->counter = is_here ? ring_field(w, st, 0, RING_COUNTER)
                          : pfd_string_layout(other)[0];
    st->wanted = ring_wanted(st->number, st->counter);
}

/* ---- positions ---- */

/* The remaining bytes may begin within an entry. */
static void lose_oldest(struct pfd_walk *w, struct ring *st, uint64_t n)
{
    w->batch->lost_bytes += n;
    st->is_lost = true;
    st->why = "begins in what was written over";
    pfd_walk_finding(w, PFD_FINDING_overflow, st->number[RING_DATA],
                     "%llu bytes were written over before they were read",
                     (unsigned long long)n);
}

/* The position at which a field of so many bits begins anew; 0: at 2^64. */
static uint64_t turn_of(const uint64_t *v)
{
    uint64_t unit = v[RING_POSITION_UNIT];
    uint64_t bits = v[RING_WRITE_BITS];
    bool is_far = bits >= 64 || (UINT64_C(1) << bits) > UINT64_MAX / unit;
    return is_far ? 0 : (UINT64_C(1) << bits) * unit;
}

struct pfd_live_ring ring_positions(const uint64_t *v,
                                    const struct ring_fields *fields,
                                    uint64_t n)
{
    struct pfd_live_ring ret = {
        .data = v[RING_DATA],
        .capacity = n,
        .write = product(fields->write, v[RING_POSITION_UNIT], 0),
        .read = product(fields->read, v[RING_POSITION_UNIT], 0),
        .turn = turn_of(v),
        .grows = v[RING_POSITION_GROWS],
        .is_whole = v[RING_POSITION_WHOLE],
        .is_stalled =
            v[RING_STALL_BITS] && fields->stall == v[RING_STALL_VALUE],
    };
    if (!n ||
        (ret.grows ? ret.read > ret.write : ret.read > n || ret.write > n))
        ret.why = "the ring's positions are not within it";
    return ret;
}

static struct ring_fields fields_of(const struct pfd_walk *w,
                                    const struct ring *st)
{
    return (struct ring_fields){
        .write = ring_field(w, st, 0, RING_WRITE),
        .read = ring_has(st, RING_READ) ? ring_field(w, st, 0, RING_READ) : 0,
        .stall =
            ring_has(st, RING_STALL) ? ring_field(w, st, 0, RING_STALL) : 0,
    };
}

/* The part between a reader's position and the writer's. */
static const char *take_positions(struct pfd_walk *w, struct ring *st)
{
    const uint64_t *v = st->number;
    uint64_t room = st->capacity;
    struct ring_fields fields = fields_of(w, st);
    struct pfd_live_ring is = ring_positions(v, &fields, room);
    if (is.why)
        return is.why;
    uint64_t n = is.write - is.read;
    uint64_t from = is.read;
    if (is.grows) {
        if (n > room)
            lose_oldest(w, st, n - room);
        n = n < room ? n : room;
        from = (is.write - n) % room;
    } else {
        n = from <= is.write ? n : n + room;
        from %= room;
        if (n == 0 && is.is_stalled)
            n = room;
    }
    st->fold = v[RING_DATA] + room;
    st->at = st->from = st->next = v[RING_DATA] + from;
    st->end = st->wanted = st->at + n;
    if (is.is_stalled) {
        pfd_walk_finding(w, PFD_FINDING_nearly_full, v[RING_STALL],
                         "the program waits for room: the ring of %llu bytes "
                         "holds %llu that were not read",
                         (unsigned long long)room, (unsigned long long)n);
    }
    return NULL;
}

/* ---- the beginning ---- */

static enum pfd_status no_ring(struct pfd_walk *w, const char *why)
{
    pfd_walk_finding(w, PFD_FINDING_no_header, 0, "%s", why);
    w->batch->skipped_bytes += pfd_walk_end(w) - w->at;
    w->at = pfd_walk_end(w);
    return PFD_END;
}

uint64_t ring_header(const uint64_t *numbers)
{
    static const enum ring_number fields[] = { RING_CAPACITY, RING_WRITE,
                                               RING_READ, RING_STALL };
    uint64_t ret = numbers[RING_DATA];
    for (size_t i = 0; i <= sizeof fields / sizeof *fields; i++) {
        enum ring_number field = i ? fields[i - 1] : RING_COUNTER;
        const uint64_t *v = numbers + field;
        uint64_t end = v[FIELD_AT] + (v[FIELD_SHIFT] + v[FIELD_BITS] + 7) / 8;
        bool is_here = i || !numbers[RING_COUNTER_FILE];
        if (v[FIELD_BITS] && is_here && end > ret)
            ret = end;
    }
    return ret;
}

uint64_t ring_limit(const uint64_t *v, uint64_t field)
{
    if (v[RING_CAPACITY_BITS]) {
        uint64_t end =
            product(field, v[RING_CAPACITY_UNIT], v[RING_CAPACITY_FROM]);
        return end > v[RING_DATA] ? end : v[RING_DATA];
    }
    return v[RING_CAPACITY_BYTES] ? v[RING_DATA] + v[RING_CAPACITY_BYTES]
                                  : UINT64_MAX;
}

uint64_t ring_capacity(const uint64_t *v, uint64_t field, uint64_t n_buffer)
{
    uint64_t limit = ring_limit(v, field);
    uint64_t most = n_buffer > v[RING_DATA] ? n_buffer - v[RING_DATA] : 0;
    if (limit <= n_buffer)
        return limit - v[RING_DATA];
    return v[RING_CAPACITY_BITS] ? 0 : most;
}

static void take_limit(const struct pfd_walk *w, struct ring *st)
{
    const uint64_t *v = st->number;
    uint64_t field =
        ring_has(st, RING_CAPACITY) ? ring_field(w, st, 0, RING_CAPACITY) : 0;
    st->limit = ring_limit(v, field);
    if (st->is_ring)
        st->capacity = ring_capacity(v, field, pfd_walk_end(w));
}

enum pfd_status ring_begin(struct pfd_walk *w, struct ring *st)
{
    const struct pfd_string *row = pfd_table_find(w->table, RING_KEY);
    uint64_t *v = st->number;
    if (!row || row->n_layout < RING_NUMBERS)
        return no_ring(w, "no description of the ring is loaded");
    memcpy(v, pfd_string_layout(row), sizeof st->number);
    st->is_ring = ring_has(st, RING_WRITE);
    st->fold = UINT64_MAX;
    uint64_t head = ring_header(v);
    if (pfd_walk_end(w) < head) {
        return w->last ? no_ring(w, "the file ends before the ring's data")
                       : PFD_MORE;
    }
    if (st->is_ring && !w->last)
        return PFD_MORE;
    ring_look_at_view(w, st);
    take_limit(w, st);
    st->at = v[RING_DATA];
    take_counter(w, st);
    st->end = st->wanted;
    const char *why = st->is_ring ? take_positions(w, st) : NULL;
    if (why)
        return no_ring(w, why);
    if (!st->is_ring && st->end > st->limit)
        st->end = st->limit;
    st->is_open = true;
    ring_look_at_view(w, st);
    if (!st->is_ring)
        w->at = st->at;
    return PFD_OK;
}

/* ---- the end ---- */

void ring_look_behind(const struct pfd_walk *w, struct ring *st)
{
    enum {
        CHUNK = 1 << 16
    };
    uint64_t at = st->limit > st->seen ? st->limit : st->seen;
    uint64_t end = pfd_walk_end(w);
    while (!st->has_more && at < end) {
        at = pfd_walk_pass(w, at, end);
        uint64_t n = end - at < CHUNK ? end - at : CHUNK;
        const uint8_t *p =
            pfd_byte_reader_peek(&w->view, (size_t)(at - w->base));
        st->has_more = !pfd_is_zero(p, (size_t)n);
        at += n;
    }
    st->seen = at;
}

void ring_report_behind(struct pfd_walk *w, const struct ring *st)
{
    unsigned long long n = pfd_walk_end(w) - st->limit;
    if (!st->has_more)
        return;
    w->batch->skipped_bytes += n;
    pfd_walk_finding(w, PFD_FINDING_not_read, st->limit, PFD_RING_BEHIND, n,
                     (unsigned long long)st->limit);
}

void ring_report_loss(struct pfd_walk *w, const struct ring *st)
{
    uint64_t room = st->is_ring ? UINT64_MAX : pfd_walk_end(w);
    if (!st->is_ring && st->limit < room)
        room = st->limit;
    uint64_t held = st->held ? st->held : room;
    if (st->number[RING_COUNTER_FILE] && st->wanted == UINT64_MAX) {
        pfd_walk_finding(w, PFD_FINDING_no_header, st->number[RING_DATA],
                         "the ring's counter is in another file, which was not "
                         "given (--counter FILE): entries go up to zeros, and "
                         "what is lost is not known");
        return;
    }
    if (st->wanted == UINT64_MAX || st->wanted <= held)
        return;
    if (st->is_none || st->wanted >= ABSURD_BYTES) {
        pfd_walk_finding(
            w, PFD_FINDING_bad_header, st->number[RING_COUNTER],
            st->is_none ? "the counter is %llu, and no entry is in the "
                          "%llu bytes that are here: it is damaged, or "
                          "this is another buffer"
                        : "the counter is %llu, which no program asks for: "
                          "what is lost behind the %llu bytes that are "
                          "here is not known",
            (unsigned long long)st->counter, (unsigned long long)held);
        return;
    }
    pfd_walk_report_overflow(w, "the counter says", st->wanted, held);
}
