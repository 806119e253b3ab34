/* SPDX-License-Identifier: MIT */
/*
 * HIP's printf over hostcall packets: recorded packets, or a dumped pool of
 * them. README.md beside this file describes the wire layout, with sources.
 *
 * A message takes several packets, which lie between those of other waves. So
 * the whole buffer has to be in view, and a table holds the messages that have
 * begun. Its size is fixed, and the work for one buffer is limited.
 */
#include <string.h>

#include "core/base/md5.h"
#include "core/decode/inspect.h"
#include "core/decode/rocm_layout.h"
#include "layout.h"

extern const struct pfd_format pfd_format_hostcall;

enum {
    DESC_LENGTH_SHIFT = 5,
    DESC_LENGTH_MASK = 7,
    /* A message: qword of control, format string, arguments. */
    CONTROL_STDERR = 1,
    OPEN_MAX = 4096,
    OPEN_TRIES = 16,
    WAITING_MAX = 64,
    HOSTS_MAX = 1 + PFD_ALTERNATIVES_MAX,
};

/* Only so many bytes of a longer stream are decoded. */
#define BUFFER_MAX (UINT64_C(64) << 20)

/* Limit for slots that are visited while messages are put together. */
#define VISITS_MAX (UINT64_C(1) << 26)

/* A message that has begun and not ended. */
struct message {
    uint64_t id;
    uint32_t first;  /* its first packet */
    uint32_t second; /* the next one, the first with its id; 0: none yet */
    uint32_t last;
    uint32_t others[PFD_ALTERNATIVES_MAX]; /* other possible first packets */
    uint8_t n_others;
    uint8_t lane;
    bool is_open;
    bool has_begin;
    bool may_have_none; /* its first packet may not have been recorded */
};

/* A first packet whose message's id is known from later packets only. */
struct waiting {
    uint64_t mask;
    uint32_t packet;
    bool is_taken; /* used, but another message could have used it */
};

struct state {
    struct hostcall_dump dump; /* must be the first */
    bool opened;
    bool begins_with_ids; /* packets were recorded after the host's reply */
    bool ended;           /* all packets were handled; only open messages are
                             left */
    uint32_t packet;      /* the walk's position */
    unsigned lane;
    uint64_t n_others; /* packets of services other than printf */
    uint64_t n_visits;
    size_t next_open; /* index of the next open message to end, after all
                         packets */
    struct message open[OPEN_MAX];
    /* If no host fits, first packets wait here for continuing ones. */
    struct waiting waiting[HOSTCALL_LANES][WAITING_MAX];
    uint8_t n_waiting[HOSTCALL_LANES];
    /* For each lane, the last packet that continues a message without a known
     * first packet. A message joined before it may have another's first
     * packet. */
    uint32_t no_beginning[HOSTCALL_LANES];
    bool is_rehearsal; /* the pass that finds those; adds no records */
    /* Hosts that may have assigned the ids; the first is used. */
    size_t n_hosts;
    struct hostcall_host hosts[HOSTS_MAX];
    struct hostcall_host scratch;
};

/* ---- messages ---- */

static struct message *find_open(struct state *st, uint64_t id, unsigned lane)
{
    uint64_t hash = (id * HOSTCALL_LANES + lane) * UINT64_C(0x9e3779b97f4a7c15);
    for (unsigned i = 0; i < OPEN_TRIES; i++) {
        struct message *m = &st->open[((hash >> 40) + i) % OPEN_MAX];
        if (m->is_open && m->id == id && m->lane == lane)
            return m;
    }
    return NULL;
}

/* A free slot of the table; else the last one tried, whose message is ended. */
static struct message *take_open(struct state *st, uint64_t id, unsigned lane)
{
    uint64_t hash = (id * HOSTCALL_LANES + lane) * UINT64_C(0x9e3779b97f4a7c15);
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
    uint64_t at = hostcall_slot_at(w, packet, lane);
    size_t n = length_of(pfd_walk_u64(w, at)) * (size_t)HOSTCALL_QWORD;
    at += HOSTCALL_QWORD;
    pfd_walk_copy_add(w, pfd_byte_reader_peek(&w->view, (size_t)(at - w->base)),
                      n);
}

