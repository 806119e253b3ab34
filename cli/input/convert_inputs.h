/* SPDX-License-Identifier: MIT */
/*
 * Converts all buffers of a command line with pfd_convert_*(), one after the
 * other, with progress on standard error.
 */
#ifndef CLI_CONVERT_INPUTS_H
#define CLI_CONVERT_INPUTS_H

#include <printfdecode/lines.h>

#include "filter.h"
#include "input.h"

/*
 * Runs the conversion for every buffer. Fills in the source and the callbacks
 * for findings and progress. total: the sum over all buffers. False: an error
 * was printed.
 */
bool convert_buffers(const struct options *options, struct inputs *inputs,
                     struct pfd_convert *convert, struct pfd_summary *total);

/* Like convert_buffers(); calls begin before each buffer. */
typedef void (*convert_begin_fn)(void *user, struct pfd_convert *convert,
                                 const struct buffer *buffer);
bool convert_each(const struct options *options, struct inputs *inputs,
                  struct pfd_convert *convert, struct pfd_summary *total,
                  convert_begin_fn begin, void *user);

/* Converts one buffer. PFD_OK and PFD_ERR_STOPPED are no errors. */
enum pfd_status convert_opened_buffer(const struct options *options,
                                      const struct inputs *inputs,
                                      struct pfd_convert *convert,
                                      struct buffer *buffer,
                                      struct pfd_lines *lines,
                                      struct pfd_summary *total);

/* Converts one buffer, and prints none of its findings. */
bool convert_quietly(const struct options *options, struct pfd_convert *convert,
                     struct buffer *buffer, struct pfd_summary *total);

#endif
