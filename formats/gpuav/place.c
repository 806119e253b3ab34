/* SPDX-License-Identifier: MIT */
/*
 * The module and the instruction that an error comes from. A module is believed
 * if such an error can come from the instruction there: one of another shader
 * would give the wrong source line.
 */
#include "gpuav.h"
#include "spirv/khronos.h"
#include "spirv/shaders.h"

enum {
    /* Extensions' instructions, of which nothing more is known. */
    EXTENSIONS = 4096,
    GROUP_VERTICES = 9,
    OP_EXT_INST = 12,
    OP_STORE = 62,
    OP_LOAD = 61,
};

enum fit {
    FIT_NO,
    FIT_MAYBE,
    FIT_SURE, /* of the resource that the record names */
};

static uint32_t opcode(const struct pfd_spirv *m, uint32_t k)
{
    uint32_t n = 0;
    return pfd_spirv_words(m, k, &n)[0] & 0xffff;
}

/* A record that names a resource, and an instruction that reaches one. */
static enum fit fit_resource(const struct pfd_spirv *m, uint32_t k,
                             const struct gpuav_fault *f)
{
    struct pfd_spirv_access access;
    bool names_binding = f->has_set && f->group != 8;
    if (!pfd_spirv_access(m, k, &access))
        return FIT_NO;
    if (!f->has_set || !access.has_set)
        return FIT_MAYBE;
    if (f->set != access.set)
        return FIT_NO;
    if (!names_binding || !access.has_binding)
        return FIT_MAYBE;
    return f->binding == access.binding ? FIT_SURE : FIT_NO;
}

/* Memory behind an address: no image is there. */
static enum fit fit_memory(const struct pfd_spirv *m, uint32_t k,
                           const struct gpuav_fault *f)
{
    struct pfd_spirv_access access;
    uint32_t op = opcode(m, k);
    bool writes = f->b & 2;
    if (!pfd_spirv_access(m, k, &access) || access.is_image || access.has_set)
        return FIT_NO;
    if (f->group && (writes ? op == OP_LOAD : op == OP_STORE))
        return FIT_NO;
    return FIT_MAYBE;
}

/* Memory of a work group, which no set has. */
static enum fit fit_shared(const struct pfd_spirv *m, uint32_t k)
{
    struct pfd_spirv_access access;
    return pfd_spirv_access(m, k, &access) && !access.is_image &&
                   !access.has_set
               ? FIT_MAYBE
               : FIT_NO;
}

/* What shaders are checked for beside memory: the operation is the one. */
static enum fit fit_sanitizer(uint32_t op, const struct gpuav_fault *f)
{
    bool gathers = op == 96 || op == 97 || op == 313 || op == 314;
    bool fits = f->code == 1   ? op == f->params[0]
                : f->code == 2 ? gathers
                               : op == OP_EXT_INST;
    return fits ? FIT_MAYBE : FIT_NO;
}

static enum fit fit_group(const struct pfd_spirv *m, uint32_t k,
                          const struct gpuav_fault *f)
{
    struct pfd_spirv_access access;
    switch (f->group) {
    case 1:
    case 8:
    case 17:
    case 18:
        return fit_resource(m, k, f);
    case 2:
        return fit_memory(m, k, f);
    case 11:
        return fit_sanitizer(opcode(m, k), f);
    case 13:
    case 15:
        return fit_shared(m, k);
    case 3:
    case GROUP_VERTICES:
    case 16:
        return FIT_NO; /* extensions' instructions alone, or none at all */
    default:
        return pfd_spirv_access(m, k, &access) ? FIT_MAYBE : FIT_NO;
    }
}

static enum fit fit_of(const struct pfd_spirv *m, uint32_t k,
                       const struct gpuav_record *r)
{
    /* Vertices are checked before the first instruction. */
    if (opcode(m, k) >= EXTENSIONS)
        return r->fault.group == GROUP_VERTICES ? FIT_NO : FIT_MAYBE;
    return r->fault.group ? fit_group(m, k, &r->fault)
                          : fit_resource(m, k, &r->fault);
}

/* Does the record name an instruction of the original module? */
static bool has_instruction(const struct gpuav_record *r)
{
    /* Addresses were checked in a module that was changed before; 0 is a check
     * of the whole shader. */
    return !r->is_own &&
           (r->is_now ? r->position != 0 : r->fault.kind != GPUAV_ADDRESS);
}

static bool stage_fits(const struct pfd_shader *s, const struct gpuav_record *r)
{
    enum pfd_stage stage = pfd_stage_of(r->stage);
    return stage == PFD_STAGE_UNKNOWN || !s->stages || s->stages >> stage & 1;
}

/* The instruction in this module that fits, in any numbering of its age; right
 * where the layer was not. */
static enum fit find_instruction(const struct pfd_spirv *m,
                                 const struct gpuav_record *r, uint32_t *ret)
{
    uint32_t k = r->is_now ? pfd_spirv_by_offset(m, r->position)
                           : pfd_spirv_by_counted(m, r->position);
    enum fit fit = k == PFD_SPIRV_NONE ? FIT_NO : fit_of(m, k, r);
    /* What reports it stands where the instruction was. */
    if (pfd_spirv_is_instrumented(m) && !r->is_now) {
        *ret = k;
        return k == PFD_SPIRV_NONE ? FIT_NO : FIT_MAYBE;
    }
    if (fit == FIT_NO && !r->is_now &&
        r->position < pfd_spirv_n_instructions(m)) {
        k = r->position;
        fit = fit_of(m, k, r);
    }
    *ret = fit == FIT_NO ? PFD_SPIRV_NONE : k;
    return fit;
}

/* Among modules whose number nobody told: the only one with an instruction that
 * reaches the very resource. Less would be a guess. */
static struct gpuav_place find_loose(const struct pfd_shaders *shaders,
                                     const struct gpuav_record *r)
{
    struct gpuav_place none = { .k = PFD_SPIRV_NONE };
    struct gpuav_place ret = none;
    for (size_t i = 0; i < shaders->n; i++) {
        const struct pfd_shader *s = &shaders->shaders[i];
        uint32_t k = PFD_SPIRV_NONE;
        if (!s->is_loose || !stage_fits(s, r) ||
            find_instruction(s->module, r, &k) != FIT_SURE)
            continue;
        if (ret.shader)
            return none;
        ret = (struct gpuav_place){ .shader = s, .k = k };
    }
    return ret;
}

struct gpuav_place gpuav_place_of(const struct pfd_shaders *shaders,
                                  const struct gpuav_record *r)
{
    struct gpuav_place ret = { .k = PFD_SPIRV_NONE };
    if (r->is_own)
        return ret;
    ret.shader = pfd_shaders_told(shaders, r->shader);
    if (!ret.shader)
        return has_instruction(r) ? find_loose(shaders, r) : ret;
    ret.is_wrong = !stage_fits(ret.shader, r);
    if (has_instruction(r) && !ret.is_wrong) {
        ret.is_wrong =
            find_instruction(ret.shader->module, r, &ret.k) == FIT_NO;
    }
    return ret;
}
