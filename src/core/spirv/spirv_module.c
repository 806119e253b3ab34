/* SPDX-License-Identifier: MIT */
/* Reads of an open module: its instructions, ids, types and positions. */
#include "core/spirv/spirv_module.h"

#include <stdlib.h>
#include <string.h>

static const char printf_set[] = "NonSemantic.DebugPrintf";
static const char debug_set[] = "NonSemantic.Shader.DebugInfo.";

void *spirv_alloc(struct pfd_spirv *m, size_t n, size_t size)
{
    m->n_memory += n * size;
    return calloc(n + 1, size);
}

const char *spirv_literal(const uint32_t *words, uint32_t n, size_t *ret)
{
    const char *text = (const char *)words;
    *ret = strnlen(text, (size_t)n * 4);
    return text;
}

bool spirv_ends_block(uint32_t op)
{
    return (op >= 249 && op <= 255) || op == 4416 || op == 4448 || op == 4449 ||
           op == PFD_SPV_ABORT;
}

/* ---- ids ---- */

bool spirv_has_no_result(uint32_t op)
{
    static const uint16_t ops[] = { 2,  3,   4,   5,   6,   7,    8,    10,
                                    11, 14,  15,  16,  17,  71,   72,   74,
                                    75, 317, 330, 331, 332, 5121, 5632, 5633 };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (op == ops[i])
            return true;
    }
    return op >= PFD_SPV_TYPE_VOID && op <= PFD_SPV_TYPE_FORWARD_POINTER;
}

uint32_t pfd_spirv_definition(const struct pfd_spirv *m, uint32_t id)
{
    size_t low = 0;
    size_t high = m->n_ids;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (m->ids[mid].id < id) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < m->n_ids && m->ids[low].id == id ? m->ids[low].k
                                                  : PFD_SPIRV_NONE;
}

const char *pfd_spirv_string(const struct pfd_spirv *m, uint32_t id, size_t *n)
{
    uint32_t k = pfd_spirv_definition(m, id);
    uint32_t n_words = 0;
    *n = 0;
    if (k == PFD_SPIRV_NONE || spirv_op(m, k) != PFD_SPV_STRING)
        return NULL;
    const uint32_t *w = spirv_at(m, k, &n_words);
    return spirv_literal(w + 2, n_words - 2, n);
}

/* The name of an instruction set, by its id. */
static const char *set_name(const struct pfd_spirv *m, uint32_t id, size_t *n)
{
    uint32_t k = pfd_spirv_definition(m, id);
    uint32_t n_words = 0;
    if (k == PFD_SPIRV_NONE || spirv_op(m, k) != PFD_SPV_EXT_INST_IMPORT)
        return NULL;
    const uint32_t *w = spirv_at(m, k, &n_words);
    return spirv_literal(w + 2, n_words - 2, n);
}

bool spirv_is_print(const struct pfd_spirv *m, uint32_t k)
{
    uint32_t n = 0;
    size_t n_name = 0;
    const uint32_t *w = spirv_at(m, k, &n);
    if ((w[0] & 0xffff) != PFD_SPV_EXT_INST || n < 6 || w[4] != PFD_PRINTF_CALL)
        return false;
    const char *name = set_name(m, w[3], &n_name);
    return name && n_name == sizeof printf_set - 1 &&
           !memcmp(name, printf_set, n_name);
}

uint32_t spirv_debug_number(const struct pfd_spirv *m, uint32_t k)
{
    uint32_t n = 0;
    size_t n_name = 0;
    const uint32_t *w = spirv_at(m, k, &n);
    if ((w[0] & 0xffff) != PFD_SPV_EXT_INST || n < 5)
        return 0;
    const char *name = set_name(m, w[3], &n_name);
    return name && n_name >= sizeof debug_set - 1 &&
                   !memcmp(name, debug_set, sizeof debug_set - 1)
               ? w[4]
               : 0;
}

/* ---- types ---- */

/* The operand of OpTypeFloat that SPIR-V 1.6 revision 4 has added (also
 * SPV_KHR_bfloat16 and SPV_EXT_float8). */
static uint8_t encoding_of(const uint32_t *w, uint32_t n)
{
    uint32_t width = n > 2 ? w[2] : 0;
    bool is_usual = width == 16 || width == 32 || width == 64;
    if (n <= 3)
        return is_usual ? PFD_SPIRV_IEEE : PFD_SPIRV_ENCODED;
    if (width == 16 && w[3] == 0)
        return PFD_SPIRV_BFLOAT;
    if (width == 8 && w[3] == 4214)
        return PFD_SPIRV_E4M3;
    return width == 8 && w[3] == 4215 ? PFD_SPIRV_E5M2 : PFD_SPIRV_ENCODED;
}

struct pfd_spirv_type pfd_spirv_type_of(const struct pfd_spirv *m, uint32_t id)
{
    struct pfd_spirv_type ret = { .kind = PFD_SPIRV_OTHER, .n = 1 };
    /* A vector's component cannot be a vector. */
    for (int depth = 0; depth < 2; depth++) {
        uint32_t k = pfd_spirv_definition(m, id);
        uint32_t n = 0;
        if (k == PFD_SPIRV_NONE)
            return ret;
        const uint32_t *w = spirv_at(m, k, &n);
        switch (w[0] & 0xffff) {
        case PFD_SPV_TYPE_BOOL:
            ret.kind = PFD_SPIRV_BOOL;
            return ret;
        case PFD_SPV_TYPE_INT:
            ret.kind = n > 3 && w[3] ? PFD_SPIRV_INT : PFD_SPIRV_UINT;
            ret.width = n > 2 && w[2] <= 64 ? (uint16_t)w[2] : 0;
            return ret;
        case PFD_SPV_TYPE_FLOAT:
            ret.kind = PFD_SPIRV_FLOAT;
            ret.width = n > 2 && w[2] <= 64 ? (uint16_t)w[2] : 0;
            ret.encoding = encoding_of(w, n);
            return ret;
        case PFD_SPV_TYPE_POINTER:
            ret.kind = PFD_SPIRV_POINTER;
            ret.width = 64;
            return ret;
        case PFD_SPV_TYPE_VECTOR:
            if (n < 4 || ret.is_vector || !w[3])
                return ret;
            ret.is_vector = true;
            ret.n = w[3];
            id = w[2];
            break;
        default:
            return ret;
        }
    }
    return ret;
}

