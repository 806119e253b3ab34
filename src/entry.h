/* SPDX-License-Identifier: MIT */
/*
 * A record made into an entry: its string, its bound steps, its message and
 * what its findings mean. Knows formats and programs; knows no output.
 */
#ifndef PFD_ENTRY_H
#define PFD_ENTRY_H

#include <printfdecode/printfdecode.h>

#include "format.h"

/*
 * What the entries of one buffer share, on one thread. The scratch is for
 * entries that are not laid out as their string says, and for messages.
 */
struct pfd_entry_source {
    const struct pfd_strings *strings; /* borrowed */
    const struct pfd_format *format;
    const char *source; /* the buffer's name, borrowed */
    char *source_json;  /* [n_source_json] the same, escaped; owned */
    size_t n_source_json;
    struct pfd_step *steps; /* [n_steps] */
    size_t n_steps;
    struct pfd_slot *slots; /* [PFD_ARGUMENTS_MAX], or NULL until needed */
    struct pfd_text message;
    struct pfd_text arguments;
    unsigned layout; /* of the entry made last */
};

/* False when out of memory; to be deinited all the same. */
bool pfd_entry_source_init(struct pfd_entry_source *of,
                           const struct pfd_strings *strings,
                           const struct pfd_format *format, const char *source);
void pfd_entry_source_deinit(struct pfd_entry_source *of);

/*
 * Makes the entry of a record; payload: where the record's payload is. False
 * when out of memory.
 */
bool pfd_entry_make(struct pfd_entry_source *of,
                    const struct pfd_record *record, const uint8_t *payload,
                    uint64_t index, struct pfd_entry *ret);

/* The slots of all its arguments, those too that no conversion takes: [*n],
 * borrowed until the next entry; NULL when out of memory. */
const struct pfd_slot *pfd_entry_slots(struct pfd_entry *entry, size_t *n);

#endif
