/* SPDX-License-Identifier: MIT */
/*
 * Lines of what is followed, made by several threads while much comes. Where
 * little comes, whoever takes the entries prints them, and nothing waits.
 */
#ifndef CLI_FOLLOWED_LINES_H
#define CLI_FOLLOWED_LINES_H

#include <printfdecode/ordered_render.h>
#include <printfdecode/tail.h>

#include "options.h"

/* What prints entries as the options say: in their form, or as what a trace or
 * runs of equal ones are made of; filter: whose matches are shown, or NULL. NULL: it cannot be, which was said. */
struct pfd_lines *followed_lines_lines(const struct options *options,
                                       const struct pfd_filter *filter,
                                       bool has_form, bool has_rows,
                                       bool has_values);

struct followed_lines {
    struct pfd_ordered_render_options options;
    struct pfd_ordered_render
        *ordered_render; /* NULL: nothing has been pressed yet */
    struct pfd_ordered_render_place place; /* of the chunk that is filled */
    bool is_possible;
    bool is_on;
    uint64_t n_bytes; /* of entries, in this look */
};

/* is_possible: lines are all that becomes of entries. */
void followed_lines_init(struct followed_lines *ret,
                         const struct pfd_ordered_render_options *options,
                         bool is_possible);
void followed_lines_deinit(struct followed_lines *followed_lines);

/* What the entries to come have in common. */
void followed_lines_set_place(struct followed_lines *followed_lines,
                              const struct pfd_ordered_render_place *place);

/* Takes an entry; false: all before it is written, and so should it be. Ends
 * the program where memory is out, which was said; so do the others. */
bool followed_lines_take(struct followed_lines *followed_lines,
                         const struct pfd_entry *entry);

/* The same for entries in which nothing was found. */
bool followed_lines_take_run(struct followed_lines *followed_lines,
                             const struct pfd_entry_run *entry_run);
/* And for runs that a tail gives together. */
bool followed_lines_take_runs(struct followed_lines *followed_lines,
                              const struct pfd_entry_run *const *entry_runs,
                              size_t n, struct pfd_tail *tail);

/* A look has ended: what it has given is on its way. False: nobody wants more,
 * as in pressing_rest(). */
bool followed_lines_end_look(struct followed_lines *followed_lines);

/* Waits until all that was taken is written; from here on entries are printed
 * one by one, until much comes again. */
bool followed_lines_rest(struct followed_lines *followed_lines);

#endif
