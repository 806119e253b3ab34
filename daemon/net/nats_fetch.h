/* SPDX-License-Identifier: MIT */
/*
 * Parcels of what lies at servers of NATS (nats.h). Calls may wait for the
 * network.
 */
#ifndef PFDD_NATS_FETCH_H
#define PFDD_NATS_FETCH_H

#include "net/nats.h"
#include "net/parcel.h"

/* Entries, of a message of GPULOG. NULL: it is none of an edge, or out of
 * memory. */
struct pfdd_parcel *pfdd_fetch_entries(natsMsg *message);

/* How far an edge is, of a message of GPUACK; likewise. */
struct pfdd_parcel *pfdd_fetch_ack(natsMsg *message);

/* Gives that of all edges, whose the parcels are then. False: not now. */
bool pfdd_fetch_acks(struct pfdd_nats *line,
                     void (*give)(void *user, struct pfdd_parcel *parcel),
                     void *user);

/* A list that was not there: many entries need the same one, and it is asked for
 * once in a while. All zeros: none. */
struct pfdd_missing {
    char digest[PFDD_SHA256_TEXT];
    uint64_t ms;
};
/* Says so in the log, once. */
void pfdd_missing_note(struct pfdd_missing *missing, const char *digest,
                       uint64_t now_ms);
bool pfdd_missing_has(const struct pfdd_missing *missing, const char *digest,
                      uint64_t now_ms);

/* A list of code objects, and these, as far as they have n_max bytes. NULL:
 * something of it is not there; *is_unsure: or did not come now. */
struct pfdd_parcel *pfdd_fetch_code(struct pfdd_nats *line, const char *digest,
                                    size_t n_max, bool *is_unsure);

#endif
