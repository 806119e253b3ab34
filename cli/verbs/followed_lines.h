/* SPDX-License-Identifier: MIT */
/*
 * Renders lines of followed buffers on several threads while many entries come.
 * While few come, the caller renders them at once, without waiting for a
 * thread.
 */
#ifndef CLI_FOLLOWED_LINES_H
#define CLI_FOLLOWED_LINES_H

#include <printfdecode/tail.h>

#include "options/options.h"
#include "stream/pipeline/ordered_render.h"

struct pfd_entry_run;

/* What prints entries as the options say: in their form, or as what a trace or
 * runs of equal ones are made of; filter: whose matches are shown, or NULL. NULL: it cannot be, which was said. */
struct pfd_lines *followed_lines_lines(const struct options *options,
                                       const struct pfd_filter *filter,
                                       bool has_form, bool has_rows,
                                       bool has_values);

struct followed_lines {
    struct pfd_ordered_render_options options;
    struct pfd_ordered_render
        *ordered_render; /* NULL: threads were not needed yet */
    struct pfd_ordered_render_place place; /* place of the chunk that is being
                                              filled */
    bool is_possible;
    bool is_on;
    uint64_t n_bytes; /* of entries, in this read pass */
};

/* is_possible: entries become nothing but lines. */
void followed_lines_init(struct followed_lines *ret,
                         const struct pfd_ordered_render_options *options,
                         bool is_possible);
void followed_lines_deinit(struct followed_lines *p);

/* Sets the place that the entries to come share. */
void followed_lines_set_place(struct followed_lines *p,
                              const struct pfd_ordered_render_place *place);

/* Takes an entry. False: everything before it is written, and the caller has to
 * render it. Exits when out of memory, after printing the error; so do the
 * functions below. */
bool followed_lines_take(struct followed_lines *followed_lines,
                         const struct pfd_entry *entry);

/* Takes a run of entries without findings. */
bool followed_lines_take_run(struct followed_lines *followed_lines,
                             const struct pfd_entry_run *entry_run);
/* Takes several runs that a tail emits together. */
bool followed_lines_take_runs(struct followed_lines *followed_lines,
                              const struct pfd_entry_run *const *entry_runs,
                              size_t n, struct pfd_tail *tail);

/* Ends a read pass: all its entries were submitted. False: the reader closed
 * the pipe, as with followed_lines_rest(). */
bool followed_lines_end_look(struct followed_lines *followed_lines);

/* Waits until everything is written. From then on, the caller renders entries,
 * until many come again. */
bool followed_lines_rest(struct followed_lines *followed_lines);

#endif
