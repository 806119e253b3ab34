/* SPDX-License-Identifier: MIT */
/* Opens a module: copies its words, and builds every index. */
#include <stdlib.h>
#include <string.h>

#include "core/spirv/spirv_module.h"

enum {
    MAGIC = 0x07230203,
    MAGIC_SWAPPED = 0x03022307,
};

static bool is_module(const void *bytes, size_t n)
{
    uint32_t magic = 0;
    if (n < sizeof magic)
        return false;
    memcpy(&magic, bytes, sizeof magic);
    return magic == MAGIC || magic == MAGIC_SWAPPED;
}

/*
 * The module in a program binary of Mesa's rusticl: u32 of version 1, bytes of
 * the module, kind of binary; Mesa 25 has the letters "rusticl" and a NUL before
 * these, bytes of the device's name behind the version, and the name behind all.
 * Else bytes.
 */
static const uint8_t *unwrap(const uint8_t *bytes, size_t *n)
{
    static const char name[8] = "rusticl";
    uint32_t header[4] = { 0 };
    size_t from = *n >= sizeof name && !memcmp(bytes, name, sizeof name)
                      ? sizeof name
                      : 0;
    size_t size = from ? sizeof header : sizeof header - sizeof *header;
    if (*n - from < size)
        return bytes;
    memcpy(header, bytes + from, size);
    uint64_t at = (uint64_t)from + size + (from ? header[1] : 0);
    uint32_t n_module = header[from ? 2 : 1];
    if (header[0] != 1 || at > *n || n_module > *n - at ||
        !is_module(bytes + at, n_module))
        return bytes;
    *n = n_module;
    return bytes + at;
}

bool pfd_spirv_recognise(const void *bytes, size_t n)
{
    return is_module(unwrap(bytes, &n), n);
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
        if (n < 3 || spirv_has_no_result(w[0] & 0xffff))
            continue;
        uint32_t type = pfd_spirv_definition(m, w[1]);
        if (type != PFD_SPIRV_NONE && is_type(spirv_op(m, type)))
            m->ids[n_all++] = (struct spirv_id){ w[2], k };
    }
    m->n_ids = n_all;
    qsort(m->ids, m->n_ids, sizeof *m->ids, by_id);
    return true;
}

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
    if (!index_instructions(m, report) || !index_ids(m) ||
        !spirv_index_instrumented(m) || !spirv_index_calls(m) ||
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
    bytes = unwrap(bytes, &n);
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
    free(m->instrumented.operands);
    free(m->instrumented.reports);
    free(m->instrumented.writers);
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
