/* SPDX-License-Identifier: MIT */
/* Groups of options that several verbs take; each fills members of struct
 * options. */
#ifndef CLI_OPTION_GROUPS_H
#define CLI_OPTION_GROUPS_H

#include "options.h"

/* Text or JSON; with raw and Perfetto, too. */
extern const struct option_group options_output;
extern const struct option_group options_output_entries;

extern const struct option_group options_strings;
extern const struct option_group options_buffers;
extern const struct option_group options_inflated;
extern const struct option_group options_keep_going;

/* The memory of processes, of cores, where in it a buffer is, and whether memory
 * and files are searched. */
extern const struct option_group options_process;
extern const struct option_group options_search;
extern const struct option_group options_core;
extern const struct option_group options_address;

/* Options of the formats: how buffers are read, and how text is printed. */
extern struct option_group options_decoding;
extern struct option_group options_decoding_text;
/* Fills both. */
void options_make_decoding(void);

extern const struct option_group options_filter;
extern const struct option_group options_skip;
extern const struct option_group options_limit;
extern const struct option_group options_context; /* --tail, too */

extern const struct option_group options_collapse;
extern const struct option_group options_lines;
extern const struct option_group options_filename;

/* Threads and progress of large inputs. */
extern const struct option_group options_work;

/* Buffers that grow, daemons, servers of NATS. */
extern const struct option_group options_live;
extern const struct option_group options_spool;
extern const struct option_group options_remote;
extern const struct option_group options_nats;

/* What lets the command fail, and reports. */
extern const struct option_group options_checks;

extern const struct option_group options_force;
extern const struct option_group options_messages;
extern const struct option_group options_help; /* of all verbs */

/* What verbs that read buffers and memory begin with, and end with. */
#define OPTIONS_READING                                            \
    &options_strings, &options_buffers, &options_decoding,         \
        &options_decoding_text, &options_process, &options_search, \
        &options_core, &options_address
#define OPTIONS_ENDING \
    &options_inflated, &options_keep_going, &options_messages, &options_help

#endif
