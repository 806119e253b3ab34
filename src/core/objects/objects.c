/* SPDX-License-Identifier: MIT */
/* The public API of code objects: lists the content of a file. */
#include "core/objects/objects.h"

#include <printfdecode/strings.h>

#include "core/objects/amdgpu_object.h"
#include "core/objects/container.h"

struct reader {
    pfd_object_fn fn;
    void *user;
    struct pfd_error *err;
};

static enum pfd_status give_elf(const struct reader *reader,
                                const struct pfd_code_piece *memory_view,
                                struct pfd_report *report,
                                struct pfd_object_info *info)
{
    struct pfd_image *image;
    struct pfd_object *object;
    enum pfd_status status =
        pfd_image_open(memory_view->bytes.base, memory_view->bytes.n, &image,
                       report, reader->err);
    if (status != PFD_OK)
        return status;
    status = pfd_object_read(image, &object, reader->err);
    pfd_image_free(image);
    if (status != PFD_OK)
        return status;
    pfd_object_describe(object, info);
    status = reader->fn(reader->user, info);
    pfd_object_free(object);
    return status;
}

static enum pfd_status give_piece(void *user,
                                  const struct pfd_code_piece *memory_view,
                                  struct pfd_report *report)
{
    const struct reader *reader = user;
    struct pfd_object_info info = {
        .source = memory_view->path,
        .bytes = memory_view->bytes.base,
        .n = memory_view->bytes.n,
        .offset = memory_view->offset,
    };
    switch (memory_view->kind) {
    case PFD_PIECE_ELF:
        info.kind = "elf";
        return memory_view->is_code
                   ? give_elf(reader, memory_view, report, &info)
                   : PFD_OK;
    case PFD_PIECE_SPIRV:
        info.kind = "spirv";
        info.why_none = "a SPIR-V module holds its strings in its instructions";
        break;
    case PFD_PIECE_BITCODE:
        info.kind = "bitcode";
        info.why_none = "bitcode is not compiled yet: the table is made with "
                        "the code object";
        break;
    }
    return reader->fn(reader->user, &info);
}

enum pfd_status pfd_objects_read(const void *bytes, size_t n,
                                 const char *source, uint64_t max_inflated,
                                 pfd_object_fn fn, void *user,
                                 pfd_finding_fn finding_fn, void *finding_user,
                                 struct pfd_error *err)
{
    struct reader reader = { fn, user, err };
    struct pfd_report report = {
        .fn = finding_fn,
        .user = finding_user,
        .source = source,
    };
    return pfd_container_walk(bytes, n, max_inflated, give_piece, &reader,
                              &report, err);
}

enum pfd_status pfd_objects_search(const void *bytes, size_t n,
                                   const char *source, uint64_t max_inflated,
                                   pfd_object_fn fn, void *user,
                                   pfd_finding_fn finding_fn,
                                   void *finding_user, struct pfd_error *err)
{
    struct reader reader = { fn, user, err };
    struct pfd_report report = {
        .fn = finding_fn,
        .user = finding_user,
        .source = source,
    };
    return pfd_container_search(bytes, n, max_inflated, give_piece, &reader,
                                &report, err);
}
