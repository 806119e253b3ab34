/* SPDX-License-Identifier: MIT */
/*
 * Shared by the formats of the Vulkan validation layer: its formatter, old and
 * new, and the text that it puts around a message. Our own implementation,
 * which prints the layer's bytes, faults included. Knows modules and values;
 * does not know buffers.
 */
#ifndef PFD_KHRONOS_H
#define PFD_KHRONOS_H

#include <printfdecode/printfdecode.h>
#include <printfdecode/strings.h>

#include "core/base/text.h"
#include "core/spirv/spirv.h"

/* The generation of the layer. */
enum pfd_khronos_age {
    PFD_KHRONOS_OLD, /* until SDK 1.3.290; seen as 1.3.239 */
    PFD_KHRONOS_NOW, /* since SDK 1.3.296 */
};

/* The values of a printf record. The layer reads past a record when a
 * conversion needs more: bytes [n] from the first value on, as far as they are
 * known; zero beyond. */
struct pfd_khronos_values {
    const uint8_t *bytes;
    size_t n;
    uint32_t doubles; /* bit i: value i is a double */
    uint32_t signed8;
    uint32_t signed16;
};

/*
 * Appends the layer's output for a format string [n]. Where glibc's result is
 * undefined, this is the one observed on x86-64. findings: bits are added.
 */
void pfd_khronos_print(struct pfd_text *out, const char *format, size_t n,
                       const struct pfd_khronos_values *values,
                       enum pfd_khronos_age age, uint64_t *findings);

/* The most bytes of values that a format string can make the layer read. */
size_t pfd_khronos_reads(const char *format, size_t n);

/* Shader stages, one number for each. */
enum pfd_stage {
    PFD_STAGE_VERTEX,
    PFD_STAGE_TESS_CONTROL,
    PFD_STAGE_TESS_EVAL,
    PFD_STAGE_GEOMETRY,
    PFD_STAGE_FRAGMENT,
    PFD_STAGE_COMPUTE,
    PFD_STAGE_KERNEL,
    PFD_STAGE_TASK_NV,
    PFD_STAGE_MESH_NV,
    PFD_STAGE_RAY_GENERATION,
    PFD_STAGE_INTERSECTION,
    PFD_STAGE_ANY_HIT,
    PFD_STAGE_CLOSEST_HIT,
    PFD_STAGE_MISS,
    PFD_STAGE_CALLABLE,
    PFD_STAGE_TASK,
    PFD_STAGE_MESH,
    PFD_STAGE_UNKNOWN,
};

/* From a SpvExecutionModel, or from a number of enum pfd_stage as stored in a
 * record: the two overlap only where they agree. */
enum pfd_stage pfd_stage_of(uint32_t number);
/* "vertex", "tessellation control", ..., "unknown stage"; static storage. */
const char *pfd_stage_name(enum pfd_stage stage);

/* Meaning of the stage words, and place in the source, as origins: at most five
 * each; returns their number. */
size_t pfd_khronos_origin(struct pfd_origin *ret, uint32_t number,
                          const uint32_t words[3]);
size_t pfd_khronos_place_origin(struct pfd_origin *ret,
                                const struct pfd_spirv_place *place);

/* Name of stage word i (of three) of a record: "VertexIndex", or why it has no
 * meaning; number: the stage as stored in the record. Static storage. */
const char *pfd_khronos_stage_word(uint32_t number, unsigned i);

/* The line "Stage = ..." of a message, from the three stage words; number: as
 * stored in the record. */
void pfd_khronos_stage_text(struct pfd_text *out, uint32_t number,
                            const uint32_t words[3], enum pfd_khronos_age age);

/* "Command buffer ... Shader Instruction Index = N. ", until 2023. */
void pfd_khronos_common_2019(struct pfd_text *out,
                             const struct pfd_vulkan_capture *capture,
                             const struct pfd_vulkan_object *shader,
                             uint32_t position);

/* "... in file F at line N." and the source line, until 2023; module may be
 * NULL; k: the instruction. */
void pfd_khronos_source_2019(struct pfd_text *out,
                             const struct pfd_spirv *module, uint32_t k,
                             bool is_printf);

/* The last lines of a current layer's message: command buffer, action, shader,
 * then the place in the source; k: PFD_SPIRV_NONE for a check of the whole
 * shader. */
void pfd_khronos_debug_info(struct pfd_text *out,
                            const struct pfd_vulkan_capture *capture,
                            const struct pfd_vulkan_object *shader,
                            uint32_t shader_id);
void pfd_khronos_source(struct pfd_text *out, const struct pfd_spirv *module,
                        uint32_t k, bool is_printf);

/* The names of origins of pfd_khronos_origin() and
 * pfd_khronos_place_origin(). */
#define PFD_KHRONOS_ORIGINS                                                \
    "vertex", "instance", "invocation", "primitive", "fragment", "launch", \
        "tess_coord", "file", "line", "column", "source_line"

#endif
