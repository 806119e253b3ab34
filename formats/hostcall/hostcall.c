/* SPDX-License-Identifier: MIT */
/*
 * HIP's printf over hostcall packets: recorded packets, or a dumped pool of
 * them. The wire layout and its sources are in README.md beside this file.
 *
 * A message comes in several packets, between those of other waves: the whole
 * buffer has to be in view, and a table of the messages that have begun is
 * kept, of fixed size like the work that is done for one buffer.
 */
#include "hostcall.h"

#include <string.h>

#include "md5.h"
#include "rocm.h"

extern const struct pfd_format pfd_format_hostcall;

#define FINDING(kind) (UINT64_C(1) << PFD_FINDING_##kind)

enum {
    LANES = HOSTCALL_LANES,
    QWORD = 8,
    SLOT = HOSTCALL_SLOT,
    PAYLOAD = HOSTCALL_PAYLOAD,
    HEADER_OLD = 24,  /* u64 next, u64 activemask, u32 service, control */
    HEADER_NEW = 16,  /* u64 activemask, u32 service, 4 bytes padding */
    POOL_HEADER = 56, /* both pools: six qwords and a seventh */
    SERVICE_PRINTF = 2,
    SERVICE_MAX = 4,
    CONTROL_READY = 1,
    /* A message's descriptor, qword 0 of a slot. */
    DESC_BEGIN = 1,
    DESC_END = 2,
    DESC_RESERVED = 0x1c,
    DESC_LENGTH_SHIFT = 5,
    DESC_LENGTH_MASK = 7,
    DESC_ID_SHIFT = 8,
    /* A message: qword of control, format string, arguments. */
    CONTROL_STDERR = 1,
    /* Before the payload of a record: u64 message id, u32 packet, u32 lane. */
    RECORD_HEADER = 16,
    OPEN_MAX = 4096,
    OPEN_TRIES = 16,
    WAITING_MAX = 8,
};

/* Longer streams are decoded as far as this. */
#define BUFFER_MAX (UINT64_C(64) << 20)

/* Slots looked at while messages are put together, at most. */
#define VISITS_MAX (UINT64_C(1) << 26)

enum dump {
    DUMP_UNKNOWN,
    DUMP_RECORDED_OLD, /* header and payload of packets, one after another */
    DUMP_RECORDED_NEW,
    DUMP_POOL_OLD, /* as in the device's memory */
    DUMP_POOL_NEW,
};

/* A message that has begun and not ended. */
struct message {
    uint64_t id;
    uint32_t first; /* packet */
    uint32_t last;
    uint8_t lane;
    bool is_open;
    bool has_begin;
};

/* A first packet whose message's id only later packets tell. */
struct waiting {
    uint64_t mask;
    uint32_t packet;
};

struct state {
    bool opened;
    bool ended; /* no packets are left; only what is open */
    enum dump dump;
    uint64_t headers; /* bytes from the start of the buffer */
    uint64_t payloads;
    uint64_t phases[2]; /* of a new pool: device's and host's */
    uint32_t n_packets;
    uint32_t packet; /* where the walk is */
    unsigned lane;
    uint64_t n_others; /* packets that are no printf */
    uint64_t n_visits;
    size_t next_open; /* to be given up, when all has ended */
    struct message open[OPEN_MAX];
    struct waiting waiting[LANES][WAITING_MAX];
    uint8_t n_waiting[LANES];
};

/* ---- where packets are ---- */

static uint64_t read_u64(const struct pfd_walk *w, uint64_t at)
{
    return at + QWORD <= pfd_walk_end(w) ? pfd_walk_u64(w, at) : 0;
}

static uint32_t read_u32(const struct pfd_walk *w, uint64_t at)
{
    return at + 4 <= pfd_walk_end(w) ? pfd_walk_u32(w, at) : 0;
}

static bool is_new(const struct state *st)
{
    return st->dump == DUMP_RECORDED_NEW || st->dump == DUMP_POOL_NEW;
}

