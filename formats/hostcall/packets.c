/* SPDX-License-Identifier: MIT */
/*
 * Locates hostcall packets: recorded one after another, or in the pool that a
 * device and its host share. README.md has the layouts and their sources.
 */
#include "layout.h"

enum {
    /* u64 next, u64 activemask, u32 service, control */
    HEADER_OLD = HOSTCALL_HEADER_OLD,
    /* u64 activemask, u32 service, 4 bytes padding */
    HEADER_NEW = HOSTCALL_HEADER_NEW,
    /* both pools: six qwords, and a seventh */
    POOL_HEADER = HOSTCALL_POOL_HEADER,
    CONTROL_READY = 1,
};

static uint64_t read_u64(const struct pfd_walk *w, uint64_t at)
{
    return at + HOSTCALL_QWORD <= pfd_walk_end(w) ? pfd_walk_u64(w, at) : 0;
}

static uint32_t read_u32(const struct pfd_walk *w, uint64_t at)
{
    return at + 4 <= pfd_walk_end(w) ? pfd_walk_u32(w, at) : 0;
}

static bool is_new(const struct hostcall_dump *d)
{
    return d->kind == HOSTCALL_RECORDED_NEW || d->kind == HOSTCALL_POOL_NEW;
}

static bool is_recorded(const struct hostcall_dump *d)
{
    return d->kind == HOSTCALL_RECORDED_OLD || d->kind == HOSTCALL_RECORDED_NEW;
}

uint64_t hostcall_header_at(const struct pfd_walk *w, uint32_t i)
{
    const struct hostcall_dump *d = w->state;
    uint64_t n = is_new(d) ? HEADER_NEW : HEADER_OLD;
    if (is_recorded(d))
        n += HOSTCALL_PAYLOAD;
    return d->headers + i * n;
}

uint64_t hostcall_slot_at(const struct pfd_walk *w, uint32_t i, unsigned lane)
{
    const struct hostcall_dump *d = w->state;
    uint64_t payload = d->payloads + (uint64_t)i * HOSTCALL_PAYLOAD;
    if (d->kind == HOSTCALL_RECORDED_OLD) {
        payload = hostcall_header_at(w, i) + HEADER_OLD;
    } else if (d->kind == HOSTCALL_RECORDED_NEW) {
        payload = hostcall_header_at(w, i) + HEADER_NEW;
    }
    return payload + (uint64_t)lane * HOSTCALL_SLOT;
}

uint32_t hostcall_pass(const struct pfd_walk *w, uint32_t i)
{
    const struct hostcall_dump *d = w->state;
    uint64_t at = hostcall_header_at(w, i);
    uint64_t one = hostcall_header_at(w, 1) - hostcall_header_at(w, 0);
    uint64_t n = (pfd_walk_pass(w, at, pfd_walk_end(w)) - at) / one;
    uint64_t left = d->n_packets - i;
    return i + (uint32_t)(n < left ? n : left);
}

uint64_t hostcall_mask(const struct pfd_walk *w, uint32_t i)
{
    return read_u64(w, hostcall_header_at(w, i) +
                           (is_new(w->state) ? 0 : HOSTCALL_QWORD));
}

uint32_t hostcall_service(const struct pfd_walk *w, uint32_t i)
{
    return read_u32(w, hostcall_header_at(w, i) +
                           (is_new(w->state) ? 1u : 2u) * HOSTCALL_QWORD);
}

bool hostcall_is_pending(const struct pfd_walk *w, uint32_t i)
{
    const struct hostcall_dump *d = w->state;
    if (d->kind == HOSTCALL_POOL_OLD) {
        return read_u32(w, hostcall_header_at(w, i) + 2 * HOSTCALL_QWORD + 4) &
               CONTROL_READY;
    }
    if (d->kind == HOSTCALL_POOL_NEW) {
        return read_u32(w, d->phases[0] + 4 * (uint64_t)i) !=
               read_u32(w, d->phases[1] + 4 * (uint64_t)i);
    }
    return true;
}

uint64_t hostcall_printing(const struct pfd_walk *w, uint32_t i)
{
    return hostcall_service(w, i) == HOSTCALL_PRINTF &&
                   hostcall_is_pending(w, i)
               ? hostcall_mask(w, i)
               : 0;
}

/* ---- the kind of a dump ---- */

/* Converts a pointer of a pool's header to an offset in the dump. A pool is one
 * allocation, and its lowest part follows the header. */
