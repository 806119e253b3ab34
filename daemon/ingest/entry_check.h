/* SPDX-License-Identifier: MIT */
/*
 * The checksum by which a restart knows the entry again that was delivered last.
 * It covers bytes before the entry, too, since another run may have the same one
 * there; in a ring, where those are written over while the entry still stands,
 * the entry alone.
 */
#ifndef PFDD_ENTRY_CHECK_H
#define PFDD_ENTRY_CHECK_H

#include <stdbool.h>
#include <stdint.h>

/* 0: there are no such bytes, as of a ring whose positions grow. */
uint64_t pfdd_entry_check(int fd, uint64_t offset, uint64_t n_bytes,
                          bool is_ring);

/* Is the entry still there? A check of either kind is compared with both: what
 * the buffer is has yet to be found out. True for a check of 0. */
bool pfdd_entry_check_holds(uint64_t check, int fd, uint64_t offset,
                            uint64_t n_bytes);

#endif
