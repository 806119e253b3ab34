/* SPDX-License-Identifier: MIT */
/*
 * Parses code object URIs: "Code Object URI" in the documentation of AMD's
 * debugger API. Does not know files and processes.
 */
#ifndef PFD_URI_H
#define PFD_URI_H

#include "core/base/error.h"

struct pfd_uri {
    char *path; /* owned, decoded; NULL: a process */
    uint64_t pid;
    uint64_t offset;
    uint64_t size;
    bool has_range; /* otherwise the whole file */
};

/* True for text that begins as a file:// or memory:// URI. */
bool pfd_uri_recognise(const char *text);

/* PFD_OK; PFD_ERR_USAGE: not well-formed; PFD_ERR_NOMEM. */
enum pfd_status pfd_uri_parse(const char *text, struct pfd_uri *ret,
                              struct pfd_error *err);
void pfd_uri_deinit(struct pfd_uri *uri);

#endif
