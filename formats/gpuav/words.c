/* SPDX-License-Identifier: MIT */
/* Names the words of an error record by its size, which identifies its age. */
#include <string.h>

#include "core/decode/inspect.h"
#include "core/spirv/khronos.h"
#include "layout.h"

enum {
    DWORD = GPUAV_DWORD,
    WORDS = 16, /* words of the longest record */
};

/* How a word's value is explained beside its name. */
enum telling {
    PLAIN,
    STAGE,          /* name of the stage */
    STAGE_POSITION, /* stage and position in one word */
    STAGE_WORD,
    GROUP, /* group of errors */
    ERROR, /* the error, with its group if it has one */
    ACTION,
    PARAMETER,
};

struct word_row {
    enum telling telling;
    const char *name;
};

#define HEAD                                                         \
    { PLAIN, "record: its size in dwords" }, { PLAIN, "shader id" }, \
        { PLAIN, "instruction: its number in the module" },          \
    {                                                                \
        STAGE, "stage"                                               \
    }
#define STAGE_WORDS                         \
    { STAGE_WORD, "" }, { STAGE_WORD, "" }, \
    {                                       \
        STAGE_WORD, ""                      \
    }
#define PARAMETERS                        \
    { PARAMETER, "" }, { PARAMETER, "" }, \
    {                                     \
        PARAMETER, ""                     \
    }

/* Record sizes and the meaning of their words; README.md has the sources. */
static const struct age {
    uint32_t from; /* dwords */
    uint32_t to;
    uint32_t parameters; /* index of the first parameter */
    struct word_row words[WORDS];
} ages[] = {
    { 8,
      9,
      7,
      { HEAD,
        { STAGE_WORD, "" },
        { STAGE_WORD, "" },
        { ERROR, "error" },
        { PARAMETER, "" },
        { PARAMETER, "" } } },
    { 10, 11, 8, { HEAD, STAGE_WORDS, { ERROR, "error" }, PARAMETERS } },
    { 13,
      13,
      10,
      { HEAD,
        STAGE_WORDS,
        { ERROR, "error" },
        { PLAIN, "descriptor set" },
        { PLAIN, "binding" },
        PARAMETERS } },
    { 14,
      14,
      9,
      { HEAD,
        STAGE_WORDS,
        { GROUP, "group of errors" },
        { ERROR, "error" },
        PARAMETERS,
        { PARAMETER, "" },
        { PARAMETER, "" } } },
    { 16,
      16,
      11,
      { HEAD,
        STAGE_WORDS,
        { PLAIN, "action: its number in the command buffer" },
        { PLAIN, "command: its number in the command buffer" },
        { GROUP, "group of errors" },
        { ERROR, "error" },
        PARAMETERS,
        { PARAMETER, "" },
        { PARAMETER, "" } } },
    { GPUAV_NOW,
      GPUAV_NOW,
      7,
      { { PLAIN, "record: its size in dwords" },
        { ERROR, "error" },
        { STAGE_POSITION, "stage and instruction" },
        STAGE_WORDS,
        { ACTION, "" },
        PARAMETERS,
        { PLAIN, "not used by this age" },
        { PLAIN, "not used by this age" } } },
};

/* Parameters of errors that have words of their own. */
static const struct parameter_row {
    enum gpuav_kind kind;
    bool packed; /* packed as in current records */
    const char *names[3];
} parameters[] = {
    { GPUAV_BOUNDS,
      true,
      { "descriptor set and index", "length of the array", "binding" } },
    { GPUAV_UNINITIALIZED,
      true,
      { "descriptor set and index", "length of the array", "binding" } },
    { GPUAV_DESTROYED,
      true,
      { "descriptor set and index", "length of the array", "binding" } },
    { GPUAV_BUFFER,
      true,
      { "descriptor set and index", "highest byte accessed",
        "size of the buffer" } },
    { GPUAV_TEXEL,
      true,
      { "descriptor set and index", "highest texel accessed",
        "size in texels" } },
    { GPUAV_ADDRESS,
      true,
      { "address, low half", "address, high half",
        "bytes accessed, and how (upper 2 bits)" } },
    { GPUAV_ALIGNMENT,
      true,
      { "address, low half", "address, high half",
        "alignment wanted, and how it was accessed (upper 2 bits)" } },
    { GPUAV_BOUNDS, false, { "descriptor index", "length of the array" } },
    { GPUAV_UNINITIALIZED,
      false,
      { "descriptor index", "offset", "size (0: uninitialized)" } },
    { GPUAV_DESTROYED, false, { "descriptor index" } },
    { GPUAV_ADDRESS, false, { "address, low half", "address, high half" } },
    { GPUAV_BUFFER,
      false,
      { "descriptor index", "highest byte accessed", "size of the buffer" } },
    { GPUAV_TEXEL,
      false,
      { "descriptor index", "highest texel accessed", "size in texels" } },
    { GPUAV_DRAW, false, { "which check", "the count" } },
    { GPUAV_DISPATCH, false, { "axis (1 to 3: x, y, z)", "work groups" } },
};

