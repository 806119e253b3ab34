/* SPDX-License-Identifier: MIT */
/* What a shader wants bound, read from its SPIR-V. */
#ifndef RUNNERS_SHADER_H
#define RUNNERS_SHADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argument.h"

enum {
    SHADER_RESOURCES_MAX = 32,
    SHADER_PUSH_MAX = 32,
    SHADER_PUSH_BYTES = 128, /* what every device has */
};

/* A member of the push constants. */
struct shader_push {
    uint32_t offset;
    struct argument_type type; /* of kind 0 where it is neither a number nor a
                                  vector */
};

struct shader_resource {
    uint32_t set;
    uint32_t binding;
    bool is_uniform; /* a uniform buffer; else a storage buffer */
    bool is_print;   /* what `printfdecode scan` makes */
    bool is_control; /* likewise, the block that says what may be printed */
};

struct shader {
    uint32_t *words; /* [n]; owned */
    size_t n;
    char entry[64]; /* the name of the entry point */
    bool is_compute;
    struct shader_resource resources[SHADER_RESOURCES_MAX];
    size_t n_resources;
    struct shader_push pushes[SHADER_PUSH_MAX];
    size_t n_pushes;
    unsigned char push[SHADER_PUSH_BYTES]; /* push constants */
};

/* Reads the file. NULL; or why it cannot be used, in static memory. */
const char *shader_read(struct shader *ret, const char *path);

void shader_free(struct shader *shader);

#endif
