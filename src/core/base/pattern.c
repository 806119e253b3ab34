/* SPDX-License-Identifier: MIT */
#include "core/base/pattern.h"

#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "core/base/dynamic_library.h"

#define CALLS(X)              \
    X(code_free)              \
    X(compile)                \
    X(compile_context_create) \
    X(compile_context_free)   \
    X(general_context_create) \
    X(general_context_free)   \
    X(get_error_message)      \
    X(get_ovector_pointer)    \
    X(jit_compile)            \
    X(jit_stack_assign)       \
    X(jit_stack_create)       \
    X(jit_stack_free)         \
    X(match)                  \
    X(match_context_create)   \
    X(match_context_free)     \
    X(match_data_create)      \
    X(match_data_free)        \
    X(set_depth_limit)        \
    X(set_heap_limit)         \
    X(set_match_limit)
#define POINTER(name) __typeof__(pcre2_##name##_8) *(name);
#define NAME(name)    "pcre2_" #name "_8\0"

static struct {
    CALLS(POINTER)
} pcre2;

PFD_DYNAMIC_LIBRARY(pcre2, "libpcre2-8.so.0", CALLS(NAME), &pcre2,
                    "regular expressions");

enum {
    /* Limits of one match: steps (some milliseconds), nesting, and KiB. */
    MATCH_LIMIT = 200000,
    DEPTH_LIMIT = 5000,
    HEAP_LIMIT = 4096,
    JIT_STACK_MIN = 32 << 10, /* bytes */
    JIT_STACK_MAX = 1 << 20,
    KEPT_MAX = 64 << 10, /* bytes a match may leave cached */
    PREFIX = 16,         /* bytes before a block, with its size */
};

struct pfd_pattern {
    pcre2_code *code;
};

struct pfd_matcher {
    struct pfd_pattern_memory *memory; /* borrowed */
    pcre2_general_context *general;
    pcre2_match_context *context;
    pcre2_match_data *data;
    pcre2_jit_stack *stack;
};

static enum pfd_status no_memory(struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

/* ---- counted memory ---- */

static void *take(size_t n, void *data)
{
    struct pfd_pattern_memory *m = data;
    if (n > SIZE_MAX / 2 || (m->n_max && m->n + n + PREFIX > m->n_max))
        return NULL;
    char *block = malloc(n + PREFIX);
    if (!block)
        return NULL;
    n += PREFIX;
    memcpy(block, &n, sizeof n);
    m->n += n;
    return block + PREFIX;
}

static void give_back(void *at, void *data)
{
    struct pfd_pattern_memory *m = data;
    size_t n = 0;
    if (!at)
        return;
    char *block = (char *)at - PREFIX;
    memcpy(&n, block, sizeof n);
    m->n -= n;
    free(block);
}

static enum pfd_status explain(const char *text, int code, size_t at,
                               struct pfd_error *err)
{
    PCRE2_UCHAR why[160];
    struct pfd_quoted quoted;
    if (code == PCRE2_ERROR_HEAP_FAILED) {
        pfd_quote(&quoted, text, strlen(text));
        return pfd_fail(err, PFD_ERR_USAGE, 0,
                        "regular expression '%s' takes more memory than it may",
                        quoted.text);
    }
    if (pcre2.get_error_message(code, why, sizeof why) < 0)
        why[0] = '\0';
    pfd_quote(&quoted, text, strlen(text));
    return pfd_fail(err, PFD_ERR_USAGE, at,
                    "regular expression '%s': %s at byte %zu", quoted.text,
                    (const char *)why, at);
}

/* NULL: *code is the error. */
static pcre2_code *compile(const char *text, size_t n, uint32_t options,
                           struct pfd_pattern_memory *memory, int *code,
                           size_t *at)
{
    pcre2_general_context *general =
        pcre2.general_context_create(take, give_back, memory);
    pcre2_compile_context *context =
        general ? pcre2.compile_context_create(general) : NULL;
    pcre2_code *ret = NULL;
    *code = PCRE2_ERROR_HEAP_FAILED;
    if (context)
        ret = pcre2.compile((PCRE2_SPTR)text, n, options, code, at, context);
    pcre2.compile_context_free(context);
    pcre2.general_context_free(general);
    return ret;
}

enum pfd_status pfd_pattern_new(const char *text, unsigned flags,
                                struct pfd_pattern_memory *memory,
                                struct pfd_pattern **ret, struct pfd_error *err)
{
    uint32_t options =
        PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
    int code = 0;
    size_t at = 0;
    size_t n = strlen(text);
    if (n > PFD_PATTERN_MAX) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_PATTERN_MAX,
                        "a regular expression of more than %d bytes",
                        PFD_PATTERN_MAX);
    }
    enum pfd_status status = pfd_dynamic_library_load(&pfd_library_pcre2, err);
    if (status != PFD_OK)
        return status;
    struct pfd_pattern *p = calloc(1, sizeof *p);
    if (!p)
        return no_memory(err);
    if (flags & PFD_PATTERN_IGNORE_CASE)
        options |= PCRE2_CASELESS;
    p->code = compile(text, n, options, memory, &code, &at);
    if (!p->code) {
        bool is_out = !memory->n_max && code == PCRE2_ERROR_HEAP_FAILED;
        free(p);
        return is_out ? no_memory(err) : explain(text, code, at, err);
    }
    /* Without JIT, matching is slower, with the same result. */
    if (flags & PFD_PATTERN_JIT)
        pcre2.jit_compile(p->code, PCRE2_JIT_COMPLETE);
    *ret = p;
    return PFD_OK;
}

