/* SPDX-License-Identifier: MIT */
/*
 * The shaders that belong to a set of strings, each by a number. For those
 * that were given with one it is the number that records know them by; others
 * are loose: which records are theirs is for the formats to find out. Owns the
 * modules. Knows nothing of records.
 */
#ifndef PFD_SHADER_TABLE_H
#define PFD_SHADER_TABLE_H

#include <stdatomic.h>

#include <printfdecode/shaders.h>

#include "core/base/error.h"
#include "core/spirv/spirv.h"

/* Loose shaders are numbered from here on. */
#define PFD_SHADER_LOOSE UINT32_C(0x80000000)

struct pfd_shader {
    atomic_uint *refs; /* of the sets that share what is owned here */
    uint32_t id;
    bool is_loose; /* records know it by a number that nobody has told */
    struct pfd_spirv *module;
    char *source;
    struct pfd_vulkan_object object;
    struct pfd_spirv_place *places; /* [pfd_spirv_call_count()] */
    bool has_original;
    uint32_t original; /* the shader of this set that it was made of */
    bool has_stage;
    uint32_t stage;  /* of its one entry point, a SpvExecutionModel */
    uint32_t stages; /* of all entry points: bits of enum pfd_stage */
};

/* All zero is an empty set. */
struct pfd_shader_table {
    struct pfd_shader *shaders; /* [n], by rising id */
    size_t n;
    struct pfd_vulkan_capture capture;
};

void pfd_shader_table_deinit(struct pfd_shader_table *shader_table);

/* All of `of` in an empty set; modules are shared. False: out of memory. */
bool pfd_shader_table_share(struct pfd_shader_table *shader_table,
                            const struct pfd_shader_table *of);

/* One of another set, unless there is one of its number. *ret: its place, valid
 * until the next one, or NULL. False: out of memory. */
bool pfd_shader_table_take(struct pfd_shader_table *shader_table,
                           const struct pfd_shader *shader,
                           struct pfd_shader **ret);

/* Opens the module and takes a place for it; *ret is valid until the next
 * one; NULL: PFD_SHADER_NEXT, and the set has this module. Statuses: those of pfd_strings_add_shader(). */
enum pfd_status pfd_shader_table_add(struct pfd_shader_table *shader_table,
                                     const struct pfd_shader_info *info,
                                     pfd_finding_fn fn, void *user,
                                     struct pfd_shader **ret,
                                     struct pfd_error *err);

bool pfd_shader_table_set_capture(struct pfd_shader_table *shader_table,
                                  const struct pfd_vulkan_capture *capture);

/* The shader of this number; NULL: there is none. */
const struct pfd_shader *pfd_shader_table_find(
    const struct pfd_shader_table *shader_table, uint32_t id);

/* The shader that records know by this number, by what was told. */
const struct pfd_shader *pfd_shader_table_given(
    const struct pfd_shader_table *shader_table, uint32_t id);

/* Where call i of a shader is in the source: by the module that it was made of,
 * if that is here, too. */
const struct pfd_spirv_place *pfd_shader_table_place(
    const struct pfd_shader_table *shader_table,
    const struct pfd_shader *shader, size_t i);

/* Bytes; what several sets share counts in each. */
size_t pfd_shader_memory(const struct pfd_shader *shader);
size_t pfd_shader_table_memory(const struct pfd_shader_table *shader_table);

#endif
