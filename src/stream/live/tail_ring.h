/* SPDX-License-Identifier: MIT */
/*
 * Shared by the parts of a tail of a ring that begins anew at its end.
 * tail_ring.c knows where the program and the tail are, tail_ring_pass.c emits
 * entries, tail_ring_bytes.c reads and compares bytes. Positions are as in
 * struct pfd_tail_ring.
 */
#ifndef PFD_TAIL_RING_H
#define PFD_TAIL_RING_H

#include "stream/live/tail_pass.h"

/* ---- tail_ring_bytes.c ---- */

/* Makes room for the whole ring, of which parts are read. False: out of
 * memory. */
bool pfd_tail_ring_make_room(const struct pfd_tail *t,
                             struct pfd_tail_copy *copy);

/* Reads positions [from, to) into `now`. PFD_OK; PFD_MORE: they are not there;
 * PFD_ERR_IO. */
enum pfd_status pfd_tail_ring_read(struct pfd_tail *t, uint64_t from,
                                   uint64_t to, struct pfd_error *err);

/* Are positions [from, to) of `now` as they were in `before`? */
bool pfd_tail_ring_is_same(const struct pfd_tail *t, uint64_t from,
                           uint64_t to);

/* Are positions [from, to) of `now` as they were known a lap before? */
bool pfd_tail_ring_is_old(const struct pfd_tail *t, uint64_t from, uint64_t to);

/* Remembers positions [from, to) of `now` for the next lap. False: out of
 * memory. */
bool pfd_tail_ring_note(struct pfd_tail *t, uint64_t from, uint64_t to);

/* Forgets what is remembered, and remembers what stands where the program will
 * write next. PFD_OK; PFD_ERR_IO; PFD_ERR_NOMEM. */
enum pfd_status pfd_tail_ring_attach(struct pfd_tail *t, struct pfd_error *err);

/* Reads what came out last again, which is in the ring. *is_other: it is
 * something else, more than one late store explains; *is_zero: it was cleared.
 * PFD_OK; PFD_MORE: it is not there; PFD_ERR_IO; PFD_ERR_NOMEM. */
enum pfd_status pfd_tail_ring_check_out(struct pfd_tail *t, bool *is_other,
                                        bool *is_zero, struct pfd_error *err);

/* ---- tail_ring_pass.c ---- */

/* One pass over bytes that were read. */
struct pfd_tail_ring_pass {
    uint64_t from;
    uint64_t to;
    uint64_t settled; /* before it, what cannot be read is given up */
    bool is_final;
    bool in_gap;
    struct pfd_finding gap;
    uint64_t gap_at;
    bool failed; /* out of memory */
};

/* Emits what is settled of its bytes in `now`. */
void pfd_tail_ring_pass_run(struct pfd_tail *t, struct pfd_tail_ring_pass *p);

#endif