/* Copies the data of all packets of a message; returns their number. */
static uint32_t gather(struct pfd_walk *w, const struct message *m)
{
    struct state *st = w->state;
    uint32_t n = 1;
    uint8_t header[HOSTCALL_RECORD_HEADER];
    uint32_t lane = m->lane;
    memcpy(header, &m->id, 8);
    memcpy(header + 8, &m->first, 4);
    memcpy(header + 12, &lane, 4);
    pfd_walk_copy_add(w, header, sizeof header);
    add_data(w, m->first, m->lane);
    for (uint32_t i = m->second; i && i <= m->last; i++) {
        if (st->n_visits++ > VISITS_MAX)
            break;
        if (!(hostcall_printing(w, i) >> m->lane & 1))
            continue;
        uint64_t desc = pfd_walk_u64(w, hostcall_slot_at(w, i, m->lane));
        if (desc >> HOSTCALL_ID_SHIFT != m->id || desc & HOSTCALL_BEGIN)
            continue;
        add_data(w, i, m->lane);
        n++;
    }
    return n;
}

/* Fills the record from a message's bytes; false: it has no format string. */
static bool read_message(struct pfd_record *r, const uint8_t *payload,
                         uint32_t n)
{
    struct pfd_byte_reader c = pfd_byte_reader(payload, n);
    uint64_t control = pfd_byte_reader_u64(&c);
    if (!pfd_byte_reader_ok(&c) || n <= HOSTCALL_QWORD)
        return false;
    uint32_t n_text;
    uint32_t n_used;
    const char *text = pfd_rocm_text(
        &(struct pfd_byte_reader){
            .base = payload,
            .n = n,
        },
        HOSTCALL_QWORD, &n_text, &n_used);
    r->key = pfd_md5_u64(text, n_text);
    r->flags |= PFD_RECORD_SYNTHESIZED;
    r->flags |=
        control & CONTROL_STDERR ? PFD_RECORD_STDERR : PFD_RECORD_STDOUT;
    if (control & ~(uint64_t)CONTROL_STDERR)
        r->findings |= PFD_FINDING_BIT(bad_control);
    return true;
}

/* Fills the record from its copied bytes. */
static void read_record(struct pfd_walk *w, const struct message *m,
                        struct pfd_record *r)
{
    uint32_t n_payload = 0;
    pfd_walk_copy_done(w, r);
    if (!m->has_begin || w->batch->bytes.failed)
        return;
    const uint8_t *payload = pfd_record_batch_copied(w->batch, r, &n_payload);
    if (!read_message(r, payload, n_payload))
        r->findings |= PFD_FINDING_BIT(incomplete);
}

/* Adds another reading of the batch's newest message. */
static void give_other(struct pfd_walk *w, const struct message *m,
                       const struct pfd_record *entry)
{
    struct pfd_record_batch *batch = w->batch;
    struct pfd_record other = {
        .offset = entry->offset,
        .key = m->id,
        .findings = PFD_FINDING_BIT(ambiguous) |
                    (m->has_begin ? 0 : PFD_FINDING_BIT(incomplete)),
        .n_header = HOSTCALL_RECORD_HEADER,
    };
    size_t before = batch->bytes.n;
    gather(w, m);
    other.n_bytes = (uint32_t)(batch->bytes.n - before);
    pfd_walk_alternative(w, &other);
    read_record(w, m, &batch->records[batch->n - 1]);
}

/* Adds the readings with other first packets, or with none. */
static void give_others(struct pfd_walk *w, const struct message *m,
                        const struct pfd_record *entry)
{
    struct message other = *m;
    for (unsigned i = 0; i < m->n_others; i++) {
        other.first = m->others[i];
        give_other(w, &other, entry);
    }
    if (!m->may_have_none || m->n_others == PFD_ALTERNATIVES_MAX)
        return;
    other.first = m->second;
    other.second = m->second + 1;
    other.has_begin = false;
    give_other(w, &other, entry);
}

