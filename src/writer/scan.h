/* SPDX-License-Identifier: MIT */
/*
 * Rewrites shader source so that it prints by itself: each PFD_PRINTF("format",
 * arguments) of GLSL (for Vulkan) and OpenCL C becomes code that writes an
 * entry of LLPC's DebugPrintf buffer (formats/llpc), and the format strings
 * become a file that decoders load. The output compiles alone. Nothing is
 * expanded: comments, macros and line markers stay where they are, and so does
 * every line, so that compilers name the author's lines.
 *
 * A conversion states how wide its argument is:
 *
 *   %d %i %u %x %X %o %c   32 bits: int, uint, bool or convertible types
 *   %f %e %g %a            32 bits: float
 *   with l ll j z t        64 bits: long (int64_t), ulong, double
 *   %p                     64 bits: in OpenCL C any pointer
 *   vN of them             a vector of N, dword by dword
 *   %s                     a string literal: it is put into the format string
 *
 * The device's compiler checks arguments against that: in both languages a
 * double for %f or a float for %d is an error; an integer for %f is converted
 * in GLSL and an error in OpenCL C where the device has doubles.
 *
 * Thread rule: a scan belongs to one thread at a time.
 */
#ifndef PFD_SCAN_H
#define PFD_SCAN_H

#include "writer/scan_options.h"

struct pfd_scan;

/* NULL when out of memory; options may be NULL: none. */
struct pfd_scan *pfd_scan_new(const struct pfd_scan_options *options);

/* NULL is allowed. */
void pfd_scan_free(struct pfd_scan *scan);

/* The language of a file by the suffix of its name (.comp, .frag, .cl, ...).
 * False: unknown suffix. Any thread. */
bool pfd_scan_language_of(const char *name, enum pfd_scan_language *ret);

/*
 * Rewrites source [n]: *ret, [*n_ret] bytes to be freed with free(). name: the
 * file, for messages and for #line in OpenCL C; when it ends in .frag the macro
 * PFD_FRAGMENT is defined, which subgroups need in fragment shaders. Source
 * without calls comes out unchanged, without its byte order mark.
 *
 * PFD_OK; PFD_ERR_CORRUPT: the source, or a call in it, is wrong: err says
 * "FILE:LINE: why" (as line markers say) of the first error, and err->offset is
 * in bytes; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_scan_source(struct pfd_scan *scan,
                                enum pfd_scan_language language,
                                const char *name, const void *source, size_t n,
                                void **ret, size_t *n_ret,
                                struct pfd_error *err);

/*
 * The same for sources that include one another and may be fragments of
 * functions, where nothing can be defined: add all, link them, then write each.
 * A source that no other one includes defines everything that its includes
 * need. Errors that show only in the combination are errors of writing.
 *
 * pfd_scan_add(): *ret is the source's number, from 0 on, also if it is wrong.
 * Its bytes are borrowed until the scan is freed. pfd_scan_add_included(): a
 * source that stays unchanged and is not written; if it prints, a note says so.
 */
enum pfd_status pfd_scan_add(struct pfd_scan *scan,
                             enum pfd_scan_language language, const char *name,
                             const void *source, size_t n, size_t *ret,
                             struct pfd_error *err);
enum pfd_status pfd_scan_add_included(struct pfd_scan *scan,
                                      enum pfd_scan_language language,
                                      const char *name, const void *source,
                                      size_t n, size_t *ret,
                                      struct pfd_error *err);

/* #include number k of source i. False: it has no more. */
struct pfd_scan_include {
    const char *path; /* [n], as written, of the source's bytes */
    size_t n;
    uint32_t line;
    bool is_angled; /* in <> */
};
bool pfd_scan_get_include(const struct pfd_scan *scan, size_t i, size_t k,
                          struct pfd_scan_include *ret);

/* #include number k of source i is source `of`. PFD_OK; PFD_ERR_NOMEM. */
enum pfd_status pfd_scan_link(struct pfd_scan *scan, size_t i, size_t k,
                              size_t of);

/* Source i, rewritten, as pfd_scan_source() returns it; once for each. */
enum pfd_status pfd_scan_write(struct pfd_scan *scan, size_t i, void **ret,
                               size_t *n_ret, struct pfd_error *err);

/* Calls and different format strings so far. */
size_t pfd_scan_n_calls(const struct pfd_scan *scan);
size_t pfd_scan_n_strings(const struct pfd_scan *scan);

/*
 * The format strings of all sources so far, as an ELF file for
 * pfd_strings_load(): *ret, [*n_ret] bytes to be freed with free(). An id is a
 * hash of its text alone, with sites of all facts about one: files of several
 * scans can be loaded together.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_scan_strings(const struct pfd_scan *scan, void **ret,
                                 size_t *n_ret, struct pfd_error *err);

#endif
