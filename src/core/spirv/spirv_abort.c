/* SPDX-License-Identifier: MIT */
/* The messages of OpAbortKHR: their layout, from their types. */
#include <string.h>

#include "core/spirv/spirv_module.h"

enum {
    ABORTS_MAX = 4096,       /* of one module */
    MEMBERS_MAX = 1024,      /* of one message */
    ALL_MEMBERS_MAX = 65536, /* of one module */
    DEPTH_MAX = 8,           /* structs in structs */
};

struct layout {
    struct pfd_spirv *m;
    struct pfd_spirv_abort *abort;
    bool full;    /* more members than the limit */
    bool unknown; /* the size of a member is unknown */
};

/* ---- constants ---- */

static const uint32_t *value_of(const struct pfd_spirv *m, uint32_t id,
                                uint32_t *n)
{
    for (int depth = 0; id && depth < DEPTH_MAX; depth++) {
        uint32_t k = pfd_spirv_definition(m, id);
        if (k == PFD_SPIRV_NONE)
            return NULL;
        const uint32_t *w = spirv_at(m, k, n);
        if ((w[0] & 0xffff) != PFD_SPV_COPY_LOGICAL || *n < 4)
            return w;
        id = w[3];
    }
    return NULL;
}

/* Operand i of a composite value; 0: unknown. */
static uint32_t operand_of(const struct pfd_spirv *m, uint32_t id, uint32_t i)
{
    uint32_t n = 0;
    const uint32_t *w = value_of(m, id, &n);
    if (!w || i >= n || n - i < 4)
        return 0;
    switch (w[0] & 0xffff) {
    case PFD_SPV_COMPOSITE_CONSTRUCT:
    case PFD_SPV_CONSTANT_COMPOSITE:
    case PFD_SPV_SPEC_CONSTANT_COMPOSITE:
        return w[3 + i];
    default:
        return 0;
    }
}

/* Constants of width bits, one by one, as bytes. */
static void gather(struct pfd_spirv *m, const uint32_t *ids, uint32_t n,
                   uint32_t n_bytes, struct pfd_spirv_member *ret)
{
    size_t room = m->n_words * 4;
    if (!m->known)
        m->known = spirv_alloc(m, m->n_words, 4);
    if (!m->known || (uint64_t)n * n_bytes > room - m->n_known)
        return;
    uint8_t *to = m->known + m->n_known;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = 0;
        if (!pfd_spirv_constant(m, ids[i], &v))
            return;
        memcpy(to + (size_t)i * n_bytes, &v, n_bytes);
    }
    ret->known = to;
    ret->n_known = n * n_bytes;
    m->n_known += ret->n_known;
}

/* Finds the constant content of an array of n integers of n_bytes each. */
static void find_known(struct pfd_spirv *m, uint32_t id, uint32_t n,
                       uint32_t n_bytes, struct pfd_spirv_member *ret)
{
    uint32_t n_words = 0;
    const uint32_t *w = value_of(m, id, &n_words);
    if (!w || n_words < 4)
        return;
    switch (w[0] & 0xffff) {
    case PFD_SPV_SPEC_CONSTANT_DATA:
        ret->is_specialized = true;
        __attribute__((fallthrough));
    case PFD_SPV_CONSTANT_DATA:
        ret->is_text = true;
        ret->known = (const uint8_t *)(w + 3);
        ret->n_known = (n_words - 3) * 4;
        break;
    case PFD_SPV_SPEC_CONSTANT_COMPOSITE:
        ret->is_specialized = true;
        __attribute__((fallthrough));
    case PFD_SPV_CONSTANT_COMPOSITE:
        ret->is_text = true;
        gather(m, w + 3, n_words - 3, n_bytes, ret);
        break;
    default:
        break;
    }
    if (ret->n_known > (uint64_t)n * n_bytes)
        ret->n_known = n * n_bytes;
}

/* ---- members ---- */

static struct pfd_spirv_member *add_member(struct layout *l, uint64_t offset)
{
    struct pfd_spirv *m = l->m;
    if (l->abort->n == MEMBERS_MAX || m->n_members == m->members_room ||
        offset > INT32_MAX) {
        l->full = true;
        return NULL;
    }
    struct pfd_spirv_member *ret = &m->members[m->n_members++];
    l->abort->n++;
    *ret = (struct pfd_spirv_member){ .offset = (uint32_t)offset };
    return ret;
}

