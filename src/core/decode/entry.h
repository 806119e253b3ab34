/* SPDX-License-Identifier: MIT */
/*
 * Makes an entry of a record: its string, its bound steps, its message and the
 * texts of its findings. Knows formats and programs; does not know output.
 */
#ifndef PFD_ENTRY_H
#define PFD_ENTRY_H

#include <printfdecode/printfdecode.h>

#include "core/decode/format.h"
#include "core/strings/json_parts.h"

/*
 * The shared state of one buffer's entries, on one thread. The scratch members
 * serve entries with a layout other than their string's, and messages.
 */
struct pfd_entry_source {
    const struct pfd_format *format;
    const struct pfd_table *table;               /* of the format; borrowed */
    const struct pfd_shader_table *shader_table; /* borrowed */
    const struct pfd_options *options;           /* borrowed */
    const char *source;         /* the buffer's name, borrowed */
    struct pfd_json_parts json; /* shared by its JSON lines */
    struct pfd_step *steps;     /* [n_steps] */
    size_t n_steps;
    struct pfd_slot *slots; /* [PFD_ARGUMENTS_MAX], or NULL until needed */
    size_t n_slots;         /* of the synthesized entry */
    uint64_t *layout;       /* [PFD_LAYOUT_MAX], likewise */
    struct pfd_text message;
    struct pfd_text arguments;
    struct pfd_text values; /* struct pfd_argument, one after another */
    struct pfd_text text;   /* of the synthesized entry */
    struct pfd_string
        *synthesized; /* [made_room] bytes, or NULL until needed */
    size_t synthesized_room;
    struct pfd_origin *origins;     /* [PFD_ORIGINS_MAX], likewise */
    struct pfd_text readings;       /* in the output's form */
    struct pfd_text fields;         /* likewise: the arguments by name */
    struct pfd_text names;          /* of the arguments */
    struct pfd_entry_source *other; /* for other readings, likewise; owned */
};

/* The format may be set later, before the first entry. False: out of memory;
 * call deinit in any case. */
bool pfd_entry_source_init(struct pfd_entry_source *of, const char *source);
void pfd_entry_source_set(struct pfd_entry_source *of,
                          const struct pfd_strings *strings,
                          const struct pfd_format *format,
                          const struct pfd_options *options);
void pfd_entry_source_deinit(struct pfd_entry_source *of);

/* Completes an entry that differs from its string in a table. */
bool pfd_entry_make_special(struct pfd_entry *ret);

/*
 * Makes the entry of a record; payload [n_payload]: from pfd_record_batch_payload().
 * False when out of memory.
 */
static inline bool pfd_entry_make(struct pfd_entry_source *of,
                                  const struct pfd_record *record,
                                  const uint8_t *payload, uint32_t n_payload,
                                  uint64_t index, struct pfd_entry *ret)
{
    const struct pfd_string *s = record->string;
    ret->index = index;
    ret->offset = record->offset;
    ret->id = record->key;
    ret->findings = record->findings;
    ret->payload = payload;
    ret->n_payload = n_payload;
    ret->n_bytes = record->n_bytes;
    ret->stream = 0;
    ret->string = s;
    ret->record = record;
    ret->of = of;
    ret->steps = NULL;
    ret->room = 0;
    if (s && !record->layout) {
        ret->findings |= s->findings;
        ret->steps = s->steps;
        ret->room = s->room;
    }
    uint64_t flags =
        record->flags & ~(unsigned)(PFD_RECORD_COPIED | PFD_RECORD_SURE);
    if (__builtin_expect((flags | record->layout) != 0, 0))
        return pfd_entry_make_special(ret);
    return true;
}

/* The slots of all arguments, also of those without a conversion: [*n],
 * borrowed until the next entry; NULL when out of memory. */
const struct pfd_slot *pfd_entry_slots(struct pfd_entry *entry, size_t *n);

#endif
