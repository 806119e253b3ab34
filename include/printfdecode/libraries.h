/* SPDX-License-Identifier: MIT */
/*
 * The libraries that this one loads when it needs them: for regular
 * expressions, compressed input, metadata in YAML, PNG and SQLite.
 */
#ifndef PRINTFDECODE_LIBRARIES_H
#define PRINTFDECODE_LIBRARIES_H

#include <printfdecode/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Loads all of them: for programs that soon may no longer open files, or that
 * must not wait later. What cannot be loaded is tried again, and reported, by
 * the call that needs it. Any thread.
 */
PFD_API void pfd_libraries_load(void);

#ifdef __cplusplus
}
#endif

#endif
