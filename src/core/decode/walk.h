/* SPDX-License-Identifier: MIT */
/*
 * The walk over one buffer, batch by batch: shared by the choice of a format,
 * pfd_decoder_next() and pfd_convert_*(). Does not know output.
 */
#ifndef PFD_WALK_H
#define PFD_WALK_H

#include "core/decode/entry.h"

/* Prepares a walk with zero state; false when out of memory. options: borrowed
 * for the walk's life. */
bool pfd_walk_init(struct pfd_walk *walk, const struct pfd_format *format,
                   const struct pfd_strings *strings,
                   const struct pfd_options *options);
void pfd_walk_deinit(struct pfd_walk *walk);

bool pfd_record_batch_init(struct pfd_record_batch *batch, size_t max);
/* Allocates places, so that chunks can fill the batch. */
bool pfd_record_batch_init_places(struct pfd_record_batch *batch);
/* Allocates counts, so that a walk may count. n_counts: strings. */
bool pfd_record_batch_init_counts(struct pfd_record_batch *batch,
                                  size_t n_counts);
void pfd_record_batch_deinit(struct pfd_record_batch *batch);
void pfd_record_batch_clear(struct pfd_record_batch *batch);

/* The finding of a finding record; copies its text, NUL-terminated, to sentence
 * [n]. */
struct pfd_finding pfd_record_batch_finding(
    const struct pfd_record_batch *batch, const struct pfd_record *record,
    const char *source, char *sentence, size_t n);

#endif
