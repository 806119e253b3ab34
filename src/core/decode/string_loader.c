/* SPDX-License-Identifier: MIT */
/* The public API of strings: loads files, lists strings. */
#include "core/decode/string_loader.h"

#include <stdlib.h>
#include <string.h>

#include <printfdecode/convert.h>

#include "core/base/input.h"
#include "core/base/sized.h"
#include "core/decode/format.h"
#include "core/objects/amdgpu_object.h"
#include "core/objects/container.h"
#include "core/spirv/shader_table.h"

struct loader {
    struct pfd_strings *strings;
    struct pfd_error *err;
    const void *bytes; /* [n]: the whole file */
    size_t n;
    size_t n_rows;
    size_t n_code;          /* pieces for a device */
    size_t n_normal;        /* code objects that need no table ... */
    const char *why_normal; /* ... and why the first does not */
    const char *why_bare;   /* why one has none that may have needed it */
    size_t n_spirv;         /* pieces for AMD's GPUs, compiled when loaded */
    size_t n_bitcode;
};

/* Notes why a ROCm code object has no table; a sound one may have none. */
static enum pfd_status ask_why(struct loader *loader,
                               const struct pfd_image *image)
{
    struct pfd_object_info info = { 0 };
    struct pfd_object *object;
    enum pfd_status status = pfd_object_read(image, &object, loader->err);
    if (status != PFD_OK)
        return status;
    pfd_object_describe(object, &info);
    if (info.version && info.why_none && pfd_object_is_sound(object)) {
        loader->n_normal++;
        if (!loader->why_normal)
            loader->why_normal = info.why_none;
    } else if (info.os && info.why_none && !loader->why_bare) {
        loader->why_bare = info.why_none;
    }
    pfd_object_free(object);
    return PFD_OK;
}

/* Reports that the whole file has no strings, with the reason if it is
 * known. */
static void report_nothing(const struct loader *loader,
                           struct pfd_report *report, const void *bytes,
                           size_t n)
{
    size_t at = pfd_container_find(bytes, n);
    bool is_inside = !report->n && !loader->n_code && at > 0 && at < n &&
                     !pfd_strings_searches(loader->strings);
    if (loader->n_normal > 0) {
        pfd_report_add(report, PFD_FINDING_no_table, PFD_NO_OFFSET,
                       "no format strings are in this file, which has %zu "
                       "code object%s: %s",
                       loader->n_normal, loader->n_normal == 1 ? "" : "s",
                       loader->why_normal);
    } else if (loader->why_bare && !report->n) {
        pfd_report_add(report, PFD_FINDING_no_format_strings, PFD_NO_OFFSET,
                       "no format strings are in this file, whose code object "
                       "has none: %s",
                       loader->why_bare);
    } else if (loader->n_spirv > 0) {
        pfd_report_add(
            report, PFD_FINDING_no_format_strings, PFD_NO_OFFSET,
            "no format strings are in this file: its SPIR-V for "
            "AMD's GPUs is compiled when it is loaded, and the table "
            "is in the code object that the runtime makes (--pid PID "
            "--code-objects --to FOLDER)");
    } else if (loader->n_bitcode > 0) {
        pfd_report_add(report, PFD_FINDING_no_format_strings, PFD_NO_OFFSET,
                       "no format strings are in this file: its bitcode is not "
                       "compiled yet, and the table is in the code object that "
                       "is made of it");
    } else if (is_inside) {
        pfd_report_add(report, PFD_FINDING_no_format_strings, at,
                       "no format strings are where they belong in this file, "
                       "and what looks like a code object is here: --scan "
                       "searches all of it");
    } else {
        pfd_report_add(report, PFD_FINDING_no_format_strings, PFD_NO_OFFSET,
                       report->n > 0 ? "no format strings are in what can be "
                                       "read of this file"
                                     : "no format strings are in this file");
    }
}

/* The format that a description is for; NULL: these bytes are none. */
static const struct pfd_format *described_by(const void *bytes, size_t n)
{
    for (size_t i = 0; pfd_formats[i]; i++) {
        if (pfd_formats[i]->description &&
            pfd_formats[i]->description->is(bytes, n))
            return pfd_formats[i];
    }
    return NULL;
}

bool pfd_strings_describes(const void *bytes, size_t n)
{
    return described_by(bytes, n) != NULL;
}

bool pfd_strings_recognise(const void *bytes, size_t n)
{
    static const char dxbc[] = { 'D', 'X', 'B',
                                 'C' }; /* DirectX's containers */
    bool is_dxbc = n > sizeof dxbc && !memcmp(bytes, dxbc, sizeof dxbc);
    return is_dxbc || pfd_container_recognise(bytes, n) ||
           pfd_spirv_recognise(bytes, n) || described_by(bytes, n);
}