static uint64_t header_at(const struct state *st, uint32_t i)
{
    uint64_t n = is_new(st) ? HEADER_NEW : HEADER_OLD;
    if (st->dump == DUMP_RECORDED_OLD || st->dump == DUMP_RECORDED_NEW)
        n += PAYLOAD;
    return st->headers + i * n;
}

static uint64_t slot_at(const struct state *st, uint32_t i, unsigned lane)
{
    uint64_t payload = st->payloads + (uint64_t)i * PAYLOAD;
    if (st->dump == DUMP_RECORDED_OLD) {
        payload = header_at(st, i) + HEADER_OLD;
    } else if (st->dump == DUMP_RECORDED_NEW) {
        payload = header_at(st, i) + HEADER_NEW;
    }
    return payload + (uint64_t)lane * SLOT;
}

static uint64_t mask_of(const struct pfd_walk *w, uint32_t i)
{
    const struct state *st = w->state;
    return read_u64(w, header_at(st, i) + (is_new(st) ? 0 : QWORD));
}

static uint32_t service_of(const struct pfd_walk *w, uint32_t i)
{
    const struct state *st = w->state;
    return read_u32(w, header_at(st, i) + (is_new(st) ? QWORD : 2 * QWORD));
}

/* A pool holds packets that nobody has handed over as well. */
static bool is_pending(const struct pfd_walk *w, uint32_t i)
{
    const struct state *st = w->state;
    if (st->dump == DUMP_POOL_OLD)
        return read_u32(w, header_at(st, i) + 2 * QWORD + 4) & CONTROL_READY;
    if (st->dump == DUMP_POOL_NEW) {
        return read_u32(w, st->phases[0] + 4 * (uint64_t)i) !=
               read_u32(w, st->phases[1] + 4 * (uint64_t)i);
    }
    return true;
}

static bool has_printf(const struct pfd_walk *w, uint32_t i, unsigned lane)
{
    return service_of(w, i) == SERVICE_PRINTF && is_pending(w, i) &&
           mask_of(w, i) >> lane & 1;
}

/* ---- which dump is it ---- */

/* Pointers of a pool's header as places in the dump: all of it is one
 * allocation, and what lies lowest follows the header. */
static uint64_t place(uint64_t pointer, uint64_t lowest)
{
    return pointer >= lowest ? POOL_HEADER + (pointer - lowest) : UINT64_MAX;
}

static bool fits(uint64_t n_buffer, uint64_t at, uint64_t n, uint64_t size)
{
    return at <= n_buffer && n <= (n_buffer - at) / size;
}

static bool open_pool_old(const struct pfd_walk *w, struct state *st)
{
    uint64_t n_buffer = pfd_walk_end(w);
    uint64_t headers = read_u64(w, 0);
    uint64_t payloads = read_u64(w, QWORD);
    uint64_t mask = read_u64(w, 5 * QWORD);
    if (!headers || payloads <= headers || mask & (mask + 1) || mask > 1 << 24)
        return false;
    st->headers = POOL_HEADER;
    st->payloads = place(payloads, headers);
    if (st->payloads > n_buffer || n_buffer - st->payloads < PAYLOAD)
        return false;
    uint64_t n = (payloads - headers) / HEADER_OLD;
    uint64_t held = (n_buffer - st->payloads) / PAYLOAD;
    n = n < mask + 1 ? n : mask + 1;
    st->n_packets = (uint32_t)(n < held ? n : held);
    return st->n_packets > 0;
}

static bool open_pool_new(const struct pfd_walk *w, struct state *st)
{
    uint64_t n_buffer = pfd_walk_end(w);
    uint64_t pointers[5];
    uint64_t lowest = UINT64_MAX;
    uint32_t n = read_u32(w, 6 * QWORD);
    for (unsigned i = 0; i < 5; i++) {
        pointers[i] = read_u64(w, i * (uint64_t)QWORD);
        lowest = pointers[i] < lowest ? pointers[i] : lowest;
    }
    if (!lowest || !n)
        return false;
    st->phases[0] = place(pointers[0], lowest);
    st->phases[1] = place(pointers[1], lowest);
    st->headers = place(pointers[3], lowest);
    st->payloads = place(pointers[4], lowest);
    st->n_packets = n;
    return fits(n_buffer, st->phases[0], n, 4) &&
           fits(n_buffer, st->phases[1], n, 4) &&
           fits(n_buffer, st->headers, n, HEADER_NEW) &&
           fits(n_buffer, st->payloads, n, PAYLOAD);
}