static uint64_t place(uint64_t pointer, uint64_t lowest)
{
    return pointer >= lowest ? POOL_HEADER + (pointer - lowest) : UINT64_MAX;
}

static bool fits(uint64_t n_buffer, uint64_t at, uint64_t n, uint64_t size)
{
    return at <= n_buffer && n <= (n_buffer - at) / size;
}

/* Limits the number of packets to those whose payload is present. */
static bool hold_packets(struct hostcall_dump *d, uint64_t n)
{
    if (d->payloads > d->n_bytes)
        return false;
    uint64_t held = (d->n_bytes - d->payloads) / HOSTCALL_PAYLOAD;
    d->n_stated = (uint32_t)n;
    d->n_packets = (uint32_t)(n < held ? n : held);
    return d->n_packets > 0;
}

static bool open_pool_old(const struct pfd_walk *w, struct hostcall_dump *d)
{
    uint64_t headers = read_u64(w, 0);
    uint64_t payloads = read_u64(w, HOSTCALL_QWORD);
    uint64_t mask = read_u64(w, 5 * HOSTCALL_QWORD);
    if (!headers || payloads <= headers || mask & (mask + 1) || mask > 1 << 24)
        return false;
    d->headers = POOL_HEADER;
    d->payloads = place(payloads, headers);
    uint64_t n = (payloads - headers) / HEADER_OLD;
    return hold_packets(d, n < mask + 1 ? n : mask + 1);
}

static bool open_pool_new(const struct pfd_walk *w, struct hostcall_dump *d)
{
    uint64_t n_buffer = d->n_bytes;
    uint64_t pointers[5];
    uint64_t lowest = UINT64_MAX;
    uint32_t n = read_u32(w, 6 * HOSTCALL_QWORD);
    for (unsigned i = 0; i < 5; i++) {
        pointers[i] = read_u64(w, i * (uint64_t)HOSTCALL_QWORD);
        lowest = pointers[i] < lowest ? pointers[i] : lowest;
    }
    if (!lowest || !n)
        return false;
    d->phases[0] = place(pointers[0], lowest);
    d->phases[1] = place(pointers[1], lowest);
    d->headers = place(pointers[3], lowest);
    d->payloads = place(pointers[4], lowest);
    return fits(n_buffer, d->phases[0], n, 4) &&
           fits(n_buffer, d->phases[1], n, 4) &&
           fits(n_buffer, d->headers, n, HEADER_NEW) && hold_packets(d, n);
}

static bool is_sound(const struct pfd_walk *w, uint32_t i)
{
    return hostcall_mask(w, i) &&
           hostcall_service(w, i) - 1 < HOSTCALL_SERVICE_MAX;
}

/* Recorded packets; the first one must be plausible. */
static bool open_recorded(const struct pfd_walk *w, struct hostcall_dump *d)
{
    uint64_t one = hostcall_header_at(w, 1) - hostcall_header_at(w, 0);
    d->n_packets = (uint32_t)(d->n_bytes / one);
    d->n_stated = d->n_packets;
    return d->n_packets > 0 && is_sound(w, 0);
}

/* Evidence for a reading of a dump, and against it. */
struct evidence {
    bool fills;     /* it ends where the buffer ends */
    uint64_t n_fit; /* packets of other services, and printing slots */
    uint64_t n_wrong;
};

static bool fills(const struct pfd_walk *w)
{
    const struct hostcall_dump *d = w->state;
    uint64_t end = is_recorded(d)
                       ? hostcall_header_at(w, d->n_packets)
                       : d->payloads + (uint64_t)d->n_stated * HOSTCALL_PAYLOAD;
    /* A pool may be dumped in whole pages. */
    return end == d->n_bytes || (!is_recorded(d) && end < d->n_bytes &&
                                 d->n_bytes - end < HOSTCALL_PAYLOAD);
}

static void weigh_slots(const struct pfd_walk *w, uint32_t i,
                        struct evidence *ret)
{
    for (uint64_t mask = hostcall_printing(w, i); mask; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(mask);
        uint64_t desc = read_u64(w, hostcall_slot_at(w, i, lane));
        ret->n_fit += desc && !(desc & HOSTCALL_RESERVED);
        ret->n_wrong += (desc & HOSTCALL_RESERVED) != 0;
    }
}

