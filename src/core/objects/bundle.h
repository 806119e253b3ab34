/* SPDX-License-Identifier: MIT */
/*
 * The three ways in which LLVM's tools put code objects side by side: clang
 * offload bundles, compressed ones ("CCOB"), and LLVM offload binaries. Each
 * function reads the one blob that starts at bytes; where the next one starts
 * is the caller's question, to which n_used is the answer. Borrows the bytes,
 * hands out ranges within them. Knows nothing of what an entry is.
 */
#ifndef PFD_BUNDLE_H
#define PFD_BUNDLE_H

#include "core/base/byte_reader.h"
#include "core/base/error.h"
#include "core/base/inflate.h"

enum pfd_blob_kind {
    PFD_BLOB_NONE,
    PFD_BLOB_BUNDLE,     /* "__CLANG_OFFLOAD_BUNDLE__" */
    PFD_BLOB_COMPRESSED, /* "CCOB" */
    PFD_BLOB_BINARY,     /* 10 ff 10 ad */
    PFD_BLOB_FATBIN,     /* 50 ed 55 ba: fatbin.h */
};

enum pfd_blob_kind pfd_blob_recognise(const void *bytes, size_t n);

/* The place of the next blob in bytes [n], from `at` on; n: none. */
size_t pfd_blob_find(const void *bytes, size_t n, size_t at);

/* One entry; borrowed from the blob's bytes. */
struct pfd_blob_entry {
    const char *id; /* [n_id] bytes, any bytes, not NUL-terminated */
    size_t n_id;
    struct pfd_byte_reader bytes; /* never empty */
    uint64_t offset;              /* of bytes in the blob */
    bool is_host; /* it is for the processor, not for a device */
};

/* Takes one entry. Any status but PFD_OK ends the walk and is its result. */
typedef enum pfd_status (*pfd_blob_entry_fn)(
    void *user, const struct pfd_blob_entry *entry);

/*
 * Calls fn for every entry of the bundle that has bytes. What is broken is a
 * finding (bad_bundle), and the other entries are read. *n_used: where the
 * bundle ends, which is after its last entry; 0: that cannot be told. base is
 * where the blob stands in the report's source.
 *
 * PFD_OK; what fn returned.
 */
enum pfd_status pfd_bundle_entries(const void *bytes, size_t n,
                                   pfd_blob_entry_fn fn, void *user,
                                   size_t *n_used, uint64_t base,
                                   struct pfd_report *report);

/* The same for an offload binary that is not compressed. */
enum pfd_status pfd_binary_entries(const void *bytes, size_t n,
                                   pfd_blob_entry_fn fn, void *user,
                                   size_t *n_used, uint64_t base,
                                   struct pfd_report *report);

/* What a compressed blob says about itself. */
struct pfd_compressed {
    enum pfd_compression method;
    struct pfd_byte_reader data;
    size_t n_header; /* bytes before data */
    uint64_t n_out;  /* bytes that data inflates to */
    size_t n_kept;   /* of the header, that stand before them */
    size_t n_total;  /* of the blob; 0: the data's end tells */
    bool has_hash;
    uint64_t hash; /* of what it inflates to */
};

/* False: what stands there is broken, and a finding says how; *n_used is as
 * above. */
bool pfd_compressed_read(const void *bytes, size_t n,
                         struct pfd_compressed *ret, size_t *n_used,
                         uint64_t base, struct pfd_report *report);

/* The same for an offload binary: false also when it is not compressed, without
 * a finding. */
bool pfd_binary_compressed(const void *bytes, size_t n,
                           struct pfd_compressed *ret);

/* Makes the header at bytes, of at least n_kept, that of an offload binary of
 * n bytes that is not compressed. */
void pfd_binary_inflated(uint8_t *bytes, size_t n);

#endif
