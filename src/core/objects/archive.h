/* SPDX-License-Identifier: MIT */
/*
 * Reads a Unix ar archive as a sequence of members. Borrows the archive's bytes
 * and returns ranges within them. Does not know the members' content.
 */
#ifndef PFD_ARCHIVE_H
#define PFD_ARCHIVE_H

#include <printfdecode/common.h>

#include "core/base/byte_reader.h"
#include "core/base/error.h"

/* Everything is borrowed from the archive's bytes. */
struct pfd_member {
    const char *name; /* [n_name] bytes, any bytes, not NUL-terminated */
    size_t n_name;
    struct pfd_byte_reader bytes;
    uint64_t offset; /* of bytes in the archive */
};

/* Takes one member. Any status but PFD_OK ends the walk and is its result. */
typedef enum pfd_status (*pfd_member_fn)(void *user,
                                         const struct pfd_member *member);

/*
 * Calls fn for every member, in order; symbol tables and the table of long
 * names are not members. A broken member is a finding (bad_archive), and the
 * walk resumes at the next plausible member header. Members never overlap.
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: not an archive; the status that fn returned.
 */
enum pfd_status pfd_archive_members(const void *bytes, size_t n,
                                    pfd_member_fn fn, void *user,
                                    struct pfd_report *report,
                                    struct pfd_error *err);

#endif
