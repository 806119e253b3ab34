/* SPDX-License-Identifier: MIT */
#include "config/http_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digits(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text) &&
           strlen(text) < 20;
}

/* A browser that reconnects repeats the URL, and adds the id of the last event
 * that it has. So the id overrides ?from=. */
static bool take_last_id(struct pfdd_request *ret, const char *id, char *err,
                         size_t n_err)
{
    if (!id)
        return true;
    snprintf(err, n_err, "'Last-Event-ID' is a sequence number");
    if (!is_digits(id))
        return false;
    ret->from = (struct pfdd_from){ .is_seq = true,
                                    .value = strtoull(id, NULL, 10) + 1 };
    return true;
}

bool pfdd_http_query_read(struct pfdd_request *ret,
                          const struct pfdd_http_request *q, char *err,
                          size_t n_err)
{
    for (size_t i = 0; i < q->n_args; i++) {
        if (!pfdd_request_set(ret, q->args[i].name, q->args[i].value, err,
                              n_err))
            return false;
    }
    return take_last_id(ret, q->fields[PFDD_HTTP_LAST_EVENT_ID], err, n_err);
}
