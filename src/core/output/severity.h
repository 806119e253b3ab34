/* SPDX-License-Identifier: MIT */
/* How much an entry matters, and the place in source code that it names. */
#ifndef PFD_SEVERITY_H
#define PFD_SEVERITY_H

#include "core/decode/inspect.h"

enum pfd_severity {
    PFD_SEVERITY_ERROR, /* level error, or all entries of its format are */
    PFD_SEVERITY_WARNING,
    PFD_SEVERITY_NOTE,  /* level info, or none */
    PFD_SEVERITY_DEBUG, /* level debug or trace */
};

enum pfd_severity pfd_entry_severity(struct pfd_entry *entry);

/* "error", "warning", "note", "debug"; static storage. */
const char *pfd_severity_name(enum pfd_severity severity);

/* The origins among [n] that are a source file and a line in it; NULL: not
 * known. */
struct pfd_source_place {
    const struct pfd_origin *file;
    const struct pfd_origin *line;
};
struct pfd_source_place pfd_source_place(const struct pfd_origin *origins,
                                         size_t n);

#endif