static uint64_t lay_type(struct layout *l, uint32_t type, uint64_t offset,
                         uint32_t value, uint32_t matrix_stride, int depth);

static uint64_t scalar_bytes(const struct pfd_spirv_type *t)
{
    return t->width ? (t->width + 7u) / 8 : 4;
}

static uint64_t lay_scalars(struct layout *l, uint32_t type, uint64_t offset)
{
    struct pfd_spirv_type t = pfd_spirv_type_of(l->m, type);
    if (t.kind == PFD_SPIRV_OTHER || t.n > 16) {
        l->unknown = true;
        return 0;
    }
    uint32_t n_bytes = (uint32_t)scalar_bytes(&t);
    struct pfd_spirv_member *member = add_member(l, offset);
    if (member)
        member->type = t;
    if (n_bytes > l->abort->align)
        l->abort->align = n_bytes;
    return (uint64_t)t.n * n_bytes;
}

static uint64_t lay_text(struct layout *l, const struct pfd_spirv_type *t,
                         uint32_t n, uint64_t offset, uint32_t value)
{
    uint32_t n_bytes = (uint32_t)scalar_bytes(t);
    struct pfd_spirv_member text = { .offset = (uint32_t)offset,
                                     .is_text = n_bytes == 1 };
    find_known(l->m, value, n, n_bytes, &text);
    if (!text.is_text || (uint64_t)n * n_bytes > INT32_MAX)
        return 0;
    struct pfd_spirv_member *member = add_member(l, offset);
    if (!member)
        return 0;
    *member = text;
    member->type = (struct pfd_spirv_type){
        .kind = PFD_SPIRV_UINT, .is_vector = true, .width = 8, .n = n * n_bytes
    };
    if (n_bytes > l->abort->align)
        l->abort->align = n_bytes;
    return (uint64_t)n * n_bytes;
}

static uint64_t lay_array(struct layout *l, uint32_t type, const uint32_t *w,
                          uint64_t offset, uint32_t value, int depth)
{
    struct pfd_spirv_type element = pfd_spirv_type_of(l->m, w[2]);
    uint32_t n = 0;
    uint32_t stride = 0;
    uint64_t end = 0;
    if (!pfd_spirv_constant(l->m, w[3], &n)) {
        l->unknown = true;
        return 0;
    }
    bool has_stride = spirv_decoration(l->m, type, PFD_SPIRV_NONE,
                                       PFD_DECORATION_ARRAY_STRIDE, &stride);
    if ((element.kind == PFD_SPIRV_INT || element.kind == PFD_SPIRV_UINT) &&
        !element.is_vector && element.width <= 32 && element.width >= 8 &&
        (!has_stride || stride == scalar_bytes(&element))) {
        end = lay_text(l, &element, n, offset, value);
        if (end || l->full)
            return end;
    }
    for (uint32_t i = 0; i < n && !l->full && !l->unknown; i++) {
        uint64_t at = (uint64_t)i * (has_stride ? stride : end);
        end = lay_type(l, w[2], offset + at, operand_of(l->m, value, i), 0,
                       depth + 1);
        if (!end)
            break;
    }
    l->abort->guessed |= !has_stride;
    return (uint64_t)n * (has_stride ? stride : end);
}

static uint64_t lay_matrix(struct layout *l, const uint32_t *w, uint64_t offset,
                           uint32_t stride, int depth)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < w[3] && i < 16 && !l->full; i++) {
        size = lay_type(l, w[2], offset + i * (stride ? stride : size), 0, 0,
                        depth + 1);
    }
    l->abort->guessed |= !stride;
    return w[3] <= 16 ? w[3] * (stride ? stride : size) : 0;
}

static uint64_t align_up(uint64_t v, uint64_t to)
{
    return to > 1 ? (v + to - 1) / to * to : v;
}

