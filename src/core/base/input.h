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
#ifndef PFD_INPUT_H
#define PFD_INPUT_H

#include <printfdecode/common.h>

struct pfd_input;

/* True if pfd_input_open() takes the name for a URI, not for a path. */
bool pfd_input_is_uri(const char *name);

/*
 * Opens a regular file by its path, or the bytes that a URI names. A process is
 * read at once, a file is mapped. Nothing is inflated: a compressed file
 * (pfd_input_is_compressed()) has to go through pfd_input_inflate(). The error
 * gives the reason without the name, which the caller has.
 *
 * PFD_OK; PFD_ERR_USAGE: a URI that is not well-formed; PFD_ERR_IO: there is no
 * such file or process, it cannot be read, or it is shorter than the URI says;
 * PFD_ERR_NOMEM.
 */
enum pfd_status pfd_input_open(const char *name, struct pfd_input **ret,
                               struct pfd_error *err);

/*
 * The same for an untrusted name: a file is copied and not mapped, so that
 * cutting it meanwhile does no harm, and one of more than n_max bytes is
 * PFD_ERR_IO.
 */
enum pfd_status pfd_input_read(const char *name, size_t n_max,
                               struct pfd_input **ret, struct pfd_error *err);

/*
 * Opens the target of a URI for pfd_input_read_with(): the file at path, or, if
 * that is NULL, the memory of a process (as /proc/PID/mem). Returns a file
 * descriptor, which the library closes after reading; below 0: it failed, and
 * why [n_why] is the reason, a line of text.
 */
typedef int (*pfd_input_open_fn)(void *user, const char *path, uint64_t pid,
                                 char *why, size_t n_why);

/*
 * As pfd_input_read(), for a URI only; `open` decides which files and processes
 * may be opened. PFD_ERR_IO: also for its reason.
 */
enum pfd_status pfd_input_read_with(const char *uri, size_t n_max,
                                    pfd_input_open_fn open, void *user,
                                    struct pfd_input **ret,
                                    struct pfd_error *err);

/* The bytes [*n], valid until the input is closed; never NULL. */
const void *pfd_input_bytes(const struct pfd_input *input, size_t *n);

/* NULL is allowed. */
void pfd_input_close(struct pfd_input *input);

/* True when these first bytes [n] of a file (64 are enough) are those of a gzip
 * or zstd file. Any thread. */
bool pfd_input_is_compressed(const void *bytes, size_t n);

/*
 * Inflates a compressed file of [n] bytes: *ret, [*n_ret] bytes to be freed
 * with free(). n_max limits them (0: 1 GiB). Damage, a cut, or a size above
 * n_max goes to fn (may be NULL; bad_compressed, too_large), and the bytes
 * before it are returned; *ret is NULL if there are none.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_input_inflate(const void *bytes, size_t n, uint64_t n_max,
                                  const char *source, pfd_finding_fn fn,
                                  void *user, void **ret, size_t *n_ret,
                                  struct pfd_error *err);

#endif