/* How many packets from the start on make sense, 8 at most. */
static unsigned count_sound(const struct pfd_walk *w, uint64_t n)
{
    unsigned i = 0;
    while (i < n && i < 8 && mask_of(w, i) &&
           service_of(w, i) - 1 < SERVICE_MAX)
        i++;
    return i;
}

static bool open_recorded(struct pfd_walk *w, struct state *st)
{
    uint64_t n_buffer = pfd_walk_end(w);
    uint64_t n_old = n_buffer / (HEADER_OLD + PAYLOAD);
    uint64_t n_new = n_buffer / (HEADER_NEW + PAYLOAD);
    st->headers = 0;
    st->dump = DUMP_RECORDED_OLD;
    unsigned old = count_sound(w, n_old);
    st->dump = DUMP_RECORDED_NEW;
    unsigned new = count_sound(w, n_new);
    if (!old && !new)
        return false;
    if (old >= new)
        st->dump = DUMP_RECORDED_OLD;
    st->n_packets = (uint32_t)(old >= new ? n_old : n_new);
    uint64_t used = header_at(st, st->n_packets);
    if (used < n_buffer) {
        pfd_walk_finding(w, PFD_FINDING_truncated_entry, used,
                         "%llu bytes are left, a packet has %llu",
                         (unsigned long long)(n_buffer - used),
                         (unsigned long long)header_at(st, 1));
        w->batch->skipped_bytes += n_buffer - used;
    }
    return true;
}

static bool open_dump(struct pfd_walk *w, struct state *st)
{
    st->opened = true;
    st->dump = DUMP_POOL_OLD;
    if (open_pool_old(w, st))
        return true;
    st->dump = DUMP_POOL_NEW;
    if (open_pool_new(w, st))
        return true;
    if (open_recorded(w, st))
        return true;
    pfd_walk_finding(w, PFD_FINDING_no_header, 0,
                     "%llu bytes, neither a pool of hostcall packets nor "
                     "recorded ones",
                     (unsigned long long)pfd_walk_end(w));
    w->batch->skipped_bytes += pfd_walk_end(w);
    return false;
}

/* ---- messages ---- */

static struct message *find_open(struct state *st, uint64_t id, unsigned lane)
{
    uint64_t hash = (id * LANES + lane) * UINT64_C(0x9e3779b97f4a7c15);
    for (unsigned i = 0; i < OPEN_TRIES; i++) {
        struct message *m = &st->open[((hash >> 40) + i) % OPEN_MAX];
        if (m->is_open && m->id == id && m->lane == lane)
            return m;
    }
    return NULL;
}

/* A free place; the last one tried is given up if there is none. */
static struct message *take_open(struct state *st, uint64_t id, unsigned lane)
{
    uint64_t hash = (id * LANES + lane) * UINT64_C(0x9e3779b97f4a7c15);
    struct message *m = NULL;
    for (unsigned i = 0; i < OPEN_TRIES; i++) {
        m = &st->open[((hash >> 40) + i) % OPEN_MAX];
        if (!m->is_open)
            break;
    }
    return m;
}

static unsigned length_of(uint64_t desc)
{
    return (unsigned)(desc >> DESC_LENGTH_SHIFT & DESC_LENGTH_MASK);
}

static void add_data(struct pfd_walk *w, uint32_t packet, unsigned lane)
{
    const struct state *st = w->state;
    uint64_t at = slot_at(st, packet, lane);
    size_t n = length_of(pfd_walk_u64(w, at)) * (size_t)QWORD;
    pfd_walk_copy_add(
        w, pfd_cursor_peek(&w->view, (size_t)(at + QWORD - w->base)), n);
}