static uint64_t lay_struct(struct layout *l, uint32_t type, const uint32_t *w,
                           uint32_t n, uint64_t offset, uint32_t value,
                           int depth)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i + 2 < n && !l->full && !l->unknown; i++) {
        uint32_t at = 0;
        uint32_t stride = 0;
        spirv_decoration(l->m, type, i, PFD_DECORATION_MATRIX_STRIDE, &stride);
        if (!spirv_decoration(l->m, type, i, PFD_DECORATION_OFFSET, &at)) {
            struct pfd_spirv_type t = pfd_spirv_type_of(l->m, w[2 + i]);
            at = (uint32_t)align_up(end, scalar_bytes(&t));
            l->abort->guessed = true;
        }
        uint64_t size = lay_type(l, w[2 + i], offset + at,
                                 operand_of(l->m, value, i), stride, depth + 1);
        if (at + size > end)
            end = at + size;
    }
    return end;
}

/* Adds the members of a value of this type; returns its bytes, 0: unknown. */
static uint64_t lay_type(struct layout *l, uint32_t type, uint64_t offset,
                         uint32_t value, uint32_t matrix_stride, int depth)
{
    uint32_t k = pfd_spirv_definition(l->m, type);
    uint32_t n = 0;
    const uint32_t *w = k == PFD_SPIRV_NONE ? NULL : spirv_at(l->m, k, &n);
    if (!w || depth > DEPTH_MAX) {
        l->unknown = true;
        return 0;
    }
    switch (w[0] & 0xffff) {
    case PFD_SPV_TYPE_STRUCT:
        return lay_struct(l, type, w, n, offset, value, depth);
    case PFD_SPV_TYPE_ARRAY:
        if (n >= 4)
            return lay_array(l, type, w, offset, value, depth);
        break;
    case PFD_SPV_TYPE_MATRIX:
        if (n >= 4)
            return lay_matrix(l, w, offset, matrix_stride, depth);
        break;
    default:
        return lay_scalars(l, type, offset);
    }
    l->unknown = true;
    return 0;
}

static void add_abort(struct pfd_spirv *m, uint32_t k, const uint32_t *w)
{
    struct pfd_spirv_abort *a = &m->aborts[m->n_aborts++];
    *a = (struct pfd_spirv_abort){ .k = k,
                                   .align = 1,
                                   .first = (uint32_t)m->n_members };
    struct layout l = { .m = m, .abort = a };
    uint64_t size = lay_type(&l, w[1], 0, w[2], 0, 0);
    a->size = l.unknown || l.full || size > INT32_MAX ? 0 : (uint32_t)size;
}

bool spirv_index_aborts(struct pfd_spirv *m, struct pfd_report *report)
{
    size_t n = 0;
    for (uint32_t k = 0; k < m->n; k++)
        n += spirv_op(m, k) == PFD_SPV_ABORT;
    if (!n)
        return true;
    size_t n_kept = n < ABORTS_MAX ? n : ABORTS_MAX;
    m->aborts = spirv_alloc(m, n_kept, sizeof *m->aborts);
    m->members_room = 64 + 4 * m->n_words;
    if (m->members_room > ALL_MEMBERS_MAX)
        m->members_room = ALL_MEMBERS_MAX;
    m->members = spirv_alloc(m, m->members_room, sizeof *m->members);
    if (!m->aborts || !m->members)
        return false;
    for (uint32_t k = 0; k < m->n && m->n_aborts < n_kept; k++) {
        uint32_t n_words = 0;
        const uint32_t *w = spirv_at(m, k, &n_words);
        if ((w[0] & 0xffff) == PFD_SPV_ABORT && n_words >= 3)
            add_abort(m, k, w);
    }
    if (n > n_kept || m->n_members == m->members_room) {
        pfd_report_add(report, PFD_FINDING_bad_spirv, PFD_NO_OFFSET,
                       "%zu OpAbortKHR with %zu members; at most %d and %d are "
                       "looked at",
                       n, m->n_members, ABORTS_MAX, (int)m->members_room);
    }
    return true;
}

size_t pfd_spirv_n_aborts(const struct pfd_spirv *m)
{
    return m->n_aborts;
}

const struct pfd_spirv_abort *pfd_spirv_abort(const struct pfd_spirv *m,
                                              size_t i)
{
    return &m->aborts[i];
}

const struct pfd_spirv_member *pfd_spirv_member(const struct pfd_spirv *m,
                                                uint32_t i)
{
    return &m->members[i];
}
