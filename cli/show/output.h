/* SPDX-License-Identifier: MIT */
/*
 * Standard output without stdio: whole blocks, and a reader that goes away
 * ends us quietly.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <printfdecode/convert.h>

/* From now on it is JSON on a terminal: controls in its strings that JSON lets
 * pass, C1 and those of direction, become \u escapes, which mean the same. */
void output_guard_json(void);

/* A pfd_write_fn; user is not used. False: no more is wanted or can be
 * written. */
bool output_write(void *user, const void *bytes, size_t n);

/* Hands over what output_printf() and its like gathered; false as output_write(). */
bool output_flush(void);

/* Flushes; true after an error other than a reader that went away, which was
 * said. */
bool output_failed(void);

/* A pfd_finding_fn that writes JSON records, beside what tell_finding says. */
void output_finding(void *user, const struct pfd_finding *finding);

/* printf to standard output. Small pieces are gathered until a flush. */
void output_printf(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* Foreign text [n], in one line for a terminal, or as the inside of a JSON
 * string. */
void output_escaped(const char *text, size_t n);
void output_json(const char *text, size_t n);

/* "NAME":"TEXT", and where the text is not UTF-8, its bytes: "NAME_b64". */
void output_json_text(const char *name, const char *text, size_t n);

#endif
