/* SPDX-License-Identifier: MIT */
/*
 * A file as the pieces of code in it, however deep they lie: ar archives,
 * bundles of LLVM's tools (compressed ones too), ELF files with such bundles
 * in a section, PAL's archive files, pipeline caches, and any of these within
 * another. A piece has a way in, such as "app:.hip_fatbin:hipv4-amdgcn-...".
 * Borrows the file's bytes, and inflates what is compressed for as long as its
 * pieces are looked at. Knows nothing of what the code is.
 *
 * Bounded, whatever the file says: depth, inflated bytes, and work.
 */
#ifndef PFD_CONTAINER_H
#define PFD_CONTAINER_H

#include "core/base/byte_reader.h"
#include "core/base/error.h"

enum pfd_piece_kind {
    PFD_PIECE_ELF,
    PFD_PIECE_SPIRV,
    PFD_PIECE_BITCODE,
};

/* Everything is borrowed until the callback returns. */
struct pfd_memory_view {
    enum pfd_piece_kind kind;
    const char *path; /* the way in: the file's name and what comes after */
    struct pfd_byte_reader bytes;
    uint64_t offset; /* of bytes in the file; PFD_NO_OFFSET: not in it, but
                        inflated */
    bool is_code;    /* for a device; false: a host's ELF file */
};

/* Takes one piece; report is for findings about it. Any status but PFD_OK ends
 * the walk and is its result. */
typedef enum pfd_status (*pfd_piece_fn)(
    void *user, const struct pfd_memory_view *memory_view,
    struct pfd_report *report);

/* What a compressed blob may inflate to, unless the caller says otherwise. */
#define PFD_INFLATED_MAX (UINT64_C(1) << 30)

/* How deep containers may lie in each other; sound files have four. */
enum {
    PFD_CONTAINER_DEPTH = 8
};

/* True when bytes [n], of which 64 are enough, start as a piece or a container
 * does. */
bool pfd_container_recognise(const void *bytes, size_t n);

/*
 * Calls fn for every piece, in order. max_inflated: bytes that one compressed
 * blob may have; 0: PFD_INFLATED_MAX. What is broken or too large is a finding,
 * and the rest is walked. The report's source is the file's name.
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: neither a piece nor a container; PFD_ERR_NOMEM;
 * what fn returned.
 */
enum pfd_status pfd_container_walk(const void *bytes, size_t n,
                                   uint64_t max_inflated, pfd_piece_fn fn,
                                   void *user, struct pfd_report *report,
                                   struct pfd_error *err);

/* The same of a file of any kind, in which code objects of AMD and bundles are
 * looked for from byte to byte: "file+0x50". */
enum pfd_status pfd_container_search(const void *bytes, size_t n,
                                     uint64_t max_inflated, pfd_piece_fn fn,
                                     void *user, struct pfd_report *report,
                                     struct pfd_error *err);

/* Where the first code object of AMD stands in bytes [n]; n: there is none. */
size_t pfd_container_find(const void *bytes, size_t n);

#endif