struct pfd_spirv_type pfd_spirv_value_type(const struct pfd_spirv *m,
                                           uint32_t id)
{
    uint32_t k = pfd_spirv_definition(m, id);
    uint32_t n = 0;
    if (k == PFD_SPIRV_NONE || spirv_has_no_result(spirv_op(m, k)))
        return (struct pfd_spirv_type){ .n = 1 };
    return pfd_spirv_type_of(m, spirv_at(m, k, &n)[1]);
}

bool pfd_spirv_constant(const struct pfd_spirv *m, uint32_t id, uint32_t *ret)
{
    uint32_t k = pfd_spirv_definition(m, id);
    uint32_t n = 0;
    if (k == PFD_SPIRV_NONE || spirv_op(m, k) != PFD_SPV_CONSTANT)
        return false;
    const uint32_t *w = spirv_at(m, k, &n);
    if (n < 4)
        return false;
    *ret = w[3];
    return true;
}

/* ---- instructions ---- */

int pfd_spirv_order(const struct pfd_spirv *a, const struct pfd_spirv *b)
{
    if (a->n_words != b->n_words)
        return a->n_words < b->n_words ? -1 : 1;
    return memcmp(a->words, b->words, a->n_words * sizeof *a->words);
}

uint32_t pfd_spirv_n_instructions(const struct pfd_spirv *m)
{
    return m->n;
}

const uint32_t *pfd_spirv_words(const struct pfd_spirv *m, uint32_t k,
                                uint32_t *n)
{
    return spirv_at(m, k, n);
}

uint32_t pfd_spirv_offset(const struct pfd_spirv *m, uint32_t k)
{
    return m->offset[k];
}

uint32_t pfd_spirv_counted(const struct pfd_spirv *m, uint32_t k)
{
    return m->counted[k];
}

/* The number of entries of a rising list that are at most v. */
static uint32_t count_up_to(const uint32_t *list, uint32_t n, uint32_t v)
{
    uint32_t low = 0;
    while (low < n) {
        uint32_t mid = low + (n - low) / 2;
        if (list[mid] <= v) {
            low = mid + 1;
        } else {
            n = mid;
        }
    }
    return low;
}

uint32_t pfd_spirv_by_offset(const struct pfd_spirv *m, uint32_t offset)
{
    uint32_t n = count_up_to(m->offset, m->n, offset);
    return n && m->offset[n - 1] == offset ? n - 1 : PFD_SPIRV_NONE;
}

/* The first report of this position, or of the next one that has reports. */
static size_t first_report(const struct pfd_spirv *m, uint32_t position)
{
    size_t low = 0;
    size_t high = m->instrumented.n_reports;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (m->instrumented.reports[mid].position < position) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

uint32_t pfd_spirv_reported(const struct pfd_spirv *m, uint32_t position,
                            size_t i)
{
    size_t at = first_report(m, position);
    return i < m->instrumented.n_reports - at &&
                   m->instrumented.reports[at + i].position == position
               ? m->instrumented.reports[at + i].k
               : PFD_SPIRV_NONE;
}

/* The call that writes records with this position, of an instrumented module;
 * or PFD_SPIRV_NONE. */
static uint32_t spirv_reported(const struct pfd_spirv *m, uint32_t position)
{
    return pfd_spirv_reported(m, position, 0);
}

/* Line instructions share the number of the instruction behind them, which is
 * the last one with it. */
uint32_t pfd_spirv_by_counted(const struct pfd_spirv *m, uint32_t counted)
{
    if (m->is_instrumented)
        return spirv_reported(m, counted);
    uint32_t n = count_up_to(m->counted, m->n, counted);
    return n && m->counted[n - 1] == counted ? n - 1 : PFD_SPIRV_NONE;
}

enum pfd_spirv_instrumenter pfd_spirv_instrumenter(const struct pfd_spirv *m)
{
    return m->instrumented.maker;
}

bool pfd_spirv_is_instrumented(const struct pfd_spirv *m)
{
    return m->is_instrumented;
}

bool pfd_spirv_shader(const struct pfd_spirv *m, uint32_t *ret)
{
    *ret = m->instrumented.shader;
    return m->instrumented.shader != PFD_SPIRV_NONE;
}

bool pfd_spirv_stage(const struct pfd_spirv *m, uint32_t *ret)
{
    bool found = false;
    for (uint32_t k = 0; k < m->n; k++) {
        uint32_t n = 0;
        const uint32_t *w = spirv_at(m, k, &n);
        uint32_t op = w[0] & 0xffff;
        if (op == PFD_SPV_FUNCTION)
            break;
        if (op != PFD_SPV_ENTRY_POINT || n < 2)
            continue;
        if (found && *ret != w[1])
            return false;
        *ret = w[1];
        found = true;
    }
    return found;
}
