/* SPDX-License-Identifier: MIT */
/* Parsers of values (option_parse_fn) that rows of several groups have. */
#ifndef CLI_OPTION_VALUES_H
#define CLI_OPTION_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

enum {
    OPTION_LIST = 256 /* bytes of a list of words */
};

/* By the type of the member. */
bool option_flag(struct options *options, const struct option_row *row,
                 const char *text); /* bool */
bool option_text(struct options *options, const struct option_row *row,
                 const char *text); /* const char *, borrowed */
bool option_number(struct options *options, const struct option_row *row,
                   const char *text); /* uint64_t */
bool option_positive(struct options *options, const struct option_row *row,
                     const char *text); /* uint64_t above 0 */
bool option_bytes(struct options *options, const struct option_row *row,
                  const char *text); /* uint64_t above 0, with units */
bool option_when(struct options *options, const struct option_row *row,
                 const char *text); /* enum when; no text: always */
bool option_words(struct options *options, const struct option_row *row,
                  const char *text); /* struct words; the row owns */

/* The same of paths of files to read. */
bool option_input_files(struct options *options, const struct option_row *row,
                        const char *text);

/* Like option_text(), for the path of a file to read, or to write. */
bool option_input_file(struct options *options, const struct option_row *row,
                       const char *text);
bool option_output_file(struct options *options, const struct option_row *row,
                        const char *text);

/* The row's member. */
void *option_member(struct options *options, const struct option_row *row);

/* The row's member, an option_text() or a file; NULL: not given. */
const char *option_text_of(const struct options *options,
                           const struct option_row *row);

/* The row's member, an option_words() or its like. */
const struct words *option_words_of(const struct options *options,
                                    const struct option_row *row);

/* Prints an error about a value; returns false. */
bool option_wrong(const char *what, const char *value);

/* Reads a decimal number. False: an error was printed. */
bool option_read_number(const char *text, uint64_t *ret);
/* Reads bytes: a number with an optional unit of 1024, as "2GiB", "2G". */
bool option_read_bytes(const char *text, uint64_t *ret);
/* Reads a decimal number, or a hexadecimal one with 0x. */
bool option_read_place(const char *text, uint64_t *ret);

/* The index of a word in a NULL-terminated list; -1: not found. */
int option_find_word(const char *const *words, const char *text);

/* Appends a word to a comma-separated list [OPTION_LIST]. */
void option_list(char *list, const char *before, const char *word);

/* Points in time on the command line. */

/* Reads "10m" (s, m, h, d) into *ago, nanoseconds, or a time of RFC 3339 into
 * *time, nanoseconds since 1970. The other one is 0. False: neither. */
bool since_read(const char *text, uint64_t *time, uint64_t *ago);

#endif
