/* SPDX-License-Identifier: MIT */
/*
 * Names that inputs of ours give to what they watch, and that nobody else may
 * give: how far a source has come is kept by its name.
 */
#ifndef PFDD_RESERVED_NAMES_H
#define PFDD_RESERVED_NAMES_H

#include <stdbool.h>

#include "base/name.h"
#include "config/config.h"

/* As inputs make names of what is configured: does the name begin with what
 * becomes of text (NULL: no), and if so, is that all of it? */
bool pfdd_reserved_name_begins(const char *name, const char *text,
                               bool *is_whole);

/* Is this the name of a watched buffer, or of a file in a watched folder? */
bool pfdd_name_is_reserved(const struct pfdd_config *config, const char *name);

/* Makes the name of somebody else's buffer one that no input has: "producer/"
 * goes before it. False: it is too long then. */
bool pfdd_reserved_name_release(const struct pfdd_config *config,
                                char name[PFDD_NAME_ROOM]);

#endif
