/* SPDX-License-Identifier: MIT */
#include "core/objects/coff.h"

#include <string.h>

enum {
    PE_AT = 60,          /* where "PE\0\0" is, u32 */
    PE_AT_MAX = 1 << 16, /* behind a DOS program, which is small */
    SIGNATURE = 4,       /* "PE\0\0" */
    HEADER = 20,         /* of COFF */
    BIG_HEADER = 56,     /* of objects with many sections (/bigobj) */
    SECTION = 40,        /* a row of the table */
    NAME = 8,            /* longer ones are "/N", in the table of strings */
    SYMBOL = 18,         /* a row of the table before the strings */
    BIG_SYMBOL = 20,
    SECTIONS_MAX = 4096,
    BIG_SECTIONS_MAX = 1 << 20,
    NAME_LONGEST = 1024, /* of which more is not looked at: names overlap */
    MACHINE_AMD64 = 0x8664,
    MACHINE_ARM64 = 0xaa64,
};

struct header {
    size_t at; /* of COFF's header in the file */
    size_t n_header;
    unsigned n_sections;
    uint64_t strings; /* where the table of strings is */
    size_t n_optional;
};

static unsigned u16(const uint8_t *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

static uint32_t u32(const uint8_t *p)
{
    return u16(p) | (uint32_t)u16(p + 2) << 16;
}

static void read_header(const uint8_t *p, size_t at, struct header *ret)
{
    ret->at = at;
    ret->n_header = HEADER;
    ret->n_sections = u16(p + 2);
    ret->strings = u32(p + 8) + (uint64_t)u32(p + 12) * SYMBOL;
    ret->n_optional = u16(p + 16);
}

static bool is_program(const uint8_t *p, size_t n)
{
    if (n < PE_AT + 4 || p[0] != 'M' || p[1] != 'Z')
        return false;
    uint32_t at = u32(p + PE_AT);
    if (at < PE_AT + 4 || at > PE_AT_MAX)
        return false;
    return n < (size_t)at + SIGNATURE || !memcmp(p + at, "PE\0\0", SIGNATURE);
}

static bool is_name(const uint8_t *p)
{
    size_t n = 0;
    while (n < NAME && p[n] > ' ' && p[n] < 0x7f)
        n++;
    for (size_t i = n; i < NAME; i++) {
        if (p[i])
            return false;
    }
    return n > 1;
}

/* Of objects with many sections: other fields, and a class that says so. */
static bool is_big(const uint8_t *p, size_t n)
{
    static const uint8_t class[] = { 0xc7, 0xa1, 0xba, 0xd1, 0xee, 0xba,
                                     0xa9, 0x4b, 0xaf, 0x20, 0xfa, 0xf6,
                                     0x6a, 0xa4, 0xdc, 0xb8 };
    return n >= BIG_HEADER && !u16(p) && u16(p + 2) == 0xffff &&
           !memcmp(p + 12, class, sizeof class);
}

static void read_big(const uint8_t *p, struct header *ret)
{
    uint32_t n = u32(p + 44);
    *ret = (struct header){
        .n_header = BIG_HEADER,
        .n_sections = n < BIG_SECTIONS_MAX ? n : BIG_SECTIONS_MAX,
        .strings = u32(p + 48) + (uint64_t)u32(p + 52) * BIG_SYMBOL,
    };
}

/* An object begins with the machine: two bytes, so that more has to be right. */
static bool is_object(const uint8_t *p, size_t n)
{
    struct header h;
    if (n < HEADER + SECTION)
        return false;
    read_header(p, 0, &h);
    return (u16(p) == MACHINE_AMD64 || u16(p) == MACHINE_ARM64) &&
           h.n_sections > 0 && h.n_sections <= SECTIONS_MAX &&
           h.n_optional == 0 && is_name(p + HEADER);
}

bool pfd_coff_recognise(const void *bytes, size_t n)
{
    return is_program(bytes, n) || is_object(bytes, n) || is_big(bytes, n);
}

static bool find_header(struct pfd_byte_reader file, struct header *ret)
{
    const uint8_t *p = file.base;
    size_t at = 0;
    if (is_big(p, file.n)) {
        read_big(p, ret);
        return true;
    }
    if (is_program(p, file.n)) {
        at = u32(p + PE_AT) + SIGNATURE;
    } else if (!is_object(p, file.n)) {
        return false;
    }
    if (file.n < at + HEADER)
        return false;
    read_header(p + at, at, ret);
    return true;
}

/* "/123" is an offset in the table of strings. */
static void set_name(struct pfd_byte_reader file, const struct header *h,
                     const char *name, struct pfd_coff_section *ret)
{
    uint64_t at = 0;
    ret->name = name;
    ret->n_name = strnlen(name, NAME);
    if (name[0] != '/')
        return;
    for (size_t i = 1; i < ret->n_name; i++) {
        if (name[i] < '0' || name[i] > '9')
            return;
        at = 10 * at + (unsigned)(name[i] - '0');
    }
    at += h->strings;
    if (h->strings && at < file.n) {
        ret->name = (const char *)file.base + at;
        size_t left = file.n - (size_t)at;
        ret->n_name =
            strnlen(ret->name, left < NAME_LONGEST ? left : NAME_LONGEST);
    }
}

bool pfd_coff_section(struct pfd_byte_reader file, size_t i,
                      struct pfd_coff_section *ret)
{
    struct header h;
    if (!find_header(file, &h) || i >= h.n_sections)
        return false;
    uint64_t at = h.at + h.n_header + h.n_optional + (uint64_t)i * SECTION;
    if (at + SECTION > file.n)
        return false;
    const uint8_t *row = file.base + at;
    uint32_t n_used = u32(row + 8);
    uint32_t n = u32(row + 16);
    struct pfd_byte_reader c = file;
    /* Bytes beyond the size in memory are padding of the file; objects have no
     * such size. */
    n = n_used && n_used < n ? n_used : n;
    ret->offset = u32(row + 20);
    set_name(file, &h, (const char *)row, ret);
    pfd_byte_reader_seek(&c, ret->offset);
    size_t left = pfd_byte_reader_ok(&c) ? pfd_byte_reader_left(&c) : 0;
    ret->bytes = left ? pfd_byte_reader_sub(&c, n < left ? n : left)
                      : pfd_byte_reader(file.base, 0);
    return true;
}

bool pfd_coff_is_cut(struct pfd_byte_reader file)
{
    struct header h;
    uint64_t table;
    if (!find_header(file, &h))
        return true;
    table = h.at + h.n_header + (uint64_t)h.n_optional;
    return table + (uint64_t)h.n_sections * SECTION > file.n;
}
