/* SPDX-License-Identifier: MIT */
/* The public side of shaders: modules in, their strings into the tables. */
#include "decode/format.h"
#include "spirv/shaders.h"

/* All formats look at one shader. */
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
    struct pfd_shader *shader = NULL;
    struct pfd_report report = {
        .fn = fn,
        .user = user,
        .source = info->source ? info->source : "-",
    };
    enum pfd_status status = pfd_shaders_add(pfd_strings_own_shaders(strings),
                                             info, fn, user, &shader, err);
    if (status != PFD_OK || !shader)
        return status;
    return load_shader(strings, shader, &report, err);
}

enum pfd_status pfd_strings_shader(const struct pfd_strings *strings, size_t i,
                                   uint32_t *id, const char **source,
                                   const struct pfd_spirv **module)
{
    const struct pfd_shaders *shaders = pfd_strings_shaders(strings);
    if (i >= shaders->n)
        return PFD_END;
    *id =
        shaders->shaders[i].is_loose ? PFD_SHADER_NEXT : shaders->shaders[i].id;
    *source = shaders->shaders[i].source;
    *module = shaders->shaders[i].module;
    return PFD_OK;
}

enum pfd_status pfd_strings_set_capture(
    struct pfd_strings *strings, const struct pfd_vulkan_capture *capture,
    struct pfd_error *err)
{
    if (!pfd_shaders_set_capture(pfd_strings_own_shaders(strings), capture))
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    return PFD_OK;
}
