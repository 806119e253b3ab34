/* SPDX-License-Identifier: MIT */
#include "core/objects/site_rows.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/fnv.h"

enum {
    MAGIC_BYTES = 8,
    ID_AT = 16,
};

_Static_assert(sizeof(struct pfd_row_header) == PFD_ROW_HEADER, "of no holes");

/* 48 bits of the hash, mixed with the final steps of MurmurHash3; the highest
 * bit is set. */
static uint64_t hash_id(uint64_t h)
{
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (h ^ h >> 33) >> 16 | UINT64_C(1) << 47;
}

static struct pfd_row_header read_header(struct pfd_byte_reader *c)
{
    struct pfd_row_header ret = { .magic = pfd_byte_reader_u64(c) };
    ret.n_bytes = pfd_byte_reader_u32(c);
    ret.kind = pfd_byte_reader_u8(c);
    ret.level = pfd_byte_reader_u8(c);
    ret.flags = pfd_byte_reader_u8(c);
    ret.n_types = pfd_byte_reader_u8(c);
    ret.id = pfd_byte_reader_u64(c);
    ret.line = pfd_byte_reader_u32(c);
    ret.n_text = pfd_byte_reader_u16(c);
    ret.n_file = pfd_byte_reader_u16(c);
    return ret;
}

/* Hashes a row without its magic and its id. */
static uint64_t id_of(const struct pfd_site_row *row)
{
    uint64_t h = pfd_fnv1a(PFD_FNV_START, row->bytes + MAGIC_BYTES, 8);
    return hash_id(
        pfd_fnv1a(h, row->bytes + 24, row->header.n_bytes - (size_t)24));
}

/* Reads a row that begins here; false: these bytes only look like one. */
static bool read_row(struct pfd_byte_reader c, struct pfd_site_row *ret)
{
    ret->offset = c.at;
    ret->bytes = c.base + c.at;
    ret->header = read_header(&c);
    const struct pfd_row_header *h = &ret->header;
    size_t n = (size_t)h->n_types + h->n_text + h->n_file;
    if (!pfd_byte_reader_ok(&c) || h->n_bytes % 8 ||
        h->n_bytes < PFD_ROW_HEADER || h->n_bytes - PFD_ROW_HEADER < n ||
        h->n_bytes - PFD_ROW_HEADER > n + 8 || h->n_types > PFD_ROW_TYPES_MAX)
        return false;
    ret->types = (const char *)pfd_byte_reader_bytes(&c, h->n_types);
    ret->text = (const char *)pfd_byte_reader_bytes(&c, h->n_text);
    ret->file = (const char *)pfd_byte_reader_bytes(&c, h->n_file);
    pfd_byte_reader_skip(&c, h->n_bytes - PFD_ROW_HEADER - n);
    return pfd_byte_reader_ok(&c) && id_of(ret) == h->id;
}

/* The magic number in bytes [n], or NULL. Its third byte is the rarest in code
 * and in text. */
static const uint8_t *find_magic(const uint8_t *bytes, size_t n)
{
    enum {
        RARE = 2
    };
    const uint64_t magic = PFD_ROW_MAGIC;
    for (size_t at = 0; n - at >= sizeof magic; at++) {
        const uint8_t *rare =
            memchr(bytes + at + RARE, PFD_ROW_MAGIC >> 16 & 255,
                   n - at - sizeof magic + 1);
        if (!rare)
            return NULL;
        at = (size_t)(rare - bytes) - RARE;
        if (!memcmp(bytes + at, &magic, sizeof magic))
            return bytes + at;
    }
    return NULL;
}

bool pfd_site_row_next(const struct pfd_byte_reader *bytes, size_t *at,
                       struct pfd_site_row *ret)
{
    struct pfd_byte_reader c = pfd_byte_reader(bytes->base, bytes->n);
    while (c.at < c.n && *at < c.n) {
        const uint8_t *found = find_magic(c.base + *at, c.n - *at);
        if (!found)
            return false;
        c.at = (size_t)(found - c.base);
        if (read_row(c, ret)) {
            *at = c.at + ret->header.n_bytes;
            return true;
        }
        *at = c.at + 1;
    }
    return false;
}

