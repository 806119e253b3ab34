/* SPDX-License-Identifier: MIT */
/*
 * For programs that print: hands code objects and shared buffers to a service
 * on a Unix socket, as frames of wire.h. No call ever blocks: frames that the
 * service does not take yet are queued up to a limit; beyond it they are
 * dropped and counted. The client connects as soon as there is a service, and
 * again when it comes back; it then sends all code objects and buffers anew.
 *
 * Thread rule: a client and its buffers belong to one thread at a time; any
 * thread may use the shared memory and pfd_client_buffer_ring().
 */
#ifndef PRINTFDECODE_CLIENT_H
#define PRINTFDECODE_CLIENT_H

#include <printfdecode/wire.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_client;
struct pfd_client_buffer;

/*
 * The folder where printfdecoded without a configuration has its sockets:
 * $PRINTFDECODE_DIR (`printfdecode run` sets it), else
 * $XDG_RUNTIME_DIR/printfdecode; where that is not set, /run/printfdecode for
 * root and /tmp/printfdecode-UID for others. Into ret [n] bytes, with NUL.
 * False: ret is too small.
 */
PFD_API bool pfd_client_default_dir(char *ret, size_t n);

/*
 * A client for the socket at `path` (one that begins with '@' is abstract);
 * NULL: input.sock of pfd_client_default_dir(). Any user could have put a
 * socket there: the client then connects only if the folder belongs to this
 * user or to root, no other user may write to it, and one of these two listens.
 * The listener at a given path is trusted. process: a name for this program;
 * NULL: its own name. queue_max: limit for queued bytes, 0 for 4 MiB; code
 * objects and buffers do not count.
 *
 * PFD_OK, also if no service listens yet; PFD_ERR_USAGE: the path is too long;
 * PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_client_new(const char *path, const char *process,
                                       size_t queue_max,
                                       struct pfd_client **ret,
                                       struct pfd_error *err);

/* Sends the bytes that the socket takes at once, and closes. Free the buffers
 * before. NULL is allowed. */
PFD_API void pfd_client_free(struct pfd_client *client);

/* Connects and sends as far as possible without blocking. PFD_OK: everything is
 * sent; PFD_MORE: bytes are still queued: call again when pfd_client_fd() can
 * be written, or some time later. */
PFD_API enum pfd_status pfd_client_poll(struct pfd_client *client);

/* The socket, for poll(); -1: not connected. It changes with every
 * connection. */
PFD_API int pfd_client_fd(const struct pfd_client *client);

/* Frames and their bytes that were dropped, or were not sent before the
 * connection ended. Either may be NULL. */
PFD_API void pfd_client_unsent(const struct pfd_client *client,
                               uint64_t *frames, uint64_t *bytes);

/* Hands over a file with format strings, [n] bytes, copied. name: for findings.
 * *number (may be NULL): its number in frames. PFD_OK; PFD_ERR_NOMEM;
 * PFD_ERR_USAGE: larger than PFD_WIRE_FRAME_MAX. */
PFD_API enum pfd_status pfd_client_code_object(struct pfd_client *client,
                                               const char *name,
                                               const void *bytes, size_t n,
                                               uint64_t *number,
                                               struct pfd_error *err);

/* Sends a frame of the caller's own, such as data of a buffer that cannot be
 * shared. PFD_OK, also if it was dropped; PFD_ERR_USAGE; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_client_send(struct pfd_client *client,
                                        const struct pfd_wire_frame *frame,
                                        struct pfd_error *err);

/* A number for a buffer of pfd_client_send() that no other buffer has. */
PFD_API uint64_t pfd_client_number(struct pfd_client *client);

/*
 * Makes a buffer of origin->size bytes, all zero, that the service reads while
 * the program writes it. The other members of origin (name, format, device,
 * labels...) are copied. doorbell: with one, the service polls as soon as it is
 * rung.
 *
 * PFD_OK; PFD_ERR_IO: the system gives no memory of this kind; PFD_ERR_NOMEM;
 * PFD_ERR_USAGE: size 0.
 */
PFD_API enum pfd_status pfd_client_buffer_new(
    struct pfd_client *client, const struct pfd_wire_frame *origin,
    bool doorbell, struct pfd_client_buffer **ret, struct pfd_error *err);

/*
 * The memory, [*n] bytes (n may be NULL), valid until the buffer is freed.
 * Writers reserve an entry in the header before they write it. To copy a
 * buffer here that was written elsewhere, copy its header first, by itself:
 * memcpy() may write the first bytes last, and what stands behind a header that
 * reserves nothing is taken for entries of an earlier run.
 */
PFD_API void *pfd_client_buffer_memory(struct pfd_client_buffer *buffer,
                                       size_t *n);

/* Its memfd, for an API to import; do not close it. */
PFD_API int pfd_client_buffer_fd(const struct pfd_client_buffer *buffer);

/* Rings the doorbell, if there is one. */
PFD_API void pfd_client_buffer_ring(struct pfd_client_buffer *buffer);

/* Ends this generation as complete and begins the next one; call it before the
 * buffer is cleared. origin: of the next generation; NULL: the same. */
PFD_API enum pfd_status pfd_client_buffer_restart(
    struct pfd_client_buffer *buffer, const struct pfd_wire_frame *origin,
    struct pfd_error *err);

/* Ends the buffer as complete, and frees it. NULL is allowed. */
PFD_API void pfd_client_buffer_free(struct pfd_client_buffer *buffer);

#ifdef __cplusplus
}
#endif

#endif
