/* SPDX-License-Identifier: MIT */
/*
 * Generations of a buffer that is written over and over: how one begins, how
 * its end is detected, and how many bytes it has lost by then.
 */
#ifndef PFD_TAIL_GENERATION_H
#define PFD_TAIL_GENERATION_H

#include "stream/live/tail_pass.h"

/* Resets the state: nothing of the generation has been seen. */
void pfd_tail_generation_clear(struct pfd_tail *t);

/* Attaches to a buffer of n_buffer bytes, and remembers leftovers in it.
 * PFD_OK; PFD_ERR_IO; PFD_ERR_NOMEM. */
enum pfd_status pfd_tail_generation_attach(struct pfd_tail *t,
                                           uint64_t n_buffer,
                                           struct pfd_error *err);

/* Compares some of the emitted bytes with the buffer; *other: it has another
 * generation. Statuses likewise. */
enum pfd_status pfd_tail_generation_check(struct pfd_tail *t, bool *other,
                                          struct pfd_error *err);

/* Ends a generation and begins the next one; why: for a finding. Likewise. */
enum pfd_status pfd_tail_generation_next(struct pfd_tail *t, const char *why,
                                         struct pfd_error *err);

/* Reports the generation's losses that were not reported yet. */
void pfd_tail_report_overflow(struct pfd_tail *t);

#endif
