/* SPDX-License-Identifier: MIT */
/*
 * Facts about a thing, name by name, as lines of text or as one JSON object:
 * fields of the thing, and lists of items with fields of their own.
 */
#ifndef CLI_FIELDS_H
#define CLI_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fields {
    bool json;
    bool in_item;
    const char *list; /* the open list; NULL: none */
    bool follows;     /* a field was printed on the same level */
};

void fields_begin(struct fields *f, bool json, const char *file,
                  const char *kind);
/* Of a subject that is no file: "type":"facts" and "subject" in JSON. */
void fields_begin_facts(struct fields *f, bool json, const char *subject);
void fields_end(struct fields *f);

/* value: untrusted text; NULL leaves the field out, as 0 does in
 * fields_count(). */
void fields_text(struct fields *f, const char *name, const char *value);
void fields_text_n(struct fields *f, const char *name, const char *value,
                   size_t n);
void fields_number(struct fields *f, const char *name, uint64_t value);
void fields_count(struct fields *f, const char *name, uint64_t value);
/* An address or an id; a string in JSON, so that all 64 bits survive. */
void fields_hex(struct fields *f, const char *name, uint64_t value);
void fields_flag(struct fields *f, const char *name, bool value);

/* Begins an item; items of one list must follow each other. name: of each item,
 * in text; list: of all of them, in JSON. */
void fields_item(struct fields *f, const char *list, const char *name);
void fields_item_end(struct fields *f);

#endif
