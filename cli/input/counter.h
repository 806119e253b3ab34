/* SPDX-License-Identifier: MIT */
/*
 * --counter FILE: the counter of a described ring that is in a buffer of its own.
 * It becomes a description of one key, which goes where descriptions go.
 */
#ifndef CLI_COUNTER_H
#define CLI_COUNTER_H

#include "core/base/error.h"
#include "core/base/text.h"

/* Appends the description for the first bytes of a file. PFD_OK, or err says why
 * not. */
enum pfd_status counter_describe(const char *path, struct pfd_text *ret,
                                 struct pfd_error *err);

#endif
