/* SPDX-License-Identifier: MIT */
/*
 * The three containers in which LLVM's tools put code objects side by side:
 * clang offload bundles, compressed ones ("CCOB"), and LLVM offload binaries.
 * Each function reads the one blob that starts at bytes; n_used lets the caller
 * find the next one. Borrows the bytes, returns ranges within them. Does not
 * know the entries' content.
 */
#ifndef PFD_OFFLOAD_BUNDLE_H
#define PFD_OFFLOAD_BUNDLE_H

#include "core/base/byte_reader.h"
#include "core/base/error.h"
#include "core/base/inflate.h"

/* The place of the next blob in bytes [n], from `at` on; n: none. */
size_t pfd_blob_find(const void *bytes, size_t n, size_t at);

/* One entry; borrowed from the blob's bytes. */
struct pfd_blob_entry {
    const char *id; /* [n_id] bytes, any bytes, not NUL-terminated */
    size_t n_id;
    struct pfd_byte_reader bytes; /* never empty */
    uint64_t offset;              /* of bytes in the blob */
    bool is_host;                 /* code for the CPU, not for a device */
};

/* Takes one entry. Any status but PFD_OK ends the walk and is its result. */
typedef enum pfd_status (*pfd_blob_entry_fn)(
    void *user, const struct pfd_blob_entry *entry);

/*
 * Calls fn for every nonempty entry of the bundle. A broken entry is a finding
 * (bad_bundle), and the other entries are read. *n_used: the end of the bundle,
 * which is that of its last entry; 0: unknown. base is the blob's offset in the
 * report's source.
 *
 * PFD_OK; the status that fn returned.
 */
enum pfd_status pfd_bundle_entries(const void *bytes, size_t n,
                                   pfd_blob_entry_fn fn, void *user,
                                   size_t *n_used, uint64_t base,
                                   struct pfd_report *report);

/* The same for an uncompressed offload binary. */
enum pfd_status pfd_binary_entries(const void *bytes, size_t n,
                                   pfd_blob_entry_fn fn, void *user,
                                   size_t *n_used, uint64_t base,
                                   struct pfd_report *report);

/* The header of a compressed blob. */
struct pfd_compressed {
    enum pfd_compression method;
    struct pfd_byte_reader data;
    size_t n_header; /* bytes before data */
    uint64_t n_out;  /* bytes that data inflates to */
    size_t n_kept;   /* of the header, kept before the inflated bytes */
    size_t n_total;  /* of the blob; 0: known after inflating */
    bool has_hash;
    uint64_t hash; /* of the inflated bytes */
};

/* False: the header is broken, and a finding describes it; *n_used is as
 * above. */
bool pfd_compressed_read(const void *bytes, size_t n,
                         struct pfd_compressed *ret, size_t *n_used,
                         uint64_t base, struct pfd_report *report);

/* The same for an offload binary: also false, without a finding, when it is not
 * compressed. */
bool pfd_binary_compressed(const void *bytes, size_t n,
                           struct pfd_compressed *ret);

/* Turns the header at bytes, at least n_kept of them, into that of an
 * uncompressed offload binary of n bytes. */
void pfd_binary_inflated(uint8_t *bytes, size_t n);

#endif
