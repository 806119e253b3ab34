/* SPDX-License-Identifier: MIT */
/*
 * The query of an HTTP request for lines: the keys of a request (request.h) as
 * parameters, and Last-Event-ID.
 */
#ifndef PFDD_HTTP_QUERY_H
#define PFDD_HTTP_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/http_head.h"
#include "config/request.h"

/* Adds to ret, whose form was set from the path. False: see err [n]; the caller
 * frees ret all the same. */
bool pfdd_http_query_read(struct pfdd_request *ret,
                          const struct pfdd_http_request *q, char *err,
                          size_t n_err);

#endif
