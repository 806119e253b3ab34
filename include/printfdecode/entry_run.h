/* SPDX-License-Identifier: MIT */
/*
 * Runs: entries of one buffer, each right behind the one before, whose strings
 * are known and in which nothing was found. Nearly all entries are in some, and
 * who takes them together has less to do for each.
 *
 * Borrowed from whoever gave it, until that call returns; one thread at a time.
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

/* Bytes of the buffer that they take. */
PFD_API uint64_t pfd_entry_run_bytes(const struct pfd_entry_run *entry_run);

/* Entry i of them, below pfd_entry_run_count(); as long as the run. */
PFD_API void pfd_entry_run_entry(const struct pfd_entry_run *entry_run,
                                 size_t i, struct pfd_entry *ret);

#ifdef __cplusplus
}
#endif

#endif
