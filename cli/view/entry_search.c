/* SPDX-License-Identifier: MIT */
/* Looks for entries of an index, and collapses them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/filter.h>

#include "analysis/collapse/collapse.h"
#include "entry_index_state.h"
#include "input/convert_inputs.h"
#include "quoted_pattern.h"

/* The library's filter. NULL: err says why. */
static struct pfd_filter *make_filter(const struct entry_index *x,
                                      const struct view_filter *f, char *err,
                                      size_t n_err)
{
    struct pfd_text text = { 0 };
    struct pfd_text string = { 0 };
    struct pfd_filter *ret = NULL;
    struct pfd_error why = { .text = "out of memory" };
    const struct counted_string *count =
        f->has_string ? string_list_count(&x->names, f->string) : NULL;
    bool is_unknown = count && count->is_unknown;
    if (f->text)
        quoted_pattern(&text, "", f->text, strlen(f->text), "");
    if (f->has_string && !is_unknown) {
        struct view_string s = string_list_get(&x->names, f->string);
        quoted_pattern(&string, "\\A", s.text, s.n_text, "\\z");
    }
    const char *pattern = f->regex ? f->regex : text.data;
    const char *format = string.data;
    struct pfd_filter_spec spec = {
        .patterns = &pattern,
        .n_patterns = pattern != NULL,
        .ignore_case = f->text != NULL,
        .ids = is_unknown ? &count->id : NULL,
        .n_ids = is_unknown,
        .format_strings = &format,
        .n_format_strings = format != NULL,
        .where = f->where,
        .jit = true,
    };
    if (!text.failed && !string.failed)
        pfd_filter_new(&spec, &ret, &why);
    if (!ret)
        snprintf(err, n_err, "%s", why.text);
    pfd_text_free(&text);
    pfd_text_free(&string);
    return ret;
}

/* A search through all buffers. */
struct search {
    struct entry_index *index;
    view_stop_fn stop;
    void *stop_user;
    bool is_stopped;
    uint32_t next;         /* the item behind the last one that was found */
    uint32_t end;          /* of the buffer's items */
    struct pfd_text found; /* uint32_t */
    struct pfd_collapse *collapse;
    view_line_fn take;
    void *take_user;
};

static bool go_on(void *user, const struct pfd_summary *so_far)
{
    struct search *s = user;
    (void)so_far;
    s->is_stopped |= s->stop && s->stop(s->stop_user);
    return !s->is_stopped;
}

/* The item of an entry, behind the entries before it; UINT32_MAX: none. */
static uint32_t item_of(struct search *s, uint64_t index)
{
    const struct entry_index *x = s->index;
    uint32_t i = s->next;
    while (i < s->end && (x->strings[i] & ENTRY_LINE || x->indexes[i] != index))
        i++;
    if (i == s->end)
        return UINT32_MAX;
    s->next = i + 1;
    return i;
}

static void take_indexes(void *user, const uint64_t *indexes, size_t n)
{
    struct search *s = user;
    for (size_t i = 0; i < n; i++) {
        uint32_t item = item_of(s, indexes[i]);
        if (item != UINT32_MAX)
            pfd_text_add(&s->found, &item, sizeof item);
    }
}

static bool convert_all(struct search *s, struct pfd_convert *convert)
{
    struct entry_index *x = s->index;
    convert->progress = go_on;
    convert->progress_user = s;
    bool ok = true;
    for (size_t i = 0; ok && i < x->in->n_buffers && !s->is_stopped; i++) {
        struct pfd_summary summary = { 0 };
        s->next = (uint32_t)x->first[i];
        s->end = (uint32_t)x->first[i + 1];
        ok = s->next == s->end ||
             convert_quietly(x->o, convert, &x->in->buffers[i], &summary) ||
             s->is_stopped;
        if (s->collapse)
            pfd_collapse_end(s->collapse);
    }
    return ok;
}

/* Names of a condition that no entry had. */
static bool is_wrong(const struct search *s, const struct pfd_filter *filter,
                     char *err, size_t n_err)
{
    struct pfd_error why;
    if (s->is_stopped ||
        pfd_filter_check(filter, s->index->in->strings, &why) == PFD_OK)
        return false;
    snprintf(err, n_err, "%s", why.text);
    return true;
}

enum view_outcome entry_index_filter(void *index,
                                     const struct view_filter *filter,
                                     view_stop_fn stop, void *user,
                                     struct view_items *ret, char *err,
                                     size_t n_err)
{
    struct search s = { .index = index, .stop = stop, .stop_user = user };
    struct pfd_filter *made = make_filter(index, filter, err, n_err);
    if (!made)
        return VIEW_FAILED;
    struct pfd_convert convert = entry_index_convert(index);
    convert.output = NULL;
    convert.filter = made;
    convert.emitted = take_indexes;
    convert.given_user = &s;
    bool ok = convert_all(&s, &convert);
    bool wrong = is_wrong(&s, made, err, n_err);
    pfd_filter_free(made);
    if (ok && !s.is_stopped && !wrong && !s.found.failed) {
        size_t n = 0;
        ret->n = s.found.n / sizeof(uint32_t);
        ret->all = (void *)pfd_text_take(&s.found, &n);
        return VIEW_DONE;
    }
    if (!ok && !wrong)
        snprintf(err, n_err, "a buffer cannot be read");
    pfd_text_free(&s.found);
    return s.is_stopped ? VIEW_STOPPED : VIEW_FAILED;
}

/* ---- collapsed ---- */

static bool take_line(void *user, const struct pfd_row *row, const char *line,
                      size_t n)
{
    struct search *s = user;
    uint32_t item = item_of(s, row->index);
    if (item != UINT32_MAX)
        s->take(s->take_user, item, line, n);
    return !s->is_stopped;
}

enum view_outcome entry_index_collapse(void *index,
                                       const struct view_filter *filter,
                                       view_stop_fn stop, void *stop_user,
                                       view_line_fn take, void *user, char *err,
                                       size_t n_err)
{
    struct search s = {
        .index = index,
        .stop = stop,
        .stop_user = stop_user,
        .take = take,
        .take_user = user,
    };
    const struct pfd_collapse_spec spec = {
        .output = "text",
        .write_line = take_line,
        .write_user = &s,
    };
    struct pfd_error why;
    struct pfd_filter *made = make_filter(index, filter, err, n_err);
    if (!made)
        return VIEW_FAILED;
    bool ok = pfd_collapse_new(&spec, &s.collapse, &why) == PFD_OK;
    bool wrong = false;
    if (ok) {
        struct pfd_convert convert = entry_index_convert(index);
        convert.filter = made;
        convert.consumer = pfd_collapse_consumer(s.collapse);
        ok = convert_all(&s, &convert);
        wrong = is_wrong(&s, made, err, n_err);
    } else {
        snprintf(err, n_err, "%s", why.text);
    }
    pfd_collapse_free(s.collapse);
    pfd_filter_free(made);
    return s.is_stopped ? VIEW_STOPPED : ok && !wrong ? VIEW_DONE : VIEW_FAILED;
}
