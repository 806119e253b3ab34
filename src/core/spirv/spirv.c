/* SPDX-License-Identifier: MIT */
/* Opening a module: words, instructions, ids, calls. */
#include "core/spirv/spirv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/spirv/spirv_module.h"

enum {
    MAGIC = 0x07230203,
    MAGIC_SWAPPED = 0x03022307,
};

static const char printf_set[] = "NonSemantic.DebugPrintf";
static const char debug_set[] = "NonSemantic.Shader.DebugInfo.";

void *spirv_alloc(struct pfd_spirv *m, size_t n, size_t size)
{
    m->n_memory += n * size;
    return calloc(n + 1, size);
}

bool pfd_spirv_recognise(const void *bytes, size_t n)
{
    uint32_t magic = 0;
    if (n < sizeof magic)
        return false;
    memcpy(&magic, bytes, sizeof magic);
    return magic == MAGIC || magic == MAGIC_SWAPPED;
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

static int by_id(const void *a, const void *b)
{
    const struct spirv_id *x = a;
    const struct spirv_id *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->k < y->k ? -1 : x->k > y->k;
}

static bool is_type(uint32_t op)
{
    return op >= PFD_SPV_TYPE_VOID && op < PFD_SPV_TYPE_FORWARD_POINTER;
}

/*
 * Instructions whose first operand can be a number that is also the id of a
 * type, or such an id, without the second one being a result. For all others
 * "the first operand is a type" tells that the second is a result.
 */
static bool has_no_result(uint32_t op)
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

/* First ids defined by the first operand, then values: they need the types. */
static bool index_ids(struct pfd_spirv *m)
{
    m->ids = spirv_alloc(m, m->n, sizeof *m->ids);
    if (!m->ids)
        return false;
    for (uint32_t k = 0; k < m->n; k++) {
        uint32_t n = 0;
        const uint32_t *w = spirv_at(m, k, &n);
        uint32_t op = w[0] & 0xffff;
        if (n >= 2 && (is_type(op) || op == PFD_SPV_STRING ||
                       op == PFD_SPV_EXT_INST_IMPORT))
            m->ids[m->n_ids++] = (struct spirv_id){ w[1], k };
    }
    qsort(m->ids, m->n_ids, sizeof *m->ids, by_id);
    size_t n_sorted = m->n_ids;
    size_t n_all = n_sorted;
    for (uint32_t k = 0; k < m->n; k++) {
        uint32_t n = 0;
        const uint32_t *w = spirv_at(m, k, &n);
        if (n < 3 || has_no_result(w[0] & 0xffff))
            continue;
        uint32_t type = pfd_spirv_definition(m, w[1]);
        if (type != PFD_SPIRV_NONE && is_type(spirv_op(m, type)))
            m->ids[n_all++] = (struct spirv_id){ w[2], k };
    }
    m->n_ids = n_all;
    qsort(m->ids, m->n_ids, sizeof *m->ids, by_id);
    return true;
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
    if (k == PFD_SPIRV_NONE || has_no_result(spirv_op(m, k)))
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

size_t pfd_spirv_n_words(const struct pfd_spirv *m)
{
    return m->n_words;
}

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

/* Line instructions share the number of the instruction behind them, which is
 * the last one with it. */
uint32_t pfd_spirv_by_counted(const struct pfd_spirv *m, uint32_t counted)
{
    if (m->is_instrumented)
        return spirv_reported(m, counted);
    uint32_t n = count_up_to(m->counted, m->n, counted);
    return n && m->counted[n - 1] == counted ? n - 1 : PFD_SPIRV_NONE;
}

/* Indexes every instruction up to the first damage. */
static bool index_instructions(struct pfd_spirv *m, struct pfd_report *report)
{
    size_t at = PFD_SPIRV_HEADER;
    size_t n = 0;
    for (; at < m->n_words; n++) {
        uint32_t size = m->words[at] >> 16;
        if (size == 0 || size > m->n_words - at) {
            pfd_report_add(report, PFD_FINDING_bad_spirv, at * 4,
                           "an instruction of %u words where %zu are left; "
                           "nothing behind it is read",
                           size, m->n_words - at);
            break;
        }
        at += size;
    }
    m->offset = spirv_alloc(m, n, sizeof *m->offset);
    if (!m->offset)
        return false;
    at = PFD_SPIRV_HEADER;
    for (m->n = 0; m->n < n; m->n++) {
        m->offset[m->n] = (uint32_t)at;
        at += m->words[at] >> 16;
    }
    return true;
}

/* ---- calls ---- */

static int by_format(const void *a, const void *b)
{
    const struct spirv_call *x = a;
    const struct spirv_call *y = b;
    if (x->format_id != y->format_id)
        return x->format_id < y->format_id ? -1 : 1;
    return x->k < y->k ? -1 : x->k > y->k;
}

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

static bool index_calls(struct pfd_spirv *m)
{
    if (!spirv_index_instrumented(m) || (!m->is_instrumented && !find_calls(m)))
        return false;
    size_t n = m->n_calls;
    m->ranked = spirv_alloc(m, n, sizeof *m->ranked);
    struct spirv_call *sorted = calloc(n + 1, sizeof *sorted);
    if (!m->ranked || !sorted) {
        free(sorted);
        return false;
    }
    /* Sorted as (format id, number of the call). */
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (struct spirv_call){
            .k = (uint32_t)i,
            .format_id = m->calls[i].format_id,
        };
    }
    qsort(sorted, n, sizeof *sorted, by_format);
    for (size_t i = 0; i < n; i++)
        m->ranked[i] = sorted[i].k;
    free(sorted);
    return true;
}

size_t pfd_spirv_call_count(const struct pfd_spirv *m)
{
    return m->n_calls;
}

size_t pfd_spirv_calls_of(const struct pfd_spirv *m, uint32_t format_id)
{
    size_t low = 0;
    size_t high = m->n_calls;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (m->calls[m->ranked[mid]].format_id < format_id) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < m->n_calls && m->calls[m->ranked[low]].format_id == format_id
               ? low
               : m->n_calls;
}

size_t pfd_spirv_call_ranked(const struct pfd_spirv *m, size_t rank)
{
    return rank < m->n_calls ? m->ranked[rank] : m->n_calls;
}

uint32_t pfd_spirv_call_instruction(const struct pfd_spirv *m, size_t i)
{
    return m->calls[i].k;
}

uint32_t pfd_spirv_call_format(const struct pfd_spirv *m, size_t i)
{
    return m->calls[i].format_id;
}

enum pfd_spirv_instrumenter pfd_spirv_instrumenter(const struct pfd_spirv *m)
{
    return m->maker;
}

bool pfd_spirv_is_instrumented(const struct pfd_spirv *m)
{
    return m->is_instrumented;
}

bool pfd_spirv_shader(const struct pfd_spirv *m, uint32_t *ret)
{
    *ret = m->shader;
    return m->shader != PFD_SPIRV_NONE;
}

/* The ids of a call's operands, [*n]. */
static const uint32_t *operands_of(const struct pfd_spirv *m, size_t i,
                                   uint32_t *n)
{
    const struct spirv_call *call = &m->calls[i];
    if (m->is_instrumented) {
        *n = call->n_operands;
        return m->operands + call->first;
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

/* ---- opening ---- */

static void copy_words(struct pfd_spirv *m, const void *bytes)
{
    memcpy(m->words, bytes, m->n_words * 4);
    if (m->words[0] != MAGIC) {
        for (size_t i = 0; i < m->n_words; i++)
            m->words[i] = __builtin_bswap32(m->words[i]);
    }
}

static enum pfd_status open_module(struct pfd_spirv *m, const void *bytes,
                                   size_t n, struct pfd_report *report,
                                   struct pfd_error *err)
{
    m->n_words = n / 4;
    m->words = spirv_alloc(m, m->n_words, 4);
    if (!m->words)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    copy_words(m, bytes);
    if (n % 4) {
        pfd_report_add(report, PFD_FINDING_bad_spirv, m->n_words * 4,
                       "%zu bytes at the end are no whole dword", n % 4);
    }
    if (m->n_words < PFD_SPIRV_HEADER) {
        pfd_report_add(report, PFD_FINDING_bad_spirv, 0,
                       "%zu dwords, a module's header has %d", m->n_words,
                       PFD_SPIRV_HEADER);
        m->n_words = 0;
    }
    if (!index_instructions(m, report) || !index_ids(m) || !index_calls(m) ||
        !spirv_index_decorations(m) || !spirv_index_lines(m, report) ||
        !spirv_index_aborts(m, report))
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    return PFD_OK;
}

enum pfd_status pfd_spirv_open(const void *bytes, size_t n, const char *source,
                               pfd_finding_fn fn, void *user,
                               struct pfd_spirv **ret, struct pfd_error *err)
{
    struct pfd_report report = { .fn = fn, .user = user, .source = source };
    if (!pfd_spirv_recognise(bytes, n))
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, 0, "not a SPIR-V module");
    if (n > PFD_SPIRV_MAX) {
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, 0,
                        "a SPIR-V module of %zu bytes is too long", n);
    }
    struct pfd_spirv *m = calloc(1, sizeof *m);
    if (!m)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    enum pfd_status status = open_module(m, bytes, n, &report, err);
    if (status != PFD_OK) {
        pfd_spirv_free(m);
        return status;
    }
    *ret = m;
    return PFD_OK;
}

void pfd_spirv_free(struct pfd_spirv *m)
{
    if (!m)
        return;
    spirv_free_lines(m);
    free(m->words);
    free(m->offset);
    free(m->counted);
    free(m->line);
    free(m->layer_line);
    free(m->ids);
    free(m->calls);
    free(m->ranked);
    free(m->operands);
    free(m->reports);
    free(m->writers);
    free(m->decorations);
    free(m->aborts);
    free(m->members);
    free(m->known);
    free(m);
}

size_t pfd_spirv_memory(const struct pfd_spirv *m)
{
    return sizeof *m + m->n_memory;
}
