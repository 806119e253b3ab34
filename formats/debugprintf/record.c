/* SPDX-License-Identifier: MIT */
/* One record: its words, and whether it belongs to a call. */
#include "core/spirv/shader_table.h"
#include "layout.h"

enum {
    DWORD = 4,
    /* Larger numbers are neither shader numbers nor ids of a module. */
    SHADER_MAX = 1 << 20,
    FORMAT_MAX = 1 << 22,
};

struct debugprintf_head debugprintf_head_at(const struct pfd_walk *w,
                                            const struct debugprintf_shape *s,
                                            uint64_t at)
{
    return (struct debugprintf_head){
        .at = at,
        .size = pfd_walk_u32(w, at),
        .shader = pfd_walk_u32(w, at + DEBUGPRINTF_AT_SHADER * DWORD),
        .position = pfd_walk_u32(w, at + DEBUGPRINTF_AT_POSITION * DWORD),
        .format = pfd_walk_u32(w, at + (uint64_t)s->format * DWORD),
    };
}

/* A word of the header; 0 if the layout has none. */
static uint32_t word_of(const struct pfd_walk *w, uint64_t at, uint8_t place)
{
    return place ? pfd_walk_u32(w, at + (uint64_t)place * DWORD) : 0;
}

struct debugprintf_masks debugprintf_masks_at(const struct pfd_walk *w,
                                              const struct debugprintf_shape *s,
                                              uint64_t at)
{
    return (struct debugprintf_masks){
        .doubles = word_of(w, at, s->doubles),
        .signed8 = word_of(w, at, s->signed8),
        .signed16 = word_of(w, at, s->signed16),
        .n = !s->doubles   ? 0
             : s->signed16 ? 3
                           : 1,
    };
}

uint32_t debugprintf_stage_word(const struct pfd_walk *w,
                                const struct debugprintf_shape *s,
                                const struct debugprintf_head *h)
{
    if (s->is_packed)
        return h->position >> DEBUGPRINTF_OFFSET_BITS;
    return s->stage ? word_of(w, h->at, s->stage) : PFD_STAGE_UNKNOWN;
}

/* Shaders of several stages have a stage number of their own, or none. */
static bool stage_fits(uint32_t word, const struct pfd_shader *shader)
{
    enum pfd_stage stage = pfd_stage_of(word);
    return stage == PFD_STAGE_UNKNOWN || !shader->stages ||
           shader->stages >> stage & 1;
}

static uint32_t instruction_of(const struct pfd_spirv *module,
                               enum debugprintf_numbering numbering,
                               uint32_t position)
{
    /* Calls of an instrumented module state their positions. */
    if (pfd_spirv_is_instrumented(module))
        return pfd_spirv_by_counted(module, position);
    switch (numbering) {
    case DEBUGPRINTF_BY_OFFSET:
        return pfd_spirv_by_offset(module, position);
    case DEBUGPRINTF_BY_COUNTED:
        return pfd_spirv_by_counted(module, position);
    case DEBUGPRINTF_BY_ORDINAL:
    case DEBUGPRINTF_N_NUMBERINGS:
        break;
    }
    return position < pfd_spirv_n_instructions(module) ? position
                                                       : PFD_SPIRV_NONE;
}

/* The string of the call at the record's position, if it has the record's
 * format. */
static const struct pfd_string *string_at(const struct pfd_walk *w,
                                          const struct debugprintf_shape *s,
                                          const struct debugprintf_head *h,
                                          const struct debugprintf_reading *r)
{
    const struct pfd_spirv *module = r->shader->module;
    uint32_t k = instruction_of(module, r->numbering,
                                debugprintf_offset_of(s, h->position));
    if (k == PFD_SPIRV_NONE)
        return NULL;
    size_t call = debugprintf_call_at(module, k);
    if (call == pfd_spirv_call_count(module) ||
        pfd_spirv_call_format(module, call) != h->format)
        return NULL;
    return pfd_table_find(
        w->table, debugprintf_key(r->shader->id, pfd_spirv_offset(module, k)));
}

const struct pfd_string *debugprintf_call_of(
    const struct pfd_walk *w, const struct debugprintf_shape *s,
    const struct debugprintf_head *h, const struct debugprintf_reading *r,
    uint64_t left)
{
    uint32_t stage = debugprintf_stage_word(w, s, h);
    /* Stages were renumbered before positions. */
    if (r->numbering == DEBUGPRINTF_BY_OFFSET && stage > PFD_STAGE_UNKNOWN)
        return NULL;
    const struct pfd_string *string = string_at(w, s, h, r);
    if (!string || !stage_fits(stage, r->shader))
        return NULL;
    uint64_t n = (uint64_t)h->size - s->header;
    bool no_16 = debugprintf_dwords(string, false) != n;
    if (no_16 &&
        (s->age != PFD_KHRONOS_OLD || debugprintf_dwords(string, true) != n))
        return NULL;
    struct debugprintf_masks masks = debugprintf_masks_at(w, s, h->at);
    uint64_t from = h->at + (uint64_t)s->header * DWORD;
    struct pfd_byte_reader values = w->view;
    pfd_byte_reader_seek(&values, from - w->base);
    size_t n_there = (size_t)((left - (from - h->at)) / DWORD);
    return debugprintf_masks_fit(string, &masks) &&
                   debugprintf_values_fit(string, &values,
                                          n < n_there ? (size_t)n : n_there,
                                          no_16)
               ? string
               : NULL;
}

