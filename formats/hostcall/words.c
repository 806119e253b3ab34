/* SPDX-License-Identifier: MIT */
/* Names the dwords of a dump of packets. */
#include "core/decode/inspect.h"
#include "layout.h"

enum {
    DWORD = 4,
    QWORD = 8,
    POOL_HEADER = 56,
    HEADER_OLD = 24,
    HEADER_NEW = 16,
    SERVICE_PRINTF = 2,
    CONTROL_READY = 1,
    DESC_BEGIN = 1,
    DESC_END = 2,
    DESC_LENGTH_SHIFT = 5,
    DESC_LENGTH_MASK = 7,
    DESC_ID_SHIFT = 8,
};

static const char *const halves[] = { "low", "high" };

static const char *const pool_old[] = {
    "pointer to packet headers",
    "pointer to payloads",
    "doorbell",
    "stack of free packets",
    "stack of ready packets",
    "mask of packet numbers",
    "device",
};

static const char *const pool_new[] = {
    "pointer to the device's phases",
    "pointer to the host's phases",
    "pointer to occupied packets",
    "pointer to packet headers",
    "pointer to payloads",
    "doorbell",
    "number of packets",
};

static const char *const header_old[] = {
    "next, low half",          "next, high half", "active lanes, low half",
    "active lanes, high half", "service",         "control",
};

static const char *const header_new[] = {
    "active lanes, low half",
    "active lanes, high half",
    "service",
    "padding",
};

struct place {
    const struct pfd_walk *walk;
    const struct hostcall_map *map;
    uint64_t at;
    uint64_t end; /* end of the dword */
};

static uint32_t read_u32(const struct place *p, uint64_t at)
{
    return at + DWORD <= pfd_walk_end(p->walk) ? pfd_walk_u32(p->walk, at) : 0;
}

static uint64_t read_u64(const struct place *p, uint64_t at)
{
    return read_u32(p, at) | (uint64_t)read_u32(p, at + DWORD) << 32;
}

static uint64_t header_of(const struct place *p, uint32_t packet)
{
    return p->map->headers + packet * p->map->header_step;
}

static bool is_pending(const struct place *p, uint32_t packet)
{
    const struct hostcall_map *m = p->map;
    if (!m->is_pool)
        return true;
    if (!m->is_new) {
        return read_u32(p, header_of(p, packet) + HEADER_OLD - DWORD) &
               CONTROL_READY;
    }
    uint64_t at = packet * (uint64_t)DWORD;
    return read_u32(p, m->phases[0] + at) != read_u32(p, m->phases[1] + at);
}

static uint32_t service_of(const struct place *p, uint32_t packet)
{
    return read_u32(p,
                    header_of(p, packet) + (p->map->is_new ? 1u : 2u) * QWORD);
}

static bool is_active(const struct place *p, uint32_t packet, unsigned lane)
{
    uint64_t mask =
        read_u64(p, header_of(p, packet) + (p->map->is_new ? 0 : QWORD));
    return mask >> lane & 1;
}

/* Finds the element that holds the place, in an array of n_packets elements,
 * `step` bytes apart; false: none, or the place is between two. */
static bool find(const struct place *p, uint64_t from, uint64_t step,
                 uint64_t size, uint32_t *packet)
{
    if (p->at < from || (p->at - from) / step >= p->map->n_packets ||
        (p->at - from) % step >= size)
        return false;
    *packet = (uint32_t)((p->at - from) / step);
    return true;
}

static bool set_header(const struct place *p, uint32_t packet,
                       struct pfd_word *ret)
{
    const char *const *names = p->map->is_new ? header_new : header_old;
    size_t i = (size_t)(p->at - header_of(p, packet)) / DWORD;
    return pfd_word_set(ret, p->end, "packet %u: %s", packet, names[i]);
}

