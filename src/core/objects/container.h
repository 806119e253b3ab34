/* SPDX-License-Identifier: MIT */
/*
 * Finds the pieces of code in a file, however deep they lie: in ar archives,
 * bundles of LLVM's tools (compressed ones too), ELF files with such bundles in
 * a section, PAL's archive files, pipeline caches, and any of these within
 * another. A piece has a path, such as "app:.hip_fatbin:hipv4-amdgcn-...".
 * Borrows the file's bytes; inflated bytes live while their pieces are visited.
 * Does not know the code's format.
 *
 * Depth, inflated bytes and work are bounded for any input.
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
struct pfd_code_piece {
    enum pfd_piece_kind kind;
    const char *path; /* the file's name and the path within it */
    struct pfd_byte_reader bytes;
    uint64_t offset; /* of bytes in the file; PFD_NO_OFFSET: they were inflated
                        */
    bool is_code;    /* for a device; false: a host's ELF file */
};

/* Takes one piece; report is for findings about it. Any status but PFD_OK ends
 * the walk and is its result. */
typedef enum pfd_status (*pfd_piece_fn)(void *user,
                                        const struct pfd_code_piece *piece,
                                        struct pfd_report *report);

/* The default limit of a compressed blob's inflated size. */
#define PFD_INFLATED_MAX (UINT64_C(1) << 30)

/* The depth limit of nested containers; sound files have four levels. */
enum {
    PFD_CONTAINER_DEPTH = 8
};

/* True when bytes [n], of which 64 are enough, start as a piece or a container
 * does. */
bool pfd_container_recognise(const void *bytes, size_t n);

/*
 * Calls fn for every piece, in order. max_inflated: bytes that one compressed
 * blob may have; 0: PFD_INFLATED_MAX. A broken or too large part is a finding,
 * and the rest is walked. The report's source is the file's name.
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: neither a piece nor a container; PFD_ERR_NOMEM;
 * the status that fn returned.
 */
enum pfd_status pfd_container_walk(const void *bytes, size_t n,
                                   uint64_t max_inflated, pfd_piece_fn fn,
                                   void *user, struct pfd_report *report,
                                   struct pfd_error *err);

/* The same for a file of any kind; behind the pieces of a container, searches
 * every other byte for code objects of AMD and for bundles, which are called
 * "file+0x50". */
enum pfd_status pfd_container_search(const void *bytes, size_t n,
                                     uint64_t max_inflated, pfd_piece_fn fn,
                                     void *user, struct pfd_report *report,
                                     struct pfd_error *err);

/* Where the first code object of AMD, or bundle, stands in bytes [n]; n: there is none. */
size_t pfd_container_find(const void *bytes, size_t n);

#endif
