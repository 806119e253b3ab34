/* SPDX-License-Identifier: MIT */
#include "core/spirv/shader_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/spirv/khronos.h"

/* Nobody else has it. */
static void drop_shader(struct pfd_shader *s)
{
    free(s->refs);
    pfd_spirv_free(s->module);
    free(s->source);
    free((void *)(uintptr_t)s->object.name);
    free(s->places);
}

static void free_shader(struct pfd_shader *s)
{
    if (!s->refs || atomic_fetch_sub(s->refs, 1) <= 1)
        drop_shader(s);
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

/* Into place i; false: out of memory. */
static bool insert(struct pfd_shaders *shaders, size_t i,
                   const struct pfd_shader *shader)
{
    struct pfd_shader *grown =
        realloc(shaders->shaders, (shaders->n + 1) * sizeof *shaders->shaders);
    if (!grown)
        return false;
    shaders->shaders = grown;
    memmove(grown + i + 1, grown + i, (shaders->n - i) * sizeof *grown);
    grown[i] = *shader;
    shaders->n++;
    return true;
}

static void link_pair(struct pfd_shader *made,
                      const struct pfd_shader *original)
{
    if (made->has_original ||
        !pfd_spirv_is_original(original->module, made->module))
        return;
    made->has_original = true;
    made->original = original->id;
}

/* Which of the others shader i was made of, or they of it. */
static void link_original(struct pfd_shaders *shaders, size_t i)
{
    struct pfd_shader *s = &shaders->shaders[i];
    for (size_t k = 0; k < shaders->n; k++) {
        link_pair(s, &shaders->shaders[k]);
        link_pair(&shaders->shaders[k], s);
    }
}

const struct pfd_spirv_place *pfd_shaders_place(
    const struct pfd_shaders *shaders, const struct pfd_shader *shader,
    size_t i)
{
    const struct pfd_shader *original =
        shader->has_original ? pfd_shaders_find(shaders, shader->original)
                             : NULL;
    if (!original)
        return &shader->places[i];
    size_t call = pfd_spirv_original_call(shader->module, i, original->module);
    return &original->places[call];
}

/* As it is, with what it was made of. */
static bool take_copy(struct pfd_shaders *shaders,
                      const struct pfd_shader *shader, struct pfd_shader **ret)
{
    size_t i = place_of(shaders, shader->id);
    *ret = NULL;
    if (i < shaders->n && shaders->shaders[i].id == shader->id)
        return true;
    if (!insert(shaders, i, shader))
        return false;
    atomic_fetch_add(shader->refs, 1);
    *ret = &shaders->shaders[i];
    return true;
}

bool pfd_shaders_take(struct pfd_shaders *shaders,
                      const struct pfd_shader *shader, struct pfd_shader **ret)
{
    if (!take_copy(shaders, shader, ret))
        return false;
    if (*ret) {
        (*ret)->has_original = false;
        link_original(shaders, (size_t)(*ret - shaders->shaders));
    }
    return true;
}

bool pfd_shaders_share(struct pfd_shaders *shaders,
                       const struct pfd_shaders *of)
{
    struct pfd_shader *ignored = NULL;
    bool ok = pfd_shaders_set_capture(shaders, &of->capture);
    for (size_t i = 0; ok && i < of->n; i++)
        ok = take_copy(shaders, &of->shaders[i], &ignored);
    return ok;
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
    ret->refs = malloc(sizeof *ret->refs);
    if (ret->refs)
        atomic_init(ret->refs, 1);
    ret->source = strdup(source);
    ret->object.handle = info->handle;
    ret->object.name = info->name ? strdup(info->name) : NULL;
    if (!ret->refs || !ret->source || (info->name && !ret->object.name) ||
        !find_places(ret))
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

/* A number of its own, if nobody gave one: what an instrumented module says,
 * unless another one says the same. */
static void set_id(const struct pfd_shaders *shaders, struct pfd_shader *s)
{
    s->is_loose =
        s->id == PFD_SHADER_NEXT &&
        (!pfd_spirv_shader(s->module, &s->id) || s->id >= PFD_SHADER_LOOSE ||
         pfd_shaders_find(shaders, s->id));
    if (s->is_loose)
        s->id = next_loose(shaders);
}

enum pfd_status pfd_shaders_add(struct pfd_shaders *shaders,
                                const struct pfd_shader_info *info,
                                pfd_finding_fn fn, void *user,
                                struct pfd_shader **ret, struct pfd_error *err)
{
    struct pfd_shader shader = { .id = info->id };
    const struct pfd_shader *other = info->id == PFD_SHADER_NEXT
                                         ? NULL
                                         : pfd_shaders_find(shaders, info->id);
    if (other) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "shader %u is '%s' already", info->id, other->source);
    }
    enum pfd_status status = open_shader(info, fn, user, &shader, err);
    if (status != PFD_OK) {
        drop_shader(&shader);
        return status;
    }
    set_id(shaders, &shader);
    size_t i = place_of(shaders, shader.id);
    if (shader.is_loose && is_known(shaders, shader.module)) {
        drop_shader(&shader);
        *ret = NULL;
        return PFD_OK;
    }
    if (!insert(shaders, i, &shader)) {
        drop_shader(&shader);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    link_original(shaders, i);
    *ret = &shaders->shaders[i];
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

size_t pfd_shader_memory(const struct pfd_shader *shader)
{
    return sizeof *shader + pfd_spirv_memory(shader->module) +
           pfd_spirv_call_count(shader->module) * sizeof *shader->places;
}

size_t pfd_shaders_memory(const struct pfd_shaders *shaders)
{
    size_t n = 0;
    for (size_t i = 0; i < shaders->n; i++)
        n += pfd_shader_memory(&shaders->shaders[i]);
    return n;
}