/* The data of all packets of a message; how many there are. */
static uint32_t gather(struct pfd_walk *w, const struct message *m)
{
    struct state *st = w->state;
    uint32_t n = 1;
    uint8_t header[RECORD_HEADER];
    uint32_t lane = m->lane;
    memcpy(header, &m->id, 8);
    memcpy(header + 8, &m->first, 4);
    memcpy(header + 12, &lane, 4);
    pfd_walk_copy_add(w, header, sizeof header);
    add_data(w, m->first, m->lane);
    for (uint32_t i = m->first + 1; i <= m->last; i++) {
        if (st->n_visits++ > VISITS_MAX)
            break;
        if (!has_printf(w, i, m->lane))
            continue;
        uint64_t desc = pfd_walk_u64(w, slot_at(st, i, m->lane));
        if (desc >> DESC_ID_SHIFT != m->id || desc & DESC_BEGIN)
            continue;
        add_data(w, i, m->lane);
        n++;
    }
    return n;
}

/* Says of a message's bytes what the record needs; false: no format string. */
static bool read_message(struct pfd_record *r, const uint8_t *payload,
                         uint32_t n)
{
    struct pfd_cursor c = pfd_cursor(payload, n);
    uint64_t control = pfd_cursor_u64(&c);
    if (!pfd_cursor_ok(&c) || n <= QWORD)
        return false;
    uint32_t n_text;
    uint32_t n_used;
    const char *text = pfd_rocm_text(
        &(struct pfd_cursor){
            .base = payload,
            .n = n,
        },
        QWORD, &n_text, &n_used);
    r->key = pfd_md5_u64(text, n_text);
    r->flags |= PFD_RECORD_MADE;
    r->flags |=
        control & CONTROL_STDERR ? PFD_RECORD_STDERR : PFD_RECORD_STDOUT;
    if (control & ~(uint64_t)CONTROL_STDERR)
        r->findings |= FINDING(bad_control);
    return true;
}

static void give(struct pfd_walk *w, struct message *m, bool whole)
{
    const struct state *st = w->state;
    uint32_t n = gather(w, m);
    struct pfd_record *r = pfd_walk_record(w);
    *r = (struct pfd_record){
        .offset = slot_at(st, m->first, m->lane),
        .key = m->id,
        .findings = whole && m->has_begin ? 0 : FINDING(incomplete),
        .n_bytes = n * SLOT,
        .n_header = RECORD_HEADER,
        .kind = PFD_RECORD_ENTRY,
    };
    m->is_open = false;
    pfd_walk_copy_done(w, r);
    if (w->batch->bytes.failed)
        return;
    uint32_t n_payload = 0;
    const uint8_t *payload = pfd_batch_copied(w->batch, r, &n_payload);
    if (!m->has_begin || !read_message(r, payload, n_payload))
        r->findings |= FINDING(incomplete);
}

static void begin(struct pfd_walk *w, uint64_t id)
{
    struct state *st = w->state;
    unsigned lane = st->lane;
    if (id) {
        struct message *m = take_open(st, id, lane);
        if (m->is_open)
            give(w, m, false);
        *m = (struct message){ id,   st->packet, st->packet, (uint8_t)lane,
                               true, true };
        return;
    }
    if (st->n_waiting[lane] == WAITING_MAX) {
        struct message oldest = { .first = st->waiting[lane][0].packet,
                                  .last = st->waiting[lane][0].packet,
                                  .lane = (uint8_t)lane,
                                  .has_begin = true };
        give(w, &oldest, false);
        st->n_waiting[lane]--;
        memmove(&st->waiting[lane][0], &st->waiting[lane][1],
                sizeof st->waiting[lane] - sizeof st->waiting[lane][0]);
    }
    st->waiting[lane][st->n_waiting[lane]++] = (struct waiting){
        mask_of(w, st->packet),
        st->packet,
    };
}

