/* SPDX-License-Identifier: MIT */
/*
 * HIP's printf over hostcall packets: what the files of this format share.
 * Nothing outside of this folder includes it.
 */
#ifndef HOSTCALL_H
#define HOSTCALL_H

#include "core/decode/format.h"

enum {
    HOSTCALL_LANES = 64,
    HOSTCALL_QWORD = 8,
    HOSTCALL_SLOT = 64, /* bytes: a lane's part of a payload, 8 qwords */
    HOSTCALL_PAYLOAD = HOSTCALL_LANES * HOSTCALL_SLOT,
    HOSTCALL_PRINTF = 2,
    HOSTCALL_SERVICE_MAX = 4,
    /* Of a pool and of its packets; packets.c has what stands in them. */
    HOSTCALL_POOL_HEADER = 56,
    HOSTCALL_HEADER_OLD = 24,
    HOSTCALL_HEADER_NEW = 16,
    /* A message's descriptor, qword 0 of a slot. */
    HOSTCALL_BEGIN = 1,
    HOSTCALL_END = 2,
    HOSTCALL_RESERVED = 0x1c,
    HOSTCALL_COUNT_SHIFT = 5, /* of qwords in it, 3 bits */
    HOSTCALL_ID_SHIFT = 8,
    /* Before the payload of a record: u64 message id, u32 packet, u32 lane. */
    HOSTCALL_RECORD_HEADER = 16,
};

/* Member of pfd_format_hostcall. */
size_t hostcall_find(const struct pfd_field *field, size_t from, size_t to,
                     struct pfd_whole *ret);

/* ---- packets.c: where packets are ---- */

enum hostcall_kind {
    HOSTCALL_UNKNOWN,
    HOSTCALL_RECORDED_OLD, /* header and payload of packets, one by one */
    HOSTCALL_RECORDED_NEW,
    HOSTCALL_POOL_OLD, /* as in the device's memory */
    HOSTCALL_POOL_NEW,
};

/* The walk's state begins with it. */
struct hostcall_dump {
    uint64_t n_bytes; /* of the buffer, as far as it is looked at */
    enum hostcall_kind kind;
    uint64_t headers; /* bytes from the start of the buffer */
    uint64_t payloads;
    uint64_t phases[2]; /* of a new pool: device's and host's */
    uint32_t n_packets;
    uint32_t n_stated; /* by the pool's header: more if it is cut */
};

/* Finds out which dump it is, n_bytes of which are in view; false, and a
 * finding: none. */
bool hostcall_open(struct pfd_walk *w);

/* Of packet i, which exists. */
uint64_t hostcall_header_at(const struct pfd_walk *w, uint32_t i);
uint64_t hostcall_slot_at(const struct pfd_walk *w, uint32_t i, unsigned lane);
uint64_t hostcall_mask(const struct pfd_walk *w, uint32_t i);
uint32_t hostcall_service(const struct pfd_walk *w, uint32_t i);

/* The first packet from packet i on whose header is not in a hole. */
uint32_t hostcall_pass(const struct pfd_walk *w, uint32_t i);

/* A pool holds packets that nobody has handed over as well. */
bool hostcall_is_pending(const struct pfd_walk *w, uint32_t i);

/* The lanes for which packet i prints. */
uint64_t hostcall_printing(const struct pfd_walk *w, uint32_t i);

/* Member of pfd_format_hostcall. */
int hostcall_probe(const struct pfd_byte_reader *first, uint64_t n_buffer);

/* ---- entry.c: what a whole message says; members of the format ---- */

bool hostcall_is_record(const struct pfd_record_view *record_view);
size_t hostcall_slots(const struct pfd_record_view *record_view,
                      struct pfd_slot *ret, uint64_t *findings);
void hostcall_make(const struct pfd_record_view *record_view,
                   struct pfd_synthesized *ret);
size_t hostcall_origin(const struct pfd_record_view *record_view,
                       struct pfd_origin *ret);

/* ---- words.c: what its dwords are ---- */

/* Where in a dump everything is, in bytes from its start. */
struct hostcall_map {
    bool is_new;  /* the pool of 2026 */
    bool is_pool; /* as in memory; else packets, each with its payload behind */
    uint64_t headers;
    uint64_t header_step; /* from one packet's to the next */
    uint64_t payloads;
    uint64_t payload_step;
    uint64_t phases[2]; /* of a new pool: device's and host's */
    uint32_t n_packets;
};

/* The format's buffer_word(), with the map of the dump. */
bool hostcall_word(const struct pfd_walk *walk, const struct hostcall_map *map,
                   uint64_t at, struct pfd_word *ret);

/* ---- ids.c: which beginning has which id ---- */

enum {
    HOSTCALL_IDS_MAX = 4096, /* in use at once */
};

/* How a host gives ids. */
enum hostcall_rule {
    HOSTCALL_IN_TURN,     /* never one twice */
    HOSTCALL_LAST_FREED,  /* the one that was freed last, else a new one */
    HOSTCALL_FIRST_FREED, /* the one that was freed first, else a new one */
    HOSTCALL_RULES
};

/* A message that has begun, by the rule. */
struct hostcall_place {
    uint64_t id;
    uint32_t packet; /* of its beginning */
    uint8_t lane;
    bool is_used;
};

/* A host that gives ids by one rule: what it would have done so far. */
struct hostcall_host {
    enum hostcall_rule rule;
    uint64_t first; /* id that it gave first */
    uint64_t next;  /* new id */
    uint32_t n_free;
    uint32_t oldest; /* place of the id that was freed first */
    uint64_t free[HOSTCALL_IDS_MAX];
    struct hostcall_place places[HOSTCALL_IDS_MAX];
};

void hostcall_host_init(struct hostcall_host *host, enum hostcall_rule rule,
                        uint64_t first);

/* A message begins; its id. *ok is made false where it cannot be. */
uint64_t hostcall_host_begin(struct hostcall_host *host, uint32_t packet,
                             unsigned lane, bool *ok);

/* The message that has this id; NULL: none. */
struct hostcall_place *hostcall_host_find(struct hostcall_host *host,
                                          uint64_t id, unsigned lane);

/* A message ends, if there is one. */
void hostcall_host_end(struct hostcall_host *host, uint64_t id, unsigned lane);

/* Were packets recorded after the host's reply? Most that begin say it. */
bool hostcall_begins_with_ids(const struct pfd_walk *w);

/*
 * The hosts [max] that can have served a recording: those whose ids all packets
 * have, or where there is none, those that gave ids in turn before it began.
 * Returns how many; none where packets are missing or damaged, or ids are given
 * by another rule. scratch: overwritten.
 */
size_t hostcall_hosts(const struct pfd_walk *w, struct hostcall_host *scratch,
                      struct hostcall_host *ret, size_t max);

#endif