void pfd_pattern_free(struct pfd_pattern *pattern)
{
    if (!pattern)
        return;
    pcre2.code_free(pattern->code);
    free(pattern);
}

struct pfd_matcher *pfd_matcher_new(struct pfd_pattern_memory *memory)
{
    struct pfd_matcher *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->memory = memory;
    m->general = pcre2.general_context_create(take, give_back, memory);
    m->context = m->general ? pcre2.match_context_create(m->general) : NULL;
    m->data = m->general ? pcre2.match_data_create(1, m->general) : NULL;
    m->stack = pcre2.jit_stack_create(JIT_STACK_MIN, JIT_STACK_MAX, NULL);
    if (!m->context || !m->data) {
        pfd_matcher_free(m);
        return NULL;
    }
    pcre2.set_match_limit(m->context, MATCH_LIMIT);
    pcre2.set_depth_limit(m->context, DEPTH_LIMIT);
    pcre2.set_heap_limit(m->context, HEAP_LIMIT);
    if (m->stack)
        pcre2.jit_stack_assign(m->context, NULL, m->stack);
    return m;
}

void pfd_matcher_free(struct pfd_matcher *matcher)
{
    if (!matcher)
        return;
    pcre2.jit_stack_free(matcher->stack);
    pcre2.match_data_free(matcher->data);
    pcre2.match_context_free(matcher->context);
    pcre2.general_context_free(matcher->general);
    free(matcher);
}

void pfd_matcher_trim(struct pfd_matcher *matcher)
{
    pcre2_match_data *data = pcre2.match_data_create(1, matcher->general);
    if (!data)
        return;
    pcre2.match_data_free(matcher->data);
    matcher->data = data;
}

/* Frees the memory of a deep match, MiB, which PCRE2 would keep for as long as
 * the matcher lives. */
static void shrink(struct pfd_matcher *m)
{
    if (m->memory->n > KEPT_MAX)
        pfd_matcher_trim(m);
}

static enum pfd_match outcome(int rc)
{
    if (rc == PCRE2_ERROR_NOMATCH)
        return PFD_MATCH_NO;
    return rc >= 0 ? PFD_MATCH_YES : PFD_MATCH_GAVE_UP;
}

enum pfd_match pfd_pattern_match(const struct pfd_pattern *pattern,
                                 struct pfd_matcher *matcher, const char *text,
                                 size_t n)
{
    int rc = pcre2.match(pattern->code, (PCRE2_SPTR)text, n, 0, 0,
                         matcher->data, matcher->context);
    shrink(matcher);
    return outcome(rc);
}

enum pfd_match pfd_pattern_find(const struct pfd_pattern *pattern,
                                struct pfd_matcher *matcher, const char *text,
                                size_t n, size_t *from, size_t *to)
{
    int rc = pcre2.match(pattern->code, (PCRE2_SPTR)text, n, *from,
                         PCRE2_NOTEMPTY, matcher->data, matcher->context);
    const PCRE2_SIZE *place = pcre2.get_ovector_pointer(matcher->data);
    size_t start = rc >= 0 ? place[0] : 0;
    size_t end = rc >= 0 ? place[1] : 0;
    shrink(matcher);
    /* With \K a match may end before it begins, or begin before it was looked
     * for. */
    if (rc >= 0 && (start >= end || start < *from))
        return PFD_MATCH_NO;
    *from = start;
    *to = end;
    return outcome(rc);
}
