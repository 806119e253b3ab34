/* SPDX-License-Identifier: MIT */
/*
 * A Unix ar archive as a row of members. Borrows the archive's bytes and hands
 * out ranges within them. Knows nothing of what a member is.
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

/* True when bytes [n] start as an archive does, a thin one too. */
bool pfd_archive_recognise(const void *bytes, size_t n);

/*
 * Calls fn for every member, in order; symbol tables and the table of long
 * names are not members. What is broken is a finding (bad_archive), and the
 * walk goes on at the next thing that looks like a member's header. Members
 * never overlap.
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: not an archive; what fn returned.
 */
enum pfd_status pfd_archive_members(const void *bytes, size_t n,
                                    pfd_member_fn fn, void *user,
                                    struct pfd_report *report,
                                    struct pfd_error *err);

#endif