void pfd_site_row_write(struct pfd_site_row *row, struct pfd_text *ret)
{
    static const char zeros[8];
    struct pfd_row_header *h = &row->header;
    size_t at = ret->n;
    size_t n = (size_t)h->n_types + h->n_text + h->n_file;
    h->magic = PFD_ROW_MAGIC;
    h->n_bytes = (uint32_t)(PFD_ROW_HEADER + (n + 7) / 8 * 8);
    h->id = 0;
    pfd_text_add(ret, (const char *)h, sizeof *h);
    pfd_text_add(ret, row->types, h->n_types);
    pfd_text_add(ret, row->text, h->n_text);
    pfd_text_add(ret, row->file, h->n_file);
    pfd_text_add(ret, zeros, -n % 8);
    if (ret->failed || !ret->data)
        return;
    row->bytes = (const uint8_t *)ret->data + at;
    h->id = id_of(row);
    memcpy(ret->data + at + ID_AT, &h->id, sizeof h->id);
    row->bytes = NULL; /* the text may move */
}

uint32_t pfd_site_row_gate(const struct pfd_site_row *row)
{
    const uint32_t line = row->header.line;
    uint64_t h = pfd_fnv1a(PFD_FNV_START, &line, sizeof line);
    h = pfd_fnv1a(h, row->text, row->header.n_text);
    h = pfd_fnv1a(h, row->file, row->header.n_file);
    return (uint32_t)(hash_id(h) % PFD_GATES);
}

/* System V ABI, "Object Files": Elf64_Ehdr and Elf64_Shdr. */
struct file_header {
    unsigned char ident[16];
    uint16_t type; /* 1: ET_REL */
    uint16_t machine;
    uint32_t version;
    uint64_t entry;
    uint64_t segments_at;
    uint64_t sections_at;
    uint32_t flags;
    uint16_t n_header;
    uint16_t n_segment;
    uint16_t n_segments;
    uint16_t n_section;
    uint16_t n_sections;
    uint16_t names_section;
};

struct section_header {
    uint32_t name;
    uint32_t type; /* 1: SHT_PROGBITS, 3: SHT_STRTAB */
    uint64_t flags;
    uint64_t address;
    uint64_t offset;
    uint64_t size;
    uint32_t link;
    uint32_t info;
    uint64_t alignment;
    uint64_t entry_size;
};

static const char names[] = "\0.printfdecode\0.shstrtab";

enum {
    NAME_ROWS = 1,
    NAME_NAMES = 15,
};

struct start {
    struct file_header header;
    struct section_header sections[3]; /* none, rows, names */
    char names[32];
};

void pfd_rows_begin_file(struct pfd_text *ret)
{
    struct start start = {
        .header = { .ident = { 0x7f, 'E', 'L', 'F', 2, 1, 1 },
                    .type = 1,
                    .version = 1,
                    .sections_at = offsetof(struct start, sections),
                    .n_header = sizeof(struct file_header),
                    .n_section = sizeof(struct section_header),
                    .n_sections = 3,
                    .names_section = 2 },
        .sections = { { .type = 0 },
                      { .name = NAME_ROWS,
                        .type = 1,
                        .offset = sizeof start,
                        .alignment = 8 },
                      { .name = NAME_NAMES,
                        .type = 3,
                        .offset = offsetof(struct start, names),
                        .size = sizeof names,
                        .alignment = 1 } },
    };
    memcpy(start.names, names, sizeof names);
    pfd_text_add(ret, (const char *)&start, sizeof start);
}

void pfd_rows_finish_file(struct pfd_text *ret)
{
    struct start start;
    if (ret->failed)
        return;
    memcpy(&start, ret->data, sizeof start);
    start.sections[1].size = ret->n - sizeof start;
    memcpy(ret->data, &start, sizeof start);
}