/* The first packet of the message that this one goes on with: the oldest of
 * the lane, of the same wave's lanes. False: none waits. */
static bool adopt(struct pfd_walk *w, uint32_t *first)
{
    struct state *st = w->state;
    struct waiting *all = st->waiting[st->lane];
    uint64_t mask = mask_of(w, st->packet);
    for (unsigned i = 0; i < st->n_waiting[st->lane]; i++) {
        if (all[i].mask != mask)
            continue;
        *first = all[i].packet;
        st->n_waiting[st->lane]--;
        memmove(&all[i], &all[i + 1], (WAITING_MAX - i - 1) * sizeof *all);
        return true;
    }
    return false;
}

static void go_on(struct pfd_walk *w, uint64_t id, bool end)
{
    struct state *st = w->state;
    struct message *m = find_open(st, id, st->lane);
    if (!m) {
        struct message next = { .id = id,
                                .first = st->packet,
                                .lane = (uint8_t)st->lane,
                                .is_open = true };
        next.has_begin = adopt(w, &next.first);
        m = take_open(st, id, st->lane);
        if (m->is_open)
            give(w, m, false);
        *m = next;
    }
    m->last = st->packet;
    if (end)
        give(w, m, true);
}

static void do_slot(struct pfd_walk *w)
{
    struct state *st = w->state;
    uint64_t at = slot_at(st, st->packet, st->lane);
    uint64_t desc = pfd_walk_u64(w, at);
    uint64_t id = desc >> DESC_ID_SHIFT;
    if (desc & DESC_RESERVED) {
        pfd_walk_finding(w, PFD_FINDING_bad_packet, at,
                         "packet %u, lane %u: the descriptor 0x%llx has bits "
                         "that must be zero",
                         st->packet, st->lane, (unsigned long long)desc);
    }
    if (desc & DESC_BEGIN && desc & DESC_END) {
        struct message m = { .id = id,
                             .first = st->packet,
                             .last = st->packet,
                             .lane = (uint8_t)st->lane,
                             .has_begin = true };
        give(w, &m, true);
    } else if (desc & DESC_BEGIN) {
        begin(w, id);
    } else {
        go_on(w, id, desc & DESC_END);
    }
}

/* ---- the walk ---- */

/* Packets in a hole are none. */
static void pass_hole(struct pfd_walk *w)
{
    struct state *st = w->state;
    uint64_t at = header_at(st, st->packet);
    uint64_t one = header_at(st, 1) - header_at(st, 0);
    uint64_t n = (pfd_walk_pass(w, at, pfd_walk_end(w)) - at) / one;
    uint64_t left = st->n_packets - st->packet;
    n = n < left ? n : left;
    if (n && is_pending(w, st->packet))
        pfd_walk_report_hole(w, at, at + n * one);
    st->packet += (uint32_t)n;
}

/* One packet that is no printf, or the next lane of one that is. */
static void step(struct pfd_walk *w)
{
    struct state *st = w->state;
    uint64_t mask = mask_of(w, st->packet);
    uint32_t service = service_of(w, st->packet);
    bool pending = is_pending(w, st->packet);
    if (pending && st->lane == 0 && service != SERVICE_PRINTF) {
        if (service == 0 || service > SERVICE_MAX) {
            pfd_walk_finding(w, PFD_FINDING_bad_packet,
                             header_at(st, st->packet),
                             "packet %u asks for service %u, 1 to %d exist",
                             st->packet, service, SERVICE_MAX);
        } else {
            st->n_others++;
        }
    }
    if (service != SERVICE_PRINTF || !pending)
        mask = 0;
    mask &= ~UINT64_C(0) << st->lane;
    if (mask) {
        st->lane = (unsigned)__builtin_ctzll(mask);
        do_slot(w);
        mask &= mask - 1;
        st->lane++;
    }
    if (!mask) {
        st->packet++;
        st->lane = 0;
    }
}

