/* SPDX-License-Identifier: MIT */
/*
 * What went wrong in a run, for a build server: entries of level warning and
 * above, entries that a filter of the caller wants, and findings. Those of one
 * place are one problem with a count.
 *
 *   pfd_problems_new(), pfd_problems_add() for each row, pfd_problems_end()
 *
 * Thread rule: one thread at a time.
 */
#ifndef PFD_PROBLEMS_H
#define PFD_PROBLEMS_H

#include <printfdecode/convert.h>

struct pfd_row;
struct pfd_text;
struct pfd_problems;
struct pfd_problems_form;

/* A form by its name; NULL: there is none. */
const struct pfd_problems_form *pfd_problems_form_find(const char *name);
/* Form i; NULL: there is no i. Its name; does its text go with lines of
 * entries, which come before it? Is it JSON? */
const struct pfd_problems_form *pfd_problems_form_get(size_t i);
const char *pfd_problems_form_name(const struct pfd_problems_form *form);
bool pfd_problems_form_has_lines(const struct pfd_problems_form *form);
bool pfd_problems_form_is_json(const struct pfd_problems_form *form);

/* NULL: out of memory. */
struct pfd_problems *pfd_problems_new(void);
/* NULL is allowed. */
void pfd_problems_free(struct pfd_problems *report);

/* Adds an entry's row if it is a problem; fails: the caller's options say that
 * it lets the run fail. The row needs severity, origins and message. */
void pfd_problems_add(struct pfd_problems *report, const struct pfd_row *row,
                      bool fails);

/* Adds a sentence about data, NUL-terminated; source: of which buffer, or
 * NULL. */
void pfd_problems_add_finding(struct pfd_problems *report, const char *source,
                              const char *text, bool fails);

/*
 * Appends the report in that form. summary: appends the problems as a table in
 * Markdown. PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_problems_write(const struct pfd_problems *report,
                                   const struct pfd_problems_form *form,
                                   struct pfd_text *out);
enum pfd_status pfd_problems_write_summary(const struct pfd_problems *report,
                                           struct pfd_text *out);

#endif