static struct evidence weigh(const struct pfd_walk *w)
{
    const struct hostcall_dump *d = w->state;
    struct evidence ret = { .fills = fills(w) };
    for (uint32_t i = 0; i < d->n_packets; i++) {
        /* Packets in a hole are all wrong, and need not be read. */
        if (is_recorded(d)) {
            uint32_t next = hostcall_pass(w, i);
            ret.n_wrong += next - i;
            i = next;
            if (i == d->n_packets)
                break;
        }
        bool pending = hostcall_is_pending(w, i);
        bool sound = is_sound(w, i);
        ret.n_wrong += pending && !sound;
        ret.n_fit +=
            pending && sound && hostcall_service(w, i) != HOSTCALL_PRINTF;
        weigh_slots(w, i, &ret);
    }
    return ret;
}

static bool is_better(const struct evidence *a, const struct evidence *b)
{
    bool a_whole = a->fills && !a->n_wrong;
    bool b_whole = b->fills && !b->n_wrong;
    if (a_whole != b_whole)
        return a_whole;
    return (int64_t)(a->n_fit - a->n_wrong) > (int64_t)(b->n_fit - b->n_wrong);
}

/* Is it a possible reading instead of the best one? */
static bool is_rival(const struct evidence *other, const struct evidence *best)
{
    return other->n_fit && !other->n_wrong &&
           (other->fills >= best->fills || best->n_wrong || !best->n_fit);
}

/* The kinds of dumps; of equally good ones, the first is used. */
static const struct {
    const char *name;
    bool (*open)(const struct pfd_walk *w, struct hostcall_dump *d);
    enum hostcall_kind kind;
} readings[] = {
    { "a pool of the old layout", open_pool_old, HOSTCALL_POOL_OLD },
    { "a pool of the 2026 layout", open_pool_new, HOSTCALL_POOL_NEW },
    { "old packets, recorded", open_recorded, HOSTCALL_RECORDED_OLD },
    { "2026 packets, recorded", open_recorded, HOSTCALL_RECORDED_NEW },
};

enum {
    READINGS = sizeof readings / sizeof *readings,
};

/* Sets the dump to reading i; false: impossible. */
static bool read_as(struct pfd_walk *w, size_t i)
{
    struct hostcall_dump *d = w->state;
    *d = (struct hostcall_dump){
        .n_bytes = d->n_bytes,
        .kind = readings[i].kind,
    };
    return readings[i].open(w, d);
}

static void report_rivals(struct pfd_walk *w, const struct evidence *all,
                          size_t best)
{
    for (size_t i = 0; i < READINGS; i++) {
        if (i == best || !is_rival(&all[i], &all[best]))
            continue;
        pfd_walk_finding(w, PFD_FINDING_format_choice, 0,
                         "read as %s, in which %llu parts make sense; as %s, "
                         "%llu do",
                         readings[best].name,
                         (unsigned long long)all[best].n_fit, readings[i].name,
                         (unsigned long long)all[i].n_fit);
    }
}

/* Reports submitted packets whose payloads are missing. */
static void report_cut_pool(struct pfd_walk *w)
{
    const struct hostcall_dump *d = w->state;
    uint64_t n = 0;
    for (uint32_t i = d->n_packets; i < d->n_stated; i++)
        n += hostcall_is_pending(w, i);
    if (!n)
        return;
    pfd_walk_finding(w, PFD_FINDING_truncated_entry, d->n_bytes,
                     "the pool is cut: of %llu packets the payload is missing",
                     (unsigned long long)n);
    w->batch->lost_bytes += n * HOSTCALL_PAYLOAD;
}

static void report_cut_packet(struct pfd_walk *w)
{
    const struct hostcall_dump *d = w->state;
    uint64_t used = hostcall_header_at(w, d->n_packets);
    if (used == d->n_bytes)
        return;
    pfd_walk_finding(w, PFD_FINDING_truncated_entry, used,
                     "%llu bytes are left, a packet has %llu",
                     (unsigned long long)(d->n_bytes - used),
                     (unsigned long long)hostcall_header_at(w, 1));
    w->batch->skipped_bytes += d->n_bytes - used;
}

bool hostcall_open(struct pfd_walk *w)
{
    const struct hostcall_dump *d = w->state;
    struct evidence all[READINGS] = { 0 };
    size_t best = READINGS;
    for (size_t i = 0; i < READINGS; i++) {
        if (!read_as(w, i))
            continue;
        all[i] = weigh(w);
        if (best == READINGS || is_better(&all[i], &all[best]))
            best = i;
    }
    if (best == READINGS) {
        pfd_walk_finding(w, PFD_FINDING_no_header, 0,
                         "%llu bytes, neither a pool of hostcall packets nor "
                         "recorded ones",
                         (unsigned long long)d->n_bytes);
        w->batch->skipped_bytes += d->n_bytes;
        return false;
    }
    read_as(w, best);
    report_rivals(w, all, best);
    if (is_recorded(d)) {
        report_cut_packet(w);
    } else {
        report_cut_pool(w);
    }
    return true;
}