static void give(struct pfd_walk *w, struct message *m, bool whole)
{
    struct state *st = w->state;
    m->is_open = false;
    if (st->is_rehearsal)
        return;
    bool is_doubtful = m->n_others || m->may_have_none;
    uint32_t n = gather(w, m);
    struct pfd_record *r = pfd_walk_record(w);
    *r = (struct pfd_record){
        .offset = hostcall_slot_at(w, m->first, m->lane),
        .key = m->id,
        .findings = (whole && m->has_begin ? 0 : PFD_FINDING_BIT(incomplete)) |
                    (is_doubtful ? PFD_FINDING_BIT(ambiguous) : 0),
        .n_bytes = n * HOSTCALL_SLOT,
        .n_header = HOSTCALL_RECORD_HEADER,
        .kind = PFD_RECORD_ENTRY,
    };
    read_record(w, m, r);
    give_others(w, m, r);
}

static struct message one_packet(uint64_t id, uint32_t packet, unsigned lane)
{
    return (struct message){ .id = id,
                             .first = packet,
                             .last = packet,
                             .lane = (uint8_t)lane,
                             .has_begin = true };
}

static void open_message(struct pfd_walk *w, const struct message *message)
{
    struct message *m = take_open(w->state, message->id, message->lane);
    if (m->is_open)
        give(w, m, false);
    *m = *message;
    m->is_open = true;
}

/* Stores the first packet until packets with the message's id follow. */
static void wait(struct pfd_walk *w)
{
    struct state *st = w->state;
    unsigned lane = st->lane;
    struct waiting *all = st->waiting[lane];
    if (st->n_waiting[lane] == WAITING_MAX) {
        struct message oldest = one_packet(0, all[0].packet, lane);
        if (!all[0].is_taken)
            give(w, &oldest, false);
        st->n_waiting[lane]--;
        memmove(all, all + 1, sizeof st->waiting[lane] - sizeof *all);
    }
    all[st->n_waiting[lane]++] = (struct waiting){
        .mask = hostcall_mask(w, st->packet),
        .packet = st->packet,
    };
}

/* Begins a message with all hosts; returns the id that the first host
 * assigns. */
static uint64_t ask_hosts(struct state *st)
{
    uint64_t id = 0;
    bool ok = true;
    for (size_t i = 0; i < st->n_hosts; i++) {
        uint64_t given =
            hostcall_host_begin(&st->hosts[i], st->packet, st->lane, &ok);
        id = i ? id : given;
    }
    return id;
}

static void end_hosts(struct state *st, uint64_t id)
{
    for (size_t i = 0; i < st->n_hosts; i++)
        hostcall_host_end(&st->hosts[i], id, st->lane);
}

static void begin(struct pfd_walk *w, uint64_t id, bool end)
{
    struct state *st = w->state;
    bool is_known = id || st->n_hosts;
    id = st->n_hosts ? ask_hosts(st) : id;
    struct message m = one_packet(id, st->packet, st->lane);
    if (end) {
        end_hosts(st, id);
        m.id = is_known ? id : 0;
        give(w, &m, true);
    } else if (is_known) {
        open_message(w, &m);
    } else {
        wait(w);
    }
}

/* Adds first packets to which other hosts would have assigned this id. */
static void add_other_hosts(struct state *st, struct message *m)
{
    for (size_t i = 1; i < st->n_hosts; i++) {
        const struct hostcall_place *place =
            hostcall_host_find(&st->hosts[i], m->id, st->lane);
        bool is_new = place && place->packet != m->first;
        for (unsigned k = 0; k < m->n_others; k++)
            is_new &= place && place->packet != m->others[k];
        if (is_new)
            m->others[m->n_others++] = place->packet;
    }
}

/* Can the waiting packet be the first of a message with this mask? All lanes of
 * its wave continue (exactly), or some of them. */
static bool can_begin(const struct waiting *waiting, uint64_t mask,
                      bool exactly)
{
    return exactly ? waiting->mask == mask : !(mask & ~waiting->mask);
}

