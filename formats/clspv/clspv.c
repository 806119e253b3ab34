/* SPDX-License-Identifier: MIT */
/*
 * The printf buffer of programs that clspv compiled. README.md beside this file
 * describes the wire layout, with sources.
 */
#include <string.h>

#include "core/decode/id_buffer.h"
#include "core/decode/inspect.h"
#include "core/spirv/module_texts.h"

enum {
    /* NonSemantic.ClspvReflection. */
    PRINTF_INFO = 38,
    STORAGE_BUFFER = 39,
    PUSH_CONSTANT = 40,
    DWORD = 4,
};

/* Is k an instruction of the reflection, with at least n words? */
static bool is_reflection(const struct pfd_spirv *module, uint32_t k,
                          uint32_t instruction, uint32_t n)
{
    static const char set[] = "NonSemantic.ClspvReflection.";
    uint32_t n_words = 0;
    const uint32_t *w = pfd_spirv_words(module, k, &n_words);
    if ((w[0] & UINT16_MAX) != PFD_SPV_EXT_INST || n_words < n ||
        w[4] != instruction)
        return false;
    uint32_t import = pfd_spirv_definition(module, w[3]);
    if (import == PFD_SPIRV_NONE)
        return false;
    w = pfd_spirv_words(module, import, &n_words);
    return (w[0] & UINT16_MAX) == PFD_SPV_EXT_INST_IMPORT &&
           n_words > 2 + sizeof set / DWORD &&
           !memcmp(w + 2, set, sizeof set - 1);
}

static uint32_t space_of(const struct pfd_shader *shader)
{
    return shader->id % PFD_SHADER_LOOSE % (PFD_ID_SPACE_MAX + 1);
}

/* ---- strings ---- */

struct info {
    uint32_t id;
    const char *text; /* [n] */
    size_t n;
    uint32_t sizes[PFD_ID_SIZES_MAX];
    size_t n_sizes;
};

static const char *read_info(const struct pfd_spirv *module, uint32_t k,
                             struct info *ret)
{
    uint32_t n = 0;
    const uint32_t *w = pfd_spirv_words(module, k, &n);
    ret->text = pfd_spirv_string(module, w[6], &ret->n);
    if (!pfd_spirv_constant(module, w[5], &ret->id) || ret->id > PFD_ID_MAX)
        return "has no id that can be";
    if (!ret->text || ret->n > PFD_TEXT_MAX)
        return "has no text";
    if (n - 7 > PFD_ID_SIZES_MAX)
        return "has too many arguments";
    for (ret->n_sizes = 0; ret->n_sizes < n - 7; ret->n_sizes++) {
        if (!pfd_spirv_constant(module, w[7 + ret->n_sizes],
                                &ret->sizes[ret->n_sizes]))
            return "has an argument without a size";
    }
    return NULL;
}

static void tell_odd(const struct info *info, uint64_t offset,
                     struct pfd_report *report)
{
    uint64_t total = 0;
    for (size_t i = 0; i < info->n_sizes; i++)
        total += info->sizes[i];
    if (total % DWORD) {
        pfd_report_add(report, PFD_FINDING_bad_string_row, offset,
                       "the arguments of message %u are %llu bytes, which are "
                       "no whole dwords: the last value may be cut",
                       info->id, (unsigned long long)total);
    }
}

/* *left: of PFD_MODULE_TEXTS_MAX. PFD_END: they are too few. */
static enum pfd_status add_info(const struct pfd_format *self,
                                struct pfd_strings *strings,
                                const struct pfd_shader *shader, uint32_t k,
                                uint64_t *left, struct pfd_report *report,
                                struct pfd_error *err)
{
    struct pfd_id_layout layout = { .n = 0 };
    struct info info = { 0 };
    uint64_t offset = (uint64_t)pfd_spirv_offset(shader->module, k) * DWORD;
    const char *why = read_info(shader->module, k, &info);
    if (!why && !pfd_id_layout_make(&layout, PFD_ID_WHOLE_DWORDS, info.sizes,
                                    info.n_sizes, NULL, 0))
        why = "has more argument bytes than we read";
    if (why) {
        pfd_report_add(report, PFD_FINDING_bad_string_row, offset,
                       "a message of the reflection %s", why);
        return PFD_OK;
    }
    if (!pfd_module_texts_take(left, info.n))
        return PFD_END;
    tell_odd(&info, offset, report);
    struct pfd_string_row row = {
        .key = pfd_id_key(space_of(shader), info.id),
        .text = info.text,
        .n_text = info.n,
        .n_arguments = info.n_sizes,
        .layout = layout.words,
        .n_layout = layout.n,
    };
    return pfd_strings_add_row(strings, &self->strings, &row, report, offset,
                               err);
}

