/* SPDX-License-Identifier: MIT */
/*
 * Parses the head of an HTTP/1 request in place. Strict: an ambiguous head is
 * refused, and so is a head with something that the daemon does not need, such
 * as a body. Knows no sockets and no resources.
 */
#ifndef PFDD_HTTP_HEAD_H
#define PFDD_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>

enum {
    PFDD_HTTP_HEAD = 8192, /* bytes of a head, at most */
    PFDD_HTTP_ARGS = 16,   /* of a query, at most */
};

/* Fields that are evaluated; each may be given once. */
enum pfdd_http_field {
    PFDD_HTTP_HOST,
    PFDD_HTTP_ORIGIN,
    PFDD_HTTP_SITE, /* Sec-Fetch-Site: where the requesting page is from */
    PFDD_HTTP_LAST_EVENT_ID,
    PFDD_HTTP_CONNECTION,
    PFDD_HTTP_CONTENT_LENGTH,
    PFDD_HTTP_TRANSFER_ENCODING,
    PFDD_HTTP_N_FIELDS
};

/* ?name=value: UTF-8 without NUL; a missing value is "". A name may occur more
 * than once. */
struct pfdd_http_arg {
    const char *name;
    const char *value;
};

/* All borrowed from the head. */
struct pfdd_http_request {
    bool is_head; /* the answer has no body */
    bool keeps;   /* another request may follow */
    const char *path;
    struct pfdd_http_arg args[PFDD_HTTP_ARGS];
    size_t n_args;
    const char *fields[PFDD_HTTP_N_FIELDS]; /* NULL: not given */
};

/* The length of the head that bytes [n] begin with, including its empty line;
 * 0: it is incomplete. */
size_t pfdd_http_head(const char *bytes, size_t n);

/* False: a byte is invalid in any head, whatever bytes follow. */
bool pfdd_http_is_text(const char *bytes, size_t n);

/*
 * Parses a complete head of n bytes and modifies it. Returns 0, or the status
 * to answer with; *why is then the reason, a constant. ret->is_head is valid in
 * both cases.
 */
unsigned pfdd_http_read(struct pfdd_http_request *ret, char *head, size_t n,
                        const char **why);

/* True: the client is no browser, or a browser that shows the answer only to a
 * page of the same origin. */
bool pfdd_http_is_same_origin(const struct pfdd_http_request *request);

/* True: Host is this machine, or is not given. */
bool pfdd_http_is_local(const struct pfdd_http_request *request);

/* Writes the head of an answer. n: bytes of the body, or -1: not known. Returns
 * the head's length; 0: it is longer than ret. */
size_t pfdd_http_put_head(char *ret, size_t n_ret, unsigned status,
                          const char *type, const char *policy, long long n,
                          bool keeps);

/* The reason phrase of a status. */
const char *pfdd_http_phrase(unsigned status);

#endif
