/* SPDX-License-Identifier: MIT */
/*
 * Sources: the ELF specification, SPIR-V's, "LLVM Bitcode File Format", ar(5),
 * "ClangOffloadBundler" in clang's documentation, LLVM's OffloadBinary.h,
 * "VkPipelineCacheHeaderVersionOne" in Vulkan's specification, Microsoft's "PE
 * Format"; of CUDA's fatbin, PAL's archive and kpack: files of their tools.
 */
#include "core/objects/code_kind.h"

#include <string.h>

#include "core/objects/coff.h"

enum {
    EM_AMDGPU = 224,
    ELF_MACHINE_AT = 18,
    FATBIN_HEADER = 16,
    KPACK_VERSION_END = 8,
};

/* Version 1, and the size of a header. */
static bool is_fatbin(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    return n >= FATBIN_HEADER && p[4] == 1 && !p[5] && p[6] >= FATBIN_HEADER &&
           !p[7];
}

/* A version below 256. */
static bool is_kpack(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    return n >= KPACK_VERSION_END && !p[5] && !p[6] && !p[7];
}

#define MAGIC(bytes) sizeof(bytes) - 1, bytes

static const struct row {
    enum pfd_code_kind kind;
    size_t n;
    const char *magic; /* [n] first bytes */
    /* What else has to be true of bytes [n]; NULL: nothing. */
    bool (*is_kind)(const void *bytes, size_t n);
} rows[] = {
    { PFD_CODE_ELF, MAGIC("\177ELF"), NULL },
    { PFD_CODE_SPIRV, MAGIC("\x03\x02\x23\x07"), NULL },
    { PFD_CODE_BITCODE, MAGIC("BC\xc0\xde"), NULL },
    { PFD_CODE_BITCODE, MAGIC("\xde\xc0\x17\x0b"), NULL },
    { PFD_CODE_ARCHIVE, MAGIC("!<arch>\n"), NULL },
    { PFD_CODE_THIN_ARCHIVE, MAGIC("!<thin>\n"), NULL },
    { PFD_CODE_BUNDLE, MAGIC("__CLANG_OFFLOAD_BUNDLE__"), NULL },
    { PFD_CODE_COMPRESSED, MAGIC("CCOB"), NULL },
    { PFD_CODE_BINARY, MAGIC("\x10\xff\x10\xad"), NULL },
    { PFD_CODE_FATBIN, MAGIC("\x50\xed\x55\xba"), is_fatbin },
    { PFD_CODE_PAL_ARCHIVE,
      MAGIC("\x23\xd8\xfa\xe7\x0f\x5f\x47\xbe"
            "\x8b\xd1\x48\xf5\xd8\xf0\xb4\xa7"),
      NULL },
    /* A header of 32 bytes, version 1, AMD (0x1002). */
    { PFD_CODE_PIPELINES, MAGIC("\x20\0\0\0\x01\0\0\0\x02\x10\0\0"), NULL },
    { PFD_CODE_KPACK, MAGIC("KPAK"), is_kpack },
    /* A program; objects for x86-64, for arm64, and with many sections. */
    { PFD_CODE_COFF, MAGIC("MZ"), pfd_coff_recognise },
    { PFD_CODE_COFF, MAGIC("\x64\x86"), pfd_coff_recognise },
    { PFD_CODE_COFF, MAGIC("\x64\xaa"), pfd_coff_recognise },
    { PFD_CODE_COFF, MAGIC("\0\0\xff\xff"), pfd_coff_recognise },
};

static bool starts(struct pfd_byte_reader c, const char *magic, size_t n)
{
    return c.n >= n && !memcmp(c.base, magic, n);
}

enum pfd_code_kind pfd_code_kind_of(struct pfd_byte_reader c)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        /* Searches ask at many places: most differ in the first byte. */
        if (c.n >= r->n && *c.base == (uint8_t)*r->magic &&
            !memcmp(c.base, r->magic, r->n) &&
            (!r->is_kind || r->is_kind(c.base, c.n)))
            return r->kind;
    }
    return PFD_CODE_NONE;
}

bool pfd_code_is_amd(struct pfd_byte_reader c)
{
    return starts(c, "\177ELF\2\1", 6) && c.n > ELF_MACHINE_AT + 1 &&
           c.base[ELF_MACHINE_AT] == EM_AMDGPU && !c.base[ELF_MACHINE_AT + 1];
}