static enum pfd_status clspv_shader(const struct pfd_format *self,
                                    struct pfd_strings *strings,
                                    const struct pfd_shader *shader,
                                    struct pfd_report *report,
                                    struct pfd_error *err)
{
    uint32_t n = pfd_spirv_n_instructions(shader->module);
    enum pfd_status status = PFD_OK;
    uint64_t left = PFD_MODULE_TEXTS_MAX;
    for (uint32_t k = 0; k < n && status == PFD_OK; k++) {
        if (is_reflection(shader->module, k, PRINTF_INFO, 7))
            status = add_info(self, strings, shader, k, &left, report, err);
    }
    return pfd_module_texts_end(status, "messages", report);
}

/* ---- buffers ---- */

/* The size that the module was compiled for. */
static uint64_t clspv_room(const struct pfd_walk *w, int space)
{
    const struct pfd_shader_table *all = w->shader_table;
    uint32_t ret = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct pfd_spirv *module = all->shaders[i].module;
        if ((int)space_of(&all->shaders[i]) != space)
            continue;
        for (uint32_t k = 0; k < pfd_spirv_n_instructions(module); k++) {
            uint32_t n = 0;
            if ((is_reflection(module, k, STORAGE_BUFFER, 8) ||
                 is_reflection(module, k, PUSH_CONSTANT, 8)) &&
                pfd_spirv_constant(module, pfd_spirv_words(module, k, &n)[7],
                                   &ret))
                return ret / DWORD * DWORD;
        }
    }
    return UINT64_MAX;
}

/* A %s has the id of another message, whose text it is. */
static const char *clspv_text(const struct pfd_table *table,
                              const struct pfd_string *string, uint64_t value,
                              size_t *n)
{
    uint32_t space = (uint32_t)(string->key >> PFD_ID_BITS);
    const struct pfd_string *s =
        value > PFD_ID_MAX
            ? NULL
            : pfd_table_find(table, pfd_id_key(space, (uint32_t)value));
    *n = s ? s->n_text : 0;
    return s ? pfd_string_text(s) : NULL;
}

static const struct pfd_id_buffer_kind kind = {
    .what = "a clspv printf buffer",
    .unit = DWORD,
    .from = PFD_ID_HEADER,
    .writes_cut_id = true,
    .room = clspv_room,
    .text = clspv_text,
};

static enum pfd_status clspv_walk(struct pfd_walk *w)
{
    return pfd_id_buffer_walk(w, &kind);
}

static int clspv_probe(const struct pfd_byte_reader *first, uint64_t n_buffer)
{
    (void)n_buffer;
    return pfd_id_buffer_probe(first, &kind);
}

static bool clspv_buffer_word(const struct pfd_walk *w, uint64_t at,
                              struct pfd_word *ret)
{
    return pfd_id_buffer_word(w, at, &kind, ret);
}

static const char *const header_words[] = {
    "dwords used behind this one, asked for ones included",
};

static const char *const entry_words[] = {
    "entry: id of its message",
};

const struct pfd_format pfd_format_clspv = {
    .info = {
        .name = "clspv",
        .title = "printf of OpenCL C over Vulkan (clspv, clvk, ANGLE)",
        .header_words = header_words,
        .n_header_words = sizeof header_words / sizeof *header_words,
        .entry_words = entry_words,
        .n_entry_words = sizeof entry_words / sizeof *entry_words,
    },
    .state_size = sizeof(struct pfd_id_buffer),
    .record_version = 1,
    .strings = { .name = "clspv",
                 .tight = true,
                 .layout = pfd_id_buffer_layout },
    .shader = clspv_shader,
    .probe = clspv_probe,
    .buffer_word = clspv_buffer_word,
    .walk = clspv_walk,
    .is_record = pfd_id_buffer_is_record,
    .slots = pfd_id_buffer_slots,
};
