/* SPDX-License-Identifier: MIT */
#include "module_scan.h"

#include <string.h>

enum {
    MAGIC = 0x07230203,
    HEADER = 5,
    OP_SOURCE = 3,
    OP_NAME = 5,
    OP_MEMBER_NAME = 6,
    OP_EXT_INST_IMPORT = 11,
    OP_ENTRY_POINT = 15,
    OP_EXECUTION_MODE = 16,
    OP_FUNCTION = 54,
    OP_STORE = 62,
    OP_ACCESS_CHAIN = 65,
    OP_DECORATE = 71,
    OP_ATOMIC_I_ADD = 234,
    DECORATION_BINDING = 33,
    DECORATION_SET = 34,
    FUNCTIONS_MAX = 256, /* functions that validation added */
    CHAINS = 16,         /* limit of remembered access chains */
    UNKNOWN = UINT32_MAX,
};

/* A function that validation added. */
struct function {
    uint32_t id;
    enum contents contents; /* of the records that it writes */
};

struct chain {
    uint32_t result;
    uint32_t base;
};

struct walk {
    struct scan *scan;
    struct function functions[FUNCTIONS_MAX];
    size_t n_functions;
    const struct function *now; /* NULL: one of the program's own, or none */
    struct chain chains[CHAINS];
    size_t n_chains; /* so far */
};

/* ---- preamble of the module ---- */

/* Is a literal of [n] words this text, or does it begin with it? */
static bool begins(const uint32_t *words, size_t n, const char *text)
{
    return strlen(text) < n * 4 &&
           !strncmp((const char *)words, text, strlen(text));
}

static void take_name(struct walk *walk, const uint32_t *w, size_t n)
{
    bool prints = begins(w + 2, n - 2, "inst_printf") ||
                  begins(w + 2, n - 2, "inst_debug_printf");
    if (!begins(w + 2, n - 2, "inst_"))
        return;
    walk->scan->is_changed = true;
    walk->scan->is_checked |= !prints;
    if (walk->n_functions < FUNCTIONS_MAX) {
        walk->functions[walk->n_functions++] =
            (struct function){ w[1],
                               prints ? CONTENTS_DEBUGPRINTF : CONTENTS_GPUAV };
    }
}

/* FNV-1a of an instruction's first n words. */
static uint64_t hash(const uint32_t *w, size_t n)
{
    uint64_t ret = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        ret = (ret ^ w[i]) * 0x100000001b3u;
    return ret;
}

/* A hash that a module and its instrumented copy share. Instrumentation keeps
 * ids and adds names, and variables behind an entry point's name. */
static uint64_t likeness(const uint32_t *w, size_t n)
{
    switch (w[0] & 0xffff) {
    case OP_NAME:
        return n > 2 && begins(w + 2, n - 2, "inst_") ? 0 : hash(w, n);
    case OP_ENTRY_POINT:
        return n > 3 ? hash(w + 1, 3) : 0;
    case OP_SOURCE:
    case OP_MEMBER_NAME:
    case OP_EXECUTION_MODE:
        return hash(w, n);
    default:
        return 0;
    }
}

static void take_preamble(struct walk *walk, const uint32_t *w, size_t n)
{
    uint32_t op = w[0] & 0xffff;
    walk->scan->likeness += likeness(w, n);
    if (op == OP_NAME && n > 2)
        take_name(walk, w, n);
    if (op == OP_EXT_INST_IMPORT && n > 2)
        walk->scan->prints |= begins(w + 2, n - 2, "NonSemantic.DebugPrintf");
}

/* ---- functions ---- */

static const struct function *function_of(const struct walk *walk, uint32_t id)
{
    for (size_t i = 0; i < walk->n_functions; i++) {
        if (walk->functions[i].id == id)
            return &walk->functions[i];
    }
    return NULL;
}

/* The variable that a pointer's id is based on; 0: unknown. */
static uint32_t base_of(const struct walk *walk, uint32_t id)
{
    size_t n = walk->n_chains < CHAINS ? walk->n_chains : CHAINS;
    for (size_t i = 0; i < n; i++) {
        if (walk->chains[i].result == id)
            return walk->chains[i].base;
    }
    return 0;
}