/* Can the format find strings in program files? One that rings are described
 * for cannot before a description is loaded that says where they are. */
static bool can_load(const struct pfd_format *format,
                     const struct pfd_strings *strings)
{
    const struct pfd_format_description *d = format->description;
    return !d || d->reads_files(format, strings);
}

bool pfd_strings_reads_files(const struct pfd_strings *strings)
{
    for (size_t i = 0; pfd_formats[i]; i++) {
        if (pfd_formats[i]->description && can_load(pfd_formats[i], strings))
            return true;
    }
    return false;
}

/* Adds a description, and the messages of shaders that came before it. */
static enum pfd_status load_description(const struct pfd_format *format,
                                        const void *bytes, size_t n,
                                        struct pfd_strings *strings,
                                        struct pfd_report *report,
                                        struct pfd_error *err)
{
    enum pfd_status status =
        format->description->load(format, bytes, n, strings, report, err);
    const struct pfd_shader_table *shaders = pfd_strings_shaders(strings);
    for (size_t i = 0; i < shaders->n && status == PFD_OK; i++) {
        status =
            format->shader(format, strings, &shaders->shaders[i], report, err);
    }
    return status;
}

/* Has every format load an ELF file. */
static enum pfd_status load_piece(void *user,
                                  const struct pfd_code_piece *piece,
                                  struct pfd_report *report)
{
    struct loader *loader = user;
    struct pfd_image *image = NULL;
    loader->n_code += piece->is_code;
    loader->n_spirv += piece->kind == PFD_PIECE_SPIRV;
    loader->n_bitcode += piece->kind == PFD_PIECE_BITCODE;
    if (piece->kind != PFD_PIECE_ELF)
        return PFD_OK;
    enum pfd_status status = pfd_image_open(piece->bytes.base, piece->bytes.n,
                                            &image, report, loader->err);
    if (status == PFD_OK)
        pfd_image_set_room(image, pfd_strings_room(loader->strings));
    for (size_t i = 0; pfd_formats[i] && status == PFD_OK; i++) {
        size_t n_rows = 0;
        if (pfd_formats[i]->load && can_load(pfd_formats[i], loader->strings)) {
            status =
                pfd_formats[i]->load(pfd_formats[i], image, loader->strings,
                                     report, &n_rows, loader->err);
        }
        loader->n_rows += n_rows;
    }
    if (status == PFD_OK && loader->n_rows == 0) {
        pfd_image_report_cut(image, report);
        status = ask_why(loader, image);
    } else if (status == PFD_OK && piece->bytes.base == loader->bytes &&
               piece->bytes.n == loader->n) {
        pfd_image_report_short(image, report);
    }
    pfd_image_free(image);
    return status;
}

bool pfd_strings_search(const void *bytes, size_t n)
{
    return pfd_container_find(bytes, n) < n;
}

/* Has each format that reads files by a rule of its own read one. */
static enum pfd_status load_file_of(struct pfd_strings *strings,
                                    const void *bytes, size_t n,
                                    struct pfd_report *report, bool *is_taken,
                                    struct pfd_error *err)
{
    enum pfd_status status = PFD_OK;
    for (size_t i = 0; pfd_formats[i] && status == PFD_OK && !*is_taken; i++) {
        if (pfd_formats[i]->load_file && can_load(pfd_formats[i], strings)) {
            status = pfd_formats[i]->load_file(pfd_formats[i], bytes, n,
                                               strings, report, is_taken, err);
        }
    }
    return status;
}

enum pfd_status pfd_strings_load(struct pfd_strings *strings, const void *bytes,
                                 size_t n, const char *source,
                                 pfd_finding_fn fn, void *user,
                                 struct pfd_error *err)
{
    struct pfd_report report = { .fn = fn, .user = user, .source = source };
    struct loader loader = {
        .strings = strings, .err = err, .bytes = bytes, .n = n
    };
    struct pfd_shader_info shader = {
        .id = PFD_SHADER_NEXT, .bytes = bytes, .n_bytes = n, .source = source
    };
    const struct pfd_format *described = described_by(bytes, n);
    if (described)
        return load_description(described, bytes, n, strings, &report, err);
    bool is_taken = false;
    enum pfd_status status =
        load_file_of(strings, bytes, n, &report, &is_taken, err);
    if (status != PFD_OK || is_taken)
        return status;
    if (pfd_spirv_recognise(bytes, n))
        return pfd_strings_add_shader(strings, &shader, fn, user, err);
    bool searches = pfd_strings_searches(strings);
    status = (searches ? pfd_container_search : pfd_container_walk)(
        bytes, n, pfd_strings_max_inflated(strings), load_piece, &loader,
        &report, err);
    if (status == PFD_OK && loader.n_rows == 0)
        report_nothing(&loader, &report, bytes, n);
    return status;
}

