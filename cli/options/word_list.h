/* SPDX-License-Identifier: MIT */
/* The words of a repeatable option whose values have commas between words. */
#ifndef CLI_WORD_LIST_H
#define CLI_WORD_LIST_H

#include "options.h"

/* All zero: empty. */
struct word_list {
    char **all; /* [n], owned */
    size_t n;
};

/* Appends the words. False: out of memory; an error was printed. */
bool word_list_split(const struct words *words, struct word_list *ret);
void word_list_free(struct word_list *list);

#endif