static unsigned count_beginnings(const struct state *st, uint64_t mask,
                                 bool exactly)
{
    unsigned n = 0;
    for (unsigned i = 0; i < st->n_waiting[st->lane]; i++)
        n += can_begin(&st->waiting[st->lane][i], mask, exactly);
    return n;
}

/* The first packet that lower lanes of the same wave have for this packet;
 * m->first: none. */
static uint32_t beginning_of_wave(const struct pfd_walk *w,
                                  const struct message *m)
{
    struct state *st = w->state;
    uint64_t lanes = hostcall_mask(w, st->packet);
    for (lanes &= (UINT64_C(1) << st->lane) - 1; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(lanes);
        uint64_t desc = pfd_walk_u64(w, hostcall_slot_at(w, st->packet, lane));
        const struct message *other =
            find_open(st, desc >> HOSTCALL_ID_SHIFT, lane);
        if (other && other->has_begin)
            return other->first;
    }
    return m->first;
}

/* Uses waiting packet i. If the choice is not sure, it stays for other messages
 * that may have it, until all are used. */
static void take_waiting(struct state *st, size_t i, bool is_sure)
{
    struct waiting *all = st->waiting[st->lane];
    uint8_t *n = &st->n_waiting[st->lane];
    bool all_taken = true;
    all[i].is_taken = true;
    if (is_sure) {
        --*n;
        memmove(&all[i], &all[i + 1], (WAITING_MAX - i - 1) * sizeof *all);
    }
    for (size_t k = 0; k < *n; k++)
        all_taken &= all[k].is_taken;
    if (all_taken)
        *n = 0;
}

/* Chooses the first packet of a message that continues for the first time: that
 * of its wave's other lanes, else the oldest that its lane and the mask allow.
 * Other candidates are stored. */
static void adopt(struct pfd_walk *w, struct message *m)
{
    struct state *st = w->state;
    const struct waiting *all = st->waiting[st->lane];
    uint64_t mask = hostcall_mask(w, st->packet);
    bool exactly = count_beginnings(st, mask, true) > 0;
    uint32_t wave = beginning_of_wave(w, m);
    size_t n = st->n_waiting[st->lane];
    size_t chosen = n;
    for (size_t i = 0; i < n; i++) {
        if (!all[i].is_taken && can_begin(&all[i], mask, exactly) &&
            (chosen == n || all[i].packet == wave))
            chosen = i;
    }
    if (chosen == n) {
        if (st->is_rehearsal)
            st->no_beginning[st->lane] = st->packet;
        return;
    }
    m->may_have_none = st->packet < st->no_beginning[st->lane];
    m->first = all[chosen].packet;
    m->has_begin = true;
    for (size_t i = 0; i < n; i++) {
        if (i != chosen && can_begin(&all[i], mask, exactly) &&
            m->n_others < PFD_ALTERNATIVES_MAX)
            m->others[m->n_others++] = all[i].packet;
    }
    take_waiting(st, chosen, m->n_others == 0);
}

static void go_on(struct pfd_walk *w, uint64_t id, bool end)
{
    struct state *st = w->state;
    struct message *m = find_open(st, id, st->lane);
    if (!m) {
        struct message next = one_packet(id, st->packet, st->lane);
        next.has_begin = false;
        adopt(w, &next);
        if (next.has_begin)
            next.second = st->packet;
        open_message(w, &next);
        m = find_open(st, id, st->lane);
    }
    if (!m->second && m->has_begin) {
        m->second = st->packet;
        add_other_hosts(st, m);
    } else if (!m->second && st->packet != m->first) {
        m->second = st->packet;
    }
    m->last = st->packet;
    if (end) {
        end_hosts(st, id);
        give(w, m, true);
    }
}

static void take_slot(struct pfd_walk *w, uint64_t desc)
{
    struct state *st = w->state;
    uint64_t id = desc >> HOSTCALL_ID_SHIFT;
    if (desc & HOSTCALL_BEGIN) {
        begin(w, st->begins_with_ids ? id : 0, desc & HOSTCALL_END);
    } else {
        go_on(w, id, desc & HOSTCALL_END);
    }
}

