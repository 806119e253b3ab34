/* SPDX-License-Identifier: MIT */
/*
 * The module and the instruction of an error. A module is accepted only if the
 * instruction there can have such an error: another shader's module would give
 * a wrong source line.
 */
#include "core/spirv/khronos.h"
#include "core/spirv/shader_table.h"
#include "layout.h"

enum {
    /* Opcodes of extensions begin here; nothing more is known about those. */
    EXTENSIONS = 4096,
    GROUP_VERTICES = 9,
    OP_EXT_INST = 12,
    OP_STORE = 62,
    OP_LOAD = 61,
};

enum fit {
    FIT_NO,
    FIT_MAYBE,
    FIT_SURE, /* it is the resource that the record names */
};

static uint32_t opcode(const struct pfd_spirv *m, uint32_t k)
{
    uint32_t n = 0;
    return pfd_spirv_words(m, k, &n)[0] & 0xffff;
}

/* For a record that names a resource: does the instruction access one? */
static enum fit fit_resource(const struct pfd_spirv *m, uint32_t k,
                             const struct gpuav_fault *f)
{
    struct pfd_spirv_access access;
    bool names_binding = f->has_set && (f->error || f->group != 8);
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

/* For errors of SDK 1.3.280 to 1.4.309: texels belong to images. */
static enum fit fit_error(const struct pfd_spirv *m, uint32_t k,
                          const struct gpuav_fault *f)
{
    struct pfd_spirv_access access;
    bool is_image = f->kind == GPUAV_TEXEL;
    if (f->group == 8 && (is_image || f->kind == GPUAV_BUFFER) &&
        pfd_spirv_access(m, k, &access) && access.is_image != is_image)
        return FIT_NO;
    return fit_resource(m, k, f);
}

/* For an access through an address: do operation and alignment match? */
static enum fit fit_address(const struct pfd_spirv *m, uint32_t k,
                            const struct gpuav_fault *f)
{
    struct pfd_spirv_access access;
    if (!pfd_spirv_access(m, k, &access) || access.is_image || access.has_set ||
        opcode(m, k) != f->opcode)
        return FIT_NO;
    return access.is_address && access.alignment &&
                   access.alignment == f->params[4]
               ? FIT_SURE
               : FIT_MAYBE;
}

/* For memory behind an address: images have none. */
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

/* For memory of a work group, which is in no descriptor set. */
static enum fit fit_shared(const struct pfd_spirv *m, uint32_t k)
{
    struct pfd_spirv_access access;
    return pfd_spirv_access(m, k, &access) && !access.is_image &&
                   !access.has_set
               ? FIT_MAYBE
               : FIT_NO;
}

/* For other checks of shaders: the operation must match. */
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
    if (f->error && (f->group == 1 || f->group == 8))
        return fit_error(m, k, f);
    if (f->error && f->group == 2)
        return fit_address(m, k, f);
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
        return FIT_NO; /* only instructions of extensions, or none */
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
    /* Addresses were checked in a module that was changed before; position 0 is
     * a check of the whole shader. */
    return !r->is_own &&
           (r->is_now || r->size > 13 ? r->position != 0
                                      : r->fault.kind != GPUAV_ADDRESS);
}

static bool stage_fits(const struct pfd_shader *s, const struct gpuav_record *r)
{
    enum pfd_stage stage = pfd_stage_of(r->stage);
    return stage == PFD_STAGE_UNKNOWN || !s->stages || s->stages >> stage & 1;
}

/* The call in an instrumented module that reports the error; it is at the place
 * of the original instruction. */
static enum fit find_report(const struct pfd_spirv *m,
                            const struct gpuav_record *r, uint32_t *ret)
{
    const struct gpuav_fault *f = &r->fault;
    bool names = f->error && (f->group == 1 || f->group == 8);
    for (size_t i = 0;; i++) {
        struct pfd_spirv_access access;
        uint32_t k = pfd_spirv_reported(m, r->position, i);
        *ret = k;
        if (k == PFD_SPIRV_NONE)
            return FIT_NO;
        if (!names || !pfd_spirv_checked(m, k, &access) ||
            ((!access.has_set || access.set == f->set) &&
             (!access.has_binding || access.binding == f->binding)))
            return FIT_MAYBE;
    }
}

/* The instruction of this module that fits, in any numbering of its age.
 * SPIRV-Tools counted copies of lines; the layer counts instructions since SDK
 * 1.3.283. */
static enum fit find_instruction(const struct pfd_spirv *m,
                                 const struct gpuav_record *r, uint32_t *ret)
{
    if (pfd_spirv_is_instrumented(m) && !r->is_now)
        return find_report(m, r, ret);
    uint32_t plain = r->position < pfd_spirv_n_instructions(m) ? r->position
                                                               : PFD_SPIRV_NONE;
    uint32_t counted = pfd_spirv_by_counted(m, r->position);
    uint32_t by_age[2] = { counted, plain };
    if (r->size == GPUAV_RECORD_MAX) {
        by_age[0] = plain;
        by_age[1] = counted;
    } else if (r->is_now) {
        by_age[0] = pfd_spirv_by_offset(m, r->position);
        by_age[1] = PFD_SPIRV_NONE;
    }
    enum fit best = FIT_NO;
    *ret = PFD_SPIRV_NONE;
    for (size_t i = 0; i < 2; i++) {
        enum fit fit =
            by_age[i] == PFD_SPIRV_NONE ? FIT_NO : fit_of(m, by_age[i], r);
        bool is_better = r->size > 13 ? fit > best : !best && fit;
        if (is_better) {
            best = fit;
            *ret = by_age[i];
        }
    }
    return best;
}

/* For modules without a given number: the only one with an instruction that
 * accesses the named resource. With less evidence, it would be a guess. */
static struct gpuav_place find_loose(
    const struct pfd_shader_table *shader_table, const struct gpuav_record *r)
{
    struct gpuav_place none = { .k = PFD_SPIRV_NONE };
    struct gpuav_place ret = none;
    for (size_t i = 0; i < shader_table->n; i++) {
        const struct pfd_shader *s = &shader_table->shaders[i];
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

/* Replaces an instrumented module by its original, if that is loaded. */
static void use_original(const struct pfd_shader_table *shader_table,
                         const struct gpuav_record *r,
                         struct gpuav_place *place)
{
    uint32_t k = PFD_SPIRV_NONE;
    const struct pfd_shader *original =
        place->shader->has_original
            ? pfd_shader_table_find(shader_table, place->shader->original)
            : NULL;
    if (!original || r->size <= 13 ||
        find_instruction(original->module, r, &k) == FIT_NO)
        return;
    place->shader = original;
    place->k = k;
}

struct gpuav_place gpuav_place_of(const struct pfd_shader_table *shader_table,
                                  const struct gpuav_record *r)
{
    struct gpuav_place ret = { .k = PFD_SPIRV_NONE };
    if (r->is_own)
        return ret;
    ret.shader = pfd_shader_table_find_numbered(shader_table, r->shader);
    if (!ret.shader)
        return has_instruction(r) ? find_loose(shader_table, r) : ret;
    ret.is_wrong = !stage_fits(ret.shader, r);
    if (has_instruction(r) && !ret.is_wrong) {
        enum fit fit = find_instruction(ret.shader->module, r, &ret.k);
        /* Addresses may have been checked in a module that was changed. */
        ret.is_wrong = fit == FIT_NO && r->fault.kind != GPUAV_ADDRESS;
        if (fit != FIT_NO)
            use_original(shader_table, r, &ret);
    }
    return ret;
}
