/* SPDX-License-Identifier: MIT */
#include "core/objects/elf_inflate.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/inflate.h"
#include "core/base/text.h"

enum {
    PEEK = 64,
    /* The limit of sections; each costs the inflation of its first block. */
    SECTIONS_MAX = 256,
    ALIGNMENT = 16,
    CH_ZLIB = 1, /* ELFCOMPRESS_ZLIB */
    CH_ZSTD = 2, /* ELFCOMPRESS_ZSTD, which older headers do not have */
};

/* The table of sections, cut at the end of the file. */
struct table {
    struct pfd_byte_reader file;
    size_t at;
    size_t n;
};

static bool find_table(struct pfd_byte_reader file, struct table *ret)
{
    Elf64_Ehdr header;
    if (file.n < sizeof header || memcmp(file.base, "\177ELF\2\1", 6) != 0)
        return false;
    memcpy(&header, file.base, sizeof header);
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > file.n)
        return false;
    size_t n = (file.n - (size_t)header.e_shoff) / sizeof(Elf64_Shdr);
    *ret = (struct table){ file, (size_t)header.e_shoff,
                           header.e_shnum < n ? header.e_shnum : n };
    return true;
}

static Elf64_Shdr header_at(const struct table *table, size_t i)
{
    Elf64_Shdr ret;
    memcpy(&ret, table->file.base + table->at + i * sizeof ret, sizeof ret);
    return ret;
}

static bool is_compressed(const Elf64_Shdr *header)
{
    return header->sh_flags & SHF_COMPRESSED && header->sh_type != SHT_NOBITS;
}

bool pfd_elf_is_compressed(struct pfd_byte_reader file)
{
    struct table table;
    if (!find_table(file, &table))
        return false;
    for (size_t i = 0; i < table.n; i++) {
        Elf64_Shdr header = header_at(&table, i);
        if (is_compressed(&header))
            return true;
    }
    return false;
}

/* A section while it is inflated. */
struct section {
    enum pfd_compression method;
    struct pfd_byte_reader data;
    uint64_t offset; /* of data in the file */
    uint64_t n_out;
};

/* False: its bytes are missing, or the method is unknown, which is reported. */
static bool read_section(struct pfd_byte_reader file, const Elf64_Shdr *header,
                         struct section *ret, struct pfd_report *report)
{
    Elf64_Chdr compressed;
    struct pfd_byte_reader c = file;
    pfd_byte_reader_seek(&c, header->sh_offset);
    if (!pfd_byte_reader_ok(&c) ||
        pfd_byte_reader_left(&c) < sizeof compressed ||
        header->sh_size < sizeof compressed)
        return false;
    memcpy(&compressed, pfd_byte_reader_bytes(&c, sizeof compressed),
           sizeof compressed);
    size_t left = pfd_byte_reader_left(&c);
    uint64_t n = header->sh_size - sizeof compressed;
    if (compressed.ch_type != CH_ZLIB && compressed.ch_type != CH_ZSTD) {
        pfd_report_add(report, PFD_FINDING_not_read, header->sh_offset,
                       "a section is compressed by method %u: 1 (zlib) and 2 "
                       "(zstd) are read",
                       compressed.ch_type);
        return false;
    }
    *ret = (struct section){
        .method = compressed.ch_type == CH_ZSTD ? PFD_COMPRESSION_ZSTD
                                                : PFD_COMPRESSION_ZLIB,
        .offset = header->sh_offset + sizeof compressed,
        .data = pfd_byte_reader_sub(&c, n < left ? (size_t)n : left),
        .n_out = compressed.ch_size,
    };
    return true;
}

static enum pfd_status inflate(const struct section *s, uint64_t n_out,
                               uint8_t **ret, size_t *n,
                               struct pfd_error *problem, struct pfd_error *err)
{
    size_t n_used = 0;
    return pfd_inflate(s->method, s->data, 0, n_out, ret, n, &n_used, problem,
                       err);
}

static enum pfd_status is_wanted(const struct section *s,
                                 pfd_elf_wanted_fn wanted, bool *ret,
                                 struct pfd_error *err)
{
    struct pfd_error problem; /* unused: mostly that there are more bytes */
    uint8_t *head = NULL;
    size_t n = 0;
    enum pfd_status status =
        inflate(s, s->n_out < PEEK ? s->n_out : PEEK, &head, &n, &problem, err);
    *ret = status == PFD_OK && head && wanted(pfd_byte_reader(head, n));
    free(head);
    return status;
}

