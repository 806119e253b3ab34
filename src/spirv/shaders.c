/* SPDX-License-Identifier: MIT */
#include "spirv/shaders.h"

#include <stdlib.h>
#include <string.h>

#include "spirv/khronos.h"

static void free_shader(struct pfd_shader *s)
{
    pfd_spirv_free(s->module);
    free(s->source);
    free((void *)(uintptr_t)s->object.name);
    free(s->places);
}

static void free_capture(struct pfd_vulkan_capture *c)
{
    free((void *)(uintptr_t)c->command_buffer.name);
    free((void *)(uintptr_t)c->pipeline.name);
}

void pfd_shaders_deinit(struct pfd_shaders *shaders)
{
    for (size_t i = 0; i < shaders->n; i++)
        free_shader(&shaders->shaders[i]);
    free(shaders->shaders);
    free_capture(&shaders->capture);
    *shaders = (struct pfd_shaders){ 0 };
}

/* Where this id stands, or belongs. */
static size_t place_of(const struct pfd_shaders *shaders, uint32_t id)
{
    size_t low = 0;
    size_t high = shaders->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (shaders->shaders[mid].id < id) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

const struct pfd_shader *pfd_shaders_find(const struct pfd_shaders *shaders,
                                          uint32_t id)
{
    size_t i = place_of(shaders, id);
    return i < shaders->n && shaders->shaders[i].id == id ? &shaders->shaders[i]
                                                          : NULL;
}

const struct pfd_shader *pfd_shaders_told(const struct pfd_shaders *shaders,
                                          uint32_t id)
{
    const struct pfd_shader *s = pfd_shaders_find(shaders, id);
    return s && !s->is_loose ? s : NULL;
}

/* Records ask for the places of calls again and again. */
static bool find_places(struct pfd_shader *s)
{
    size_t n = pfd_spirv_call_count(s->module);
    s->places = calloc(n + 1, sizeof *s->places);
    for (size_t i = 0; s->places && i < n; i++) {
        pfd_spirv_place_of(s->module, pfd_spirv_call_instruction(s->module, i),
                           &s->places[i]);
    }
    return s->places != NULL;
}

static uint32_t stages_of(const struct pfd_spirv *module)
{
    uint32_t stages = 0;
    for (uint32_t k = 0; k < pfd_spirv_n_instructions(module); k++) {
        uint32_t n = 0;
        const uint32_t *w = pfd_spirv_words(module, k, &n);
        uint32_t op = w[0] & 0xffff;
        if (op == PFD_SPV_FUNCTION)
            break;
        if (op == PFD_SPV_ENTRY_POINT && n > 1)
            stages |= 1u << pfd_stage_of(w[1]);
    }
    return stages;
}

static enum pfd_status open_shader(const struct pfd_shader_info *info,
                                   pfd_finding_fn fn, void *user,
                                   struct pfd_shader *ret,
                                   struct pfd_error *err)
{
    const char *source = info->source ? info->source : "-";
    enum pfd_status status = pfd_spirv_open(info->bytes, info->n_bytes, source,
                                            fn, user, &ret->module, err);
    if (status != PFD_OK)
        return status;
    ret->source = strdup(source);
    ret->object.handle = info->handle;
    ret->object.name = info->name ? strdup(info->name) : NULL;
    if (!ret->source || (info->name && !ret->object.name) || !find_places(ret))
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    ret->has_stage = pfd_spirv_stage(ret->module, &ret->stage);
    ret->stages = stages_of(ret->module);
    return PFD_OK;
}

/* A module that some shader has already. */
static bool is_known(const struct pfd_shaders *shaders,
                     const struct pfd_spirv *module)
{
    for (size_t i = 0; i < shaders->n; i++) {
        if (!pfd_spirv_order(shaders->shaders[i].module, module))
            return true;
    }
    return false;
}

static uint32_t next_loose(const struct pfd_shaders *shaders)
{
    uint32_t last = shaders->n ? shaders->shaders[shaders->n - 1].id : 0;
    return last < PFD_SHADER_LOOSE ? PFD_SHADER_LOOSE : last + 1;
}

enum pfd_status pfd_shaders_add(struct pfd_shaders *shaders,
                                const struct pfd_shader_info *info,
                                pfd_finding_fn fn, void *user,
                                struct pfd_shader **ret, struct pfd_error *err)
{
    struct pfd_shader shader = { .id = info->id };
    shader.is_loose = info->id == PFD_SHADER_NEXT;
    if (shader.is_loose)
        shader.id = next_loose(shaders);
    size_t i = place_of(shaders, shader.id);
    if (i < shaders->n && shaders->shaders[i].id == shader.id) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "shader %u is '%s' already", shader.id,
                        shaders->shaders[i].source);
    }
    enum pfd_status status = open_shader(info, fn, user, &shader, err);
    if (status != PFD_OK) {
        free_shader(&shader);
        return status;
    }
    if (shader.is_loose && is_known(shaders, shader.module)) {
        free_shader(&shader);
        *ret = NULL;
        return PFD_OK;
    }
    struct pfd_shader *grown =
        realloc(shaders->shaders, (shaders->n + 1) * sizeof *shaders->shaders);
    if (!grown) {
        free_shader(&shader);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    shaders->shaders = grown;
    memmove(grown + i + 1, grown + i, (shaders->n - i) * sizeof *grown);
    grown[i] = shader;
    shaders->n++;
    *ret = &grown[i];
    return PFD_OK;
}

static bool copy_object(struct pfd_vulkan_object *ret,
                        const struct pfd_vulkan_object *from)
{
    ret->handle = from->handle;
    ret->name = from->name ? strdup(from->name) : NULL;
    return !from->name || ret->name;
}

bool pfd_shaders_set_capture(struct pfd_shaders *shaders,
                             const struct pfd_vulkan_capture *capture)
{
    struct pfd_vulkan_capture next = *capture;
    bool ok = copy_object(&next.command_buffer, &capture->command_buffer);
    ok = copy_object(&next.pipeline, &capture->pipeline) && ok;
    if (!ok) {
        free_capture(&next);
        return false;
    }
    free_capture(&shaders->capture);
    shaders->capture = next;
    return true;
}

size_t pfd_shaders_memory(const struct pfd_shaders *shaders)
{
    size_t n = shaders->n * sizeof *shaders->shaders;
    for (size_t i = 0; i < shaders->n; i++) {
        n += pfd_spirv_memory(shaders->shaders[i].module) +
             pfd_spirv_call_count(shaders->shaders[i].module) *
                 sizeof *shaders->shaders[i].places;
    }
    return n;
}
