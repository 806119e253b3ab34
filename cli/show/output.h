/* SPDX-License-Identifier: MIT */
/*
 * Standard output without stdio: writes whole blocks, and ends quietly when the
 * reader closes the pipe.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <printfdecode/convert.h>

/* From now on, the output is JSON for a terminal. Control characters that JSON
 * allows in strings (C1 and bidirectional ones) are replaced by \u escapes of
 * the same meaning. */
void output_guard_json(void);

/* From now on, lines hold no commands for a build server (core/base/job_log.h);
 * is_json: they are JSON. Does nothing where standard output is a file. */
void output_guard_commands(bool is_json);

/* From now on each line begins with this text; borrowed. */
void output_prefix(const char *text);

/* Flushes, and writes bytes [n] as they are, as a line of its own. */
void output_command(const char *bytes, size_t n);

/* Gathers bytes [n] until a flush; false like output_write(). */
bool output_gather(const void *bytes, size_t n);

/* A pfd_write_fn; user is not used. False: the reader closed the pipe, or a
 * write failed. */
bool output_write(void *user, const void *bytes, size_t n);

/* Writes the text that output_printf() and its like gathered; false like
 * output_write(). */
bool output_flush(void);

/* Flushes. True after an error, except for a closed pipe; the error was
 * printed. */
bool output_failed(void);

/* A pfd_finding_fn that writes JSON records, in addition to
 * message_finding(). */
void output_finding(void *user, const struct pfd_finding *finding);

/* printf to standard output. Short texts are gathered until a flush. */
void output_printf(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* Foreign text [n], in one line for a terminal, or as the inside of a JSON
 * string. */
void output_escaped(const char *text, size_t n);
void output_json(const char *text, size_t n);

/* "NAME":"TEXT", and where the text is not UTF-8, its bytes: "NAME_b64". */
void output_json_text(const char *name, const char *text, size_t n);

#endif
