/* SPDX-License-Identifier: MIT */
/*
 * All buffers of a command line through pfd_convert_*(), one after the other,
 * with progress on standard error.
 */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <printfdecode/lines.h>

#include "filter.h"
#include "input.h"

/*
 * What convert says is done for every buffer; source and callbacks for
 * findings and progress are filled in here. total: the sum of all. False after
 * an error, which was said.
 */
bool run_buffers(const struct options *options, struct inputs *inputs,
                 struct pfd_convert *convert, struct pfd_summary *total);

/* The same for one of them. PFD_OK and PFD_ERR_STOPPED are no errors. */
enum pfd_status run_buffer(const struct options *options,
                           const struct inputs *inputs,
                           struct pfd_convert *convert, struct buffer *buffer,
                           struct pfd_lines *lines, struct pfd_summary *total);

/* What `decode` does with inputs that are open; closes the filtering. The exit
 * status. */
int decode_inputs(const struct options *options, struct inputs *inputs,
                  struct filtering *filtering);

#endif
