/* SPDX-License-Identifier: MIT */
/*
 * The arguments of an entry by their names: ,"fields":{"ray":7,"t":0.5} and,
 * where an integer is beyond 2^53, ,"fields_exact":{"ray":"9007199254740993"}.
 */
#ifndef PFD_ENTRY_FIELDS_H
#define PFD_ENTRY_FIELDS_H

#include "core/decode/entry.h"

/* Renders them into the source's `fields`, which stays empty where the entry's
 * string is unknown. */
void pfd_json_fields(struct pfd_entry *entry);

#endif