/* Loads the inflated bytes of a compressed file. */
static enum pfd_status load_compressed(struct pfd_strings *strings,
                                       const void *bytes, size_t n,
                                       const char *source, pfd_finding_fn fn,
                                       void *user, struct pfd_error *err)
{
    void *inflated = NULL;
    size_t n_inflated = 0;
    enum pfd_status status =
        pfd_input_inflate(bytes, n, pfd_strings_max_inflated(strings), source,
                          fn, user, &inflated, &n_inflated, err);
    if (status == PFD_OK && inflated && !n_inflated) {
        status = pfd_fail(err, PFD_ERR_UNSUPPORTED, 0, "the file is empty");
    } else if (status == PFD_OK && inflated) {
        status = pfd_strings_load(strings, inflated, n_inflated, source, fn,
                                  user, err);
    }
    free(inflated);
    return status;
}

static enum pfd_status load_file(struct pfd_strings *strings, const char *path,
                                 pfd_finding_fn fn, void *user,
                                 struct pfd_error *err)
{
    struct pfd_input *input;
    size_t n;
    enum pfd_status status = pfd_input_open(path, &input, err);
    if (status != PFD_OK)
        return status;
    const void *bytes = pfd_input_bytes(input, &n);
    if (n == 0) {
        status = pfd_fail(err, PFD_ERR_UNSUPPORTED, 0, "the file is empty");
    } else if (pfd_input_is_compressed(bytes, n)) {
        status = load_compressed(strings, bytes, n, path, fn, user, err);
    } else {
        status = pfd_strings_load(strings, bytes, n, path, fn, user, err);
    }
    pfd_input_close(input);
    return status;
}

enum pfd_status pfd_strings_load_file(struct pfd_strings *strings,
                                      const char *path, pfd_finding_fn fn,
                                      void *user, struct pfd_error *err)
{
    struct pfd_quoted quoted;
    enum pfd_status status = load_file(strings, path, fn, user, err);
    if (status < 0)
        pfd_error_context(err, "%s", pfd_quote(&quoted, path, strlen(path)));
    return status;
}

enum pfd_status pfd_strings_add(struct pfd_strings *strings,
                                const struct pfd_string_info *info,
                                const uint64_t *mask, size_t n_mask,
                                pfd_finding_fn fn, void *user,
                                struct pfd_error *err)
{
    struct pfd_string_info own;
    if (pfd_sized_take(&own, sizeof own, info, err) != PFD_OK)
        return PFD_ERR_USAGE;
    info = &own;
    const struct pfd_format *llpc = pfd_format_find("llpc");
    struct pfd_report report = {
        .fn = fn,
        .user = user,
        .source = info->source ? info->source : "-",
    };
    if (info->id >> 48) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "id 0x%llx does not fit 48 bits",
                        (unsigned long long)info->id);
    }
    if (info->n_text > PFD_TEXT_MAX) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "a format string of %zu bytes is too long",
                        info->n_text);
    }
    while (n_mask && !mask[n_mask - 1])
        n_mask--;
    struct pfd_string_row row = {
        .key = info->id,
        .text = info->text,
        .n_text = info->n_text,
        .n_arguments = info->argument_count,
        .layout = mask,
        .n_layout = n_mask,
    };
    return pfd_strings_add_row(strings, &llpc->strings, &row, &report,
                               PFD_NO_OFFSET, err);
}

enum pfd_status pfd_strings_get(const struct pfd_strings *strings, size_t i,
                                struct pfd_string_info *ret)
{
    const struct pfd_string *s = pfd_strings_at(strings, i);
    if (!s)
        return PFD_END;
    *ret = (struct pfd_string_info){
        .format = pfd_strings_kind_at(strings, i)->name,
        .source = pfd_strings_source(strings, s),
        .text = pfd_string_text(s),
        .n_text = s->n_text,
        .id = s->key,
        .argument_count = s->n_arguments,
    };
    return PFD_OK;
}

/* 0 for a string, whose width varies. */
static uint8_t width_bits(const struct pfd_slot *slot)
{
    if (slot->store == PFD_STORE_STRING)
        return 0;
    return (uint8_t)(8 * pfd_slot_bytes(slot));
}

