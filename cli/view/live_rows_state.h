/* SPDX-License-Identifier: MIT */
/* Internals: rows of entries that came. */
#ifndef CLI_VIEW_LIVE_ROWS_STATE_H
#define CLI_VIEW_LIVE_ROWS_STATE_H

#include "source.h"
#include "string_list.h"

struct live_rows {
    size_t bytes_max;
    struct pfd_text rows;    /* one behind another; row.source: their numbers */
    struct pfd_text places;  /* size_t: where each begins */
    struct pfd_text strings; /* uint32_t: the number of its format string, or
                                VIEW_NO_STRING */
    struct string_list names;
    uint64_t n_dropped; /* of the oldest ones */
    bool (*poll)(void *user);
    void *poll_user;
};

static inline size_t live_rows_count(const struct live_rows *live)
{
    return live->places.n / sizeof(size_t);
}

static inline const struct pfd_row *live_rows_row(const struct live_rows *live,
                                                  uint32_t item)
{
    const size_t *places = (const void *)live->places.data;
    return (const void *)(live->rows.data + places[item]);
}

static inline uint32_t live_rows_string(const struct live_rows *live,
                                        uint32_t item)
{
    return ((const uint32_t *)(const void *)live->strings.data)[item];
}

/* live_search.c */
enum view_outcome live_rows_filter(void *live, const struct view_filter *filter,
                                   view_stop_fn stop, void *user,
                                   struct view_items *ret, char *err,
                                   size_t n_err);
enum view_outcome live_rows_collapse(void *live,
                                     const struct view_filter *filter,
                                     view_stop_fn stop, void *stop_user,
                                     view_line_fn take, void *user, char *err,
                                     size_t n_err);

#endif
