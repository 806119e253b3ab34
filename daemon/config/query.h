/* SPDX-License-Identifier: MIT */
/*
 * What a request of HTTP says of the lines that it wants: ?from=, ?match=,
 * ?source=, ?output=, ?findings=, ?entries_only=, and Last-Event-ID.
 *
 * To add a parameter: a row in the table of query.c, its lines in
 * printfdecoded.8.
 */
#ifndef PFDD_QUERY_H
#define PFDD_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/http.h"
#include "delivery/reader.h"

/* Adds to ret, whose form says what page it is; false: err [n] says what is not
 * understood, and the filter is the caller's all the same. */
bool pfdd_query_read(struct pfdd_request *ret,
                     const struct pfdd_http_request *q, char *err,
                     size_t n_err);

#endif
