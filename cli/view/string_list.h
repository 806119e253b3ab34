/* SPDX-License-Identifier: MIT */
/* The format strings of what a view shows, numbered in the order of their first
 * entries, with the number of entries of each. Equal texts are one. */
#ifndef CLI_VIEW_STRING_LIST_H
#define CLI_VIEW_STRING_LIST_H

#include "core/base/dictionary.h"
#include "core/output/value_rows.h"
#include "source.h"

/* All zero: empty. */
struct string_list {
    struct pfd_dictionary keys; /* "s" and the text, or "u" and the label of an
                                   unknown id */
    struct pfd_text counts;     /* struct counted_string, by number */
    struct pfd_text by_index;   /* uint32_t: the number + 1 of string i of the
                                   set */
    size_t bytes_max;           /* beyond it, new texts count as one; 0: all
                                   are kept */
    uint32_t others;            /* the number of that one + 1; 0: none yet */
    bool failed;                /* out of memory */
};

struct counted_string {
    uint64_t n;
    uint64_t id;
    bool is_unknown;
};

void string_list_free(struct string_list *list);

/* Counts a row's entry; returns its string's number. strings: the row's set,
 * always the same one; NULL: the row has its text. */
uint32_t string_list_add(struct string_list *list, const struct pfd_row *row,
                         const struct pfd_strings *strings);

/* The same of a row whose text is known otherwise. */
uint32_t string_list_add_text(struct string_list *list,
                              const struct pfd_row *row, const char *text,
                              size_t n);

/* Is it the number of texts that have none of their own? */
static inline bool string_list_is_others(const struct string_list *list,
                                         uint32_t number)
{
    return list->others && number == list->others - 1;
}

/* The text, valid until the next one is added. */
struct view_string string_list_get(const struct string_list *list,
                                   uint32_t number);
const struct counted_string *string_list_count(const struct string_list *list,
                                               uint32_t number);

#endif
