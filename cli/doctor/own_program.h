/* SPDX-License-Identifier: MIT */
/* Programs of the package that the command starts. */
#ifndef CLI_OWN_PROGRAM_H
#define CLI_OWN_PROGRAM_H

/*
 * The path of a program: beside this one, in the same build or in the same
 * installation; else its name, for PATH. Owned by the caller; NULL: out of
 * memory.
 */
char *own_program(const char *name);

#endif
