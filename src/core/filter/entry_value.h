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
};

/* The members of an entry's JSON line that conditions know. */
enum pfd_own {
    PFD_OWN_INDEX,
    PFD_OWN_OFFSET,
    PFD_OWN_ID,
    PFD_OWN_SEQUENCE,
    PFD_OWN_GENERATION,
    PFD_OWN_TIME,
    PFD_OWN_NANOSECONDS,
    PFD_OWN_SOURCE,
    PFD_OWN_FORMAT,
    PFD_OWN_FORMAT_STRING,
    PFD_OWN_MESSAGE,
    PFD_OWN_STREAM,
    PFD_OWN_FINDINGS,
    PFD_OWN_N
};

/* Room for texts that are made for one entry. */
struct pfd_own_texts {
    char time[PFD_OWN_TIME_ROOM];
    char findings[PFD_OWN_FINDINGS_ROOM];
};

/* The enum pfd_own of a name; SIZE_MAX: perhaps an origin's name. A prefix
 * "entry." is skipped. */
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

/* The name without its prefixes "entry." and "origin.". */
const char *pfd_own_origin_name(const char *name);

/* True: the name, which has no prefix, is this origin's (`lane`) or a part of it
 * (`workgroup.x`); *ret is nothing where the origin has no such part. */
bool pfd_own_origin_value(const struct pfd_origin *o, const char *bare,
                          struct pfd_value *ret);

/* `lane`, or `workgroup.x`; an origin of the format comes before a value of the
 * sender. */
struct pfd_value pfd_own_origin(const char *name, struct pfd_entry *entry,
                                const struct pfd_filter_facts *facts);

#endif
