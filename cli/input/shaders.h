/* SPDX-License-Identifier: MIT */
/*
 * Shaders of the command line: --shader ID=FILE and --shaders MAP.json.
 */
#ifndef CLI_SHADERS_H
#define CLI_SHADERS_H

#include <printfdecode/shaders.h>

/* Adds the shader of "ID=FILE". False: said what is wrong. */
bool shaders_add(struct pfd_strings *strings, const char *text,
                 pfd_finding_fn fn, void *user);

/*
 * Adds the shaders of a JSON file: an object of id -> module, by itself or as
 * the member "shaders"; a module is a path, relative to the JSON file, or an
 * object with "spv" (the path), "name" and "handle". Other members of the file
 * are what the layer knew of the buffer, as printfdecode(1) lists them.
 */
bool shaders_add_map(struct pfd_strings *strings, const char *path,
                     pfd_finding_fn fn, void *user);

/* Takes a shader without its bytes, borrowed; false: it failed, said why. */
typedef bool (*shader_fn)(void *user, const struct pfd_shader_info *info);

/* The shaders of such a JSON file. says_more: it has other members, too. */
bool shaders_walk_map(const char *path, shader_fn fn, void *user,
                      bool *says_more);

#endif
