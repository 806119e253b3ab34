/* SPDX-License-Identifier: MIT */
/*
 * The version of the headers that a program was compiled with, and of the
 * library that it runs with. meson.build reads the number from here.
 */
#ifndef PRINTFDECODE_VERSION_H
#define PRINTFDECODE_VERSION_H

#include <printfdecode/common.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PFD_VERSION "0.1.0"

/* The library's own version, such as "0.1.0"; static storage, any thread. */
PFD_API const char *pfd_version(void);

#ifdef __cplusplus
}
#endif

#endif