static bool set_descriptor(const struct place *p, uint32_t packet,
                           unsigned lane, uint64_t slot, struct pfd_word *ret)
{
    uint64_t desc = read_u64(p, slot);
    return pfd_word_set(
        ret, p->end,
        "packet %u, lane %u: descriptor (%s%s%u qwords, message "
        "%llu), %s half",
        packet, lane, desc & DESC_BEGIN ? "begin, " : "",
        desc & DESC_END ? "end, " : "",
        (unsigned)(desc >> DESC_LENGTH_SHIFT & DESC_LENGTH_MASK),
        (unsigned long long)(desc >> DESC_ID_SHIFT),
        halves[p->at / DWORD * DWORD == slot ? 0 : 1]);
}

/* Names a dword in an active lane's slot. */
static bool set_slot(const struct place *p, uint32_t packet, unsigned lane,
                     uint64_t slot, struct pfd_word *ret)
{
    uint64_t desc = read_u64(p, slot);
    unsigned qword = (unsigned)((p->at - slot) / QWORD);
    if (qword == 0)
        return set_descriptor(p, packet, lane, slot, ret);
    if (qword > (desc >> DESC_LENGTH_SHIFT & DESC_LENGTH_MASK)) {
        return pfd_word_set(ret, slot + HOSTCALL_SLOT,
                            "packet %u, lane %u: not used", packet, lane);
    }
    return pfd_word_set(ret, p->end,
                        "packet %u, lane %u: data qword %u, %s half", packet,
                        lane, qword - 1, halves[(p->at - slot) / DWORD % 2]);
}

static bool set_payload(const struct place *p, uint32_t packet,
                        struct pfd_word *ret)
{
    uint64_t payload = p->map->payloads + packet * p->map->payload_step;
    unsigned lane = (unsigned)((p->at - payload) / HOSTCALL_SLOT);
    uint64_t slot = payload + lane * (uint64_t)HOSTCALL_SLOT;
    if (!is_pending(p, packet)) {
        return pfd_word_set(ret, payload + HOSTCALL_PAYLOAD,
                            "packet %u: not handed over", packet);
    }
    if (service_of(p, packet) != SERVICE_PRINTF) {
        return pfd_word_set(ret, payload + HOSTCALL_PAYLOAD,
                            "packet %u: of service %u, no printf", packet,
                            service_of(p, packet));
    }
    if (!is_active(p, packet, lane)) {
        return pfd_word_set(ret, slot + HOSTCALL_SLOT,
                            "packet %u: of lanes that are not active", packet);
    }
    return set_slot(p, packet, lane, slot, ret);
}

static bool set_phase(const struct place *p, struct pfd_word *ret)
{
    static const char *const whose[] = { "the device's", "the host's" };
    const struct hostcall_map *m = p->map;
    uint32_t packet;
    for (unsigned i = 0; i < 2 && m->is_pool && m->is_new; i++) {
        if (find(p, m->phases[i], DWORD, DWORD, &packet)) {
            return pfd_word_set(ret, p->end, "packet %u: phase, %s", packet,
                                whose[i]);
        }
    }
    return false;
}

static bool set_pool(const struct place *p, struct pfd_word *ret)
{
    const char *const *names = p->map->is_new ? pool_new : pool_old;
    return p->map->is_pool && p->at < POOL_HEADER &&
           pfd_word_set(ret, p->end, "pool: %s, %s half", names[p->at / QWORD],
                        halves[p->at % QWORD / DWORD]);
}

bool hostcall_word(const struct pfd_walk *walk, const struct hostcall_map *map,
                   uint64_t at, struct pfd_word *ret)
{
    struct place p = { walk, map, at, at / DWORD * DWORD + DWORD };
    uint64_t header = map->is_new ? HEADER_NEW : HEADER_OLD;
    uint32_t packet;
    if (set_pool(&p, ret) || set_phase(&p, ret))
        return true;
    if (find(&p, map->headers, map->header_step, header, &packet))
        return set_header(&p, packet, ret);
    if (find(&p, map->payloads, map->payload_step, HOSTCALL_PAYLOAD, &packet))
        return set_payload(&p, packet, ret);
    return map->is_pool && pfd_word_set(ret, p.end, "of the pool, not read");
}
