/* SPDX-License-Identifier: MIT */
/*
 * All buffers of a command line through pfd_convert_*(), one after the other,
 * with progress on standard error.
 */
#ifndef CLI_CONVERT_INPUTS_H
#define CLI_CONVERT_INPUTS_H

#include <printfdecode/lines.h>

#include "filter.h"
#include "input.h"

/*
 * What convert says is done for every buffer; source and callbacks for
 * findings and progress are filled in here. total: the sum of all. False after
 * an error, which was said.
 */
bool convert_buffers(const struct options *options, struct inputs *inputs,
                     struct pfd_convert *convert, struct pfd_summary *total);

/* The same; begin is called before each buffer. */
typedef void (*convert_begin_fn)(void *user, struct pfd_convert *convert,
                                 const struct buffer *buffer);
bool convert_each(const struct options *options, struct inputs *inputs,
                  struct pfd_convert *convert, struct pfd_summary *total,
                  convert_begin_fn begin, void *user);

/* The same for one of them. PFD_OK and PFD_ERR_STOPPED are no errors. */
enum pfd_status convert_opened_buffer(const struct options *options,
                                      const struct inputs *inputs,
                                      struct pfd_convert *convert,
                                      struct buffer *buffer,
                                      struct pfd_lines *lines,
                                      struct pfd_summary *total);

/* The same, and nothing is said of what is found in it. */
bool convert_quietly(const struct options *options, struct pfd_convert *convert,
                     struct buffer *buffer, struct pfd_summary *total);

/* What `decode` does with inputs that are open; closes the filtering. The exit
 * status. */
int decode_inputs(const struct options *options, struct inputs *inputs,
                  struct filtering *filtering);

#endif
