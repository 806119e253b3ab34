/* SPDX-License-Identifier: MIT */
/* Finds buffers in memory: the position, format id, size, masks, stage and
 * values of their first records match calls of a loaded shader. */
#include "layout.h"

enum {
    DWORD = 4,
    ALIGNMENT = 16, /* smallest alignment of storage buffers that devices
                       require */
    LOOKED_MAX = 64,
    SIZE_MIN = 4,  /* dwords of the smallest record header */
    HEAD_MAX = 13, /* dwords of both headers together, at most */
    CALLS_MAX = 256,
    /* Consecutive records that cannot match by chance; one is enough if the
     * header's count is exactly its size. */
    RECORDS_MIN = 2,
};

/* A bit for each format id of a loaded call, by the id's lower bits. */
static uint64_t format_bits(const struct pfd_shader_table *shader_table)
{
    uint64_t ret = 0;
    size_t n = 0;
    for (size_t i = 0; i < shader_table->n; i++) {
        const struct pfd_spirv *m = shader_table->shaders[i].module;
        for (size_t k = 0; k < pfd_spirv_call_count(m); k++) {
            struct pfd_spirv_call call;
            if (n++ == CALLS_MAX)
                return UINT64_MAX;
            pfd_spirv_call_get(m, k, &call);
            ret |= UINT64_C(1) << call.format_id % 64;
        }
    }
    return ret;
}

/* Can words i and i + 1 be a count and the size of a first record? */
static inline bool has_size(const uint8_t *bytes, unsigned i)
{
    uint32_t count = debugprintf_word(bytes, i);
    uint32_t size = debugprintf_word(bytes, i + 1);
    return size >= SIZE_MIN && size <= count && size <= DEBUGPRINTF_RECORD_MAX;
}

/* Can the first record of this layout be here? All of its header is in view. */
static bool is_likely(const struct debugprintf_shape *s, const uint8_t *bytes,
                      uint64_t formats)
{
    uint32_t format = debugprintf_word(bytes, (size_t)s->data + s->format);
    bool has_flags = s->data > 1 && debugprintf_word(bytes, 0);
    return has_size(bytes, s->data - 1u) && !has_flags &&
           debugprintf_word(bytes, s->data) >= s->header &&
           formats >> format % 64 & 1;
}

/* The end, in bytes, of the records of calls from the first one on; 0: they may
 * match by chance. The count may be too small, so records after it are
 * included. */
static uint64_t follow(const struct pfd_walk *w,
                       const struct debugprintf_shape *s, uint32_t count)
{
    uint64_t at = (uint64_t)s->data * DWORD;
    uint64_t stated = at + (uint64_t)count * DWORD;
    bool is_sure = false;
    for (unsigned n = 1;
         n <= LOOKED_MAX && w->view.n - at >= (uint64_t)s->header * DWORD;
         n++) {
        struct debugprintf_head h = debugprintf_head_at(w, s, at);
        if (h.size < s->header || h.size > (w->view.n - at) / DWORD ||
            !debugprintf_is_of_call(w, s, &h, w->view.n - at))
            break;
        at += (uint64_t)h.size * DWORD;
        is_sure |= n >= RECORDS_MIN || at == stated;
    }
    return is_sure ? at : 0;
}

static bool find_shape(const struct pfd_walk *w, uint64_t formats,
                       struct pfd_whole *ret)
{
    for (size_t i = 0; i < DEBUGPRINTF_N_SHAPES; i++) {
        const struct debugprintf_shape *s = &debugprintf_shapes[i];
        uint32_t count = debugprintf_word(w->view.base, s->data - 1u);
        uint64_t end =
            is_likely(s, w->view.base, formats) ? follow(w, s, count) : 0;
        uint64_t stated = ((uint64_t)s->data + count) * DWORD;
        if (!end)
            continue;
        *ret = (struct pfd_whole){
            .size = end > stated ? end : stated,
            .used = end > stated ? end : stated,
            .has_no_size = true,
            .why = "records of debugPrintf calls of a loaded shader",
        };
        ret->is_sure = ret->used <= w->view.n;
        return true;
    }
    return false;
}

size_t debugprintf_find(const struct pfd_field *field, size_t from, size_t to,
                        struct pfd_whole *ret)
{
    static const struct pfd_options options;
    struct pfd_walk w = {
        .last = true,
        .table = field->table,
        .shader_table = field->shader_table,
        .options = &options,
    };
    size_t at = from + (size_t)(-(field->address + from) % ALIGNMENT);
    uint64_t formats = 0;
    for (; field->table->n && at < to && field->n - at >= HEAD_MAX * DWORD;
         at += ALIGNMENT) {
        const uint8_t *bytes = field->bytes + at;
        if (!has_size(bytes, 0) && !has_size(bytes, 1))
            continue;
        formats = formats ? formats : format_bits(field->shader_table);
        w.view = pfd_byte_reader(bytes, field->n - at);
        if (find_shape(&w, formats, ret))
            return at;
    }
    return to;
}
