/* SPDX-License-Identifier: MIT */
#include "base/pattern.h"

#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/library.h"

#define CALLS(X)            \
    X(code_free)            \
    X(compile)              \
    X(get_error_message)    \
    X(jit_compile)          \
    X(jit_stack_assign)     \
    X(jit_stack_create)     \
    X(jit_stack_free)       \
    X(match)                \
    X(match_context_create) \
    X(match_context_free)   \
    X(match_data_create)    \
    X(match_data_free)      \
    X(set_depth_limit)      \
    X(set_heap_limit)       \
    X(set_match_limit)
#define POINTER(name) __typeof__(pcre2_##name##_8) *(name);
#define NAME(name)    "pcre2_" #name "_8\0"

static struct {
    CALLS(POINTER)
} pcre2;

PFD_LIBRARY(pcre2, "libpcre2-8.so.0", CALLS(NAME), &pcre2,
            "regular expressions");

enum {
    /* What one match may cost: steps (some milliseconds), nesting, and KiB. */
    MATCH_LIMIT = 200000,
    DEPTH_LIMIT = 5000,
    HEAP_LIMIT = 4096,
    JIT_STACK_MIN = 32 << 10, /* bytes */
    JIT_STACK_MAX = 1 << 20,
};

struct pfd_pattern {
    pcre2_code *code;
};

struct pfd_matcher {
    pcre2_match_context *context;
    pcre2_match_data *data;
    pcre2_jit_stack *stack;
};

static enum pfd_status no_memory(struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

static enum pfd_status explain(const char *text, int code, size_t at,
                               struct pfd_error *err)
{
    PCRE2_UCHAR why[160];
    struct pfd_quoted quoted;
    if (pcre2.get_error_message(code, why, sizeof why) < 0)
        why[0] = '\0';
    pfd_quote(&quoted, text, strlen(text));
    return pfd_fail(err, PFD_ERR_USAGE, at,
                    "regular expression '%s': %s at byte %zu", quoted.text,
                    (const char *)why, at);
}

enum pfd_status pfd_pattern_new(const char *text, unsigned flags,
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
    enum pfd_status status = pfd_library_load(&pfd_library_pcre2, err);
    if (status != PFD_OK)
        return status;
    struct pfd_pattern *p = calloc(1, sizeof *p);
    if (!p)
        return no_memory(err);
    if (flags & PFD_PATTERN_IGNORE_CASE)
        options |= PCRE2_CASELESS;
    p->code = pcre2.compile((PCRE2_SPTR)text, n, options, &code, &at, NULL);
    if (!p->code) {
        free(p);
        return code == PCRE2_ERROR_NOMEMORY ? no_memory(err)
                                            : explain(text, code, at, err);
    }
    /* Without it, matching is slower and the same. */
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

struct pfd_matcher *pfd_matcher_new(void)
{
    struct pfd_matcher *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->context = pcre2.match_context_create(NULL);
    m->data = pcre2.match_data_create(1, NULL);
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
    free(matcher);
}

enum pfd_match pfd_pattern_match(const struct pfd_pattern *pattern,
                                 struct pfd_matcher *matcher, const char *text,
                                 size_t n)
{
    int rc = pcre2.match(pattern->code, (PCRE2_SPTR)text, n, 0, 0,
                         matcher->data, matcher->context);
    if (rc == PCRE2_ERROR_NOMATCH)
        return PFD_MATCH_NO;
    return rc >= 0 ? PFD_MATCH_YES : PFD_MATCH_GAVE_UP;
}
