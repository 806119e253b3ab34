/* SPDX-License-Identifier: MIT */
/*
 * The head of a request of HTTP/1, read: bytes to words, in place. Strict: what
 * could be read in two ways is refused, and so is what nobody here needs, such
 * as a body. Knows no sockets, and nothing of what is asked for.
 */
#ifndef PFDD_HTTP_HEAD_H
#define PFDD_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>

enum {
    PFDD_HTTP_HEAD = 8192, /* bytes of a head, at most */
    PFDD_HTTP_ARGS = 16,   /* of a query, at most */
};

/* Fields that mean something here; each may be given once. */
enum pfdd_http_field {
    PFDD_HTTP_HOST,
    PFDD_HTTP_ORIGIN,
    PFDD_HTTP_SITE, /* Sec-Fetch-Site: whom a browser asks for */
    PFDD_HTTP_LAST_EVENT_ID,
    PFDD_HTTP_CONNECTION,
    PFDD_HTTP_CONTENT_LENGTH,
    PFDD_HTTP_TRANSFER_ENCODING,
    PFDD_HTTP_N_FIELDS
};

/* ?name=value: UTF-8 without NUL; no value is "". A name may come again. */
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

/* The bytes of the head that [n] begin with, its empty line included; 0: it has
 * not come whole. */
size_t pfdd_http_head(const char *bytes, size_t n);

/* False: they have one that no head may have, and what comes behind them
 * changes nothing. */
bool pfdd_http_is_text(const char *bytes, size_t n);

/*
 * Reads a whole head of n bytes and changes it. 0, or the status to answer
 * with; *why says what is wrong, a constant. ret->is_head is right then, too.
 */
unsigned pfdd_http_read(struct pfdd_http_request *ret, char *head, size_t n,
                        const char **why);

/* True: a browser would show the answer to nobody else than to a page of the
 * same place, or it is no browser. */
bool pfdd_http_is_same_origin(const struct pfdd_http_request *request);

/* True: Host is this machine, or is not given. */
bool pfdd_http_is_local(const struct pfdd_http_request *request);

/* The head of an answer; n: bytes of the body, or -1: as many as come. Returns
 * its own. */
size_t pfdd_http_put_head(char *ret, size_t n_ret, unsigned status,
                          const char *type, const char *policy, long long n,
                          bool keeps);

/* The words that belong to a status. */
const char *pfdd_http_phrase(unsigned status);

#endif
