/* SPDX-License-Identifier: MIT */
/* Reads the code object that a URI in a memory names. */
#ifndef PFD_PROCESS_CODE_BYTES_H
#define PFD_PROCESS_CODE_BYTES_H

#include "memory/space/address_space.h"

/*
 * Reads it to *ret [*n]; the caller frees it. NULL: it cannot be read, and the
 * report gets a finding with the reason. A path is relative to the process'
 * root; a process in the URI is the memory itself. PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_process_code_bytes(struct pfd_memory *memory,
                                       const char *uri, void **ret, size_t *n,
                                       struct pfd_report *report,
                                       struct pfd_error *err);

#endif