/* The copy of the file while sections are appended. */
struct copy {
    struct pfd_text bytes;
    uint64_t left; /* bytes that sections may still take */
    size_t n_compressed;
    size_t unseen; /* bytes of the file not taken by a section yet */
    bool overlap;  /* the sections are more than the file */
    const struct table *table;
    struct pfd_report *report;
    struct pfd_error *err;
};

/* Writes the new place of section i to the copy's table. */
static void place(struct copy *copy, size_t i, Elf64_Shdr header, size_t n)
{
    size_t at = copy->table->at + i * sizeof header;
    header.sh_offset = copy->bytes.n;
    header.sh_size = n;
    header.sh_flags &= ~(Elf64_Xword)SHF_COMPRESSED;
    memcpy(copy->bytes.data + at, &header, sizeof header);
}

static enum pfd_status append(struct copy *copy, size_t i,
                              const Elf64_Shdr *header,
                              const struct section *section)
{
    static const char zeros[ALIGNMENT];
    struct pfd_error problem;
    uint8_t *bytes = NULL;
    size_t n = 0;
    if (section->n_out > copy->left) {
        pfd_report_add(copy->report, PFD_FINDING_too_large, section->offset,
                       "a compressed section says that it inflates to %llu "
                       "bytes, and %llu are allowed (--max-inflated): not "
                       "inflated",
                       (unsigned long long)section->n_out,
                       (unsigned long long)copy->left);
        return PFD_OK;
    }
    enum pfd_status status =
        inflate(section, section->n_out, &bytes, &n, &problem, copy->err);
    if (status != PFD_OK)
        return status;
    if (problem.code != PFD_OK) {
        pfd_report_add(copy->report, PFD_FINDING_bad_compressed,
                       section->offset + problem.offset, "%s", problem.text);
    }
    if (!copy->bytes.n)
        pfd_text_add(&copy->bytes, copy->table->file.base, copy->table->file.n);
    pfd_text_add(&copy->bytes, zeros, -copy->bytes.n & (ALIGNMENT - 1));
    if (!copy->bytes.failed)
        place(copy, i, *header, n);
    if (bytes)
        pfd_text_add(&copy->bytes, bytes, n);
    copy->left -= n;
    copy->n_compressed += section->data.n;
    free(bytes);
    return PFD_OK;
}

static enum pfd_status take(struct copy *copy, size_t i,
                            const Elf64_Shdr *header, pfd_elf_wanted_fn wanted)
{
    struct section section;
    bool want = header->sh_type == SHT_NOTE;
    enum pfd_status status = PFD_OK;
    if (!read_section(copy->table->file, header, &section, copy->report))
        return PFD_OK;
    if (section.data.n > copy->unseen) {
        copy->overlap = true;
        pfd_report_add(copy->report, PFD_FINDING_too_large, section.offset,
                       "compressed sections overlap each other: no further "
                       "ones are looked at");
        return PFD_OK;
    }
    copy->unseen -= section.data.n;
    if (!want)
        status = is_wanted(&section, wanted, &want, copy->err);
    if (status == PFD_OK && want)
        status = append(copy, i, header, &section);
    return status;
}

enum pfd_status pfd_elf_inflate(struct pfd_byte_reader file, uint64_t n_max,
                                pfd_elf_wanted_fn wanted,
                                struct pfd_elf_inflated *ret,
                                struct pfd_report *report,
                                struct pfd_error *err)
{
    struct table table;
    struct copy copy = { .left = n_max,
                         .unseen = file.n,
                         .table = &table,
                         .report = report,
                         .err = err };
    enum pfd_status status = PFD_OK;
    size_t n_looked_at = 0;
    *ret = (struct pfd_elf_inflated){ 0 };
    if (!find_table(file, &table))
        return PFD_OK;
    for (size_t i = 0;
         i < table.n && status == PFD_OK && n_looked_at < SECTIONS_MAX &&
         !copy.overlap && !copy.bytes.failed;
         i++) {
        Elf64_Shdr header = header_at(&table, i);
        if (!is_compressed(&header))
            continue;
        status = take(&copy, i, &header, wanted);
        if (++n_looked_at == SECTIONS_MAX) {
            pfd_report_add(report, PFD_FINDING_too_large, PFD_NO_OFFSET,
                           "more than %d compressed sections: no further ones "
                           "are looked at",
                           SECTIONS_MAX - 1);
        }
    }
    if (copy.bytes.failed)
        status = pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    if (status != PFD_OK) {
        pfd_text_free(&copy.bytes);
        return status;
    }
    *ret = (struct pfd_elf_inflated){ (uint8_t *)copy.bytes.data, copy.bytes.n,
                                      copy.n_compressed };
    return PFD_OK;
}