/* Before its first call, a module has at least a capability, the import of the
 * set, the format string, types, a function and its label. */
static bool is_position(const struct debugprintf_shape *s, uint32_t position)
{
    enum {
        INSTRUCTION_MIN = 8,
        OFFSET_MIN = 24
    };
    uint32_t at = debugprintf_offset_of(s, position);
    return at >> DEBUGPRINTF_OFFSET_BITS == 0 &&
           at >= (s->is_packed ? (uint32_t)OFFSET_MIN : INSTRUCTION_MIN);
}

bool debugprintf_is_plausible(const struct pfd_walk *w,
                              const struct debugprintf_shape *s,
                              const struct debugprintf_head *h)
{
    struct debugprintf_masks m = debugprintf_masks_at(w, s, h->at);
    uint32_t stage = debugprintf_stage_word(w, s, h);
    uint32_t n = h->size - s->header;
    uint32_t all = m.doubles | m.signed8 | m.signed16;
    bool has_stage = s->is_packed || s->stage;
    bool stage_is_known = pfd_stage_of(stage) != PFD_STAGE_UNKNOWN ||
                          stage == PFD_STAGE_UNKNOWN || stage == INT32_MAX;
    return h->shader < SHADER_MAX && h->format && h->format < FORMAT_MAX &&
           is_position(s, h->position) && (!has_stage || stage_is_known) &&
           !(m.doubles & m.signed8) && !(m.doubles & m.signed16) &&
           !(m.signed8 & m.signed16) && (n >= 32 || all >> n == 0);
}

/* ---- records from elsewhere ---- */

/* Does the record's string belong to a call of n dwords, in a loaded shader? */
static bool is_of_call(const struct pfd_record_view *record_view, uint64_t n)
{
    const struct pfd_record *r = record_view->record;
    const struct pfd_string *s = r->string;
    bool no_16 = r->layout & DEBUGPRINTF_NO_16;
    bool is_cut = r->layout & DEBUGPRINTF_CUT;
    const struct pfd_shader *shader = pfd_shader_table_find(
        record_view->shader_table, (uint32_t)(s->key >> 32));
    if (!shader || r->layout & ~(uint64_t)(DEBUGPRINTF_NO_16 | DEBUGPRINTF_CUT))
        return false;
    uint32_t k = pfd_spirv_by_offset(shader->module, (uint32_t)s->key);
    return debugprintf_call_at(shader->module, k) <
               pfd_spirv_call_count(shader->module) &&
           debugprintf_dwords(s, no_16) == n &&
           no_16 == (debugprintf_dwords(s, false) != n) &&
           is_cut == (r->n_bytes < r->n_header + n * DWORD);
}

/* Does the record's size word match its bytes? The bytes that the formatter
 * reads beyond it are included. */
static bool is_of_size(const struct pfd_record_view *record_view, uint32_t size)
{
    const struct pfd_record *r = record_view->record;
    return size * (uint64_t)DWORD >= r->n_bytes &&
           size <= DEBUGPRINTF_RECORD_MAX && r->n_bytes % DWORD == 0 &&
           record_view->bytes.n - r->n_bytes <= DEBUGPRINTF_READ_ON_MAX;
}

bool debugprintf_is_record(const struct pfd_record_view *record_view)
{
    const struct pfd_record *r = record_view->record;
    const struct debugprintf_shape *s = debugprintf_shape_of(r);
    unsigned flags = s->flag | PFD_RECORD_SYNTHESIZED | PFD_RECORD_COPIED;
    if (s->header * DWORD != r->n_header || r->flags & ~flags ||
        s->flag != (r->flags & PFD_RECORD_OWN))
        return false;
    uint32_t size = debugprintf_word(record_view->bytes.base, 0);
    uint32_t shader =
        debugprintf_word(record_view->bytes.base, DEBUGPRINTF_AT_SHADER);
    if (!is_of_size(record_view, size) || r->key >> 32 != shader)
        return false;
    if (!r->string)
        return !(r->flags & PFD_RECORD_SYNTHESIZED);
    return (uint32_t)r->key == (uint32_t)r->string->key &&
           is_of_call(record_view, size - s->header);
}
