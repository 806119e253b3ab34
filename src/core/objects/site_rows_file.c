/* SPDX-License-Identifier: MIT */
#include "core/objects/site_rows_file.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
