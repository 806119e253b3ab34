/* SPDX-License-Identifier: MIT */
/*
 * Runs: consecutive entries of one buffer, each right behind the one before,
 * with known strings and without findings. Nearly all entries are in runs;
 * taking them together costs less for each.
 *
 * A run is borrowed until the call that passed it returns; one thread at a
 * time.
 */
#ifndef PRINTFDECODE_ENTRY_RUN_H
#define PRINTFDECODE_ENTRY_RUN_H

#include <printfdecode/printfdecode.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_entry_run;

/* How many entries: one at least. */
PFD_API size_t pfd_entry_run_count(const struct pfd_entry_run *entry_run);

/* Bytes of the buffer that they occupy. */
PFD_API uint64_t pfd_entry_run_bytes(const struct pfd_entry_run *entry_run);

/* Entry i of the run, below pfd_entry_run_count(); lives as long as the run. */
PFD_API void pfd_entry_run_entry(const struct pfd_entry_run *entry_run,
                                 size_t i, struct pfd_entry *ret);

#ifdef __cplusplus
}
#endif

#endif
