/* SPDX-License-Identifier: MIT */
/* YAML to the members that keys name. */
#ifndef PFDD_VALUE_H
#define PFDD_VALUE_H

#include <yaml.h>

#include "config/diagnostics.h"
#include "config/keys.h"

enum {
    PFDD_ITEMS_MAX = 4096 /* of a list */
};

struct pfdd_document {
    yaml_document_t *yaml;
    struct pfdd_diagnostics *diagnostics;
};

struct pfdd_place pfdd_place_of(const yaml_node_t *node);

/* NULL: it is no text, or has zeros in it. */
const char *pfdd_scalar(const yaml_node_t *node);

/* Reads a value to the member. False: it complained. */
bool pfdd_value_read(const struct pfdd_document *doc, const yaml_node_t *node,
                     const struct pfdd_key *key, void *member);

#endif
