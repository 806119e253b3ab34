/* SPDX-License-Identifier: MIT */
/* Which shader sources a scan rewrites, and how. */
#ifndef PFD_SCAN_OPTIONS_H
#define PFD_SCAN_OPTIONS_H

#include <printfdecode/common.h>

enum pfd_scan_language {
    PFD_SCAN_GLSL,   /* for Vulkan, 4.20 and later, or ES 3.10 and later */
    PFD_SCAN_OPENCL, /* OpenCL C 1.2 and later */
};

/* Takes a note about a source, "FILE:LINE: why"; is_error: the source cannot be
 * rewritten. text is borrowed for the call. */
typedef void (*pfd_scan_note_fn)(void *user, bool is_error, const char *text);

struct pfd_scan_options {
    /* Names [n_calls] of further calls like PFD_PRINTF, such as "printf";
     * borrowed until the scan is freed. */
    const char *const *calls;
    size_t n_calls;
    /* GLSL: the buffer's descriptor, for sources that are compiled without
     * macros PFD_SET and PFD_BINDING. */
    uint32_t set;
    uint32_t binding;
    /* One atomic for a subgroup, as the macro PFD_SUBGROUPS says. GLSL: needs
     * GL_KHR_shader_subgroup_ballot. OpenCL C: needs nothing, but has an effect
     * only where there is cl_khr_subgroup_ballot. */
    bool subgroups;
    /* GLSL: atomics of 64 bits, as the macro PFD_WIDE_ATOMICS says. Without
     * them a count beyond 2^32 dwords is carried in a second step: entries that
     * other invocations print between the two can be misplaced. */
    bool wide_atomics;
    /* Each call is a site of its own, whose string has its file, line and
     * level; calls may be PFD_LOG(LEVEL, "format", ...). Each of the three
     * options below implies this. formats/llpc/README.md, "Beyond LLPC". */
    bool sites;
    /* Each entry ends in a commit word made of all of it: a reader of a live
     * buffer sees whether it is whole. */
    bool commit;
    /* Each entry names the workgroup, wave and lane, or the pixel, that wrote
     * it. */
    bool origin;
    /* A second buffer controls which sites print: printfdecode/sites.h makes
     * and changes it, from the file of strings. A site that is off costs one
     * load and a branch, and its arguments are not evaluated. */
    bool control;
    /* Takes all errors of a source, and hints; NULL: not wanted. */
    pfd_scan_note_fn note;
    void *user;
};

#endif
