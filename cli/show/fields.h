/* SPDX-License-Identifier: MIT */
/*
 * What is known of something, name by name, as lines of text or as one object
 * of JSON: fields of the thing itself, and items, each with fields of its own,
 * in lists.
 */
#ifndef CLI_FIELDS_H
#define CLI_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fields {
    bool json;
    bool in_item;
    const char *list; /* the one that is open; NULL: none */
    bool follows;     /* something stands before, on the same level */
};

void fields_begin(struct fields *f, bool json, const char *file,
                  const char *kind);
void fields_end(struct fields *f);

/* value: foreign text; NULL: the field is left out, as numbers that are 0 are by
 * fields_count(). */
void fields_text(struct fields *f, const char *name, const char *value);
void fields_text_n(struct fields *f, const char *name, const char *value,
                   size_t n);
void fields_number(struct fields *f, const char *name, uint64_t value);
void fields_count(struct fields *f, const char *name, uint64_t value);
/* An address or an id: text in JSON as well, since all its bits count. */
void fields_hex(struct fields *f, const char *name, uint64_t value);
void fields_flag(struct fields *f, const char *name, bool value);

/* Items of one list follow each other. name: of each, in text; list: of all of
 * them, in JSON. */
void fields_item(struct fields *f, const char *list, const char *name);
void fields_item_end(struct fields *f);

#endif
