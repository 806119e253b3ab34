/* SPDX-License-Identifier: MIT */
/*
 * The walk over one buffer, batch by batch: shared by pfd_decoder_next() and
 * pfd_convert_*(). Knows no output.
 */
#ifndef PFD_DECODER_H
#define PFD_DECODER_H

#include "entry.h"

/* A buffer's format, and how it was found. */
struct pfd_choice {
    const struct pfd_format *format; /* NULL: the first bytes must decide */
    const struct pfd_format *other;  /* nearly as likely; NULL: none is */
    int score;                       /* what probe() said of both */
    int other_score;
};

/* Bytes that probe() wants to see. */
enum {
    PFD_PROBE_BYTES = 64
};

/*
 * The format to use: by name, or the one that the strings belong to, or the
 * likeliest by the buffer's first bytes (NULL: not known yet). n_buffer: 0 if
 * not known. False with err filled: no such name.
 */
bool pfd_format_choose(const struct pfd_strings *strings, const char *name,
                       const struct pfd_cursor *first, uint64_t n_buffer,
                       struct pfd_choice *ret, struct pfd_error *err);

/* Says that the choice was close, if it was. */
void pfd_walk_report_choice(struct pfd_walk *walk,
                            const struct pfd_choice *choice);

/* Prepares a walk with zero state; false when out of memory. options: borrowed
 * for the walk's life. */
bool pfd_walk_init(struct pfd_walk *walk, const struct pfd_format *format,
                   const struct pfd_strings *strings,
                   const struct pfd_options *options);
void pfd_walk_deinit(struct pfd_walk *walk);

bool pfd_batch_init(struct pfd_batch *batch, size_t max);
void pfd_batch_deinit(struct pfd_batch *batch);
void pfd_batch_clear(struct pfd_batch *batch);

/* The finding of a finding record; text is NUL-terminated into sentence [n]. */
struct pfd_finding pfd_batch_finding(const struct pfd_batch *batch,
                                     const struct pfd_record *record,
                                     const char *source, char *sentence,
                                     size_t n);

#endif
