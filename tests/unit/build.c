/* SPDX-License-Identifier: MIT */
#include "build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

void build_free(struct build *b)
{
    free(b->bytes);
    *b = (struct build){ 0 };
}

void build_bytes(struct build *b, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    if (n > b->room - b->n) {
        b->room = 2 * (b->n + n);
        b->bytes = realloc(b->bytes, b->room);
        ck_assert_ptr_nonnull(b->bytes);
    }
    memcpy(b->bytes + b->n, bytes, n);
    b->n += n;
}

static void byte(struct build *b, unsigned value)
{
    uint8_t u = (uint8_t)value;
    build_bytes(b, &u, 1);
}

void build_align(struct build *b, size_t align)
{
    while (b->n % align != 0)
        byte(b, 0);
}

void build_u32(struct build *b, uint32_t value)
{
    build_bytes(b, &value, sizeof value);
}

static void big_endian(struct build *b, uint64_t value, int n)
{
    while (n-- > 0)
        byte(b, (unsigned)(value >> 8 * n & 255));
}

/* A count: in the first byte below `few`, else in two or four bytes. */
static void count(struct build *b, size_t n, size_t few, unsigned first,
                  unsigned form16)
{
    if (n < few) {
        byte(b, first | (unsigned)n);
        return;
    }
    byte(b, n < 65536 ? form16 : form16 + 1);
    big_endian(b, n, n < 65536 ? 2 : 4);
}

void build_map(struct build *b, size_t n_pairs)
{
    count(b, n_pairs, 16, 0x80, 0xde);
}

void build_array(struct build *b, size_t n)
{
    count(b, n, 16, 0x90, 0xdc);
}

void build_text_n(struct build *b, const char *text, size_t n)
{
    count(b, n, 32, 0xa0, 0xda);
    build_bytes(b, text, n);
}

void build_text(struct build *b, const char *text)
{
    build_text_n(b, text, strlen(text));
}

void build_uint(struct build *b, uint64_t value)
{
    if (value < 128) {
        byte(b, (unsigned)value);
        return;
    }
    int form = value < 256 ? 0 : value < 65536 ? 1 : value >> 32 == 0 ? 2 : 3;
    byte(b, 0xccu + (unsigned)form);
    big_endian(b, value, 1 << form);
}

void build_nil(struct build *b)
{
    byte(b, 0xc0);
}

void build_note(struct build *b, const char *owner, uint32_t type,
                const struct build *desc)
{
    build_u32(b, (uint32_t)strlen(owner) + 1);
    build_u32(b, (uint32_t)desc->n);
    build_u32(b, type);
    build_bytes(b, owner, strlen(owner) + 1);
    build_align(b, 4);
    build_bytes(b, desc->bytes, desc->n);
    build_align(b, 4);
}

static void section_table(struct build *b, const struct build_elf *elf,
                          uint64_t notes_at, uint64_t align)
{
    static const char first[] = "\0.shstrtab";
    uint64_t names_at = b->n;
    build_bytes(b, first, sizeof first);
    build_bytes(b, elf->section, strlen(elf->section) + 1);
    uint64_t n_names = b->n - names_at;
    build_align(b, 8);
    uint64_t at = b->n;
    Elf64_Shdr table[3] = {
        [1] = { .sh_name = sizeof first,
                .sh_type = SHT_NOTE,
                .sh_offset = notes_at,
                .sh_size = elf->notes->n,
                .sh_addralign = align },
        [2] = { .sh_name = 1,
                .sh_type = SHT_STRTAB,
                .sh_offset = names_at,
                .sh_size = n_names,
                .sh_addralign = 1 },
    };
    build_bytes(b, table, sizeof table);
    build_ehdr(b)->e_shoff = at;
    build_ehdr(b)->e_shnum = 3;
    build_ehdr(b)->e_shstrndx = 2;
}

void build_elf(struct build *b, const struct build_elf *elf)
{
    uint64_t align = elf->align ? elf->align : 4;
    uint64_t at = sizeof(Elf64_Ehdr) + (elf->segment ? sizeof(Elf64_Phdr) : 0);
    Elf64_Ehdr ehdr = {
        .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
                     65 },
        .e_type = elf->segment ? ET_DYN : ET_REL,
        .e_machine = elf->machine ? elf->machine : 224,
        .e_version = EV_CURRENT,
        .e_phoff = elf->segment ? sizeof(Elf64_Ehdr) : 0,
        .e_flags = 0x36,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = elf->segment,
        .e_shentsize = sizeof(Elf64_Shdr),
    };
    Elf64_Phdr phdr = { .p_type = PT_NOTE,
                        .p_offset = at,
                        .p_filesz = elf->notes->n,
                        .p_memsz = elf->notes->n,
                        .p_align = align };
    build_bytes(b, &ehdr, sizeof ehdr);
    if (elf->segment)
        build_bytes(b, &phdr, sizeof phdr);
    build_bytes(b, elf->notes->bytes, elf->notes->n);
    if (elf->section)
        section_table(b, elf, at, align);
}

Elf64_Ehdr *build_ehdr(struct build *b)
{
    return (Elf64_Ehdr *)(void *)b->bytes;
}

Elf64_Shdr *build_shdr(struct build *b, size_t i)
{
    Elf64_Shdr *table =
        (Elf64_Shdr *)(void *)(b->bytes + build_ehdr(b)->e_shoff);
    return &table[i];
}

void build_member(struct build *b, const char *name, const char *size,
                  const void *bytes, size_t n)
{
    char header[61];
    snprintf(header, sizeof header, "%-16s%-12s%-6s%-6s%-8s%-10s`\n", name, "0",
             "0", "0", "644", size);
    build_bytes(b, header, 60);
    build_bytes(b, bytes, n);
    if (n % 2 == 1)
        byte(b, '\n');
}

static void keep(void *user, const struct pfd_finding *finding)
{
    struct findings *findings = user;
    findings->n[finding->kind]++;
    findings->n_all++;
    findings->last.offset = finding->offset;
    snprintf(findings->last.text, sizeof findings->last.text, "%s",
             finding->text);
}

void findings_init(struct findings *findings)
{
    *findings = (struct findings){
        .report = { .fn = keep, .user = findings, .source = "test" },
    };
}