/* Messages that never ended. */
static enum pfd_status finish(struct pfd_walk *w)
{
    struct state *st = w->state;
    for (; st->next_open < OPEN_MAX; st->next_open++) {
        if (!pfd_walk_has_room(w))
            return PFD_OK;
        if (st->open[st->next_open].is_open)
            give(w, &st->open[st->next_open], false);
    }
    for (; st->next_open < OPEN_MAX + LANES; st->next_open++) {
        size_t lane = st->next_open - OPEN_MAX;
        for (; st->n_waiting[lane]; st->n_waiting[lane]--) {
            if (!pfd_walk_has_room(w))
                return PFD_OK;
            uint32_t packet = st->waiting[lane][st->n_waiting[lane] - 1].packet;
            struct message m = { .first = packet,
                                 .last = packet,
                                 .lane = (uint8_t)lane,
                                 .has_begin = true };
            give(w, &m, false);
        }
    }
    if (!pfd_walk_has_room(w))
        return PFD_OK;
    if (st->n_others) {
        pfd_walk_finding(w, PFD_FINDING_other_service, PFD_NO_OFFSET,
                         "%llu packets are for other services than printf",
                         (unsigned long long)st->n_others);
    }
    if (st->n_visits > VISITS_MAX) {
        pfd_walk_finding(w, PFD_FINDING_too_large, PFD_NO_OFFSET,
                         "messages lie too far apart to put all of them "
                         "together");
    }
    st->n_others = 0;
    st->ended = true;
    w->at = pfd_walk_end(w);
    return w->last ? PFD_END : PFD_MORE;
}

static enum pfd_status hostcall_walk(struct pfd_walk *w)
{
    struct state *st = w->state;
    if (st->ended) {
        w->at = pfd_walk_end(w);
        return w->last ? PFD_END : PFD_MORE;
    }
    if (!st->opened) {
        if (!w->last && pfd_walk_end(w) < BUFFER_MAX)
            return PFD_MORE;
        if (!w->last) {
            pfd_walk_finding(w, PFD_FINDING_too_large, pfd_walk_end(w),
                             "more than %llu bytes of packets in a stream; "
                             "the rest is not decoded",
                             (unsigned long long)BUFFER_MAX);
        }
        if (!open_dump(w, st)) {
            st->ended = true;
            w->at = pfd_walk_end(w);
            return w->last ? PFD_END : PFD_MORE;
        }
    }
    while (st->packet < st->n_packets) {
        if (!pfd_walk_has_room(w))
            return PFD_OK;
        if (st->lane == 0)
            pass_hole(w);
        if (st->packet < st->n_packets)
            step(w);
    }
    return finish(w);
}

static void hostcall_layout(const struct pfd_string *s,
                            const struct pfd_program_facts *facts,
                            struct pfd_layout *ret)
{
}

/* A null string is sent as an empty one. */
static size_t hostcall_slots(const struct pfd_look *look, struct pfd_slot *ret,
                             uint64_t *findings)
{
    struct pfd_rocm_arguments arguments;
    uint32_t n_text;
    uint32_t n_used;
    pfd_rocm_text(&look->bytes, QWORD, &n_text, &n_used);
    pfd_rocm_lay_out(look->string->steps, &look->bytes, QWORD + n_used, 0,
                     ret, &arguments);
    *findings |= arguments.findings;
    return arguments.n_slots;
}

static void hostcall_make(const struct pfd_look *look, struct pfd_made *ret)
{
    uint32_t n_text;
    uint32_t n_used;
    const char *text = pfd_rocm_text(&look->bytes, QWORD, &n_text, &n_used);
    bool is_long = n_text > PFD_ROCM_FORMAT_MAX;
    pfd_text_add(ret->text, text, is_long ? PFD_ROCM_FORMAT_MAX : n_text);
    if (n_text == n_used || is_long)
        ret->findings |= FINDING(clipped_string);
    ret->lay_out = true;
}

