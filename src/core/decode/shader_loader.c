/* SPDX-License-Identifier: MIT */
/* The public API of shaders: modules in, their strings into the tables. */
#include "core/decode/shader_loader.h"

#include "core/base/sized.h"
#include "core/decode/format.h"
#include "core/spirv/shader_table.h"

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
