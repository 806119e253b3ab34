/* SPDX-License-Identifier: MIT */
/*
 * Names that inputs give to their own sources. No producer may use them: the
 * offset of a source is stored under its name.
 */
#ifndef PFDD_RESERVED_NAMES_H
#define PFDD_RESERVED_NAMES_H

#include <stdbool.h>

#include "base/name.h"
#include "config/config.h"

/* Converts a configured text to a name as inputs do. True: `name` begins with
 * it (NULL: it does not); *is_whole: it is the whole name. */
bool pfdd_reserved_name_begins(const char *name, const char *text,
                               bool *is_whole);

/* Makes the name of a producer's buffer unreserved: puts "producer/" before it.
 * False: it becomes too long. */
bool pfdd_reserved_name_release(const struct pfdd_config *config,
                                char name[PFDD_NAME_ROOM]);

#endif
