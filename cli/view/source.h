/* SPDX-License-Identifier: MIT */
/*
 * What a view shows: items in order, each an entry or a finding between entries.
 * An item has a number from 0 on and a format string; its line is made when it
 * is wanted.
 */
#ifndef CLI_VIEW_SOURCE_H
#define CLI_VIEW_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIEW_NO_STRING UINT32_MAX /* a finding between entries */

/* What an item is. */
struct view_item {
    uint32_t string; /* the number of its format string, or VIEW_NO_STRING */
    bool is_finding; /* it is one, or an entry that has one */
};

/* A format string, or the label of an unknown id. */
struct view_string {
    const char *text; /* [n_text], borrowed */
    size_t n_text;
    uint64_t n; /* its entries */
};

/* What a filter asks for. All zero: everything. */
struct view_filter {
    const char *text;  /* in a message, whatever its case; or NULL */
    const char *regex; /* likewise */
    const char *where; /* a condition; or NULL */
    uint32_t string;   /* of this format string, if has_string */
    bool has_string;
    uint32_t from; /* only items from this number on */
};

/* Some items, by number and in order. */
struct view_items {
    uint32_t *all; /* [n], owned */
    size_t n;
};

/* Takes a line [n] of an item, safe for a terminal. */
typedef void (*view_line_fn)(void *user, uint32_t item, const char *line,
                             size_t n);

/* Does the caller want it to stop? */
typedef bool (*view_stop_fn)(void *user);

enum view_outcome {
    VIEW_DONE,
    VIEW_STOPPED,
    VIEW_FAILED /* the error is in err */
};

struct view_source_class {
    size_t (*n_items)(const void *source);
    struct view_item (*item)(const void *source, uint32_t number);
    size_t (*n_strings)(const void *source);
    struct view_string (*string)(const void *source, uint32_t number);
    /* Gives the lines of items [n], in order; lines that cannot be made are left out. */
    void (*lines)(void *source, const uint32_t *items, size_t n,
                  view_line_fn take, void *user);
    /* Everything that is known of an item, a line each. */
    void (*details)(void *source, uint32_t item, view_line_fn take, void *user);
    /* Looks for items; *ret: the caller frees it. */
    enum view_outcome (*filter)(void *source, const struct view_filter *filter,
                                view_stop_fn stop, void *user,
                                struct view_items *ret, char *err,
                                size_t n_err);
    /* Lines of items that were collapsed; likewise. */
    enum view_outcome (*collapse)(void *source,
                                  const struct view_filter *filter,
                                  view_stop_fn stop, void *stop_user,
                                  view_line_fn take, void *user, char *err,
                                  size_t n_err);
    /* From now on lines begin with their origin, or do not. */
    void (*show_origins)(void *source, bool shown);
    /* Takes new entries; waits for nothing. NULL: nothing comes.
     * False: no more will. */
    bool (*poll)(void *source);
    /* Items that are not here, for want of memory. */
    uint64_t (*n_left_out)(const void *source);
    /* Items that were dropped before item 0: numbers are less by so many. NULL:
     * none are. */
    uint64_t (*n_dropped)(const void *source);
};

struct view_source {
    const struct view_source_class *class;
    void *of; /* what its functions take */
};

#endif
