/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of HIP's printf over hostcall packets. Only files of this
 * folder include it.
 */
#ifndef HOSTCALL_LAYOUT_H
#define HOSTCALL_LAYOUT_H

#include "core/decode/format.h"
#include "core/decode/inspect.h"

enum {
    HOSTCALL_LANES = 64,
    HOSTCALL_QWORD = 8,
    HOSTCALL_SLOT = 64, /* bytes: a lane's part of a payload, 8 qwords */
    HOSTCALL_PAYLOAD = HOSTCALL_LANES * HOSTCALL_SLOT,
    HOSTCALL_PRINTF = 2,
    HOSTCALL_SERVICE_MAX = 4,
    /* Sizes in a pool and of its packets; packets.c describes the contents. */
    HOSTCALL_POOL_HEADER = 56,
    HOSTCALL_HEADER_OLD = 24,
    HOSTCALL_HEADER_NEW = 16,
    /* A message's descriptor, qword 0 of a slot. */
    HOSTCALL_BEGIN = 1,
    HOSTCALL_END = 2,
    HOSTCALL_RESERVED = 0x1c,
    HOSTCALL_COUNT_SHIFT = 5, /* of its number of qwords, 3 bits */
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
    HOSTCALL_RECORDED_OLD, /* header and payload of each packet, one after the
                              other */
    HOSTCALL_RECORDED_NEW,
    HOSTCALL_POOL_OLD, /* as in device memory */
    HOSTCALL_POOL_NEW,
};

/* The walk's state begins with it. */
struct hostcall_dump {
    uint64_t n_bytes; /* of the buffer, up to the limit for decoding */
    enum hostcall_kind kind;
    uint64_t headers; /* offset in the buffer, bytes */
    uint64_t payloads;
    uint64_t phases[2]; /* of a new pool: device's and host's */
    uint32_t n_packets;
    uint32_t n_stated; /* stated by the pool's header; larger than n_packets if
                          it is cut */
};

/* Detects the kind of the dump, of which n_bytes are in view. False: unknown; a
 * finding was added. */
bool hostcall_open(struct pfd_walk *w);

/* Of packet i, which exists. */
uint64_t hostcall_header_at(const struct pfd_walk *w, uint32_t i);
uint64_t hostcall_slot_at(const struct pfd_walk *w, uint32_t i, unsigned lane);
uint64_t hostcall_mask(const struct pfd_walk *w, uint32_t i);
uint32_t hostcall_service(const struct pfd_walk *w, uint32_t i);

/* The first packet from i on whose header is not in a hole. */
uint32_t hostcall_pass(const struct pfd_walk *w, uint32_t i);

/* Was packet i submitted? A pool also holds packets that were not. */
bool hostcall_is_pending(const struct pfd_walk *w, uint32_t i);

/* The lanes for which packet i prints. */
uint64_t hostcall_printing(const struct pfd_walk *w, uint32_t i);

/* Member of pfd_format_hostcall. */
int hostcall_probe(const struct pfd_byte_reader *first, uint64_t n_buffer);

/* ---- entry.c: decodes a whole message; members of the format ---- */

bool hostcall_is_record(const struct pfd_record_view *record_view);
size_t hostcall_slots(const struct pfd_record_view *record_view,
                      struct pfd_slot *ret, uint64_t *findings);
void hostcall_make(const struct pfd_record_view *record_view,
                   struct pfd_synthesized *ret);
size_t hostcall_origin(const struct pfd_record_view *record_view,
                       struct pfd_origin *ret);

/* ---- words.c: names dwords ---- */

/* Where each part of a dump is, as offsets in bytes. */
struct hostcall_map {
    bool is_new;  /* the 2026 layout */
    bool is_pool; /* laid out as in memory; else each packet is followed by its
                     payload */
    uint64_t headers;
    uint64_t header_step; /* distance of two packets' headers */
    uint64_t payloads;
    uint64_t payload_step;
    uint64_t phases[2]; /* of a new pool: device's and host's */
    uint32_t n_packets;
};

/* The format's buffer_word(), with the map of the dump. */
bool hostcall_word(const struct pfd_walk *walk, const struct hostcall_map *map,
                   uint64_t at, struct pfd_word *ret);

/* ---- ids.c: which first packet has which id ---- */

enum {
    HOSTCALL_IDS_MAX = 4096, /* ids in use at once */
};

/* How a host assigns ids. */
enum hostcall_rule {
    HOSTCALL_IN_TURN,     /* no id twice */
    HOSTCALL_LAST_FREED,  /* the id that was freed last, else a new one */
    HOSTCALL_FIRST_FREED, /* the id that was freed first, else a new one */
    HOSTCALL_RULES
};

/* An open message of a host. */
struct hostcall_place {
    uint64_t id;
    uint32_t packet; /* its first packet */
    uint8_t lane;
    bool is_used;
};

/* A host with one rule for ids, and its state so far. */
struct hostcall_host {
    enum hostcall_rule rule;
    uint64_t first; /* the first id that it assigned */
    uint64_t next;  /* new id */
    uint32_t n_free;
    uint32_t oldest; /* index of the id that was freed first */
    uint64_t free[HOSTCALL_IDS_MAX];
    struct hostcall_place places[HOSTCALL_IDS_MAX];
};

void hostcall_host_init(struct hostcall_host *host, enum hostcall_rule rule,
                        uint64_t first);

/* Begins a message; returns its id. Sets *ok to false when the table is
 * full. */
uint64_t hostcall_host_begin(struct hostcall_host *host, uint32_t packet,
                             unsigned lane, bool *ok);

/* The open message with this id; NULL: none. */
struct hostcall_place *hostcall_host_find(struct hostcall_host *host,
                                          uint64_t id, unsigned lane);

/* Ends the message if it is open. */
void hostcall_host_end(struct hostcall_host *host, uint64_t id, unsigned lane);

/* Were packets recorded after the host's reply? Decided by most first
 * packets. */
bool hostcall_begins_with_ids(const struct pfd_walk *w);

/*
 * Finds the hosts [max] that can have served a recording: they assign the ids
 * of all packets. If there is none, finds hosts that assign ids in turn and had
 * begun before the recording. Returns their number; 0 if packets are missing or
 * damaged, or ids follow another rule. scratch: overwritten.
 */
size_t hostcall_hosts(const struct pfd_walk *w, struct hostcall_host *scratch,
                      struct hostcall_host *ret, size_t max);

#endif
