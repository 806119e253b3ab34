/* SPDX-License-Identifier: MIT */
/*
 * The printf buffer of Mesa's OpenCL, rusticl. README.md beside this file
 * describes the wire layout, with sources.
 */
#include <stddef.h>
#include <string.h>

#include "core/decode/id_buffer.h"
#include "core/spirv/module_texts.h"
#include "find.h"
#include "kernels.h"

/*
 * The messages of an OpenCL module, numbered as Mesa numbers them for each
 * kernel: functions in the order of the module, those that are called by then,
 * again and again until no more are met; in each, its calls of printf.
 */

enum {
    /* Instructions and numbers of SPIR-V and its OpenCL.std. */
    OP_CONSTANT_NULL = 46,
    OP_FUNCTION_CALL = 57,
    OP_ACCESS_CHAIN = 65,
    OP_PTR_ACCESS_CHAIN = 67,
    OP_IN_BOUNDS_PTR_ACCESS_CHAIN = 70,
    OP_PTR_CAST_TO_GENERIC = 121,
    OP_GENERIC_CAST_TO_PTR = 122,
    OP_BITCAST = 124,
    STD_PRINTF = 184,
    CALL_WORDS = 6, /* of a printf without arguments */
    /* Limits of what a module can ask for. */
    POINTER_DEPTH = 20,
    ROWS_MAX = 1 << 20,
    VISITS_MAX = 1 << 24,
    TEXTS_MAX = 16 << 20, /* bytes: any number of calls may share a text */
    POINTER_BYTES = 8,
};

struct function {
    uint32_t k;   /* its OpFunction */
    uint32_t end; /* first instruction behind it */
    bool is_called;
    bool is_done;
};

struct program {
    const struct pfd_format *format;
    const struct pfd_spirv *module;
    struct pfd_strings *strings;
    struct pfd_report *report;
    struct pfd_error *err;
    struct pfd_text list;       /* of functions */
    struct function *functions; /* [n], in it */
    size_t n;
    uint64_t left_visits;
    uint32_t left_rows;
    uint64_t left_texts;
    uint32_t space;
    uint32_t next_id;
    struct pfd_text text; /* scratch, of one message */
    struct pfd_text literals;
    struct pfd_text steps;
};

static const uint32_t *words_of(const struct program *p, uint32_t k,
                                uint32_t *n, uint32_t *op)
{
    const uint32_t *w = pfd_spirv_words(p->module, k, n);
    *op = w[0] & UINT16_MAX;
    return w;
}

/* Is k a call of OpenCL's printf? */
static bool is_print(const struct program *p, uint32_t k)
{
    uint32_t n;
    uint32_t op;
    const uint32_t *w = words_of(p, k, &n, &op);
    if (op != PFD_SPV_EXT_INST || n < CALL_WORDS || w[4] != STD_PRINTF)
        return false;
    k = pfd_spirv_definition(p->module, w[3]);
    if (k == PFD_SPIRV_NONE)
        return false;
    w = words_of(p, k, &n, &op);
    return op == PFD_SPV_EXT_INST_IMPORT && n >= 5 &&
           !memcmp(w + 2, "OpenCL.std", sizeof "OpenCL.std");
}

/* ---- constant texts ---- */

/* The initializer of the variable that a pointer leads to; false: none. */
static bool find_initializer(const struct program *p, uint32_t id,
                             uint32_t *ret)
{
    for (unsigned i = 0; i < POINTER_DEPTH; i++) {
        uint32_t n;
        uint32_t op;
        uint32_t k = pfd_spirv_definition(p->module, id);
        if (k == PFD_SPIRV_NONE)
            return false;
        const uint32_t *w = words_of(p, k, &n, &op);
        if (op == PFD_SPV_VARIABLE) {
            *ret = n > 4 ? w[4] : 0;
            return n > 4;
        }
        bool leads_on = (op >= OP_ACCESS_CHAIN && op <= OP_PTR_ACCESS_CHAIN) ||
                        op == OP_IN_BOUNDS_PTR_ACCESS_CHAIN ||
                        op == OP_PTR_CAST_TO_GENERIC ||
                        op == OP_GENERIC_CAST_TO_PTR || op == OP_BITCAST;
        if (!leads_on || n < 4)
            return false;
        id = w[3];
    }
    return false;
}

/* Appends the constant text behind a pointer, up to its NUL. False: it is not
 * constant. */