static size_t hostcall_origin(const struct pfd_look *look,
                              struct pfd_origin *ret)
{
    struct pfd_cursor header = look->bytes;
    header.at = 0;
    uint64_t id = pfd_cursor_u64(&header);
    uint32_t packet = pfd_cursor_u32(&header);
    uint32_t lane = pfd_cursor_u32(&header);
    ret[0] = (struct pfd_origin){ .name = "lane", .value = { lane } };
    ret[1] = (struct pfd_origin){ .name = "packet", .value = { packet } };
    ret[2] = (struct pfd_origin){ .name = "message", .value = { id } };
    return id ? 3 : 2;
}

/* Packets that make sense among the first of a recording whose headers have
 * n_header bytes; 0: the first does not, or most do not. */
static unsigned count_recorded(const struct pfd_cursor *first,
                               uint32_t n_header)
{
    uint32_t before = n_header - HEADER_NEW; /* u64 next, in the old layout */
    struct pfd_cursor c = *first;
    unsigned n = 0;
    unsigned n_sound = 0;
    for (uint64_t at = 0; at + n_header <= first->n && n_sound * 2 >= n; n++) {
        pfd_cursor_seek(&c, at + before);
        uint64_t mask = pfd_cursor_u64(&c);
        uint32_t service = pfd_cursor_u32(&c);
        n_sound += mask && service - 1 < SERVICE_MAX;
        if (!n_sound)
            return 0;
        at += n_header + PAYLOAD;
    }
    return n_sound * 2 >= n ? n_sound : 0;
}

static int hostcall_probe(const struct pfd_cursor *first, uint64_t n_buffer)
{
    struct pfd_cursor c = *first;
    uint64_t q[7];
    for (unsigned i = 0; i < 7; i++)
        q[i] = pfd_cursor_u64(&c);
    if (!pfd_cursor_ok(&c))
        return 0;
    unsigned n_old = count_recorded(first, HEADER_OLD);
    unsigned n_new = count_recorded(first, HEADER_NEW);
    bool whole = (n_old && n_buffer % (HEADER_OLD + PAYLOAD) == 0) ||
                 (n_new && n_buffer % (HEADER_NEW + PAYLOAD) == 0);
    if (n_old > 1 || n_new > 1 || (n_buffer && whole))
        return 85;
    if (q[0] && q[1] > q[0] && q[1] - q[0] < 1 << 30 && q[5] &&
        !(q[5] & (q[5] + 1)))
        return 75;
    if (q[0] && q[3] && q[4] > q[3] && q[4] - q[3] < 1 << 30 &&
        (uint32_t)q[6] && (uint32_t)q[6] < 1 << 20 && q[1] > q[0] &&
        q[1] - q[0] < 1 << 30)
        return 75;
    return n_old || n_new ? 50 : 0;
}

static const char *const origin_names[] = {
    "lane",
    "packet",
    "message",
    NULL,
};

static bool hostcall_buffer_word(const struct pfd_walk *w, uint64_t at,
                                 struct pfd_word *ret)
{
    const struct state *st = w->state;
    bool is_pool = st->dump == DUMP_POOL_OLD || st->dump == DUMP_POOL_NEW;
    struct hostcall_map map = {
        .is_new = is_new(st),
        .is_pool = is_pool,
        .headers = st->headers,
        .header_step = header_at(st, 1) - header_at(st, 0),
        .payloads = slot_at(st, 0, 0),
        .payload_step = slot_at(st, 1, 0) - slot_at(st, 0, 0),
        .phases = { st->phases[0], st->phases[1] },
        .n_packets = st->n_packets,
    };
    return st->n_packets && hostcall_word(w, &map, at, ret);
}

const struct pfd_format pfd_format_hostcall = {
    .info = {
        .name = "hostcall",
        .title = "printf of AMD's HIP, hostcall packets (ROCm)",
    },
    .state_size = sizeof(struct state),
    .strings = { .name = "hostcall", .table = 3, .layout = hostcall_layout },
    .is_scattered = true,
    .probe = hostcall_probe,
    .walk = hostcall_walk,
    .slots = hostcall_slots,
    .make = hostcall_make,
    .origin = hostcall_origin,
    .origin_names = origin_names,
    .buffer_word = hostcall_buffer_word,
};
