/* SPDX-License-Identifier: MIT */
/*
 * The kinds of containers and code, by their first bytes. A new kind is a value
 * here and a row in code_kind.c; walk_kind() of container_walk.c names the
 * function that reads it. Any thread.
 */
#ifndef PFD_CODE_KIND_H
#define PFD_CODE_KIND_H

#include "core/base/byte_reader.h"

enum pfd_code_kind {
    PFD_CODE_NONE,
    PFD_CODE_ELF,
    PFD_CODE_SPIRV,
    PFD_CODE_BITCODE,
    PFD_CODE_ARCHIVE,      /* ar's */
    PFD_CODE_THIN_ARCHIVE, /* names its members */
    PFD_CODE_BUNDLE,       /* clang's, offload_bundle.h */
    PFD_CODE_COMPRESSED,   /* such a one, compressed */
    PFD_CODE_BINARY,       /* LLVM's offload binary, offload_bundle.h */
    PFD_CODE_FATBIN,       /* CUDA's, nv_fatbin.h */
    PFD_CODE_PAL_ARCHIVE,  /* of AMD's Vulkan driver, driver_cache.h */
    PFD_CODE_PIPELINES,    /* vkGetPipelineCacheData() of the same */
    PFD_CODE_COFF,
    PFD_CODE_KPACK,
};

/* The kind of container or code that starts here. */
enum pfd_code_kind pfd_code_kind_of(struct pfd_byte_reader c);

/* Bundles and the like stand one after another in one file. */
static inline bool pfd_code_is_blob(enum pfd_code_kind kind)
{
    return kind >= PFD_CODE_BUNDLE && kind <= PFD_CODE_FATBIN;
}

static inline bool pfd_code_is_archive(enum pfd_code_kind kind)
{
    return kind == PFD_CODE_ARCHIVE || kind == PFD_CODE_THIN_ARCHIVE;
}

/* An ELF file for AMD's GPUs. */
bool pfd_code_is_amd(struct pfd_byte_reader c);

#endif