static bool add_text(const struct program *p, uint32_t id, struct pfd_text *ret)
{
    uint32_t n;
    uint32_t op;
    if (!find_initializer(p, id, &id))
        return false;
    uint32_t k = pfd_spirv_definition(p->module, id);
    if (k == PFD_SPIRV_NONE)
        return false;
    const uint32_t *w = words_of(p, k, &n, &op);
    if (op == OP_CONSTANT_NULL)
        return true;
    if (op != PFD_SPV_CONSTANT_COMPOSITE)
        return false;
    for (uint32_t i = 3; i < n; i++) {
        uint32_t c;
        if (!pfd_spirv_constant(p->module, w[i], &c))
            return false;
        if ((uint8_t)c == 0)
            break;
        pfd_text_add(ret, &(uint8_t){ (uint8_t)c }, 1);
    }
    return true;
}

/* ---- one message ---- */

/* OpenCL's size of a value; 0: not known. */
static uint32_t size_of(const struct program *p, uint32_t id)
{
    struct pfd_spirv_type type = pfd_spirv_value_type(p->module, id);
    uint32_t n = type.n == 3 ? 4 : type.n;
    switch (type.kind) {
    case PFD_SPIRV_POINTER:
        return POINTER_BYTES;
    case PFD_SPIRV_BOOL:
        return n;
    case PFD_SPIRV_INT:
    case PFD_SPIRV_UINT:
    case PFD_SPIRV_FLOAT:
        return n <= 16 ? n * (type.width / 8) : 0;
    default:
        return 0;
    }
}

/* Compiles the message, to see which arguments a %s prints. NULL: out of
 * memory. */
static const struct pfd_step *compile(struct program *p)
{
    struct pfd_program_facts facts;
    const char *text = p->text.n ? p->text.data : "";
    p->steps.n = 0;
    char *steps =
        pfd_text_reserve(&p->steps, pfd_program_steps_max(text, p->text.n) *
                                        sizeof(struct pfd_step));
    if (!steps)
        return NULL;
    pfd_program_compile(text, p->text.n, (struct pfd_step *)(void *)steps,
                        &facts);
    return (const struct pfd_step *)(const void *)steps;
}

/* Moves to the conversion of the next argument; false: it has none. */
static bool next_step(const struct pfd_step **step)
{
    const struct pfd_step *s = *step;
    while (s->op != PFD_OP_END && !pfd_step_takes(s))
        s++;
    bool is_text = s->conv == 's';
    if (s->op != PFD_OP_END) {
        do {
            is_text &= !(s->flags & PFD_STEP_JOIN);
            s++;
        } while (s->flags & PFD_STEP_JOIN);
    }
    *step = s;
    return is_text;
}

/* The sizes of a call's arguments; texts of its %s go to p->literals. */
static const char *read_arguments(struct program *p, const uint32_t *ids,
                                  size_t n, const struct pfd_step *step,
                                  uint32_t *sizes)
{
    p->literals.n = 0;
    if (n > PFD_ID_SIZES_MAX)
        return "has too many arguments";
    for (size_t i = 0; i < n; i++) {
        sizes[i] = size_of(p, ids[i]);
        if (!sizes[i])
            return "has an argument of an unknown type";
        if (!next_step(&step))
            continue;
        add_text(p, ids[i], &p->literals);
        pfd_text_add(&p->literals, "", 1);
    }
    return NULL;
}

