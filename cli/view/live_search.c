/* SPDX-License-Identifier: MIT */
/* Looks for entries that a daemon has sent, and collapses them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/collapse/collapse.h"
#include "core/base/pattern.h"
#include "live_rows_state.h"
#include "live_where.h"
#include "quoted_pattern.h"

enum {
    TURN = 4096 /* rows between looks for keys */
};

/* A search. */
struct search {
    const struct live_rows *live;
    const struct view_filter *filter;
    view_stop_fn stop;
    void *user;
    struct pfd_pattern *pattern; /* NULL: any text */
    struct pfd_matcher *matcher;
    struct live_where *where;         /* NULL: any entry */
    struct pfd_pattern_memory memory; /* of both, without a limit */
    view_line_fn take;
    void *take_user;
};

static bool is_wanted(const struct search *s, uint32_t item)
{
    const struct pfd_row *row = live_rows_row(s->live, item);
    uint32_t string = live_rows_string(s->live, item);
    if (s->filter->has_string && string != s->filter->string)
        return false;
    if (string_list_is_others(&s->live->names, string))
        string = VIEW_NO_STRING;
    if (s->where && !live_where_test(s->where, row, string))
        return false;
    return !s->pattern ||
           (row->string < PFD_ROW_NO_STRING ||
                    row->string == PFD_ROW_SYNTHESIZED
                ? pfd_pattern_match(s->pattern, s->matcher,
                                    pfd_row_bytes(row, row->message),
                                    row->message.n) != PFD_MATCH_NO
                : false);
}

/* False: err says why. */
static bool begin(struct search *s, char *err, size_t n_err)
{
    struct pfd_error why = { .text = "out of memory" };
    struct pfd_text quoted = { 0 };
    bool ok = true;
    if (s->filter->where) {
        s->where = live_where_new(s->filter->where, err, n_err);
        return s->where != NULL;
    }
    if (s->filter->text) {
        quoted_pattern(&quoted, "", s->filter->text, strlen(s->filter->text),
                       "");
    }
    const char *text = s->filter->regex ? s->filter->regex : quoted.data;
    if (text) {
        ok =
            pfd_pattern_new(text,
                            PFD_PATTERN_JIT |
                                (s->filter->text ? PFD_PATTERN_IGNORE_CASE : 0),
                            &s->memory, &s->pattern, &why) == PFD_OK;
        s->matcher = ok ? pfd_matcher_new(&s->memory) : NULL;
        ok = ok && s->matcher;
    }
    if (!ok)
        snprintf(err, n_err, "%s", why.text);
    pfd_text_free(&quoted);
    return ok;
}

/* Are all names of the condition known? New lines alone may lack some. */
static bool is_right(const struct search *s, char *err, size_t n_err)
{
    return !s->where || s->filter->from ||
           live_where_check(s->where, err, n_err);
}

static void end(struct search *s)
{
    live_where_free(s->where);
    pfd_pattern_free(s->pattern);
    pfd_matcher_free(s->matcher);
}

static bool is_stopped(const struct search *s, uint32_t item)
{
    return item % TURN == 0 && s->stop && s->stop(s->user);
}

enum view_outcome live_rows_filter(void *live, const struct view_filter *filter,
                                   view_stop_fn stop, void *user,
                                   struct view_items *ret, char *err,
                                   size_t n_err)
{
    struct search s = {
        .live = live, .filter = filter, .stop = stop, .user = user
    };
    struct pfd_text found = { 0 };
    uint32_t n = (uint32_t)live_rows_count(live);
    enum view_outcome outcome = begin(&s, err, n_err) ? VIEW_DONE : VIEW_FAILED;
    for (uint32_t i = filter->from; outcome == VIEW_DONE && i < n; i++) {
        if (is_stopped(&s, i)) {
            outcome = VIEW_STOPPED;
        } else if (is_wanted(&s, i)) {
            pfd_text_add(&found, &i, sizeof i);
        }
    }
    if (found.failed) {
        snprintf(err, n_err, "out of memory");
        outcome = VIEW_FAILED;
    }
    if (outcome == VIEW_DONE && !is_right(&s, err, n_err))
        outcome = VIEW_FAILED;
    if (outcome == VIEW_DONE) {
        size_t n_bytes = 0;
        ret->n = found.n / sizeof(uint32_t);
        ret->all = (void *)pfd_text_take(&found, &n_bytes);
    }
    pfd_text_free(&found);
    end(&s);
    return outcome;
}

static bool take_line(void *user, const struct pfd_row *row, const char *line,
                      size_t n)
{
    const struct search *s = user;
    s->take(s->take_user, row->source, line, n);
    return true;
}

enum view_outcome live_rows_collapse(void *live,
                                     const struct view_filter *filter,
                                     view_stop_fn stop, void *stop_user,
                                     view_line_fn take, void *user, char *err,
                                     size_t n_err)
{
    struct search s = { .live = live,
                        .filter = filter,
                        .stop = stop,
                        .user = stop_user,
                        .take = take,
                        .take_user = user };
    struct pfd_collapse *collapse = NULL;
    const struct pfd_collapse_spec spec = {
        .output = "text",
        .write_line = take_line,
        .write_user = &s,
    };
    struct pfd_error why;
    uint32_t n = (uint32_t)live_rows_count(live);
    enum view_outcome outcome = begin(&s, err, n_err) ? VIEW_DONE : VIEW_FAILED;
    if (outcome == VIEW_DONE && pfd_collapse_new(&spec, &collapse, &why)) {
        snprintf(err, n_err, "%s", why.text);
        outcome = VIEW_FAILED;
    }
    for (uint32_t i = 0; outcome == VIEW_DONE && i < n; i++) {
        const struct pfd_row *row = live_rows_row(live, i);
        if (is_stopped(&s, i)) {
            outcome = VIEW_STOPPED;
        } else if (is_wanted(&s, i) &&
                   !pfd_collapse_write(collapse, row, row->n_bytes)) {
            outcome = VIEW_FAILED;
        }
    }
    if (outcome == VIEW_DONE &&
        (!is_right(&s, err, n_err) || pfd_collapse_end(collapse) != PFD_OK))
        outcome = VIEW_FAILED;
    pfd_collapse_free(collapse);
    end(&s);
    return outcome;
}
