/* SPDX-License-Identifier: MIT */
/* The debugPrintf calls of a module. */
#include <stdio.h>
#include <string.h>

#include "core/spirv/spirv_module.h"

static bool find_calls(struct pfd_spirv *m)
{
    size_t n = 0;
    for (uint32_t k = 0; k < m->n; k++)
        n += spirv_is_print(m, k);
    m->calls = spirv_alloc(m, n, sizeof *m->calls);
    for (uint32_t k = 0; m->calls && k < m->n; k++) {
        uint32_t n_words = 0;
        if (spirv_is_print(m, k)) {
            m->calls[m->n_calls++] = (struct spirv_call){
                .k = k,
                .format_id = spirv_at(m, k, &n_words)[5],
            };
        }
    }
    return m->calls != NULL;
}

bool spirv_index_calls(struct pfd_spirv *m)
{
    return m->is_instrumented || find_calls(m);
}

size_t pfd_spirv_call_count(const struct pfd_spirv *m)
{
    return m->n_calls;
}

uint32_t pfd_spirv_call_instruction(const struct pfd_spirv *m, size_t i)
{
    return m->calls[i].k;
}

uint32_t pfd_spirv_call_format(const struct pfd_spirv *m, size_t i)
{
    return m->calls[i].format_id;
}

/* The ids of a call's operands, [*n]. */
static const uint32_t *operands_of(const struct pfd_spirv *m, size_t i,
                                   uint32_t *n)
{
    const struct spirv_call *call = &m->calls[i];
    if (m->is_instrumented) {
        *n = call->n_operands;
        return m->instrumented.operands + call->first;
    }
    const uint32_t *w = spirv_at(m, call->k, n);
    *n -= 6;
    return w + 6;
}

uint32_t pfd_spirv_call_operand(const struct pfd_spirv *m, size_t i, uint32_t k)
{
    uint32_t n = 0;
    return operands_of(m, i, &n)[k];
}

enum pfd_status pfd_spirv_call_get(const struct pfd_spirv *m, size_t i,
                                   struct pfd_spirv_call *ret)
{
    uint32_t n = 0;
    if (i >= m->n_calls)
        return PFD_END;
    uint32_t k = m->calls[i].k;
    operands_of(m, i, &n);
    *ret = (struct pfd_spirv_call){
        .format_id = m->calls[i].format_id,
        .offset = m->offset[k],
        .ordinal = k,
        .n_operands = n,
    };
    ret->text = pfd_spirv_string(m, ret->format_id, &ret->n_text);
    pfd_spirv_place_of(m, k, &ret->place);
    return PFD_OK;
}

void pfd_spirv_operand_name(const struct pfd_spirv *m, size_t i, uint32_t k,
                            char ret[16])
{
    static const char *const names[] = { "?", "bool", "i", "u", "f", "ptr" };
    struct pfd_spirv_call call;
    char vector[5] = "";
    memcpy(ret, "?", 2);
    if (pfd_spirv_call_get(m, i, &call) != PFD_OK || k >= call.n_operands)
        return;
    struct pfd_spirv_type t =
        pfd_spirv_value_type(m, pfd_spirv_call_operand(m, i, k));
    if (t.is_vector)
        snprintf(vector, sizeof vector, "x%u", t.n & 0xff);
    if (t.kind == PFD_SPIRV_INT || t.kind == PFD_SPIRV_UINT ||
        t.kind == PFD_SPIRV_FLOAT) {
        snprintf(ret, 16, "%s%u%s", names[t.kind], t.width & 0xffu, vector);
    } else {
        snprintf(ret, 16, "%s%s", names[t.kind], vector);
    }
}
