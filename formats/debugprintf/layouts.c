/* SPDX-License-Identifier: MIT */
/*
 * The layouts of debugPrintf buffers, one for each period of the layer;
 * README.md beside this file has the sources.
 */
#include "core/spirv/shader_table.h"
#include "layout.h"

enum {
    DWORD = 4
};

/* At first, SPIRV-Tools counted positions, including the copies of lines that
 * it makes; later the layer counts them. */
#define BY_TOOLS                                       \
    2,                                                 \
    {                                                  \
        DEBUGPRINTF_BY_COUNTED, DEBUGPRINTF_BY_ORDINAL \
    }
#define BY_LAYER                                       \
    2,                                                 \
    {                                                  \
        DEBUGPRINTF_BY_ORDINAL, DEBUGPRINTF_BY_COUNTED \
    }
#define BY_EITHER                                                             \
    3,                                                                        \
    {                                                                         \
        DEBUGPRINTF_BY_OFFSET, DEBUGPRINTF_BY_ORDINAL, DEBUGPRINTF_BY_COUNTED \
    }
#define BY_OFFSET             \
    1,                        \
    {                         \
        DEBUGPRINTF_BY_OFFSET \
    }

/* In the order in which they are tried. */
const struct debugprintf_shape debugprintf_shapes[DEBUGPRINTF_N_SHAPES] = {
    { "p6", PFD_PRINTF_LAYOUT_P6, 1, 10, 0, 3, 6, 7, 8, 9, 0, true, BY_OFFSET,
      PFD_KHRONOS_NOW },
    { "p5", PFD_PRINTF_LAYOUT_P5, 1, 11, 7, 8, 3, 4, 5, 6, 0, false, BY_EITHER,
      PFD_KHRONOS_NOW },
    { "p2", PFD_PRINTF_LAYOUT_P2, 2, 8, 3, 4, 7, 0, 0, 0, 0, false, BY_TOOLS,
      PFD_KHRONOS_OLD },
    { "p1", PFD_PRINTF_LAYOUT_P1, 1, 8, 3, 4, 7, 0, 0, 0, 0, false, BY_TOOLS,
      PFD_KHRONOS_OLD },
    { "p3", PFD_PRINTF_LAYOUT_P3, 2, 4, 0, 0, 3, 0, 0, 0, 0, false, BY_TOOLS,
      PFD_KHRONOS_OLD },
    { "p4", PFD_PRINTF_LAYOUT_P4, 1, 9, 5, 6, 3, 4, 0, 0, 0, false, BY_LAYER,
      PFD_KHRONOS_NOW },
    { "p4", PFD_PRINTF_LAYOUT_P4, 1, 8, 4, 5, 3, 0, 0, 0, PFD_RECORD_OWN, false,
      BY_LAYER, PFD_KHRONOS_NOW },
    { "p4", PFD_PRINTF_LAYOUT_P4, 1, 4, 0, 0, 3, 0, 0, 0, PFD_RECORD_OWN, false,
      BY_LAYER, PFD_KHRONOS_NOW },
};

const struct debugprintf_shape *debugprintf_shape_of(const struct pfd_record *r)
{
    for (size_t i = 0; i < DEBUGPRINTF_N_SHAPES; i++) {
        if (debugprintf_shapes[i].header * DWORD == r->n_header &&
            debugprintf_shapes[i].flag == (r->flags & PFD_RECORD_OWN))
            return &debugprintf_shapes[i];
    }
    return &debugprintf_shapes[0];
}

uint32_t debugprintf_offset_of(const struct debugprintf_shape *s,
                               uint32_t position)
{
    return s->is_packed ? position & ((1u << DEBUGPRINTF_OFFSET_BITS) - 1)
                        : position;
}

size_t debugprintf_call_at(const struct pfd_spirv *m, uint32_t k)
{
    size_t n = pfd_spirv_call_count(m);
    size_t low = 0;
    size_t high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (pfd_spirv_call_instruction(m, mid) < k) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < n && pfd_spirv_call_instruction(m, low) == k ? low : n;
}
