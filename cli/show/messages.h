/* SPDX-License-Identifier: MIT */
/*
 * Standard error: errors, findings, the summary. Each line begins with
 * "printfdecode: ".
 */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

#include <printfdecode/convert.h>

void message_color(bool color);

void message_error(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* From now on, messages hold no commands for a build server. Does nothing where
 * standard error is a file. */
void message_guard_commands(void);

/* Lines that are made already, bytes [n]. */
void message_lines(const char *lines, size_t n);

/* Advice, which is no error. */
void message_hint(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* A pfd_finding_fn; user is not used. */
void message_finding(void *user, const struct pfd_finding *finding);

void message_summary(const struct pfd_summary *summary);

/* Shows the progress line; it is erased before any other message. */
void message_progress(const struct pfd_summary *so_far, uint64_t n_buffer);
/* Progress of a search in a core. */
void message_progress_search(uint64_t n_done, uint64_t n_all);
void message_progress_files(size_t n_looked_at, size_t n_found);
void message_progress_done(void);

#endif
