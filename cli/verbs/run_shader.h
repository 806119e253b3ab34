/* SPDX-License-Identifier: MIT */
/*
 * `run SHADER ...`: a compute shader in GLSL, or a file of OpenCL C, in place of a
 * program. It is rewritten by scan, compiled, and given to a runner of the
 * package.
 */
#ifndef CLI_RUN_SHADER_H
#define CLI_RUN_SHADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The compiled shader, in the folder. */
#define RUN_SHADER_SPIRV "shader.spv"

/* Files that are made in the folder; NULL at the end. */
extern const char *const run_shader_files[];

/* Is it source that a runner takes? By its name, unless it can be executed. */
bool run_shader_is(const char *path);

/* How a shader is run. */
struct shader_run {
    const char *folder;    /* for files */
    bool is_printed;       /* by the validation layer: nothing is rewritten */
    uint64_t buffer_bytes; /* of the buffer it prints into; 0: the runner's
                              own */
};

/*
 * Makes the command, NULL behind it, that runs the shader: words[0] is its path,
 * the other words [n] go to the runner. NULL: an error was printed. Owned by the
 * caller, with its words.
 */
char **run_shader_command(const struct shader_run *run,
                          const char *const *words, size_t n);

#endif
