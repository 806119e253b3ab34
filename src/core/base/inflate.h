/* SPDX-License-Identifier: MIT */
/*
 * Compressed bytes and the bytes they stand for. zlib and zstd, each known by
 * one function of inflate.c. Knows nothing of who stores them.
 */
#ifndef PFD_INFLATE_H
#define PFD_INFLATE_H

#include "core/base/byte_reader.h"
#include "core/base/error.h"

enum pfd_compression {
    PFD_COMPRESSION_ZLIB, /* RFC 1950 */
    PFD_COMPRESSION_ZSTD, /* RFC 8878: frames, skippable ones among them */
};

/* Which of the two these bytes [n] start as; zlib when not zstd. */
enum pfd_compression pfd_compression_of(const void *bytes, size_t n);

/*
 * Inflates what `in` holds from its position on. n_out: the size that it is
 * said to have; at most so many bytes are taken from the system and written,
 * after n_head bytes that are left for the caller to fill. ret: [*n_ret] bytes
 * with those, owned by the caller; *n_used: compressed bytes read. Damage is not a failure: what came before it is there,
 * and problem says what it is (its code is PFD_OK otherwise; its offset counts
 * from the position). A size that so few compressed bytes cannot have is a
 * problem before memory is taken.
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
 * Inflates a whole file of one of the two, all members or frames of it, up to
 * n_max bytes. ret: [*n_ret] bytes, owned by the caller; NULL where damage left
 * none. Damage is not a failure, as above; what is above n_max is the problem
 * PFD_ERR_UNSUPPORTED.
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
 * The same piece by piece, in bounded memory. PFD_OK; PFD_ERR_STOPPED: fn said
 * so; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_inflate_to(const void *bytes, size_t n, uint64_t n_max,
                               pfd_inflated_fn fn, void *user,
                               struct pfd_error *problem,
                               struct pfd_error *err);

#endif