/* ---- the first bytes ---- */

/* Do most lanes of a printf packet have valid descriptors of messages? c: at
 * the payload. */
static bool is_printing(struct pfd_byte_reader c, uint64_t mask)
{
    size_t at = c.at;
    unsigned n = 0;
    unsigned n_sound = 0;
    bool has_words = false;
    for (unsigned lane = 0; lane < HOSTCALL_LANES; lane++) {
        if (!(mask >> lane & 1) || at + (lane + 1) * HOSTCALL_SLOT > c.n)
            continue;
        uint64_t d = pfd_byte_reader_peek_u64(&c, at + lane * HOSTCALL_SLOT);
        n++;
        n_sound += !(d & HOSTCALL_RESERVED);
        has_words |= (d >> HOSTCALL_COUNT_SHIFT & 7) != 0;
    }
    return n_sound * 2 >= n && has_words;
}

/* The number of plausible packets at the beginning of a recording whose headers
 * have n_header bytes. 0: the first one is not plausible, or most are not, or
 * none prints. */
static unsigned count_recorded(const struct pfd_byte_reader *first,
                               uint32_t n_header, uint64_t n_buffer)
{
    bool is_whole = n_buffer && n_buffer % (n_header + HOSTCALL_PAYLOAD) == 0;
    uint32_t before = n_header - HEADER_NEW; /* u64 next, in the old layout */
    struct pfd_byte_reader c = *first;
    unsigned n = 0;
    unsigned n_sound = 0;
    bool prints = false;
    for (uint64_t at = 0; at + n_header <= first->n && n_sound * 2 >= n; n++) {
        pfd_byte_reader_seek(&c, at + before);
        uint64_t mask = pfd_byte_reader_u64(&c);
        uint32_t service = pfd_byte_reader_u32(&c);
        pfd_byte_reader_seek(&c, at + n_header);
        bool is_sound =
            mask && service - 1 < HOSTCALL_SERVICE_MAX &&
            (service != HOSTCALL_PRINTF || is_whole || is_printing(c, mask));
        n_sound += is_sound;
        prints |= is_sound && service == HOSTCALL_PRINTF;
        if (!n_sound)
            return 0;
        at += n_header + HOSTCALL_PAYLOAD;
    }
    return prints && n_sound * 2 >= n ? n_sound : 0;
}

int hostcall_probe(const struct pfd_byte_reader *first, uint64_t n_buffer)
{
    struct pfd_byte_reader c = *first;
    uint64_t q[7];
    for (unsigned i = 0; i < 7; i++)
        q[i] = pfd_byte_reader_u64(&c);
    if (!pfd_byte_reader_ok(&c))
        return 0;
    unsigned n_old = count_recorded(first, HEADER_OLD, n_buffer);
    unsigned n_new = count_recorded(first, HEADER_NEW, n_buffer);
    bool whole = (n_old && n_buffer % (HEADER_OLD + HOSTCALL_PAYLOAD) == 0) ||
                 (n_new && n_buffer % (HEADER_NEW + HOSTCALL_PAYLOAD) == 0);
    if (n_old > 1 || n_new > 1 || (n_buffer && whole))
        return 85;
    enum {
        ADDRESS_MIN = 1 << 16
    };
    if (q[0] >= ADDRESS_MIN && q[1] > q[0] && q[1] - q[0] < 1 << 30 &&
        !(q[5] & (q[5] + 1))) {
        uint64_t n_payloads = n_buffer - POOL_HEADER - (q[1] - q[0]);
        if (n_payloads / HOSTCALL_PAYLOAD == q[5] + 1 &&
            n_payloads % HOSTCALL_PAYLOAD == 0)
            return 85;
        if (q[5])
            return 75;
    }
    if (q[0] >= ADDRESS_MIN && q[3] && q[4] > q[3] && q[4] - q[3] < 1 << 30 &&
        (uint32_t)q[6] && (uint32_t)q[6] < 1 << 20 && q[1] > q[0] &&
        q[1] - q[0] < 1 << 30)
        return 75;
    /* Less than one packet is no evidence. */
    return (n_old || n_new) && first->n >= HEADER_NEW + HOSTCALL_PAYLOAD ? 50
                                                                         : 0;
}
