/* SPDX-License-Identifier: MIT */
#include "config/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool take_output(struct pfdd_request *ret, const char *value, char *err,
                        size_t n_err)
{
    if (ret->form != PFDD_SSE && pfdd_form_find(value, &ret->form))
        return true;
    snprintf(err, n_err, "'output' is json, text or raw, of /lines");
    return false;
}

static bool is_digits(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text) &&
           strlen(text) < 20;
}

static bool take_from(struct pfdd_request *ret, const char *value, char *err,
                      size_t n_err)
{
    struct pfdd_from *from = &ret->from;
    if (is_digits(value)) {
        *from = (struct pfdd_from){ .is_seq = true,
                                    .value = strtoull(value, NULL, 10) };
        return true;
    }
    snprintf(err, n_err,
             "'from' is a sequence number, a time such as "
             "2026-11-20T20:09:49Z, 'oldest' or 'now'");
    return pfdd_from_read(from, value);
}

static bool take_match(struct pfdd_request *ret, const char *value, char *err,
                       size_t n_err)
{
    return pfdd_filter_match(&ret->filter, value, err, n_err);
}

static bool take_source(struct pfdd_request *ret, const char *value, char *err,
                        size_t n_err)
{
    return pfdd_filter_source(&ret->filter, value, err, n_err);
}

static bool read_bool(bool *ret, const char *value, char *err, size_t n_err)
{
    *ret = !strcmp(value, "true");
    if (*ret || !strcmp(value, "false"))
        return true;
    snprintf(err, n_err, "'entries_only' and 'findings' are true or false");
    return false;
}

static bool take_entries_only(struct pfdd_request *ret, const char *value,
                              char *err, size_t n_err)
{
    return read_bool(&ret->filter.entries_only, value, err, n_err);
}

static bool take_findings(struct pfdd_request *ret, const char *value,
                          char *err, size_t n_err)
{
    bool wanted = true;
    bool ok = read_bool(&wanted, value, err, n_err);
    ret->filter.no_findings = !wanted;
    return ok;
}

static const struct parameter {
    const char *name;
    bool (*take)(struct pfdd_request *ret, const char *value, char *err,
                 size_t n_err);
} parameters[] = {
    { "output", take_output },
    { "from", take_from },
    { "match", take_match },
    { "source", take_source },
    { "entries_only", take_entries_only },
    { "findings", take_findings },
};

static bool take_arg(struct pfdd_request *ret, const struct pfdd_http_arg *arg,
                     char *err, size_t n_err)
{
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        if (!strcmp(arg->name, parameters[i].name))
            return parameters[i].take(ret, arg->value, err, n_err);
    }
    snprintf(err, n_err, "there is no parameter '%.64s'", arg->name);
    return false;
}

/* A browser that was cut off says what it had last; it asks for the same page
 * again, and so that comes before ?from=. */
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

bool pfdd_query_read(struct pfdd_request *ret,
                     const struct pfdd_http_request *q, char *err, size_t n_err)
{
    for (size_t i = 0; i < q->n_args; i++) {
        if (!take_arg(ret, &q->args[i], err, n_err))
            return false;
    }
    return take_last_id(ret, q->fields[PFDD_HTTP_LAST_EVENT_ID], err, n_err);
}
