/* SPDX-License-Identifier: MIT */
/*
 * Messages of streams, as the answer of the server to STREAM.MSG.GET has them:
 * subject, number and time stand in its JSON, where only the server writes. The
 * headers are the publisher's, and are believed in nothing else. Direct gets
 * mix both. Calls may wait for the network.
 */
#ifndef PFDD_NATS_GET_H
#define PFDD_NATS_GET_H

#include "nats/nats_connection.h"

/* All zeros: none. */
struct pfdd_nats_stored_message {
    char *subject;   /* owned, likewise the next two */
    char *headers;   /* [n_headers], as they were published */
    char *bytes;     /* [n] */
    uint64_t number; /* in the stream */
    size_t n_headers;
    size_t n;
};
void pfdd_nats_stored_message_deinit(struct pfdd_nats_stored_message *message);

/* Of a stream: the first message of a subject, which may have wildcards, that
 * has this number or a higher one. NATS_NOT_FOUND: there is none. */
natsStatus pfdd_nats_get_next(struct pfdd_nats *line, const char *stream,
                              const char *subject, uint64_t number,
                              struct pfdd_nats_stored_message *ret);

/* The last one of a subject; likewise. */
natsStatus pfdd_nats_get_last(struct pfdd_nats *line, const char *stream,
                              const char *subject,
                              struct pfdd_nats_stored_message *ret);

/* What an answer [n] says: NATS_ERR: nothing that can be read. */
natsStatus pfdd_nats_answer(const char *text, size_t n,
                            struct pfdd_nats_stored_message *ret);

/* The value of the first header of this name. False: there is none, or it does
 * not fit. */
bool pfdd_nats_header(const struct pfdd_nats_stored_message *message,
                      const char *name, char *ret, size_t n_ret);

#endif
