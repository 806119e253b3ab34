/* SPDX-License-Identifier: MIT */
/* Reads YAML values into the members of keys. */
#ifndef PFDD_VALUE_H
#define PFDD_VALUE_H

#include <yaml.h>

#include "config/diagnostics.h"
#include "config/key_lookup.h"

enum {
    PFDD_ITEMS_MAX = 4096 /* items of a list */
};

struct pfdd_document {
    yaml_document_t *yaml;
    struct pfdd_diagnostics *diagnostics;
};

struct pfdd_place pfdd_place_of(const yaml_node_t *node);

/* The text of a node; NULL: it is no text, or contains NUL. */
const char *pfdd_scalar(const yaml_node_t *node);

/* Reads a value into the member. False: an error was reported. */
bool pfdd_value_read(const struct pfdd_document *doc, const yaml_node_t *node,
                     const struct pfdd_key *key, void *member);

#endif
