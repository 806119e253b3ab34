/* SPDX-License-Identifier: MIT */
/*
 * Generations of a buffer that is written over and over: how one begins, how it
 * is noticed that it is over, and what it has lost by then.
 */
#ifndef PFD_TAIL_GENERATION_H
#define PFD_TAIL_GENERATION_H

#include "stream/live/tail_pass.h"

/* Nothing of the generation has been seen. */
void pfd_tail_generation_clear(struct pfd_tail *t);

/* The first one: what was there before us, in a buffer of n_buffer bytes.
 * PFD_OK; PFD_ERR_IO; PFD_ERR_NOMEM. */
enum pfd_status pfd_tail_generation_attach(struct pfd_tail *t,
                                           uint64_t n_buffer,
                                           struct pfd_error *err);

/* Compares some of what came out with what stands there now; *other: it is of
 * another generation. Likewise. */
enum pfd_status pfd_tail_generation_check(struct pfd_tail *t, bool *other,
                                          struct pfd_error *err);

/* One is over, and the next one begins; why: in a finding. Likewise. */
enum pfd_status pfd_tail_generation_next(struct pfd_tail *t, const char *why,
                                         struct pfd_error *err);

/* What the generation has lost by now and was not told. */
void pfd_tail_report_overflow(struct pfd_tail *t);

#endif