/* The record of an output, made on demand; NULL: the table is full. */
static struct scan_output *output_of(struct walk *walk, uint32_t id)
{
    struct scan *s = walk->scan;
    for (size_t i = 0; i < s->n; i++) {
        if (s->outputs[i].id == id)
            return &s->outputs[i];
    }
    if (!id || s->n == SCAN_OUTPUTS_MAX)
        return NULL;
    s->outputs[s->n] = (struct scan_output){
        .id = id,
        .told = { UNKNOWN, UNKNOWN, walk->now->contents },
    };
    return &s->outputs[s->n++];
}

static void take_body(struct walk *walk, const uint32_t *w, size_t n)
{
    uint32_t op = w[0] & 0xffff;
    struct scan_output *output;
    if (op == OP_ACCESS_CHAIN && n > 3) {
        walk->chains[walk->n_chains++ % CHAINS] = (struct chain){ w[2], w[3] };
    }
    if (op == OP_ATOMIC_I_ADD && n > 3) {
        output = output_of(walk, base_of(walk, w[3]));
        if (output)
            output->is_counted = true;
    }
    if (op == OP_STORE && n > 1) {
        output = output_of(walk, base_of(walk, w[1]));
        if (output)
            output->is_stored = true;
    }
}

static bool is_written(const struct scan_output *o)
{
    return o->is_counted && o->is_stored;
}

static void keep_outputs(struct scan *s,
                         bool (*is_one)(const struct scan_output *))
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (is_one(&s->outputs[i]))
            s->outputs[n++] = s->outputs[i];
    }
    s->n = n;
}

/* ---- bindings of the outputs ---- */

static void take_decoration(struct scan *s, const uint32_t *w)
{
    for (size_t i = 0; i < s->n; i++) {
        struct told *told = &s->outputs[i].told;
        if (s->outputs[i].id != w[1])
            continue;
        if (w[2] == DECORATION_SET)
            told->set = w[3];
        if (w[2] == DECORATION_BINDING)
            told->binding = w[3];
    }
}

static bool is_bound(const struct scan_output *o)
{
    return o->told.set != UNKNOWN && o->told.binding != UNKNOWN;
}

/* ---- all of it ---- */

/* The words of the instruction at `at`; 0: it is truncated. */
static size_t length(const uint32_t *words, size_t n, size_t at)
{
    size_t length = words[at] >> 16;
    return length <= n - at ? length : 0;
}

/* Scans the functions: validation's are behind the program's. */
static void scan_functions(struct walk *walk, const uint32_t *words, size_t n,
                           size_t at)
{
    size_t k;
    for (; at < n && (k = length(words, n, at)); at += k) {
        const uint32_t *w = words + at;
        if ((w[0] & 0xffff) == OP_FUNCTION && k > 2) {
            keep_outputs(walk->scan, is_written);
            walk->now = function_of(walk, w[2]);
            walk->n_chains = 0;
        } else if (walk->now) {
            take_body(walk, w, k);
        }
    }
    keep_outputs(walk->scan, is_written);
}

void scan_module(struct scan *s, const uint32_t *words, size_t n)
{
    struct walk walk = { .scan = s };
    size_t at = HEADER;
    size_t k;
    if (n < HEADER || words[0] != MAGIC)
        return;
    for (; at < n && (k = length(words, n, at)) &&
           (words[at] & 0xffff) != OP_FUNCTION;
         at += k)
        take_preamble(&walk, words + at, k);
    if (!walk.n_functions)
        return;
    scan_functions(&walk, words, n, at);
    for (at = HEADER; at < n && (k = length(words, n, at)) &&
                      (words[at] & 0xffff) != OP_FUNCTION;
         at += k) {
        if ((words[at] & 0xffff) == OP_DECORATE && k == 4)
            take_decoration(s, words + at);
    }
    keep_outputs(s, is_bound);
}
