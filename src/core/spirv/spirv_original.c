/* SPDX-License-Identifier: MIT */
/*
 * Finds the original of an instrumented module. A call that was replaced has
 * lost its line, and also its values unless instructions were added for them:
 * the original module still has them.
 *
 * Instrumentation keeps ids, and the order of the instructions that it keeps.
 * So the original has a call of the same string, or a checked instruction, at
 * each position of the instrumented module, and all of its lines in the same
 * order. For positions SPIRV-Tools counts copies of lines, the layer counts
 * instructions, and since SDK 1.4.328 dwords.
 */
#include <string.h>

#include "core/spirv/spirv_module.h"

enum {
    LINE_WORDS = 4,    /* of a line: file, line, end, column; ids or not */
    EXTENSIONS = 4096, /* the first opcode of extensions */
};

/* The line instruction at k; false: it is none, or is cut. */
static bool line_at(const struct pfd_spirv *m, uint32_t k,
                    uint32_t ret[LINE_WORDS])
{
    uint32_t n = 0;
    const uint32_t *w = spirv_at(m, k, &n);
    uint32_t op = w[0] & 0xffff;
    bool is_debug =
        op == PFD_SPV_EXT_INST && spirv_debug_number(m, k) == PFD_DEBUG_LINE;
    memset(ret, 0, LINE_WORDS * sizeof *ret);
    if (op == PFD_SPV_LINE && n >= 4) {
        memcpy(ret, w + 1, 3 * sizeof *ret);
        return true;
    }
    if (!is_debug || n < 9)
        return false;
    memcpy(ret, w + 5, LINE_WORDS * sizeof *ret);
    return true;
}

/* The next line from *k on that differs from the one before; *k: behind it. */
static bool next_line(const struct pfd_spirv *m, uint32_t *k,
                      uint32_t line[LINE_WORDS])
{
    uint32_t next[LINE_WORDS];
    while (*k < m->n) {
        if (line_at(m, (*k)++, next) && memcmp(next, line, sizeof next) != 0) {
            memcpy(line, next, sizeof next);
            return true;
        }
    }
    return false;
}

/* True: the module has lines, all of them in the other module, in this
 * order. */
static bool has_lines_of(const struct pfd_spirv *m,
                         const struct pfd_spirv *other)
{
    uint32_t line[LINE_WORDS] = { 0 };
    uint32_t theirs[LINE_WORDS] = { 0 };
    uint32_t k = 0;
    uint32_t at = 0;
    bool some = false;
    while (next_line(m, &k, line)) {
        some = true;
        while (memcmp(line, theirs, sizeof line) != 0) {
            if (!next_line(other, &at, theirs))
                return false;
        }
    }
    return some;
}

/* The call of this string at instruction k of the original, or n_calls. */
static size_t call_at(const struct pfd_spirv *original, uint32_t k,
                      uint32_t format_id)
{
    size_t low = 0;
    size_t high = original->n_calls;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (original->calls[mid].k < k) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < original->n_calls && original->calls[low].k == k &&
                   original->calls[low].format_id == format_id
               ? low
               : original->n_calls;
}

size_t pfd_spirv_original_call(const struct pfd_spirv *m, size_t i,
                               const struct pfd_spirv *original)
{
    const struct spirv_call *call = &m->calls[i];
    if (m->instrumented.maker == PFD_SPIRV_BY_TOOLS) {
        return call_at(original, pfd_spirv_by_counted(original, call->position),
                       call->format_id);
    }
    size_t ret = call_at(original, call->position, call->format_id);
    return ret < original->n_calls
               ? ret
               : call_at(original,
                         pfd_spirv_by_offset(original, call->position),
                         call->format_id);
}

/* Can instruction k be checked? Instructions of extensions can. */
static bool is_checked(const struct pfd_spirv *m, uint32_t k)
{
    struct pfd_spirv_access access;
    return k < m->n &&
           (spirv_op(m, k) >= EXTENSIONS || pfd_spirv_access(m, k, &access));
}

/* Is there a checked instruction at each position that the layer reports? 0 is
 * the whole shader. */
static bool has_checks_of(const struct pfd_spirv *m,
                          const struct pfd_spirv *original)
{
    for (size_t i = 0; i < m->instrumented.n_reports; i++) {
        uint32_t position = m->instrumented.reports[i].position;
        if (position && !is_checked(original, position) &&
            !is_checked(original, pfd_spirv_by_offset(original, position)))
            return false;
    }
    return m->instrumented.n_reports > 0;
}

static bool same_text(const struct pfd_spirv *a, const struct pfd_spirv *b,
                      uint32_t id)
{
    size_t n = 0;
    size_t n_other = 0;
    const char *text = pfd_spirv_string(a, id, &n);
    const char *other = pfd_spirv_string(b, id, &n_other);
    return text && other && n == n_other && !memcmp(text, other, n);
}

bool pfd_spirv_is_original(const struct pfd_spirv *original,
                           const struct pfd_spirv *m)
{
    if (original->is_instrumented || !m->is_instrumented)
        return false;
    if (!m->n_calls && (m->instrumented.maker == PFD_SPIRV_BY_TOOLS ||
                        !has_checks_of(m, original)))
        return false;
    for (size_t i = 0; i < m->n_calls; i++) {
        if (pfd_spirv_original_call(m, i, original) == original->n_calls ||
            !same_text(m, original, m->calls[i].format_id))
            return false;
    }
    return has_lines_of(m, original);
}