static enum pfd_status no_memory(const struct program *p)
{
    return pfd_fail(p->err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

/* PFD_END: the module has more texts than we read. */
static enum pfd_status add_message(struct program *p, uint32_t k)
{
    uint32_t n;
    uint32_t op;
    uint32_t sizes[PFD_ID_SIZES_MAX];
    struct pfd_id_layout layout = { .n = 0 };
    const uint32_t *w = words_of(p, k, &n, &op);
    uint64_t offset = (uint64_t)pfd_spirv_offset(p->module, k) * 4;
    const char *why = NULL;
    uint32_t id = p->next_id++;
    p->text.n = 0;
    if (!add_text(p, w[5], &p->text))
        why = "has no constant format string";
    if (!pfd_module_texts_take(&p->left_texts, p->text.n))
        return PFD_END;
    const struct pfd_step *steps = compile(p);
    if (!steps)
        return no_memory(p);
    if (!why) {
        why = read_arguments(p, w + CALL_WORDS, n - CALL_WORDS, steps, sizes);
        if (!pfd_module_texts_take(&p->left_texts, p->literals.n))
            return PFD_END;
    }
    if (!why &&
        (id > PFD_ID_MAX ||
         !pfd_id_layout_make(&layout, PFD_ID_THREE_AS_FOUR, sizes,
                             n - CALL_WORDS, p->literals.data, p->literals.n)))
        why = "has more arguments or texts than we read";
    if (p->text.failed || p->literals.failed)
        return no_memory(p);
    if (why) {
        pfd_report_add(p->report, PFD_FINDING_bad_string_row, offset,
                       "a call of printf %s", why);
        return PFD_OK;
    }
    struct pfd_string_row row = {
        .key = pfd_id_key(p->space, id),
        .text = p->text.n ? p->text.data : "",
        .n_text = p->text.n,
        .n_arguments = n - CALL_WORDS,
        .layout = layout.words,
        .n_layout = layout.n,
    };
    return pfd_strings_add_row(p->strings, &p->format->strings, &row, p->report,
                               offset, p->err);
}

/* ---- functions ---- */

/* The function of an id; NULL: there is none. */
static struct function *function_of(const struct program *p, uint32_t id)
{
    uint32_t k = pfd_spirv_definition(p->module, id);
    size_t low = 0;
    size_t high = p->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->functions[middle].k < k) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < p->n && p->functions[low].k == k ? &p->functions[low] : NULL;
}

static bool list_functions(struct program *p)
{
    uint32_t n_all = pfd_spirv_n_instructions(p->module);
    uint32_t n;
    uint32_t op;
    for (uint32_t k = 0; k < n_all; k++) {
        struct function f = { .k = k };
        words_of(p, k, &n, &op);
        if (op == PFD_SPV_FUNCTION)
            pfd_text_add(&p->list, &f, sizeof f);
    }
    p->functions = (struct function *)(void *)p->list.data;
    p->n = p->list.n / sizeof *p->functions;
    for (size_t i = 0; i < p->n; i++)
        p->functions[i].end = i + 1 < p->n ? p->functions[i + 1].k : n_all;
    return !p->list.failed;
}

/* Numbers the messages of a function, and marks its callees. */
static enum pfd_status add_function(struct program *p, const struct function *f)
{
    enum pfd_status status = PFD_OK;
    for (uint32_t k = f->k; k < f->end && status == PFD_OK; k++) {
        uint32_t n;
        uint32_t op;
        const uint32_t *w = words_of(p, k, &n, &op);
        if (is_print(p, k)) {
            if (!p->left_rows)
                return PFD_END;
            p->left_rows--;
            status = add_message(p, k);
        } else if (op == OP_FUNCTION_CALL && n >= 4) {
            struct function *callee = function_of(p, w[3]);
            if (callee)
                callee->is_called = true;
        }
    }
    return status;
}

/* PFD_END: the module asks for more than we do. */
static enum pfd_status add_kernel(struct program *p, struct function *kernel)
{
    bool is_more = true;
    for (size_t i = 0; i < p->n; i++)
        p->functions[i].is_called = p->functions[i].is_done = false;
    kernel->is_called = true;
    p->next_id = 1;
    while (is_more) {
        is_more = false;
        for (size_t i = 0; i < p->n; i++) {
            struct function *f = &p->functions[i];
            if (!p->left_visits--)
                return PFD_END;
            if (!f->is_called || f->is_done)
                continue;
            f->is_done = is_more = true;
            uint32_t n = f->end - f->k;
            p->left_visits -= n < p->left_visits ? n : p->left_visits;
            enum pfd_status status = add_function(p, f);
            if (status != PFD_OK)
                return status;
        }
    }
    return PFD_OK;
}

static enum pfd_status add_kernels(struct program *p, uint32_t space)
{
    uint32_t n_all = pfd_spirv_n_instructions(p->module);
    enum pfd_status status = PFD_OK;
    uint32_t n_kernels = 0;
    for (uint32_t k = 0; k < n_all && status == PFD_OK; k++) {
        uint32_t n;
        uint32_t op;
        const uint32_t *w = words_of(p, k, &n, &op);
        struct function *f =
            rusticl_is_kernel(p->module, k) ? function_of(p, w[2]) : NULL;
        if (!f)
            continue;
        p->space = space + n_kernels++;
        status = n_kernels > RUSTICL_KERNELS_MAX ? PFD_END : add_kernel(p, f);
    }
    return status;
}

static bool prints(const struct program *p)
{
    uint32_t n = pfd_spirv_n_instructions(p->module);
    bool ret = false;
    for (uint32_t k = 0; k < n && !ret; k++)
        ret = is_print(p, k);
    return ret;
}

/* Member of pfd_format_rusticl. */
static enum pfd_status rusticl_shader(const struct pfd_format *self,
                                      struct pfd_strings *strings,
                                      const struct pfd_shader *shader,
                                      struct pfd_report *report,
                                      struct pfd_error *err)
{
    struct program p = {
        .format = self,
        .module = shader->module,
        .strings = strings,
        .report = report,
        .err = err,
        .left_visits = VISITS_MAX,
        .left_rows = ROWS_MAX,
        .left_texts = TEXTS_MAX,
    };
    if (!prints(&p))
        return PFD_OK;
    enum pfd_status status = list_functions(&p)
                                 ? add_kernels(&p, rusticl_first_space(shader))
                                 : no_memory(&p);
    if (status == PFD_END) {
        pfd_report_add(
            report, PFD_FINDING_too_large, PFD_NO_OFFSET,
            "the module has more kernels, functions, messages or "
            "texts than we read; those of later kernels are unknown");
        status = PFD_OK;
    }
    pfd_text_free(&p.list);
    pfd_text_free(&p.text);
    pfd_text_free(&p.literals);
    pfd_text_free(&p.steps);
    return status;
}

/* A %s has an offset into the message, its NUL, and its literal texts with
 * theirs: where one begins. */
static const char *rusticl_text(const struct pfd_table *table,
                                const struct pfd_string *string, uint64_t value,
                                size_t *n)
{
    size_t n_all = 0;
    const char *all = pfd_id_literals(string, &n_all);
    uint64_t first = (uint64_t)string->n_text + 1;
    (void)table;
    if (value < first || value - first >= n_all)
        return NULL;
    size_t at = (size_t)(value - first);
    if (at && all[at - 1])
        return NULL;
    *n = strnlen(all + at, n_all - at);
    return all + at;
}

static const struct pfd_id_buffer_kind kind = {
    .what = "a printf buffer of rusticl",
    .unit = 1,
    .chosen = rusticl_chosen,
    .text = rusticl_text,
};

static const struct pfd_format_option kernel_option = {
    .info = {
        .name = "kernel",
        .value = "NAME",
        .help = "the kernel whose messages a buffer of rusticl has; else it is "
                "searched",
    },
    .member = offsetof(struct pfd_options, kernel),
};

static const struct pfd_format_option *const options[] = {
    &kernel_option,
    NULL,
};

static enum pfd_status rusticl_walk(struct pfd_walk *w)
{
    return pfd_id_buffer_walk(w, &kind);
}

static int rusticl_probe(const struct pfd_byte_reader *first, uint64_t n_buffer)
{
    (void)n_buffer;
    return pfd_id_buffer_probe(first, &kind);
}

static bool rusticl_buffer_word(const struct pfd_walk *w, uint64_t at,
                                struct pfd_word *ret)
{
    return pfd_id_buffer_word(w, at, &kind, ret);
}

static const char *const header_words[] = {
    "bytes used, this dword and asked for ones included",
};

static const char *const entry_words[] = {
    "entry: number of its call of printf",
};

const struct pfd_format pfd_format_rusticl = {
    .info = {
        .name = "rusticl",
        .title = "printf of Mesa's OpenCL (rusticl)",
        .header_words = header_words,
        .n_header_words = sizeof header_words / sizeof *header_words,
        .entry_words = entry_words,
        .n_entry_words = sizeof entry_words / sizeof *entry_words,
    },
    .options = options,
    .state_size = sizeof(struct pfd_id_buffer),
    .record_version = 1,
    .strings = { .name = "rusticl",
                 .tight = true,
                 .layout = pfd_id_buffer_layout },
    .shader = rusticl_shader,
    .probe = rusticl_probe,
    .buffer_word = rusticl_buffer_word,
    .walk = rusticl_walk,
    .is_record = pfd_id_buffer_is_record,
    .slots = pfd_id_buffer_slots,
    .find = rusticl_find,
};
