/* SPDX-License-Identifier: MIT */
#include "writer/scan_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core/objects/site_rows.h"

enum {
    NT_METADATA = 32,     /* NT_AMDGPU_METADATA (AMDGPUUsage) */
    OSABI_PAL = 65,       /* ELFOSABI_AMDGPU_PAL (likewise) */
    MACHINE_AMDGPU = 224, /* EM_AMDGPU; older elf.h have none */
    N_SECTIONS = 3,
};

static const char section_names[] = "\0.note\0.shstrtab";

/* Behind the text of a string with tight vectors: no text has a byte 0. */
static const char tight_end[] = { '\0', ',' };

/* The fields of a format string's row beside its text. */
struct pfd_table_row {
    uint64_t id;
    uint32_t n_scalars;
    uint32_t n_mask;
    uint64_t *mask; /* [n_mask]; owned */
    bool is_tight;
};

void pfd_scan_table_free(struct pfd_scan_table *table)
{
    for (size_t i = 0; i < table->texts.n && table->rows; i++)
        free(table->rows[i].mask);
    free(table->rows);
    pfd_text_set_free(&table->texts);
    pfd_text_set_free(&table->sites);
    pfd_text_set_free(&table->ids);
}

/* The id of a text with this hash. An id below 2^32 would be doubtful in a
 * damaged buffer, so it gets upper bits of its own. */
static uint64_t id_of(uint64_t hash)
{
    uint64_t id = hash & ((UINT64_C(1) << 48) - 1);
    return id >> 32 ? id : id | UINT64_C(1) << 47;
}

static bool fill_mask(struct pfd_table_row *row,
                      const struct pfd_argument_shape *argument_shape)
{
    size_t at = 0;
    row->n_scalars = (uint32_t)argument_shape->n_scalars;
    row->n_mask = (row->n_scalars + 63) / 64;
    row->mask = calloc(row->n_mask + 1, sizeof *row->mask);
    if (!row->mask)
        return false;
    for (size_t i = 0; i < argument_shape->n; i++) {
        const struct pfd_argument_shape_argument *a =
            &argument_shape->arguments[i];
        for (size_t k = 0; k < a->n && !a->is_literal; k++, at++) {
            row->mask[at / 64] |= (uint64_t)pfd_argument_shape_is_wide(a)
                                  << at % 64;
        }
    }
    return true;
}

static bool make_room(struct pfd_scan_table *table)
{
    if (table->texts.n < table->n_rows_room)
        return true;
    size_t room = table->n_rows_room ? 2 * table->n_rows_room : 16;
    struct pfd_table_row *rows =
        realloc(table->rows, room * sizeof *table->rows);
    if (!rows)
        return false;
    table->rows = rows;
    table->n_rows_room = room;
    return true;
}

/* Records the id of text or site `number`. */
static enum pfd_status add_id(struct pfd_scan_table *table, uint64_t id,
                              size_t number, const char **why)
{
    char bytes[sizeof id];
    memcpy(bytes, &id, sizeof bytes);
    size_t number_of_id = pfd_text_set_add(&table->ids, bytes, sizeof bytes);
    if (number_of_id == SIZE_MAX)
        return PFD_ERR_NOMEM;
    *why = "another format string has the same id: change one of them a "
           "little";
    return number_of_id == number ? PFD_OK : PFD_ERR_CORRUPT;
}

enum pfd_status pfd_scan_table_add(struct pfd_scan_table *table,
                                   const struct pfd_scan_string *string,
                                   uint64_t *ret, const char **why)
{
    struct pfd_table_row row = { .is_tight = string->is_tight };
    struct pfd_text text = { 0 };
    if (!make_room(table))
        return PFD_ERR_NOMEM;
    size_t n_before = table->texts.n;
    pfd_text_add(&text, string->format, string->n);
    pfd_text_add(&text, tight_end, string->is_tight ? sizeof tight_end : 0);
    size_t number = text.failed
                        ? SIZE_MAX
                        : pfd_text_set_add(&table->texts, text.data, text.n);
    pfd_text_free(&text);
    if (number == SIZE_MAX)
        return PFD_ERR_NOMEM;
    if (number < n_before) {
        *ret = table->rows[number].id;
        return PFD_OK;
    }
    table->n_bytes += string->n;
    row.id = id_of(table->texts.texts[number].hash);
    table->rows[number] = row;
    if (!fill_mask(&table->rows[number], string->argument_shape))
        return PFD_ERR_NOMEM;
    *ret = row.id;
    return add_id(table, row.id, number, why);
}

