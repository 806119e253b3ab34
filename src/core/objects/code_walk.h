/* SPDX-License-Identifier: MIT */
/*
 * The internals of container.h: a range of bytes in which code may lie, and the
 * functions by which every kind of container has its parts walked. Each kind
 * has a file of its own. A new kind is a new file, a row in code_kind.c, and a
 * case in walk_kind() of container_walk.c.
 */
#ifndef PFD_CODE_WALK_H
#define PFD_CODE_WALK_H

#include "core/base/ranges.h"
#include "core/objects/code_kind.h"
#include "core/objects/container.h"
#include "core/objects/elf_image.h"
#include "core/objects/offload_bundle.h"

enum {
    /* The work that a file may cost, as a multiple of its size. Sound files need
     * their size for each level. */
    PFD_CODE_WORK_FACTOR = 16,
    /* The limit of all inflated bytes, as a multiple of the file's size. */
    PFD_CODE_INFLATED_FACTOR = 64,
};

struct pfd_code_range;

/* The walk over one file. */
struct pfd_code_walk {
    pfd_piece_fn fn;
    void *user;
    uint64_t max_inflated;
    uint64_t inflated_left;
    uint64_t work_left;
    uint64_t n_charged; /* findings already charged, or free */
    bool exhausted;     /* reported already */
    unsigned depth;
    struct pfd_ranges *seen; /* where the walk has read pieces and blobs;
                                NULL: not wanted */
    struct pfd_error *err;
    /* Walks a range that is of this kind: the walk of ranges within ranges does
     * not know the kinds. */
    enum pfd_status (*walk_kind)(const struct pfd_code_range *range,
                                 enum pfd_code_kind kind);
};

/* A range of bytes somewhere in the file. */
struct pfd_code_range {
    struct pfd_code_walk *walk;
    const char *path;
    struct pfd_byte_reader bytes;
    uint64_t offset; /* in the file, or PFD_NO_OFFSET */
    /* Compressed bytes of the file, or of the inflated blob around the range,
     * that were not inflated yet. Overlapping entries inflate the same bytes
     * again and again. */
    uint64_t *compressed_left;
    bool is_code; /* an entry of a bundle, for a device */
    struct pfd_report *report;
};

/* A bundle, or compressed bytes, in a range. */
struct pfd_code_blob {
    const struct pfd_code_range *range;
    uint64_t at; /* in the range */
    unsigned number;
};

/* Concatenates the range's path, before, name and after; owned. NULL: out of
 * memory. */
char *pfd_code_path(const struct pfd_code_range *range, const char *before,
                    const char *name, size_t n_name, const char *after);

/* Walks a range, unless that exceeds a limit. */
enum pfd_status pfd_code_walk_range(const struct pfd_code_range *range);

/* Walks a part of a range. Takes over the path (NULL: allocating it failed).
 * offset: of the part in the range. */
enum pfd_status pfd_code_walk_part(const struct pfd_code_range *outer,
                                   char *path, struct pfd_byte_reader bytes,
                                   uint64_t offset, bool is_code);

/* Walks a copy of the range, partly inflated from n_compressed bytes; the copy
 * has no offset in the file. */
enum pfd_status pfd_code_walk_copy(
    const struct pfd_code_range *range, const uint8_t *bytes, size_t n,
    size_t n_compressed,
    enum pfd_status (*fn)(const struct pfd_code_range *range));

/* Walks the inflated bytes of a blob; *n_used: see pfd_compressed_read(). */
enum pfd_status pfd_code_walk_compressed(const struct pfd_code_blob *blob,
                                         const struct pfd_compressed *head,
                                         size_t *n_used);

/* Walks one bundle or the like; *n_used: its bytes, 0: unknown. */
enum pfd_status pfd_code_walk_blob(struct pfd_code_blob *blob, size_t *n_used);

/* Notes, where that is wanted, bytes [n] of the range that need no search; the
 * second: those of a piece. */
void pfd_code_see(const struct pfd_code_range *range, uint64_t at, size_t n);
void pfd_code_see_piece(const struct pfd_code_range *range,
                        enum pfd_piece_kind kind);

/* Walks bundles and the like that stand one after another. */
enum pfd_status pfd_code_walk_blobs(const struct pfd_code_range *range);

/* Walks code objects and bundles anywhere in the file, but for those that begin
 * in what was seen, which is settled. */
enum pfd_status pfd_code_search(const struct pfd_code_range *range,
                                const struct pfd_ranges *seen);

/* Passes the range to the caller as one piece. */
enum pfd_status pfd_code_emit(const struct pfd_code_range *range,
                              enum pfd_piece_kind kind, bool is_code);

/* False: the walk has used up its work, and a finding has reported it. */
bool pfd_code_spend(const struct pfd_code_range *range, uint64_t cost);

/* The kinds that have files of their own. */
enum pfd_status pfd_code_walk_elf(const struct pfd_code_range *range);
enum pfd_status pfd_code_walk_coff(const struct pfd_code_range *range);
enum pfd_status pfd_code_walk_kpack(const struct pfd_code_range *range);

/*
 * The section of a program that names the kpack archives of its device code:
 * .rocm_kpack_ref, a map of MessagePack with kernel_name and
 * kpack_search_paths, a list of names relative to the program, in which
 * @GFXARCH@ stands for any architecture.
 */
bool pfd_kpack_is_ref(const struct pfd_section *section);

/* The names, one after another. */
struct pfd_kpack_names {
    struct pfd_byte_reader c;
    uint64_t left;
};

/* Borrows the section's bytes, all of which it may read. */
struct pfd_kpack_names pfd_kpack_names(const struct pfd_section *section);

/* NULL: that was all. [*n] bytes, any bytes, not NUL-terminated. */
const char *pfd_kpack_next_name(struct pfd_kpack_names *names, size_t *n);

#endif
