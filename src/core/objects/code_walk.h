/* SPDX-License-Identifier: MIT */
/*
 * The inside of container.h: a range of bytes in which code may lie, and what
 * every kind of container needs to have its parts walked. Each kind has a file
 * of its own. A new kind is one there, and a row in pfd_code_kind_of() and
 * walk_kind() of container.c.
 */
#ifndef PFD_CODE_WALK_H
#define PFD_CODE_WALK_H

#include "core/objects/bundle.h"
#include "core/objects/container.h"

/* The walk over one file. */
struct pfd_code_walk {
    pfd_piece_fn fn;
    void *user;
    uint64_t max_inflated;
    uint64_t inflated_left;
    uint64_t work_left;
    uint64_t n_paid; /* findings that have cost theirs, or cost nothing */
    bool exhausted;  /* said already */
    unsigned depth;
    struct pfd_error *err;
};

/* A range of bytes somewhere in the file. */
struct pfd_code_range {
    struct pfd_code_walk *walk;
    const char *path;
    struct pfd_byte_reader bytes;
    uint64_t offset; /* in the file, or PFD_NO_OFFSET */
    /* Of the file, or of what was inflated, that the range is in: compressed
     * bytes that none has been inflated of. Where entries overlap, the same
     * ones come again and again. */
    uint64_t *compressed_left;
    bool is_code; /* it is an entry of a bundle, and not the host's */
    struct pfd_report *report;
};

/* A bundle, or compressed bytes, in a range. */
struct pfd_code_blob {
    const struct pfd_code_range *range;
    uint64_t at; /* in the range */
    unsigned number;
};

enum pfd_code_kind {
    PFD_CODE_NONE,
    PFD_CODE_ELF,
    PFD_CODE_SPIRV,
    PFD_CODE_BITCODE,
    PFD_CODE_ARCHIVE,
    PFD_CODE_BLOBS,
    PFD_CODE_CACHE,
    PFD_CODE_COFF,
    PFD_CODE_KPACK,
};

/* What starts here. */
enum pfd_code_kind pfd_code_kind_of(struct pfd_byte_reader c);
bool pfd_code_is_amd(struct pfd_byte_reader c);

/* The range's path, before, name and after in one; owned. NULL: no memory. */
char *pfd_code_path(const struct pfd_code_range *range, const char *before,
                    const char *name, size_t n_name, const char *after);

/* Walks what is in a part of a range, under a path that it takes over (NULL:
 * there was no memory for it); offset: of the part in the range. */
enum pfd_status pfd_code_walk_part(const struct pfd_code_range *outer,
                                   char *path, struct pfd_byte_reader bytes,
                                   uint64_t offset, bool is_code);

/* The same of the parts of a copy of the range, some of it inflated from
 * n_compressed bytes, which has no place in the file. */
enum pfd_status pfd_code_walk_copy(
    const struct pfd_code_range *range, const uint8_t *bytes, size_t n,
    size_t n_compressed,
    enum pfd_status (*fn)(const struct pfd_code_range *range));

/* What compressed bytes inflate to; *n_used: see pfd_compressed_read(). */
enum pfd_status pfd_code_walk_compressed(const struct pfd_code_blob *blob,
                                         const struct pfd_compressed *head,
                                         size_t *n_used);

/* One bundle, or the like; *n_used: its bytes, 0 where they cannot be told. */
enum pfd_status pfd_code_walk_blob(struct pfd_code_blob *blob, size_t *n_used);

/* Whatever code objects and bundles stand anywhere in the range. */
enum pfd_status pfd_code_search(const struct pfd_code_range *range);

/* Hands a piece over. */
enum pfd_status pfd_code_give(const struct pfd_code_range *range,
                              enum pfd_piece_kind kind, bool is_code);

/* False: the walk has cost too much by now, which was said. */
bool pfd_code_spend(const struct pfd_code_range *range, uint64_t cost);

/* The kinds that have files of their own. */
enum pfd_status pfd_code_walk_elf(const struct pfd_code_range *range);
enum pfd_status pfd_code_walk_coff(const struct pfd_code_range *range);
enum pfd_status pfd_code_walk_kpack(const struct pfd_code_range *range);

#endif