/* Writes a letter for each scalar (formats/llpc/README.md, "Rows"). */
static size_t fill_types(const struct pfd_argument_shape *argument_shape,
                         char *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < argument_shape->n; i++) {
        const struct pfd_argument_shape_argument *a =
            &argument_shape->arguments[i];
        for (size_t k = 0; k < a->n && !a->is_literal; k++)
            ret[n++] = "ufUdp"[a->class];
    }
    return n;
}

enum pfd_status pfd_scan_table_add_site(struct pfd_scan_table *table,
                                        const struct pfd_scan_site *site,
                                        uint64_t *ret, uint32_t *gate,
                                        const char **why)
{
    char types[PFD_ROW_TYPES_MAX];
    struct pfd_text bytes = { 0 };
    *why = site->argument_shape->n_scalars > PFD_ROW_TYPES_MAX
               ? "a site prints 32 values at most"
           : site->n > UINT16_MAX ? "a site's format string is longer than "
                                    "65535 bytes"
                                  : NULL;
    if (*why)
        return PFD_ERR_CORRUPT;
    struct pfd_site_row row = {
        .header = { .kind = PFD_ROW_FORMAT,
                    .level = site->level,
                    .flags = site->flags,
                    .n_types = (uint8_t)fill_types(site->argument_shape, types),
                    .line = site->line,
                    .n_text = (uint16_t)site->n,
                    .n_file =
                        (uint16_t)(site->n_file < UINT16_MAX ? site->n_file
                                                             : UINT16_MAX) },
        .types = types,
        .text = site->format,
        .file = site->file,
    };
    pfd_site_row_write(&row, &bytes);
    size_t number = bytes.failed
                        ? SIZE_MAX
                        : pfd_text_set_add(&table->sites, bytes.data, bytes.n);
    pfd_text_free(&bytes);
    if (number == SIZE_MAX)
        return PFD_ERR_NOMEM;
    table->n_bytes += row.header.n_bytes;
    *ret = row.header.id;
    *gate = pfd_site_row_gate(&row);
    return add_id(table, *ret, number, why);
}

/* ---- MessagePack ---- */

static void put_big_endian(struct pfd_text *ret, uint8_t type, uint64_t value,
                           unsigned n)
{
    char bytes[9] = { (char)type };
    for (unsigned i = 0; i < n; i++)
        bytes[1 + i] = (char)(value >> 8 * (n - 1 - i));
    pfd_text_add(ret, bytes, 1 + n);
}

static void put_number(struct pfd_text *ret, uint64_t value)
{
    put_big_endian(ret, 0xcf, value, 8);
}

static void put_bytes(struct pfd_text *ret, const char *text, size_t n)
{
    put_big_endian(ret, 0xdb, n, 4);
    pfd_text_add(ret, text, n);
}

static void put_word(struct pfd_text *ret, const char *word)
{
    put_bytes(ret, word, strlen(word));
}

static void put_map(struct pfd_text *ret, size_t n)
{
    put_big_endian(ret, 0xdf, n, 4);
}

static void put_array(struct pfd_text *ret, size_t n)
{
    put_big_endian(ret, 0xdd, n, 4);
}

