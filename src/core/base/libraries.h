/* SPDX-License-Identifier: MIT */
/*
 * The libraries that this one loads on demand: for regular expressions,
 * compressed input, metadata in YAML, PNG and SQLite.
 */
#ifndef PFD_LIBRARIES_H
#define PFD_LIBRARIES_H

#include <printfdecode/common.h>

/*
 * Loads all of them now: for programs that may soon be barred from opening
 * files, or that must not block later. If one cannot be loaded, the call that
 * needs it tries again and reports it. Any thread.
 */
void pfd_libraries_load(void);

#endif