static void do_slot(struct pfd_walk *w)
{
    struct state *st = w->state;
    uint64_t at = hostcall_slot_at(w, st->packet, st->lane);
    uint64_t desc = pfd_walk_u64(w, at);
    uint64_t id = desc >> HOSTCALL_ID_SHIFT;
    if (desc & HOSTCALL_BEGIN && id && !st->begins_with_ids) {
        pfd_walk_finding(w, PFD_FINDING_bad_packet, at,
                         "packet %u, lane %u: a message begins with the id "
                         "0x%llx, where others have none yet",
                         st->packet, st->lane, (unsigned long long)id);
    }
    if (desc & HOSTCALL_RESERVED) {
        pfd_walk_finding(w, PFD_FINDING_bad_packet, at,
                         "packet %u, lane %u: the descriptor 0x%llx has bits "
                         "that must be zero",
                         st->packet, st->lane, (unsigned long long)desc);
    }
    take_slot(w, desc);
}

/* Joins all packets once, to find messages without a first packet. */
static void rehearse(struct pfd_walk *w)
{
    struct state *st = w->state;
    st->is_rehearsal = true;
    for (st->packet = hostcall_pass(w, 0); st->packet < st->dump.n_packets;
         st->packet = hostcall_pass(w, st->packet + 1)) {
        uint64_t mask = hostcall_printing(w, st->packet);
        for (; mask; mask &= mask - 1) {
            st->lane = (unsigned)__builtin_ctzll(mask);
            take_slot(
                w, pfd_walk_u64(w, hostcall_slot_at(w, st->packet, st->lane)));
        }
    }
    st->is_rehearsal = false;
    st->packet = 0;
    st->lane = 0;
    memset(st->open, 0, sizeof st->open);
    memset(st->n_waiting, 0, sizeof st->n_waiting);
}

/* ---- the walk ---- */

/* Skips packets in a hole. */
static void pass_hole(struct pfd_walk *w)
{
    struct state *st = w->state;
    uint32_t next = hostcall_pass(w, st->packet);
    if (next > st->packet && hostcall_is_pending(w, st->packet)) {
        pfd_walk_report_hole(w, hostcall_header_at(w, st->packet),
                             hostcall_header_at(w, next));
    }
    st->packet = next;
}

