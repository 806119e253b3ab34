/* SPDX-License-Identifier: MIT */
/*
 * Shaders of the Vulkan validation layer's buffers. Their records name a shader
 * by a number that the layer counted, so a buffer can only be read together
 * with the modules of these numbers.
 *
 * A set of strings holds the shaders, too; the thread rule of strings.h holds.
 */
#ifndef PRINTFDECODE_SHADERS_H
#define PRINTFDECODE_SHADERS_H

#include <printfdecode/spirv.h>
#include <printfdecode/strings.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The layer's number is unknown: records are assigned to this shader by the
 * calls that they name. A module that the set holds already is then not added
 * again. */
#define PFD_SHADER_NEXT UINT32_MAX

/* One shader; everything is copied. */
struct pfd_shader_info {
    uint32_t id; /* the layer's number, 0 is a valid one; or PFD_SHADER_NEXT */
    const void *bytes; /* the original module, [n_bytes] of SPIR-V */
    size_t n_bytes;
    const char *source; /* its file, for findings and listings */
    const char *name;   /* of the VkShaderModule; NULL: none */
    uint64_t handle;    /* likewise; 0: unknown */
};

/*
 * Adds a shader to the set, and the format strings in it. Findings go to fn
 * (may be NULL).
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: not SPIR-V; PFD_ERR_USAGE: another shader has
 * this id; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_strings_add_shader(
    struct pfd_strings *strings, const struct pfd_shader_info *info,
    pfd_finding_fn fn, void *user, struct pfd_error *err);

/* Shader i, by rising id: its number (PFD_SHADER_NEXT: unknown) and module,
 * both borrowed until the set is freed. PFD_OK; PFD_END: there is no i. */
PFD_API enum pfd_status pfd_strings_shader(const struct pfd_strings *strings,
                                           size_t i, uint32_t *id,
                                           const char **source,
                                           const struct pfd_spirv **module);

/* An object of the Vulkan API. */
struct pfd_vulkan_object {
    const char *name; /* NULL: none */
    uint64_t handle;  /* 0: unknown, and messages say so */
};

/*
 * Facts about a buffer that the layer knew and wrote into its messages; only
 * the messages of PFD_COMPAT_KHRONOS show them. Strings are copied.
 */
struct pfd_vulkan_capture {
    struct pfd_vulkan_object command_buffer;
    struct pfd_vulkan_object pipeline;
    enum pfd_vulkan_action {
        PFD_ACTION_UNKNOWN,
        PFD_ACTION_DRAW,
        PFD_ACTION_DISPATCH,
        PFD_ACTION_TRACE_RAYS,
    } action;
    uint32_t action_index;       /* in its command buffer */
    uint32_t max_work_groups[3]; /* maxComputeWorkGroupCount; 0: unknown */
    bool verbose;                /* printf_verbose was set */
};

/* PFD_OK; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_strings_set_capture(
    struct pfd_strings *strings, const struct pfd_vulkan_capture *capture,
    struct pfd_error *err);

struct pfd_entry;

/*
 * The source line of an entry's message (its origins `line` and `source_line`)
 * with up to `around` lines before and behind it, at most PFD_EXCERPT_AROUND,
 * from the modules of the entry's set of strings. The set owns the texts.
 *
 * PFD_OK; PFD_END: the line is unknown, or no module has its text.
 */
PFD_API enum pfd_status pfd_entry_excerpt(struct pfd_entry *entry,
                                          uint32_t around,
                                          struct pfd_excerpt *ret);

#ifdef __cplusplus
}
#endif

#endif
