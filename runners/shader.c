/* SPDX-License-Identifier: MIT */
#include "shader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the SPIR-V specification, 1.6: section 3, "Binary Form". */
enum {
    MAGIC = 0x07230203,
    HEADER_WORDS = 5,
    BOUND_MAX = 1 << 22,
    OP_NAME = 5,
    OP_ENTRY_POINT = 15,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_TYPE_VECTOR = 23,
    OP_TYPE_STRUCT = 30,
    OP_TYPE_POINTER = 32,
    OP_VARIABLE = 59,
    OP_DECORATE = 71,
    OP_MEMBER_DECORATE = 72,
    MODEL_GL_COMPUTE = 5,
    DECORATION_BLOCK = 2,
    DECORATION_BUFFER_BLOCK = 3,
    DECORATION_BINDING = 33,
    DECORATION_SET = 34,
    DECORATION_OFFSET = 35,
    STORAGE_UNIFORM_CONSTANT = 0,
    STORAGE_UNIFORM = 2,
    STORAGE_PUSH_CONSTANT = 9,
    STORAGE_BUFFER = 12,
    FILE_MAX = 64 << 20,
};

static const char print_name[] = "pfd_buffer";
static const char control_name[] = "pfd_control";

/* The decorations of an id. */
struct id {
    uint32_t set;
    uint32_t binding;
    uint32_t pointee; /* of a pointer type */
    bool is_print;
    bool is_control;
    bool is_block;
    bool is_buffer_block;
    struct argument_type type; /* of numbers and vectors */
    const uint32_t *members;   /* [n_members] types of a struct */
    size_t n_members;
};

/* OpMemberDecorate of offsets, which come before the types. */
struct offset {
    uint32_t of;
    uint32_t member;
    uint32_t offset;
};
static struct offset offsets[1024]; /* [n_offsets] */
static size_t n_offsets;

static const char *read_file(struct shader *ret, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return "cannot be opened";
    ret->words = malloc(FILE_MAX);
    ret->n = ret->words ? fread(ret->words, 4, FILE_MAX / 4, file) : 0;
    fclose(file);
    if (ret->n <= HEADER_WORDS || ret->words[0] != MAGIC)
        return "is no SPIR-V module";
    if (ret->words[3] > BOUND_MAX)
        return "has more ids than SPIR-V allows";
    return NULL;
}

/* A string that begins at w [n words]; does it end among them? */
static bool has_string(const uint32_t *w, size_t n)
{
    return memchr(w, '\0', 4 * n) != NULL;
}

static void take_decoration(struct id *id, const uint32_t *w, size_t n)
{
    uint32_t value = n > 3 ? w[3] : 0;
    switch (w[2]) {
    case DECORATION_SET:
        id->set = value;
        break;
    case DECORATION_BINDING:
        id->binding = value;
        break;
    case DECORATION_BLOCK:
        id->is_block = true;
        break;
    case DECORATION_BUFFER_BLOCK:
        id->is_buffer_block = true;
        break;
    default:
        break;
    }
}

static void take_offset(const uint32_t *w)
{
    if (w[3] == DECORATION_OFFSET &&
        n_offsets < sizeof offsets / sizeof *offsets)
        offsets[n_offsets++] = (struct offset){ w[1], w[2], w[4] };
}

/* Where a member is; false: that is not said. */
static bool find_offset(uint32_t of, size_t member, uint32_t *ret)
{
    for (size_t i = 0; i < n_offsets; i++) {
        *ret = offsets[i].offset;
        if (offsets[i].of == of && offsets[i].member == member)
            return true;
    }
    return false;
}

static void take_type(struct id *ids, uint32_t bound, const uint32_t *w,
                      size_t n)
{
    struct id *id = &ids[w[1]];
    switch (w[0] & 0xffff) {
    case OP_TYPE_INT:
        id->type =
            (struct argument_type){ n > 3 && w[3] ? 'i' : 'u', w[2] / 8, 1 };
        break;
    case OP_TYPE_FLOAT:
        id->type =
            (struct argument_type){ w[2] < 32 ? '\0' : 'f', w[2] / 8, 1 };
        break;
    case OP_TYPE_VECTOR:
        id->type = ids[w[2] < bound ? w[2] : 0].type;
        id->type.n = n > 3 ? w[3] : 0;
        break;
    default: /* a struct */
        id->members = w + 2;
        id->n_members = n - 2;
        break;
    }
}

