/* SPDX-License-Identifier: MIT */
/*
 * Shaders of the command line: --shader ID=FILE and --shaders MAP.json.
 */
#ifndef CLI_SHADERS_H
#define CLI_SHADERS_H

#include <printfdecode/strings.h>

/* Adds the shader of "ID=FILE". False: an error was printed. */
bool shaders_add(struct pfd_strings *strings, const char *text,
                 pfd_finding_fn fn, void *user);

/*
 * Adds the shaders of a JSON file: an object of id -> module, as the whole file
 * or as its member "shaders". A module is a path, relative to the JSON file, or
 * an object with "spv" (the path), "name" and "handle". Other members of the
 * file describe the buffer as the layer knew it; printfdecode(1) lists them.
 */
bool shaders_add_map(struct pfd_strings *strings, const char *path,
                     pfd_finding_fn fn, void *user);

/* Receives a shader without its bytes, borrowed; false: it failed, and an error
 * was printed. */
typedef bool (*shader_fn)(void *user, const struct pfd_shader_info *info);

/* Calls fn for each shader of such a JSON file. says_more: it has other
 * members, too. */
bool shaders_walk_map(const char *path, shader_fn fn, void *user,
                      bool *says_more);

#endif
