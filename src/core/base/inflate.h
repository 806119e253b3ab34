/* SPDX-License-Identifier: MIT */
/*
 * Inflates zlib and zstd, each behind one function of inflate.c. Does not know
 * the containers that hold compressed bytes.
 */
#ifndef PFD_INFLATE_H
#define PFD_INFLATE_H

#include "core/base/byte_reader.h"
#include "core/base/error.h"

enum pfd_compression {
    PFD_COMPRESSION_ZLIB, /* RFC 1950 */
    PFD_COMPRESSION_ZSTD, /* RFC 8878: frames, skippable ones among them */
};

/* The compression that these bytes [n] begin as; zlib when not zstd. */
enum pfd_compression pfd_compression_of(const void *bytes, size_t n);

/*
 * Inflates `in` from its position on. n_out: the declared size; at most so many
 * bytes are allocated and written, behind n_head bytes that the caller fills.
 * ret: [*n_ret] bytes including n_head, owned by the caller. *n_used: bytes of
 * input consumed. Damage is not a failure: the bytes before it are returned,
 * and problem describes it (its code is PFD_OK otherwise; its offset counts
 * from the position). A declared size that so few compressed bytes cannot reach
 * is a problem before memory is taken.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_inflate(enum pfd_compression method,
                            struct pfd_byte_reader in, size_t n_head,
                            uint64_t n_out, uint8_t **ret, size_t *n_ret,
                            size_t *n_used, struct pfd_error *problem,
                            struct pfd_error *err);

/* True when bytes [n] begin as a gzip (RFC 1952) or zstd file does. */
bool pfd_inflate_recognise(const void *bytes, size_t n);

/*
 * Inflates a whole file of one of the two, all its members or frames, up to
 * n_max bytes. ret: [*n_ret] bytes, owned by the caller; NULL where damage left
 * none. Damage is not a failure, as above; more than n_max bytes are the
 * problem PFD_ERR_UNSUPPORTED.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_inflate_file(const void *bytes, size_t n, uint64_t n_max,
                                 uint8_t **ret, size_t *n_ret,
                                 struct pfd_error *problem,
                                 struct pfd_error *err);

/* Takes the next bytes [n]; false: stop. */
typedef bool (*pfd_inflated_fn)(void *user, const uint8_t *bytes, size_t n);

/*
 * The same in bounded memory, chunk by chunk. PFD_OK; PFD_ERR_STOPPED: fn
 * returned false; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_inflate_to(const void *bytes, size_t n, uint64_t n_max,
                               pfd_inflated_fn fn, void *user,
                               struct pfd_error *problem,
                               struct pfd_error *err);

/* CRC-32 of bytes [n], as gzip has it. */
uint32_t pfd_crc32(const void *bytes, size_t n);

#endif