static const struct age *age_of(uint32_t size)
{
    for (size_t i = 0; i < sizeof ages / sizeof *ages; i++) {
        if (size >= ages[i].from && size <= ages[i].to)
            return &ages[i];
    }
    return NULL;
}

/* The origin of that name as text; "": there is none. */
static const char *fault_name(const struct gpuav_fault *fault, const char *what)
{
    struct pfd_origin all[PFD_ORIGINS_MAX];
    size_t n = gpuav_fault_origin(fault, all);
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(all[i].name, what) && all[i].type == PFD_ORIGIN_TEXT)
            return all[i].text;
    }
    return "not known";
}

/* Explains a parameter that has an origin of that name. */
static bool set_named(struct pfd_word *ret, uint64_t end,
                      const struct gpuav_error *e, unsigned i)
{
    const char *name = i < GPUAV_PARAMS ? e->names[i] : NULL;
    bool is_address = e->group == 2 && i < 2;
    if (is_address)
        return pfd_word_set(ret, end, "address, %s half", i ? "high" : "low");
    bool is_set =
        pfd_word_set(ret, end, "%s", name ? name : "not used by this error");
    for (char *c = ret->text; is_set && (c = strchr(c, '_'));)
        *c = ' ';
    return is_set;
}

static bool set_parameter(struct pfd_word *ret, uint64_t end,
                          const struct gpuav_record *r, unsigned i)
{
    if (r->fault.error)
        return set_named(ret, end, r->fault.error, i);
    for (size_t k = 0; k < sizeof parameters / sizeof *parameters; k++) {
        const struct parameter_row *row = &parameters[k];
        if (row->kind != r->fault.kind || row->packed != r->is_now)
            continue;
        const char *name = i < 3 ? row->names[i] : NULL;
        return pfd_word_set(ret, end, "%s",
                            name ? name : "not used by this error");
    }
    return pfd_word_set(ret, end, "parameter %u of the error", i);
}

static bool set_error(struct pfd_word *ret, uint64_t end,
                      const struct gpuav_record *r, const char *what)
{
    const struct gpuav_fault *f = &r->fault;
    const char *name = fault_name(f, "error_name");
    if (r->is_now) {
        return pfd_word_set(ret, end, "error %u.%u (%s: %s), shader %u",
                            f->group, f->code, fault_name(f, "group_name"),
                            name, r->shader);
    }
    if (!f->group)
        return pfd_word_set(ret, end, "%s %u (%s)", what, f->code, name);
    return pfd_word_set(ret, end, "%s: %u.%u (%s: %s)", what, f->group, f->code,
                        fault_name(f, "group_name"), name);
}

bool gpuav_entry_word(const struct pfd_record_view *record_view, uint32_t at,
                      struct pfd_word *ret)
{
    uint32_t size = record_view->record->n_bytes / DWORD;
    uint32_t i = at / DWORD;
    uint64_t end = (i + UINT64_C(1)) * DWORD;
    const struct age *age = age_of(size);
    struct gpuav_record r;
    if (!age || i >= size || record_view->bytes.n < (size_t)size * DWORD)
        return false;
    gpuav_read(record_view->bytes.base, size,
               record_view->record->flags & GPUAV_FROM_ONE, &r);
    const struct word_row *row = &age->words[i];
    const char *stage = pfd_stage_name(pfd_stage_of(r.stage));
    if (r.is_own && !r.is_now && (size < 14 ? i < 7 : i > 0 && i < 7)) {
        return pfd_word_set(ret, end,
                            size < 14 ? "zero: a check by the layer itself"
                                      : "not used: no shader found this");
    }
    switch (row->telling) {
    case STAGE:
        return pfd_word_set(ret, end, "stage (%s)", stage);
    case STAGE_POSITION:
        return pfd_word_set(ret, end,
                            "stage (%s) and instruction: its place, dword %u",
                            stage, r.position);
    case STAGE_WORD:
        if (r.is_own)
            return pfd_word_set(ret, end, "not used: no shader found this");
        return pfd_word_set(
            ret, end, "stage word: %s",
            pfd_khronos_stage_word(r.stage, i - (r.is_now ? 3u : 4u)));
    case GROUP:
        return pfd_word_set(ret, end, "%s: %s", row->name,
                            fault_name(&r.fault, "group_name"));
    case ERROR:
        return set_error(ret, end, &r, row->name);
    case ACTION:
        return pfd_word_set(ret, end, "action (%u) and logger (%u)", r.action,
                            r.logger);
    case PARAMETER:
        return set_parameter(ret, end, &r, i - age->parameters);
    case PLAIN:
        break;
    }
    return pfd_word_set(ret, end, "%s", row->name);
}
