/* SPDX-License-Identifier: MIT */
/* Names the words of a record's header, by its layout. */
#include "core/decode/inspect.h"
#include "layout.h"

enum {
    DWORD = 4
};

static uint32_t word_at(const struct pfd_record_view *record_view, uint32_t i)
{
    size_t at = (size_t)i * DWORD;
    return at + DWORD <= record_view->bytes.n
               ? pfd_byte_reader_peek_u32(&record_view->bytes, at)
               : 0;
}

static uint32_t stage_of(const struct debugprintf_shape *s,
                         const struct pfd_record_view *record_view)
{
    return s->is_packed ? word_at(record_view, DEBUGPRINTF_AT_POSITION) >>
                              DEBUGPRINTF_OFFSET_BITS
                        : word_at(record_view, s->stage);
}

static const char *position_text(const struct debugprintf_shape *s)
{
    bool by_offset = s->numberings[0] == DEBUGPRINTF_BY_OFFSET;
    if (by_offset && s->n_numberings > 1)
        return "instruction: its number or its place in the module";
    return by_offset ? "instruction: its place in the module, in dwords"
                     : "instruction: its number in the module";
}

static bool is_info(const struct debugprintf_shape *s, uint32_t i)
{
    return s->info && i >= s->info && i < s->info + 3u;
}

/* The name of header word i; positions of 0 mean that there is no such word. */
static const char *name_of(const struct debugprintf_shape *s, uint32_t i)
{
    const struct {
        uint32_t at;
        const char *name;
    } names[] = {
        { s->format, "format string id" },
        { s->doubles, "mask of values that are doubles" },
        { s->signed8, "mask of values that are int8" },
        { s->signed16, "mask of values that are int16" },
    };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (names[k].at == i)
            return names[k].name;
    }
    return "not known";
}

bool debugprintf_entry_word(const struct pfd_record_view *record_view,
                            uint32_t at, struct pfd_word *ret)
{
    const struct debugprintf_shape *s =
        debugprintf_shape_of(record_view->record);
    uint32_t i = at / DWORD;
    uint64_t end = (i + UINT64_C(1)) * DWORD;
    if (i >= s->header)
        return false;
    if (i == 0)
        return pfd_word_set(ret, end, "record: its size in dwords");
    if (i == DEBUGPRINTF_AT_SHADER)
        return pfd_word_set(ret, end, "shader id");
    if (i == DEBUGPRINTF_AT_POSITION && s->is_packed) {
        uint32_t position = debugprintf_offset_of(s, word_at(record_view, i));
        return pfd_word_set(
            ret, end, "stage (%s) and instruction: its place, dword %u",
            pfd_stage_name(pfd_stage_of(stage_of(s, record_view))), position);
    }
    if (i == DEBUGPRINTF_AT_POSITION)
        return pfd_word_set(ret, end, "%s", position_text(s));
    if (i == s->stage) {
        return pfd_word_set(
            ret, end, "stage (%s)",
            pfd_stage_name(pfd_stage_of(stage_of(s, record_view))));
    }
    if (is_info(s, i)) {
        return pfd_word_set(
            ret, end, "stage word: %s",
            pfd_khronos_stage_word(stage_of(s, record_view), i - s->info));
    }
    return pfd_word_set(ret, end, "%s", name_of(s, i));
}
