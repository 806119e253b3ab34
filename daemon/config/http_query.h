/* SPDX-License-Identifier: MIT */
/*
 * What a request of HTTP says of the lines that it wants: the keys of a request
 * (request.h) as parameters, and Last-Event-ID.
 */
#ifndef PFDD_HTTP_QUERY_H
#define PFDD_HTTP_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/http_head.h"
#include "config/request.h"

/* Adds to ret, whose form says what page it is; false: err [n] says what is not
 * understood, which is to be freed all the same. */
bool pfdd_http_query_read(struct pfdd_request *ret,
                          const struct pfdd_http_request *q, char *err,
                          size_t n_err);

#endif
