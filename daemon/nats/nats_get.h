/* SPDX-License-Identifier: MIT */
/*
 * Gets stored messages of streams, by STREAM.MSG.GET. Its answer has subject,
 * number and time in JSON that only the server writes; the publisher's headers
 * are separate, and trusted for nothing else. (Direct gets mix both in one
 * header.) Calls may wait for the network.
 */
#ifndef PFDD_NATS_GET_H
#define PFDD_NATS_GET_H

#include "nats/nats_connection.h"

/* All zeros: none. */
struct pfdd_nats_stored_message {
    char *subject;   /* owned, like the next two */
    char *headers;   /* [n_headers], as published */
    char *bytes;     /* [n] */
    uint64_t number; /* in the stream */
    size_t n_headers;
    size_t n;
};
void pfdd_nats_stored_message_deinit(struct pfdd_nats_stored_message *message);

/* The first message with this number or a higher one of a subject, which may
 * have wildcards. NATS_NOT_FOUND: there is none. */
natsStatus pfdd_nats_get_next(struct pfdd_nats *line, const char *stream,
                              const char *subject, uint64_t number,
                              struct pfdd_nats_stored_message *ret);

/* The last message of a subject. NATS_NOT_FOUND likewise. */
natsStatus pfdd_nats_get_last(struct pfdd_nats *line, const char *stream,
                              const char *subject,
                              struct pfdd_nats_stored_message *ret);

/* Parses an answer [n]. NATS_NOT_FOUND likewise; NATS_ERR: malformed. */
natsStatus pfdd_nats_answer(const char *text, size_t n,
                            struct pfdd_nats_stored_message *ret);

/* The value of the first header with this name. False: there is none, or it
 * does not fit. */
bool pfdd_nats_header(const struct pfdd_nats_stored_message *message,
                      const char *name, char *ret, size_t n_ret);

#endif
