/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a file, or of the part of a file or of a running process that a
 * code object URI names, as AMD's debugger API and loader write them:
 *
 *   file://PATH                    file://PATH#offset=N&size=N
 *   memory://PID#offset=N&size=N
 *
 * PATH is percent-encoded, N hexadecimal (0x), octal (0) or decimal; a '?' may
 * stand for the '#'. Any thread.
 */
#ifndef PRINTFDECODE_INPUT_H
#define PRINTFDECODE_INPUT_H

#include <printfdecode/common.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_input;

/* True for what pfd_input_open() takes as a URI and not as a path. */
PFD_API bool pfd_input_is_uri(const char *name);

/*
 * Opens a regular file by its path, or what a URI names. A process is read at
 * once, a file is mapped. Bytes are given as they stand: a compressed file
 * (pfd_input_is_compressed()) has to go through pfd_input_inflate(). The error
 * says why, and leaves the name to the caller, who has it.
 *
 * PFD_OK; PFD_ERR_USAGE: a URI that is not well-formed; PFD_ERR_IO: there is
 * no such file or process, it cannot be read, or it is shorter than the URI
 * says; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_input_open(const char *name, struct pfd_input **ret,
                                       struct pfd_error *err);

/*
 * The same for a name that a stranger gave: a file is copied and not mapped,
 * whoever cuts it meanwhile does no harm, and what has more than n_max bytes is
 * PFD_ERR_IO.
 */
PFD_API enum pfd_status pfd_input_read(const char *name, size_t n_max,
                                       struct pfd_input **ret,
                                       struct pfd_error *err);

/*
 * Opens what a URI names for pfd_input_read_with(): the file at path, or, where
 * that is NULL, the memory of a process (as /proc/PID/mem is). Returns a file
 * descriptor, which is closed after it has been read; below 0: why [n_why] is a
 * line of text.
 */
typedef int (*pfd_input_open_fn)(void *user, const char *path, uint64_t pid,
                                 char *why, size_t n_why);

/*
 * As pfd_input_read(), of a URI only: open says what the stranger may have
 * opened. PFD_ERR_IO: its reason.
 */
PFD_API enum pfd_status pfd_input_read_with(const char *uri, size_t n_max,
                                            pfd_input_open_fn open, void *user,
                                            struct pfd_input **ret,
                                            struct pfd_error *err);

/* Its bytes [*n], until it is closed; never NULL. */
PFD_API const void *pfd_input_bytes(const struct pfd_input *input, size_t *n);

/* NULL is allowed. */
PFD_API void pfd_input_close(struct pfd_input *input);

/* True when these first bytes [n] of a file (64 are enough) are those of a gzip
 * or zstd file. Any thread. */
PFD_API bool pfd_input_is_compressed(const void *bytes, size_t n);

/*
 * What a compressed file of [n] bytes stands for: *ret, [*n_ret] bytes to be
 * freed with free(). At most n_max of them (0: 1 GiB). What is damaged, cut or
 * above n_max is told to fn (may be NULL; bad_compressed, too_large), and what
 * came before is there; *ret is NULL where that is nothing at all.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_input_inflate(const void *bytes, size_t n,
                                          uint64_t n_max, const char *source,
                                          pfd_finding_fn fn, void *user,
                                          void **ret, size_t *n_ret,
                                          struct pfd_error *err);

#ifdef __cplusplus
}
#endif

#endif
