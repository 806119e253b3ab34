/* SPDX-License-Identifier: MIT */
/* The variable that an instruction accesses, and its decorations. */
#include <stdlib.h>

#include "core/spirv/spirv_module.h"

enum {
    /* Limit of pointers of pointers that are followed. */
    DEPTH_MAX = 64,
    OP_LOAD = 61,
    OP_STORE = 62,
    PHYSICAL_STORAGE_BUFFER = 5349, /* a storage class */
    ALIGNED = 2,                    /* of memory operands: their first word */
};

/* ---- decorations ---- */

static int by_target(const void *a, const void *b)
{
    const struct spirv_decoration *x = a;
    const struct spirv_decoration *y = b;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

/* Reads instruction k as a decoration of an address. */
static bool read_decoration(const struct pfd_spirv *m, uint32_t k,
                            struct spirv_decoration *ret)
{
    uint32_t n = 0;
    const uint32_t *w = spirv_at(m, k, &n);
    uint32_t op = w[0] & 0xffff;
    if (op == PFD_SPV_DECORATE && n == 4) {
        *ret = (struct spirv_decoration){ w[1], PFD_SPIRV_NONE, w[2], w[3] };
    } else if (op == PFD_SPV_MEMBER_DECORATE && n == 5) {
        *ret = (struct spirv_decoration){ w[1], w[2], w[3], w[4] };
    } else {
        return false;
    }
    switch (ret->kind) {
    case PFD_DECORATION_OFFSET:
    case PFD_DECORATION_ARRAY_STRIDE:
    case PFD_DECORATION_MATRIX_STRIDE:
    case PFD_DECORATION_BINDING:
    case PFD_DECORATION_SET:
        return true;
    default:
        return false;
    }
}

bool spirv_index_decorations(struct pfd_spirv *m)
{
    struct spirv_decoration d;
    size_t n = 0;
    for (uint32_t k = 0; k < m->n; k++)
        n += read_decoration(m, k, &d);
    m->decorations = spirv_alloc(m, n, sizeof *m->decorations);
    if (!m->decorations)
        return false;
    for (uint32_t k = 0; k < m->n; k++) {
        if (read_decoration(m, k, &d))
            m->decorations[m->n_decorations++] = d;
    }
    qsort(m->decorations, n, sizeof *m->decorations, by_target);
    return true;
}

bool spirv_decoration(const struct pfd_spirv *m, uint32_t target,
                      uint32_t member, uint32_t kind, uint32_t *ret)
{
    struct spirv_decoration key = { target, member, kind, 0 };
    const struct spirv_decoration *d =
        bsearch(&key, m->decorations, m->n_decorations, sizeof key, by_target);
    if (d)
        *ret = d->value;
    return d != NULL;
}

/* ---- accesses ---- */

/* Core instructions that access memory or an image, and which of their words is
 * the pointer or the image (SPIR-V 1.6). */
static const struct access_row {
    uint16_t first; /* opcode */
    uint16_t last;
    uint8_t word;
    bool is_image;
} rows[] = {
    { 60, 60, 3, true },    /* OpImageTexelPointer */
    { 61, 61, 3, false },   /* OpLoad */
    { 62, 64, 1, false },   /* OpStore, OpCopyMemory, OpCopyMemorySized */
    { 68, 68, 3, false },   /* OpArrayLength */
    { 87, 98, 3, true },    /* OpImageSample*, Fetch, Gather, Read */
    { 99, 99, 1, true },    /* OpImageWrite */
    { 101, 107, 3, true },  /* OpImageQuery* */
    { 227, 227, 3, false }, /* OpAtomicLoad */
    { 228, 228, 1, false }, /* OpAtomicStore */
    { 229, 242, 3, false }, /* OpAtomic* */
    { 305, 315, 3, true },  /* OpImageSparse* */
    { 318, 318, 3, false }, /* OpAtomicFlagTestAndSet */
    { 319, 319, 1, false }, /* OpAtomicFlagClear */
    { 320, 320, 3, true },  /* OpImageSparseRead */
};

static const struct access_row *row_of(uint32_t op)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (op >= rows[i].first && op <= rows[i].last)
            return &rows[i];
    }
    return NULL;
}

/* Instructions whose third word leads on to the variable: loads, chains,
 * copies, and conversions of images to images. */
static bool leads_on(uint32_t op)
{
    return op == 60 || op == 61 || (op >= 65 && op <= 67) || op == 70 ||
           op == 83 || op == 86 || op == 100;
}

static bool find_variable(const struct pfd_spirv *m, uint32_t id, uint32_t *ret)
{
    for (int i = 0; i < DEPTH_MAX; i++) {
        uint32_t n = 0;
        uint32_t k = pfd_spirv_definition(m, id);
        if (k == PFD_SPIRV_NONE)
            return false;
        const uint32_t *w = spirv_at(m, k, &n);
        if ((w[0] & 0xffff) == PFD_SPV_VARIABLE) {
            *ret = id;
            return true;
        }
        if (!leads_on(w[0] & 0xffff) || n < 4)
            return false;
        id = w[3];
    }
    return false;
}

/* Is this a pointer of physical memory? */
static bool is_address(const struct pfd_spirv *m, uint32_t id)
{
    uint32_t n = 0;
    uint32_t k = pfd_spirv_definition(m, id);
    if (k == PFD_SPIRV_NONE)
        return false;
    const uint32_t *w = spirv_at(m, k, &n);
    k = n > 2 ? pfd_spirv_definition(m, w[1]) : PFD_SPIRV_NONE;
    if (k == PFD_SPIRV_NONE)
        return false;
    w = spirv_at(m, k, &n);
    return (w[0] & 0xffff) == PFD_SPV_TYPE_POINTER && n > 2 &&
           w[2] == PHYSICAL_STORAGE_BUFFER;
}

/* The alignment in the memory operands of a load or store; 0: none. */
static uint32_t alignment_of(const uint32_t *w, uint32_t n)
{
    uint32_t op = w[0] & 0xffff;
    uint32_t at = op == OP_LOAD ? 4 : op == OP_STORE ? 3 : n;
    return at + 1 < n && w[at] & ALIGNED ? w[at + 1] : 0;
}

bool pfd_spirv_access(const struct pfd_spirv *m, uint32_t k,
                      struct pfd_spirv_access *ret)
{
    uint32_t n = 0;
    uint32_t variable = 0;
    const uint32_t *w = spirv_at(m, k, &n);
    const struct access_row *row = row_of(w[0] & 0xffff);
    *ret = (struct pfd_spirv_access){ 0 };
    if (!row || n <= row->word)
        return false;
    ret->is_image = row->is_image;
    ret->is_address = !row->is_image && is_address(m, w[row->word]);
    ret->alignment = ret->is_address ? alignment_of(w, n) : 0;
    if (find_variable(m, w[row->word], &variable)) {
        ret->has_set = spirv_decoration(m, variable, PFD_SPIRV_NONE,
                                        PFD_DECORATION_SET, &ret->set);
        ret->has_binding = spirv_decoration(
            m, variable, PFD_SPIRV_NONE, PFD_DECORATION_BINDING, &ret->binding);
    }
    return true;
}
