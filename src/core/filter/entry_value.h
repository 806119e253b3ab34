/* SPDX-License-Identifier: MIT */
/*
 * The values of an entry that are not arguments, for conditions: the members of
 * its JSON line (index, source, time ...), the values from its buffer's sender
 * (host, pid ...), and its origins (lane, workgroup.x ...).
 */
#ifndef PFD_ENTRY_VALUE_H
#define PFD_ENTRY_VALUE_H

#include <printfdecode/filter.h>

#include "core/filter/where.h"

enum {
    PFD_OWN_TIME_ROOM = 40,
    PFD_OWN_FINDINGS_ROOM = 64 * 24, /* the names of all kinds */
    PFD_OWN_MAX = 64,                /* numbers of names are below it */
};

/* Room for texts that are made for one entry. */
struct pfd_own_texts {
    char time[PFD_OWN_TIME_ROOM];
    char findings[PFD_OWN_FINDINGS_ROOM];
};

/* The number of a name, below PFD_OWN_MAX; SIZE_MAX: perhaps an origin's name.
 * A prefix "entry." is skipped. */
size_t pfd_own_find(const char *name);

/* Is it the name of an origin of any format (`workgroup.x` is a part of
 * `workgroup`), or of a value from senders? "entry." likewise. */
bool pfd_own_is_origin(const char *name);

/* Is it `entry.NAME` or `origin.NAME` of a NAME that is none of these? No entry
 * can have it: of arguments only parts are called so (`entry.x`, `entry.4`). */
bool pfd_own_is_lacking(const char *name);

/* The name of such a value that this one may be a typing error for; NULL: none. */
const char *pfd_own_near(const char *name);

/* facts: never NULL. Texts are borrowed from the entry, the facts and texts. */
struct pfd_value pfd_own_value(size_t own, struct pfd_entry *entry,
                               const struct pfd_filter_facts *facts,
                               struct pfd_own_texts *texts);

/* `lane`, or `workgroup.x`; an origin of the format comes before a value of the
 * sender. */
struct pfd_value pfd_own_origin(const char *name, struct pfd_entry *entry,
                                const struct pfd_filter_facts *facts);

#endif
