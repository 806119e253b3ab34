/* SPDX-License-Identifier: MIT */
/* Texts with {} of a described ring. */
#ifndef DESCRIBED_BRACE_TEXT_H
#define DESCRIBED_BRACE_TEXT_H

#include "core/print/braces.h"
#include "layout.h"

enum {
    /* Values of a message whose {} take them out of order. */
    BRACES_SLOTS_MAX = 1024,
    BRACES_TAKEN_MAX = PFD_LAYOUT_MAX, /* arguments of a text */
};

/* Of rows with `own`: these have {}. */
extern const struct pfd_string_grammar described_braces;

/* Slots [n_slots], in the order of the arguments (words [n_words]: their
 * types), become the slots of the steps of a text with FACT_NUMBERED; room
 * is for PFD_ARGUMENTS_MAX. Returns their number. */
size_t braces_reorder(const struct pfd_string *s, const uint64_t *words,
                      size_t n_words, struct pfd_slot *slots, size_t n_slots);

/* Names of arguments, an empty one for those without. */
struct braces_names {
    struct pfd_brace_name names[BRACES_TAKEN_MAX];
    size_t n;
};

/* Appends the text with numbers for names. NULL, or its mistake. */
const char *braces_number(const char *text, size_t n,
                          const struct braces_names *names,
                          struct pfd_text *ret);

/* Puts the names of the arguments that a text takes, whose names are numbers by
 * now, behind words [*n_words] of [max]: *n_words grows. A list that has no room is
 * left out. */
void braces_put_names(const char *text, size_t n,
                      const struct braces_names *names, uint64_t *words,
                      size_t *n_words, size_t max);

/* pfd_string_kind.argument_name of a message of a description. */
const char *braces_argument_name(const struct pfd_string *s, size_t step,
                                 size_t *n);

/* Appends a plain text as one with {}, with a {} for each of n_values behind it,
 * joined with blanks, and a line break. */
void braces_join(const char *text, size_t n, size_t n_values,
                 struct pfd_text *ret);

/* The types that the placeholders of a text state, {0,I}, into words by their
 * arguments. NULL, or why not; a text whose placeholders state none has none. */
const char *braces_types(const char *text, size_t n, bool is_wide,
                         uint64_t words[BRACES_TAKEN_MAX - 1], size_t *n_types);

/* Checks a text without names against its types, words [n_types], and turns
 * those of names that are printed as numbers into numbers; without has_types, as
 * far as it goes. Adds to *facts. NULL, or the mistake. */
const char *braces_check(const char *text, size_t n, uint64_t *words,
                         size_t n_types, bool has_types, uint64_t *facts);

#endif
