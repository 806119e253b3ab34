/* SPDX-License-Identifier: MIT */
/* Code in the sections of a host's ELF file: "file:section". */
#include <stdlib.h>

#include "core/objects/code_walk.h"
#include "core/objects/elf_image.h"
#include "core/objects/elf_inflate.h"

enum {
    SHT_NOBITS = 8
};

/* clang-offload-bundler makes a section of each target's code, named by this
 * prefix and the target: "__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-...". */
static bool is_bundled(const struct pfd_section *section, bool *is_host)
{
    static const char prefix[] = "__CLANG_OFFLOAD_BUNDLE__";
    size_t n = sizeof prefix - 1;
    if (section->n_name <= n || memcmp(section->name, prefix, n) != 0)
        return false;
    *is_host =
        section->n_name >= n + 5 && !memcmp(section->name + n, "host-", 5);
    return true;
}

/* True for a section that is a bundle or code; a bundle within other bytes is
 * not ours. objcopy, ld -b binary and the like make a code object a section. */
static bool has_code(const struct pfd_section *section, bool *is_code)
{
    bool is_host = false;
    enum pfd_code_kind kind = pfd_code_kind_of(section->bytes);
    *is_code = false;
    if (pfd_code_is_blob(kind))
        return true;
    if (is_bundled(section, &is_host)) {
        *is_code = !is_host;
        return !is_host && (kind == PFD_CODE_ELF || kind == PFD_CODE_SPIRV ||
                            kind == PFD_CODE_BITCODE);
    }
    return pfd_code_is_amd(section->bytes);
}

/* ---- kpack: the code is in archives beside the program ---- */

/* Of a program of which ROCm has split off the device code. */
static void report_kpack(const struct pfd_code_range *range,
                         const struct pfd_section *section)
{
    struct pfd_quoted quoted = { "" };
    struct pfd_kpack_names names = pfd_kpack_names(section);
    size_t n = 0;
    const char *path = pfd_kpack_next_name(&names, &n);
    if (path)
        pfd_quote(&quoted, path, n);
    pfd_report_add(
        range->report, PFD_FINDING_no_format_strings, section->offset,
        "its device code is in kpack archives%s%s%s: give those",
        path ? ", '" : "", quoted.text, path ? "' beside the program" : "");
}

/* ---- sections ---- */

/* Reports sections for code objects whose bytes were stripped; where there are
 * none, that of the program's own code. */
static void report_absent(const struct pfd_code_range *range,
                          const struct pfd_image *image)
{
    static const char *const names[] = { ".hip_fatbin", ".nv_fatbin",
                                         ".llvm.offloading", ".text" };
    enum {
        N = sizeof names / sizeof *names,
        N_OBJECTS = N - 1
    };
    struct pfd_section section;
    bool any = false;
    for (size_t k = 0; k < (any ? N_OBJECTS : N); k++) {
        for (size_t i = 0; pfd_image_section(image, i, &section) == PFD_OK;
             i++) {
            if (section.type != SHT_NOBITS ||
                !pfd_section_is(&section, names[k]))
                continue;
            any = true;
            pfd_report_add(range->report, PFD_FINDING_no_format_strings,
                           section.offset,
                           "section '%s' (%llu bytes) is listed and is not in "
                           "the file, which has debug information alone: give "
                           "the program itself",
                           names[k], (unsigned long long)section.size);
            break;
        }
    }
}

static enum pfd_status walk_section(const struct pfd_code_range *range,
                                    const struct pfd_section *section,
                                    bool is_code)
{
    return pfd_code_walk_part(
        range, pfd_code_path(range, ":", section->name, section->n_name, ""),
        section->bytes, section->offset, is_code);
}

static enum pfd_status walk_sections(const struct pfd_code_range *range,
                                     const struct pfd_image *image)
{
    enum pfd_status status = PFD_OK;
    struct pfd_section section;
    uint64_t last = 0;
    bool is_reported = false;
    report_absent(range, image);
    for (size_t i = 0;
         status == PFD_OK && pfd_image_section(image, i, &section) == PFD_OK;
         i++) {
        bool is_code = false;
        /* A section that follows at the same offset is the same one. */
        if (section.type == SHT_NOBITS || section.offset == last)
            continue;
        if (!is_reported && pfd_kpack_is_ref(&section)) {
            report_kpack(range, &section);
            is_reported = true; /* once: it costs a read of the whole section */
        }
        if (!has_code(&section, &is_code))
            continue;
        last = section.offset;
        status = walk_section(range, &section, is_code);
    }
    return status;
}

static enum pfd_status walk_plain(const struct pfd_code_range *range)
{
    const uint8_t *p = range->bytes.base;
    bool amd = pfd_code_is_amd(range->bytes);
    enum pfd_status status =
        pfd_code_emit(range, PFD_PIECE_ELF, amd || range->is_code);
    if (status != PFD_OK || amd)
        return status;
    /* The callback has reported the file's faults. */
    struct pfd_report silent = { .source = range->path };
    struct pfd_image *image;
    status =
        pfd_image_open(p, range->bytes.n, &image, &silent, range->walk->err);
    if (status != PFD_OK)
        return status;
    status = walk_sections(range, image);
    pfd_image_free(image);
    return status;
}

static bool may_have_code(struct pfd_byte_reader head)
{
    return pfd_code_kind_of(head) != PFD_CODE_NONE;
}

enum pfd_status pfd_code_walk_elf(const struct pfd_code_range *range)
{
    struct pfd_code_walk *walk = range->walk;
    struct pfd_elf_inflated inflated;
    uint64_t most = walk->max_inflated < walk->inflated_left
                        ? walk->max_inflated
                        : walk->inflated_left;
    if (!pfd_elf_is_compressed(range->bytes))
        return walk_plain(range);
    enum pfd_status status = pfd_elf_inflate(
        range->bytes, most, may_have_code, &inflated, range->report, walk->err);
    if (status != PFD_OK)
        return status;
    if (!inflated.bytes)
        return walk_plain(range);
    status = pfd_code_walk_copy(range, inflated.bytes, inflated.n,
                                inflated.n_compressed, walk_plain);
    free(inflated.bytes);
    return status;
}