/* Handles a packet of another service, or the next lane of a printf packet. */
static void step(struct pfd_walk *w)
{
    struct state *st = w->state;
    uint64_t mask = hostcall_mask(w, st->packet);
    uint32_t service = hostcall_service(w, st->packet);
    bool pending = hostcall_is_pending(w, st->packet);
    if (pending && st->lane == 0 && service != HOSTCALL_PRINTF) {
        if (service == 0 || service > HOSTCALL_SERVICE_MAX) {
            pfd_walk_finding(w, PFD_FINDING_bad_packet,
                             hostcall_header_at(w, st->packet),
                             "packet %u asks for service %u, 1 to %d exist",
                             st->packet, service, HOSTCALL_SERVICE_MAX);
        } else {
            st->n_others++;
        }
    }
    if (service != HOSTCALL_PRINTF || !pending)
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

/* Ends open messages; false: the batch is full. */
static bool finish(struct pfd_walk *w)
{
    struct state *st = w->state;
    for (; st->next_open < OPEN_MAX; st->next_open++) {
        if (!pfd_walk_has_room(w))
            return false;
        if (st->open[st->next_open].is_open)
            give(w, &st->open[st->next_open], false);
    }
    for (; st->next_open < OPEN_MAX + HOSTCALL_LANES; st->next_open++) {
        size_t lane = st->next_open - OPEN_MAX;
        for (; st->n_waiting[lane]; st->n_waiting[lane]--) {
            if (!pfd_walk_has_room(w))
                return false;
            const struct waiting *last =
                &st->waiting[lane][st->n_waiting[lane] - 1];
            if (last->is_taken)
                continue;
            struct message m = one_packet(0, last->packet, (unsigned)lane);
            give(w, &m, false);
        }
    }
    if (!pfd_walk_has_room(w))
        return false;
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
    w->at = st->dump.n_bytes;
    return true;
}

/* All packets have to be in view, or BUFFER_MAX bytes of them. */
static enum pfd_status open_dump(struct pfd_walk *w)
{
    struct state *st = w->state;
    uint64_t end = pfd_walk_end(w);
    if (!w->last && end < BUFFER_MAX)
        return PFD_MORE;
    if (end > BUFFER_MAX) {
        pfd_walk_finding(w, PFD_FINDING_too_large, BUFFER_MAX,
                         "more than %llu bytes of packets; the rest is not "
                         "decoded",
                         (unsigned long long)BUFFER_MAX);
        end = BUFFER_MAX;
    }
    st->opened = true;
    st->dump.n_bytes = end;
    if (!hostcall_open(w)) {
        st->ended = true;
        w->at = end;
        return PFD_OK;
    }
    st->begins_with_ids = hostcall_begins_with_ids(w);
    /* A pool has no history: each of its packets belongs to another wave. */
    if (st->dump.kind == HOSTCALL_POOL_OLD ||
        st->dump.kind == HOSTCALL_POOL_NEW) {
        memset(st->no_beginning, 0xff, sizeof st->no_beginning);
        return PFD_OK;
    }
    if (!st->begins_with_ids)
        st->n_hosts = hostcall_hosts(w, &st->scratch, st->hosts, HOSTS_MAX);
    if (!st->n_hosts)
        rehearse(w);
    return PFD_OK;
}

static enum pfd_status hostcall_walk(struct pfd_walk *w)
{
    struct state *st = w->state;
    if (!st->opened) {
        enum pfd_status status = open_dump(w);
        if (status != PFD_OK)
            return status;
    }
    while (!st->ended && st->packet < st->dump.n_packets) {
        if (!pfd_walk_has_room(w))
            return PFD_OK;
        if (st->lane == 0)
            pass_hole(w);
        if (st->packet < st->dump.n_packets)
            step(w);
    }
    if (!st->ended && !finish(w))
        return PFD_OK;
    w->batch->skipped_bytes += pfd_walk_end(w) - w->at;
    w->at = pfd_walk_end(w);
    return w->last ? PFD_END : PFD_MORE;
}

static void hostcall_layout(const struct pfd_string *s,
                            const struct pfd_program_facts *facts,
                            struct pfd_layout *ret)
{
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
    const struct hostcall_dump *d = &st->dump;
    uint64_t header = hostcall_header_at(w, 0);
    uint64_t payload = hostcall_slot_at(w, 0, 0);
    struct hostcall_map map = {
        .is_new =
            d->kind == HOSTCALL_RECORDED_NEW || d->kind == HOSTCALL_POOL_NEW,
        .is_pool = d->kind == HOSTCALL_POOL_OLD || d->kind == HOSTCALL_POOL_NEW,
        .headers = d->headers,
        .header_step = hostcall_header_at(w, 1) - header,
        .payloads = payload,
        .payload_step = hostcall_slot_at(w, 1, 0) - payload,
        .phases = { d->phases[0], d->phases[1] },
        .n_packets = d->n_packets,
    };
    return d->n_packets && hostcall_word(w, &map, at, ret);
}

const struct pfd_format pfd_format_hostcall = {
    .info = {
        .name = "hostcall",
        .title = "printf of AMD's HIP, hostcall packets (ROCm)",
    },
    .state_size = sizeof(struct state),
    .strings = { .name = "hostcall", .layout = hostcall_layout },
    .is_scattered = true,
    .probe = hostcall_probe,
    .walk = hostcall_walk,
    .is_record = hostcall_is_record,
    .slots = hostcall_slots,
    .make = hostcall_make,
    .origins = { .list = hostcall_origin, .names = origin_names },
    .buffer_word = hostcall_buffer_word,
    .find = hostcall_find,
};
