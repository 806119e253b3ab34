/* SPDX-License-Identifier: MIT */
/*
 * Finds buffers in memory, of layers whose header has two words (since SDK
 * 1.3.236). Records without groups (before SDK 1.3.280) have numbers so small
 * that only the shader can confirm them.
 */
#include "layout.h"

enum {
    DATA = 2,         /* dword of the first record */
    FLAGS_MAX = 3,    /* largest flags before the count */
    ALIGNMENT = 16,   /* smallest alignment of storage buffers that devices
                         require */
    SIZE_MIN = 10,    /* dwords of the smallest record since then */
    GROUPED_MIN = 14, /* dwords with a group, before the current layout */
    RECORDS_MIN = 3,  /* consecutive records of that kind to be sure */
    LOOKED_MAX = 64,
};

/* Consecutive records. */
struct chain {
    uint32_t n;     /* records */
    uint32_t n_now; /* records in the current layout */
    uint32_t
        n_known;  /* and records that match an instruction of a loaded shader */
    uint32_t end; /* dwords of all records */
    bool meets;   /* one of the records ends where the count says */
};

static bool fits_shader(const struct pfd_field *field, const uint8_t *bytes,
                        uint32_t size)
{
    struct gpuav_record record;
    gpuav_read(bytes, size, false, &record);
    struct gpuav_place place = gpuav_place_of(field->shader_table, &record);
    return place.shader && !place.is_wrong && place.k != PFD_SPIRV_NONE;
}

/* Follows records also beyond the count, which may be too small. */
static struct chain follow(const struct pfd_field *field, const uint8_t *bytes,
                           size_t n_bytes, uint32_t count)
{
    struct chain ret = { 0 };
    while (ret.n < LOOKED_MAX) {
        size_t at = ((size_t)DATA + ret.end) * GPUAV_DWORD;
        if (n_bytes - at < SIZE_MIN * GPUAV_DWORD)
            break;
        size_t left = n_bytes - at;
        uint32_t size = gpuav_plausible(bytes + at, left, DATA);
        if (size < SIZE_MIN || size > left / GPUAV_DWORD)
            break;
        ret.n++;
        ret.n_now += size == GPUAV_NOW;
        ret.n_known +=
            field->shader_table->n && fits_shader(field, bytes + at, size);
        ret.end += size;
        ret.meets |= ret.end == count;
    }
    return ret;
}

/* Are the records no chance match? Current records have their group in the
 * upper bits of a word. Records of the period before have small numbers only,
 * so several are needed; older ones need a matching shader. */
static bool is_sure(const struct chain *c, uint32_t count, uint32_t size)
{
    bool is_exact = c->meets || (c->n == LOOKED_MAX && c->end < count);
    if (c->n_known)
        return is_exact || c->n > 1;
    return c->n_now ? is_exact || c->n_now > 1
                    : size >= GROUPED_MIN && is_exact && c->n >= RECORDS_MIN;
}

size_t gpuav_find(const struct pfd_field *field, size_t from, size_t to,
                  struct pfd_whole *ret)
{
    size_t at = from + (size_t)(-(field->address + from) % ALIGNMENT);
    for (; at < to && field->n - at >= (DATA + SIZE_MIN) * GPUAV_DWORD;
         at += ALIGNMENT) {
        const uint8_t *bytes = field->bytes + at;
        uint32_t count = gpuav_word(bytes, 1);
        uint32_t size = gpuav_word(bytes, DATA);
        if (size - SIZE_MIN > GPUAV_RECORD_MAX - SIZE_MIN ||
            gpuav_word(bytes, 0) > FLAGS_MAX || count < size)
            continue;
        struct chain c = follow(field, bytes, field->n - at, count);
        if (!is_sure(&c, count, size))
            continue;
        uint64_t n = DATA + (uint64_t)(c.end > count ? c.end : count);
        *ret = (struct pfd_whole){
            .size = n * GPUAV_DWORD,
            .used = n * GPUAV_DWORD,
            .is_sure = c.meets,
            .has_no_size = true,
            .why = c.n_known ? "records of errors that a loaded shader can have"
                             : "records with groups and codes of the layer",
        };
        return at;
    }
    return to;
}
