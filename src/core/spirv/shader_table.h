/* SPDX-License-Identifier: MIT */
/*
 * The shaders of a set of strings, each with a number. Records name a shader by
 * its number if the caller or the module gave one; other shaders are loose, and
 * formats find their records. Owns the modules. Does not know records.
 */
#ifndef PFD_SHADER_TABLE_H
#define PFD_SHADER_TABLE_H

#include <stdatomic.h>

#include <printfdecode/strings.h>

#include "core/base/error.h"
#include "core/spirv/spirv.h"

/* Loose shaders are numbered from here on. */
#define PFD_SHADER_LOOSE UINT32_C(0x80000000)

struct pfd_shader {
    atomic_uint *refs; /* sets that share these allocations */
    uint32_t id;
    bool is_loose; /* its number in records is unknown */
    struct pfd_spirv *module;
    char *source;
    struct pfd_vulkan_object object;
    struct pfd_spirv_place *places; /* [pfd_spirv_call_count()] */
    bool has_original;
    uint32_t original; /* this set's shader before instrumentation */
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

/* Adds the shaders of `of` to an empty set; modules are shared. False: out of
 * memory. */
bool pfd_shader_table_share(struct pfd_shader_table *shader_table,
                            const struct pfd_shader_table *of);

/* Adds a shader of another set, unless its number is taken. *ret: valid until
 * the next call, or NULL. False: out of memory. */
bool pfd_shader_table_take(struct pfd_shader_table *shader_table,
                           const struct pfd_shader *shader,
                           struct pfd_shader **ret);

/* Opens the module and adds it; *ret is valid until the next call. NULL: for
 * PFD_SHADER_NEXT, when the set has this module already. Statuses: see
 * pfd_strings_add_shader(). */
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

/* The shader that records name by this number; loose ones are not found. */
const struct pfd_shader *pfd_shader_table_find_numbered(
    const struct pfd_shader_table *shader_table, uint32_t id);

/* The place in the source of a shader's call i: from the original module, if
 * the set has it. */
const struct pfd_spirv_place *pfd_shader_table_place(
    const struct pfd_shader_table *shader_table,
    const struct pfd_shader *shader, size_t i);

/* Bytes; shared allocations count in each set. */
size_t pfd_shader_memory(const struct pfd_shader *shader);
size_t pfd_shader_table_memory(const struct pfd_shader_table *shader_table);

#endif
