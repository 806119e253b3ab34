/* SPDX-License-Identifier: MIT */
/*
 * Gets stored messages of streams, by STREAM.MSG.GET. Its answer has subject,
 * number and time in JSON that only the server writes; the publisher's headers
 * are separate, and trusted for nothing else. (Direct gets mix both in one
 * header.) Calls may wait for the network.
 */
#ifndef PFD_STORED_MESSAGE_H
#define PFD_STORED_MESSAGE_H

#include <nats/nats.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zeros: none. */
struct pfd_stored_message {
    char *subject;   /* owned, like the next two */
    char *headers;   /* [n_headers], as published */
    char *bytes;     /* [n] */
    uint64_t number; /* in the stream */
    uint64_t time;   /* of storage, ns since 1970; 0: unknown */
    size_t n_headers;
    size_t n;
};
void pfd_stored_message_deinit(struct pfd_stored_message *message);

/* The first message with this number or a higher one of a subject, which may
 * have wildcards. NATS_NOT_FOUND: there is none. */
natsStatus pfd_stored_message_next(natsConnection *nc, const char *stream,
                                   const char *subject, uint64_t number,
                                   struct pfd_stored_message *ret);

/* The last message of a subject. NATS_NOT_FOUND likewise. */
natsStatus pfd_stored_message_last(natsConnection *nc, const char *stream,
                                   const char *subject,
                                   struct pfd_stored_message *ret);

/* Parses an answer [n]. NATS_NOT_FOUND likewise; NATS_ERR: malformed. */
natsStatus pfd_stored_message_parse(const char *text, size_t n,
                                    struct pfd_stored_message *ret);

/* What the library says of its last failure on this thread, else of the status,
 * without the place in its source that it puts in front. Borrowed until its next
 * call. */
const char *pfd_nats_why(natsStatus status);

enum {
    PFD_NATS_FAILURE = 300,
};

/* The text of a failure. A server does not answer a request that it forbids, but
 * says so beside: behind NATS_TIMEOUT stands the last such line of the connection
 * nc, which may be NULL. */
void pfd_nats_failure(natsConnection *nc, natsStatus status, const char *text,
                      char ret[PFD_NATS_FAILURE]);

/* The value of the first header with this name. False: there is none, or it
 * does not fit. */
bool pfd_stored_message_header(const struct pfd_stored_message *message,
                               const char *name, char *ret, size_t n_ret);

#endif