size_t pfd_strings_widths(const struct pfd_strings *strings, size_t i,
                          uint8_t *ret, size_t max)
{
    const struct pfd_string *s = pfd_strings_at(strings, i);
    struct pfd_program_facts facts = { 0 };
    struct pfd_layout layout = { 0 };
    if (!s)
        return 0;
    layout.slots = malloc(PFD_ARGUMENTS_MAX * sizeof *layout.slots);
    if (!layout.slots)
        return SIZE_MAX;
    pfd_strings_kind_at(strings, i)->layout(s, &facts, &layout);
    for (size_t k = 0; k < layout.n_slots && k < max; k++)
        ret[k] = width_bits(&layout.slots[k]);
    free(layout.slots);
    return layout.n_slots;
}

const char *pfd_version(void)
{
    return PFD_VERSION;
}

/* The public API of shaders: modules in, their strings into the tables. */

enum {
    MODULE = 4096,      /* bytes of memory for a module, and */
    MODULE_FACTOR = 16, /* for each byte of it, at most */
};

static size_t lower(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A shader counts against the set's limit, as its strings do: before loading by
 * its maximum, then by its actual size. */
static enum pfd_status add_counted(struct pfd_strings *strings,
                                   const struct pfd_shader_info *info,
                                   pfd_finding_fn fn, void *user,
                                   struct pfd_shader **ret,
                                   struct pfd_error *err)
{
    struct pfd_shader_table *shader_table = pfd_strings_own_shaders(strings);
    size_t room = pfd_strings_room(strings);
    if (room < MODULE || (room - MODULE) / MODULE_FACTOR < info->n_bytes)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    enum pfd_status status =
        pfd_shader_table_add(shader_table, info, fn, user, ret, err);
    if (*ret)
        pfd_strings_take(strings, lower(pfd_shader_memory(*ret), room));
    return status;
}

/* Has every format load a shader. */
static enum pfd_status load_shader(struct pfd_strings *strings,
                                   const struct pfd_shader *shader,
                                   struct pfd_report *report,
                                   struct pfd_error *err)
{
    enum pfd_status status = PFD_OK;
    for (size_t i = 0; pfd_formats[i] && status == PFD_OK; i++) {
        if (pfd_formats[i]->shader) {
            status = pfd_formats[i]->shader(pfd_formats[i], strings, shader,
                                            report, err);
        }
    }
    return status;
}

enum pfd_status pfd_strings_add_shader(struct pfd_strings *strings,
                                       const struct pfd_shader_info *info,
                                       pfd_finding_fn fn, void *user,
                                       struct pfd_error *err)
{
    struct pfd_shader_info own;
    if (pfd_sized_take(&own, sizeof own, info, err) != PFD_OK)
        return PFD_ERR_USAGE;
    info = &own;
    struct pfd_shader *shader = NULL;
    struct pfd_report report = {
        .fn = fn,
        .user = user,
        .source = info->source ? info->source : "-",
    };
    enum pfd_status status = add_counted(strings, info, fn, user, &shader, err);
    if (status != PFD_OK || !shader)
        return status;
    return load_shader(strings, shader, &report, err);
}

enum pfd_status pfd_strings_take_shaders(struct pfd_strings *strings,
                                         const struct pfd_strings *from,
                                         struct pfd_error *err)
{
    const struct pfd_shader_table *all = pfd_strings_shaders(from);
    enum pfd_status status = PFD_OK;
    for (size_t i = 0; i < all->n && status == PFD_OK; i++) {
        struct pfd_shader *shader = NULL;
        struct pfd_report report = { .source = all->shaders[i].source };
        if (!pfd_shader_table_take(pfd_strings_own_shaders(strings),
                                   &all->shaders[i], &shader)) {
            return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
        }
        if (shader)
            status = load_shader(strings, shader, &report, err);
    }
    return status;
}

enum pfd_status pfd_strings_shader(const struct pfd_strings *strings, size_t i,
                                   uint32_t *id, const char **source,
                                   const struct pfd_spirv **module)
{
    const struct pfd_shader_table *shader_table = pfd_strings_shaders(strings);
    if (i >= shader_table->n)
        return PFD_END;
    *id = shader_table->shaders[i].is_loose ? PFD_SHADER_NEXT
                                            : shader_table->shaders[i].id;
    *source = shader_table->shaders[i].source;
    *module = shader_table->shaders[i].module;
    return PFD_OK;
}

enum pfd_status pfd_strings_set_capture(
    struct pfd_strings *strings, const struct pfd_vulkan_capture *capture,
    struct pfd_error *err)
{
    struct pfd_vulkan_capture own;
    if (pfd_sized_take(&own, sizeof own, capture, err) != PFD_OK)
        return PFD_ERR_USAGE;
    capture = &own;
    if (!pfd_shader_table_set_capture(pfd_strings_own_shaders(strings),
                                      capture))
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    return PFD_OK;
}