static void put_row(struct pfd_text *ret, const struct pfd_table_row *row,
                    const struct pfd_text_set_text *text)
{
    size_t n = text->n - (row->is_tight ? sizeof tight_end : 0);
    put_map(ret, row->is_tight ? 5 : 4);
    put_word(ret, ".index");
    put_number(ret, row->id);
    put_word(ret, ".string");
    put_big_endian(ret, 0xdb, n + 1, 4); /* with its NUL, as LLPC does */
    pfd_text_add(ret, text->text, n);
    pfd_text_add(ret, "", 1);
    put_word(ret, ".argument_count");
    put_number(ret, row->n_scalars);
    put_word(ret, ".64bit_arguments");
    put_array(ret, row->n_mask);
    for (size_t i = 0; i < row->n_mask; i++)
        put_number(ret, row->mask[i]);
    if (row->is_tight) {
        put_word(ret, ".vector_separator");
        put_word(ret, ",");
    }
}

/* ---- the ELF file: its header, the note, the names, the sections ---- */

static void put_metadata(const struct pfd_scan_table *table,
                         struct pfd_text *ret)
{
    put_map(ret, 1);
    put_word(ret, "amdpal.format_strings");
    put_map(ret, 2);
    put_word(ret, ".version");
    put_number(ret, 1);
    put_word(ret, ".strings");
    put_array(ret, table->texts.n);
    for (size_t i = 0; i < table->texts.n; i++)
        put_row(ret, &table->rows[i], &table->texts.texts[i]);
}

static void put_padding(struct pfd_text *ret, size_t from, size_t align)
{
    static const char zeros[8];
    pfd_text_add(ret, zeros, -(ret->n - from) % align);
}

static void put_note(const struct pfd_scan_table *table, struct pfd_text *ret)
{
    static const char owner[8] = "AMDGPU";
    Elf64_Nhdr header = { 7, 0, NT_METADATA };
    size_t at = ret->n;
    pfd_text_add(ret, &header, sizeof header);
    pfd_text_add(ret, owner, sizeof owner);
    size_t from = ret->n;
    put_metadata(table, ret);
    header.n_descsz = (Elf64_Word)(ret->n - from);
    put_padding(ret, at, 4);
    if (!ret->failed)
        memcpy(ret->data + at, &header, sizeof header);
}

static void put_sections(struct pfd_text *ret, size_t from, size_t n_note,
                         size_t n_names)
{
    Elf64_Shdr sections[N_SECTIONS] = {
        { 0 },
        { .sh_name = 1,
          .sh_type = SHT_NOTE,
          .sh_offset = sizeof(Elf64_Ehdr),
          .sh_size = n_note,
          .sh_addralign = 4 },
        { .sh_name = 7,
          .sh_type = SHT_STRTAB,
          .sh_offset = sizeof(Elf64_Ehdr) + n_note,
          .sh_size = n_names,
          .sh_addralign = 1 },
    };
    Elf64_Ehdr header = {
        .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
                     ELFDATA2LSB, EV_CURRENT, OSABI_PAL },
        .e_type = ET_REL,
        .e_machine = MACHINE_AMDGPU,
        .e_version = EV_CURRENT,
        .e_shoff = ret->n - from,
        .e_ehsize = sizeof header,
        .e_shentsize = sizeof *sections,
        .e_shnum = N_SECTIONS,
        .e_shstrndx = N_SECTIONS - 1,
    };
    pfd_text_add(ret, sections, sizeof sections);
    if (!ret->failed)
        memcpy(ret->data + from, &header, sizeof header);
}

static void write_sites(const struct pfd_scan_table *table,
                        struct pfd_text *ret)
{
    pfd_rows_begin_file(ret);
    for (size_t i = 0; i < table->sites.n; i++)
        pfd_text_add(ret, table->sites.texts[i].text, table->sites.texts[i].n);
    pfd_rows_finish_file(ret);
}

void pfd_scan_table_write(const struct pfd_scan_table *table,
                          struct pfd_text *ret)
{
    if (table->sites.n) {
        write_sites(table, ret);
        return;
    }
    static const Elf64_Ehdr room;
    size_t from = ret->n;
    pfd_text_add(ret, &room, sizeof room);
    size_t note = ret->n;
    put_note(table, ret);
    size_t n_note = ret->n - note;
    pfd_text_add(ret, section_names, sizeof section_names);
    put_padding(ret, from, 8);
    put_sections(ret, from, n_note, sizeof section_names);
}
