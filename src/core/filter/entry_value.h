/* SPDX-License-Identifier: MIT */
/*
 * What an entry has beside its arguments, as values of a condition: what its
 * line of JSON says by these names (index, source, time ...), what its buffer's
 * sender said (host, pid ...), and its origin (lane, workgroup.x ...).
 */
#ifndef PFD_ENTRY_VALUE_H
#define PFD_ENTRY_VALUE_H

#include <printfdecode/filter.h>

#include "core/filter/where.h"

enum {
    PFD_OWN_TIME_ROOM = 40,
    PFD_OWN_FINDINGS_ROOM = 64 * 24, /* the names of all kinds */
    PFD_OWN_MAX = 64,                /* numbers of names are below */
};

/* Texts that are made for one entry. */
struct pfd_own_texts {
    char time[PFD_OWN_TIME_ROOM];
    char findings[PFD_OWN_FINDINGS_ROOM];
};

/* The number of what a name stands for, below PFD_OWN_MAX; SIZE_MAX: it may be
 * an origin's. "entry." in front of it is passed over. */
size_t pfd_own_find(const char *name);

/* Does a format tell an origin of this name (`workgroup.x` is a part of
 * `workgroup`), or the sender of a buffer? "entry." likewise. */
bool pfd_own_is_origin(const char *name);

/* Without an "entry." in front of it. */
const char *pfd_own_bare(const char *name);

/* facts: never NULL. Texts are borrowed from the entry, the facts and texts. */
struct pfd_value pfd_own_value(size_t own, struct pfd_entry *entry,
                               const struct pfd_filter_facts *facts,
                               struct pfd_own_texts *texts);

/* `lane`, or `workgroup.x`; what the format tells comes before what the sender
 * said. */
struct pfd_value pfd_own_origin(const char *name, struct pfd_entry *entry,
                                const struct pfd_filter_facts *facts);

#endif
