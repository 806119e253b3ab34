/* SPDX-License-Identifier: MIT */
/*
 * For programs that print: hands code objects and shared buffers to a service
 * on a Unix socket, as frames of wire.h. No call ever waits: what the service
 * is too slow to take is queued up to a limit, what goes beyond is left out
 * and counted, and a service that is not there, or goes away and comes back,
 * is connected to when it can be. It is then told anew of all code objects and
 * buffers.
 *
 * Thread rule: a client and its buffers belong to one thread at a time; the
 * shared memory and pfd_client_buffer_ring() may be used by any.
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
 * Where printfdecoded without a configuration has its sockets:
 * $PRINTFDECODE_DIR (`printfdecode run` sets it), else
 * $XDG_RUNTIME_DIR/printfdecode; where that is not set, /run/printfdecode for
 * root and /tmp/printfdecode-UID for others. Into ret [n] bytes, with NUL.
 * False: no room.
 */
PFD_API bool pfd_client_default_dir(char *ret, size_t n);

/*
 * A client for the socket at `path` (one that begins with '@' is abstract);
 * NULL: input.sock of pfd_client_default_dir(). There anybody could have put a
 * socket: the client connects only where the folder belongs to this user or to
 * root, nobody else may write to it, and one of these two listens. At a path
 * that is given, whoever listens is trusted.
 * process: what to call this program; NULL: its own name. queue_max: bytes
 * that may wait, 0 for 4 MiB; code objects and buffers do not count.
 *
 * PFD_OK, also when nobody listens yet; PFD_ERR_USAGE: the path is too long;
 * PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_client_new(const char *path, const char *process,
                                       size_t queue_max,
                                       struct pfd_client **ret,
                                       struct pfd_error *err);

/* Sends what the socket takes at once, and closes. Buffers are freed before.
 * NULL is allowed. */
PFD_API void pfd_client_free(struct pfd_client *client);

/* Connects and sends as far as that goes without waiting. PFD_OK: all is sent;
 * PFD_MORE: something waits, call again when pfd_client_fd() can be written,
 * or some time later. */
PFD_API enum pfd_status pfd_client_poll(struct pfd_client *client);

/* The socket, for poll(); -1: not connected. It changes. */
PFD_API int pfd_client_fd(const struct pfd_client *client);

/* Frames and their bytes that were left out, or had not gone out when the
 * connection ended. Either may be NULL. */
PFD_API void pfd_client_unsent(const struct pfd_client *client,
                               uint64_t *frames, uint64_t *bytes);

/* Hands over a file with format strings, [n] bytes, copied. name: for findings.
 * *number (may be NULL): what frames call it. PFD_OK; PFD_ERR_NOMEM;
 * PFD_ERR_USAGE: larger than PFD_WIRE_FRAME_MAX. */
PFD_API enum pfd_status pfd_client_code_object(struct pfd_client *client,
                                               const char *name,
                                               const void *bytes, size_t n,
                                               uint64_t *number,
                                               struct pfd_error *err);

/* Any frame of your own, such as data of a buffer that cannot be shared.
 * PFD_OK, also when it was left out; PFD_ERR_USAGE; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_client_send(struct pfd_client *client,
                                        const struct pfd_wire_frame *frame,
                                        struct pfd_error *err);

/* A number for a buffer of pfd_client_send(), as no other has it. */
PFD_API uint64_t pfd_client_number(struct pfd_client *client);

/*
 * Makes a buffer of origin->size bytes, all zero, that the service reads while
 * it is written. What else origin says (name, format, device, labels...) is
 * copied. doorbell: with one, the service looks as soon as it is rung.
 *
 * PFD_OK; PFD_ERR_IO: the system gives no memory of this kind; PFD_ERR_NOMEM;
 * PFD_ERR_USAGE: size 0.
 */
PFD_API enum pfd_status pfd_client_buffer_new(
    struct pfd_client *client, const struct pfd_wire_frame *origin,
    bool doorbell, struct pfd_client_buffer **ret, struct pfd_error *err);

/* The memory, [*n] bytes (n may be NULL), valid until the buffer is freed. */
PFD_API void *pfd_client_buffer_memory(struct pfd_client_buffer *buffer,
                                       size_t *n);

/* Its memfd, to import it into an API; do not close it. */
PFD_API int pfd_client_buffer_fd(const struct pfd_client_buffer *buffer);

/* Rings the doorbell, if there is one. */
PFD_API void pfd_client_buffer_ring(struct pfd_client_buffer *buffer);

/* Says that this generation is complete and the next one begins; call it
 * before the buffer is cleared. origin: of the next, NULL: the same. */
PFD_API enum pfd_status pfd_client_buffer_restart(
    struct pfd_client_buffer *buffer, const struct pfd_wire_frame *origin,
    struct pfd_error *err);

/* Says that the buffer is complete, and lets go of it. NULL is allowed. */
PFD_API void pfd_client_buffer_free(struct pfd_client_buffer *buffer);

#ifdef __cplusplus
}
#endif

#endif
