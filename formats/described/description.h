/* SPDX-License-Identifier: MIT */
/*
 * A description while it is read: values in their order, and mistakes with
 * their line and column. keys.c reads the numbers of the ring, message_rows.c
 * its messages, describe.c the whole.
 */
#ifndef DESCRIBED_DESCRIPTION_H
#define DESCRIBED_DESCRIPTION_H

#include "core/base/msgpack.h"
#include "core/objects/metadata_yaml.h"
#include "layout.h"

struct description {
    const struct pfd_format *format;
    struct pfd_strings *strings;
    struct pfd_report *report;
    struct pfd_error *err;
    const char *text; /* [n], the description */
    size_t n;
    struct pfd_yaml yaml;
    struct pfd_byte_reader c;
    size_t source; /* of the newest text */
    uint64_t numbers[RING_NUMBERS + 2 * TAGS_MAX];
    size_t sources[RING_NUMBERS]; /* where they are stated */
    size_t n_tags;                /* types behind the numbers */
    struct {
        const char *name; /* [n] */
        size_t n;
    } enums[ENUMS_MAX];
    size_t n_enums;
    size_t wants_printf; /* what does so is there, if it is not 0 */
    struct pfd_quoted quoted;
    struct pfd_text translated;
};

/* Fails at a place of the description, with its line and column. */
bool description_mistake(struct description *r, size_t source,
                         const char *what);

/* Likewise at the newest text, with a quoted text between two others. */
bool description_mistake_at(struct description *r, const char *before,
                            const char *text, size_t n, const char *behind);

/* The next text, if the next value is one; its place is then r->source. NULL:
 * it is none. */
const char *description_read_text(struct description *r, size_t *n);
bool description_read_number(struct description *r, uint64_t *ret);

/* Enters a map or a list of *n; false: the next value is none. */
bool description_enter(struct description *r, bool is_map, uint64_t *n);
bool description_is_key(const char *text, size_t n, const char *key);

/* A key [n] of a section (NULL: of the description itself), and its number or
 * the keys that it has. False: a mistake. */
bool description_take_number(struct description *r, const char *section,
                             const char *key, size_t n);

/* Values of single keys: a field, whose first number is the `number`th, and
 * the ones of lists.c. */
bool description_take_field(struct description *r, size_t number);
bool description_take_origins(struct description *r);
bool description_take_order(struct description *r);
bool description_take_vectors(struct description *r);
bool description_take_tag_types(struct description *r);
bool description_take_enums(struct description *r);
bool description_take_strings(struct description *r);

/* A type by its name, or an enumeration. False: a mistake. */
bool description_find_type(struct description *r, const char *text, size_t n,
                           struct described_type *ret);

/* The numbers before a description is read, and whether they fit together
 * afterwards. */
void description_start(struct description *r);
bool description_check(struct description *r);

/* Reads the value of `messages`, and adds its rows. */
bool description_take_messages(struct description *r);

#endif