/* The members of the push constants' block, in their order. */
static const char *take_push(struct shader *ret, const struct id *ids,
                             uint32_t bound, uint32_t block)
{
    const struct id *type = &ids[block];
    if (ret->n_pushes || type->n_members > SHADER_PUSH_MAX)
        return "has more push constants than there are here";
    for (size_t i = 0; i < type->n_members; i++) {
        uint32_t member = type->members[i];
        struct shader_push *push = &ret->pushes[ret->n_pushes++];
        *push = (struct shader_push){ 0 };
        if (member < bound && find_offset(block, (uint32_t)i, &push->offset) &&
            push->offset < SHADER_PUSH_BYTES && ids[member].type.n <= 4 &&
            ids[member].type.size <= 8 &&
            push->offset + ids[member].type.n * ids[member].type.size <=
                SHADER_PUSH_BYTES)
            push->type = ids[member].type;
    }
    return NULL;
}

/* A variable: its type, itself, its storage class. */
static const char *take_variable(struct shader *ret, struct id *ids,
                                 uint32_t bound, const uint32_t *w)
{
    if (w[1] >= bound || w[2] >= bound)
        return "has an id beyond its bound";
    if (w[3] == STORAGE_PUSH_CONSTANT)
        return take_push(ret, ids, bound, ids[w[1]].pointee);
    if (w[3] != STORAGE_UNIFORM_CONSTANT && w[3] != STORAGE_UNIFORM &&
        w[3] != STORAGE_BUFFER)
        return NULL;
    const struct id *type = &ids[ids[w[1]].pointee];
    if (!type->is_block && !type->is_buffer_block) {
        return "wants an image, a sampler or an array of buffers: there is "
               "nothing to bind there";
    }
    if (ret->n_resources == SHADER_RESOURCES_MAX)
        return "wants more buffers than there are here";
    ret->resources[ret->n_resources++] = (struct shader_resource){
        .set = ids[w[2]].set,
        .binding = ids[w[2]].binding,
        .is_uniform = w[3] == STORAGE_UNIFORM && type->is_block,
        .is_print = type->is_print,
        .is_control = type->is_control,
    };
    return NULL;
}

/* One instruction of n words. */
static const char *take(struct shader *ret, struct id *ids, uint32_t bound,
                        const uint32_t *w, size_t n)
{
    switch (w[0] & 0xffff) {
    case OP_ENTRY_POINT:
        if (n < 4 || !has_string(w + 3, n - 3))
            return "is cut, or no SPIR-V";
        ret->is_compute = w[1] == MODEL_GL_COMPUTE;
        snprintf(ret->entry, sizeof ret->entry, "%s", (const char *)(w + 3));
        return NULL;
    case OP_NAME:
        if (n > 2 && w[1] < bound && has_string(w + 2, n - 2)) {
            const char *name = (const char *)(w + 2);
            ids[w[1]].is_print = !strcmp(name, print_name);
            ids[w[1]].is_control = !strcmp(name, control_name);
        }
        return NULL;
    case OP_DECORATE:
        if (n > 2 && w[1] < bound)
            take_decoration(&ids[w[1]], w, n);
        return NULL;
    case OP_MEMBER_DECORATE:
        if (n > 4)
            take_offset(w);
        return NULL;
    case OP_TYPE_INT:
    case OP_TYPE_FLOAT:
    case OP_TYPE_VECTOR:
    case OP_TYPE_STRUCT:
        if (n > 2 && w[1] < bound)
            take_type(ids, bound, w, n);
        return NULL;
    case OP_TYPE_POINTER:
        if (n > 3 && w[1] < bound && w[3] < bound)
            ids[w[1]].pointee = w[3];
        return NULL;
    case OP_VARIABLE:
        return n > 3 ? take_variable(ret, ids, bound, w) : NULL;
    default:
        return NULL;
    }
}

const char *shader_read(struct shader *ret, const char *path)
{
    *ret = (struct shader){ 0 };
    n_offsets = 0;
    const char *why = read_file(ret, path);
    if (why)
        return why;
    uint32_t bound = ret->words[3];
    struct id *ids = calloc(bound + 1, sizeof *ids);
    if (!ids)
        return "out of memory";
    for (size_t at = HEADER_WORDS; at < ret->n && !why;) {
        size_t n = ret->words[at] >> 16;
        if (n == 0 || n > ret->n - at) {
            why = "is cut, or no SPIR-V";
        } else {
            why = take(ret, ids, bound, ret->words + at, n);
        }
        at += n;
    }
    free(ids);
    return why || *ret->entry ? why : "has no entry point";
}

void shader_free(struct shader *shader)
{
    free(shader->words);
}
