/* SPDX-License-Identifier: MIT */
/* What a code object URI that was found in a memory names. */
#ifndef PFD_PROCESS_CODE_BYTES_H
#define PFD_PROCESS_CODE_BYTES_H

#include "memory/space/address_space.h"

/*
 * Reads it to *ret [*n], to be freed; NULL where it cannot be read: a finding
 * with the report says why. A file is that of the process' root, a process is
 * the memory itself. PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_process_code_bytes(struct pfd_memory *memory,
                                       const char *uri, void **ret, size_t *n,
                                       struct pfd_report *report,
                                       struct pfd_error *err);

#endif
