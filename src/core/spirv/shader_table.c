/* SPDX-License-Identifier: MIT */
#include "core/spirv/shader_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/spirv/khronos.h"

/* Frees a shader's allocations; no other set has them. */
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

void pfd_shader_table_deinit(struct pfd_shader_table *shader_table)
{
    for (size_t i = 0; i < shader_table->n; i++)
        free_shader(&shader_table->shaders[i]);
    free(shader_table->shaders);
    free_capture(&shader_table->capture);
    *shader_table = (struct pfd_shader_table){ 0 };
}

/* The index of this id, or the one to insert it at. */
static size_t place_of(const struct pfd_shader_table *shader_table, uint32_t id)
{
    size_t low = 0;
    size_t high = shader_table->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (shader_table->shaders[mid].id < id) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

const struct pfd_shader *pfd_shader_table_find(
    const struct pfd_shader_table *shader_table, uint32_t id)
{
    size_t i = place_of(shader_table, id);
    return i < shader_table->n && shader_table->shaders[i].id == id
               ? &shader_table->shaders[i]
               : NULL;
}

const struct pfd_shader *pfd_shader_table_find_numbered(
    const struct pfd_shader_table *shader_table, uint32_t id)
{
    const struct pfd_shader *s = pfd_shader_table_find(shader_table, id);
    return s && !s->is_loose ? s : NULL;
}

/* Computed once: records need the places of calls again and again. */
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

/* Inserts at index i; false: out of memory. */
static bool insert(struct pfd_shader_table *shader_table, size_t i,
                   const struct pfd_shader *shader)
{
    struct pfd_shader *grown =
        realloc(shader_table->shaders,
                (shader_table->n + 1) * sizeof *shader_table->shaders);
    if (!grown)
        return false;
    shader_table->shaders = grown;
    memmove(grown + i + 1, grown + i, (shader_table->n - i) * sizeof *grown);
    grown[i] = *shader;
    shader_table->n++;
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

/* Links shader i with its original, or with modules made of it. */
static void link_original(struct pfd_shader_table *shader_table, size_t i)
{
    struct pfd_shader *s = &shader_table->shaders[i];
    for (size_t k = 0; k < shader_table->n; k++) {
        link_pair(s, &shader_table->shaders[k]);
        link_pair(&shader_table->shaders[k], s);
    }
}

const struct pfd_spirv_place *pfd_shader_table_place(
    const struct pfd_shader_table *shader_table,
    const struct pfd_shader *shader, size_t i)
{
    const struct pfd_shader *original =
        shader->has_original
            ? pfd_shader_table_find(shader_table, shader->original)
            : NULL;
    if (!original)
        return &shader->places[i];
    size_t call = pfd_spirv_original_call(shader->module, i, original->module);
    return &original->places[call];
}

/* Copies a shader with its link to the original. */
static bool take_copy(struct pfd_shader_table *shader_table,
                      const struct pfd_shader *shader, struct pfd_shader **ret)
{
    size_t i = place_of(shader_table, shader->id);
    *ret = NULL;
    if (i < shader_table->n && shader_table->shaders[i].id == shader->id)
        return true;
    if (!insert(shader_table, i, shader))
        return false;
    atomic_fetch_add(shader->refs, 1);
    *ret = &shader_table->shaders[i];
    return true;
}

bool pfd_shader_table_take(struct pfd_shader_table *shader_table,
                           const struct pfd_shader *shader,
                           struct pfd_shader **ret)
{
    if (!take_copy(shader_table, shader, ret))
        return false;
    if (*ret) {
        (*ret)->has_original = false;
        link_original(shader_table, (size_t)(*ret - shader_table->shaders));
    }
    return true;
}

bool pfd_shader_table_share(struct pfd_shader_table *shader_table,
                            const struct pfd_shader_table *of)
{
    struct pfd_shader *ignored = NULL;
    bool ok = pfd_shader_table_set_capture(shader_table, &of->capture);
    for (size_t i = 0; ok && i < of->n; i++)
        ok = take_copy(shader_table, &of->shaders[i], &ignored);
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

/* True: a shader has this module already. */
static bool is_known(const struct pfd_shader_table *shader_table,
                     const struct pfd_spirv *module)
{
    for (size_t i = 0; i < shader_table->n; i++) {
        if (!pfd_spirv_order(shader_table->shaders[i].module, module))
            return true;
    }
    return false;
}

static uint32_t next_loose(const struct pfd_shader_table *shader_table)
{
    uint32_t last =
        shader_table->n ? shader_table->shaders[shader_table->n - 1].id : 0;
    return last < PFD_SHADER_LOOSE ? PFD_SHADER_LOOSE : last + 1;
}

/* Assigns a number if the caller gave none: that of an instrumented module,
 * unless it is taken. */
static void set_id(const struct pfd_shader_table *shader_table,
                   struct pfd_shader *s)
{
    s->is_loose =
        s->id == PFD_SHADER_NEXT &&
        (!pfd_spirv_shader(s->module, &s->id) || s->id >= PFD_SHADER_LOOSE ||
         pfd_shader_table_find(shader_table, s->id));
    if (s->is_loose)
        s->id = next_loose(shader_table);
}

enum pfd_status pfd_shader_table_add(struct pfd_shader_table *shader_table,
                                     const struct pfd_shader_info *info,
                                     pfd_finding_fn fn, void *user,
                                     struct pfd_shader **ret,
                                     struct pfd_error *err)
{
    struct pfd_shader shader = { .id = info->id };
    const struct pfd_shader *other =
        info->id == PFD_SHADER_NEXT
            ? NULL
            : pfd_shader_table_find(shader_table, info->id);
    if (other) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "shader %u is '%s' already", info->id, other->source);
    }
    enum pfd_status status = open_shader(info, fn, user, &shader, err);
    if (status != PFD_OK) {
        drop_shader(&shader);
        return status;
    }
    set_id(shader_table, &shader);
    size_t i = place_of(shader_table, shader.id);
    if (shader.is_loose && is_known(shader_table, shader.module)) {
        drop_shader(&shader);
        *ret = NULL;
        return PFD_OK;
    }
    if (!insert(shader_table, i, &shader)) {
        drop_shader(&shader);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    link_original(shader_table, i);
    *ret = &shader_table->shaders[i];
    return PFD_OK;
}

static bool copy_object(struct pfd_vulkan_object *ret,
                        const struct pfd_vulkan_object *from)
{
    ret->handle = from->handle;
    ret->name = from->name ? strdup(from->name) : NULL;
    return !from->name || ret->name;
}

bool pfd_shader_table_set_capture(struct pfd_shader_table *shader_table,
                                  const struct pfd_vulkan_capture *capture)
{
    struct pfd_vulkan_capture next = *capture;
    bool ok = copy_object(&next.command_buffer, &capture->command_buffer);
    ok = copy_object(&next.pipeline, &capture->pipeline) && ok;
    if (!ok) {
        free_capture(&next);
        return false;
    }
    free_capture(&shader_table->capture);
    shader_table->capture = next;
    return true;
}

size_t pfd_shader_memory(const struct pfd_shader *shader)
{
    return sizeof *shader + pfd_spirv_memory(shader->module) +
           pfd_spirv_call_count(shader->module) * sizeof *shader->places;
}

size_t pfd_shader_table_memory(const struct pfd_shader_table *shader_table)
{
    size_t n = 0;
    for (size_t i = 0; i < shader_table->n; i++)
        n += pfd_shader_memory(&shader_table->shaders[i]);
    return n;
}
