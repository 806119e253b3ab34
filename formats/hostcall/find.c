/* SPDX-License-Identifier: MIT */
/*
 * Finds pools in memory, where the address of each byte is known. A pool is one
 * allocation, so the lowest of its pointers is the address right behind its
 * header.
 */
#include "layout.h"

enum {
    POINTERS = 5, /* of the 2026 pool; the old one has two */
    PACKETS_MAX = 1 << 24,
    /* Packet headers that are examined. Objects with a pointer into themselves
     * are common. */
    LOOKED_MAX = 1024,
};

/* A possible pool at `at`. */
struct pool {
    const struct pfd_field *field;
    size_t at;
    uint64_t start; /* address behind its header */
};

static uint64_t qword(const struct pool *p, unsigned i)
{
    const struct pfd_byte_reader c =
        pfd_byte_reader(p->field->bytes, p->field->n);
    return pfd_byte_reader_peek_u64(&c, p->at + (size_t)i * HOSTCALL_QWORD);
}

/* The end of [n] items of a size at pointer i, as an offset in the pool; 0: the
 * pointer leads elsewhere. */
static uint64_t end_of(const struct pool *p, unsigned i, uint64_t n,
                       uint64_t size)
{
    uint64_t pointer = qword(p, i);
    if (pointer < p->start || pointer - p->start > UINT32_MAX)
        return 0;
    return HOSTCALL_POOL_HEADER + (pointer - p->start) + n * size;
}

static uint32_t word(const struct pool *p, uint64_t at)
{
    const struct pfd_byte_reader c =
        pfd_byte_reader(p->field->bytes, p->field->n);
    return pfd_byte_reader_peek_u32(&c, p->at + (size_t)at);
}

/* Are these [n] packet headers, the first at offset `at` of the pool? Each has
 * an existing service, or none yet; in an old pool, also a control word. */
static bool are_headers(const struct pool *p, uint64_t at, uint64_t n,
                        bool is_old)
{
    uint64_t size = is_old ? HOSTCALL_HEADER_OLD : HOSTCALL_HEADER_NEW;
    uint64_t service = is_old ? 16 : 8;
    n = n < LOOKED_MAX ? n : LOOKED_MAX;
    if (at > p->field->n - p->at || p->field->n - p->at - at < n * size)
        return false;
    for (uint64_t i = 0; i < n; i++, at += size) {
        if (word(p, at + service) > HOSTCALL_SERVICE_MAX ||
            word(p, at + service + 4) > is_old)
            return false;
    }
    return true;
}

static uint64_t measure_old(const struct pool *p)
{
    uint64_t mask = qword(p, 5);
    uint64_t n = mask + 1;
    if (qword(p, 0) != p->start || mask & n || mask >= PACKETS_MAX)
        return 0;
    uint64_t headers = end_of(p, 0, n, HOSTCALL_HEADER_OLD);
    uint64_t payloads = end_of(p, 1, n, HOSTCALL_PAYLOAD);
    return payloads && payloads - n * HOSTCALL_PAYLOAD >= headers &&
                   are_headers(p, HOSTCALL_POOL_HEADER, n, true)
               ? payloads
               : 0;
}

static uint64_t measure_new(const struct pool *p)
{
    static const uint64_t sizes[POINTERS] = { 4, 4, 4, HOSTCALL_HEADER_NEW,
                                              HOSTCALL_PAYLOAD };
    uint64_t n = (uint32_t)qword(p, 6);
    uint64_t end = 0;
    bool has_lowest = false;
    if (!n || n > PACKETS_MAX)
        return 0;
    for (unsigned i = 0; i < POINTERS; i++) {
        uint64_t one = end_of(p, i, n, sizes[i]);
        if (!one)
            return 0;
        end = one > end ? one : end;
        has_lowest |= qword(p, i) == p->start;
    }
    uint64_t headers = HOSTCALL_POOL_HEADER + (qword(p, 3) - p->start);
    return has_lowest && are_headers(p, headers, n, false) ? end : 0;
}

/* Does one of the pointers lead to the end of the header? */
static inline bool leads_behind(const struct pool *p)
{
    bool is_any = false;
    for (unsigned i = 0; i < POINTERS; i++)
        is_any |= qword(p, i) == p->start;
    return is_any;
}

size_t hostcall_find(const struct pfd_field *field, size_t from, size_t to,
                     struct pfd_whole *ret)
{
    size_t at = from + (size_t)(-(field->address + from) % HOSTCALL_QWORD);
    for (; at < to && field->n - at >= HOSTCALL_POOL_HEADER;
         at += HOSTCALL_QWORD) {
        const struct pool p = { field, at,
                                field->address + at + HOSTCALL_POOL_HEADER };
        if (__builtin_expect(!leads_behind(&p), 1))
            continue;
        uint64_t n = measure_old(&p);
        n = n ? n : measure_new(&p);
        if (!n)
            continue;
        *ret = (struct pfd_whole){
            .size = n,
            .used = n,
            .is_sure = n <= field->n - at,
            .why = "a pool whose pointers lead into itself",
        };
        return at;
    }
    return to;
}
