/* SPDX-License-Identifier: MIT */
/*
 * The format strings of PFD_PRINTF in a program's file: rows in the data of its
 * device code (README.md, "Rows"). They are stored unencoded in the device's
 * ELF file, and in any file that contains it.
 */
#include "core/objects/site_rows.h"
#include "layout.h"

enum {
    SHT_PROGBITS = 1,
};

struct row_loader {
    const struct pfd_format *format;
    struct pfd_strings *strings;
    struct pfd_report *report;
    size_t n_rows;
    struct pfd_error *err;
    uint64_t searched; /* end of the bytes that were searched, in the file */
};

/* The layout words of a row, as described in llpc.h. */
struct words {
    uint64_t word[PFD_LAYOUT_MAX];
    size_t n;
};

static bool is_wide(char type)
{
    return !memchr("iuf", type, 3);
}

static void fill_words(const struct pfd_site_row *row, struct words *ret)
{
    const struct pfd_row_header *h = &row->header;
    /* A file name that is too long is cut. */
    size_t n_file = (PFD_LAYOUT_MAX - LLPC_OWN_WORDS) * sizeof(uint64_t);
    n_file = h->n_file < n_file ? h->n_file : n_file;
    memset(ret->word, 0, sizeof ret->word);
    for (unsigned i = 0; i < h->n_types; i++) {
        ret->word[0] |= (uint64_t)is_wide(row->types[i]) << i;
        ret->word[1] |= (uint64_t)(row->types[i] == 's') << i;
    }
    ret->word[2] = h->flags | (uint64_t)h->level << 8 | (uint64_t)n_file << 32;
    ret->word[3] = h->line;
    memcpy(ret->word + LLPC_OWN_WORDS, row->file, n_file);
    ret->n = LLPC_OWN_WORDS + (n_file + 7) / 8;
}

static bool is_usable(struct row_loader *loader, const struct pfd_site_row *row)
{
    const struct pfd_row_header *h = &row->header;
    unsigned known = PFD_ROW_ORIGIN | PFD_ROW_COMMIT | PFD_ROW_TIGHT;
    bool types = true;
    for (unsigned i = 0; i < h->n_types; i++)
        types &= row->types[i] && strchr("iuIUfdps", row->types[i]);
    if (types && !(h->flags & ~known) &&
        (h->kind == PFD_ROW_FORMAT || h->kind == PFD_ROW_TEXT))
        return true;
    pfd_report_add(loader->report, PFD_FINDING_version, row->offset,
                   "the row of id 0x%012llx is of kind %u with flags 0x%x: "
                   "of a later version, not read",
                   (unsigned long long)h->id, h->kind, h->flags);
    return false;
}

static enum pfd_status add_row(struct row_loader *loader,
                               const struct pfd_site_row *row)
{
    struct words words;
    if (!is_usable(loader, row))
        return PFD_OK;
    fill_words(row, &words);
    loader->n_rows++;
    struct pfd_string_row read = {
        .key = row->header.id,
        .text = row->text,
        .n_text = row->header.n_text,
        .n_arguments = row->header.n_types,
        .layout = words.word,
        .n_layout = words.n,
        .literal = row->header.kind == PFD_ROW_TEXT,
        .own = true,
        .committed = row->header.flags & PFD_ROW_COMMIT,
        .tight = row->header.flags & PFD_ROW_TIGHT,
    };
    return pfd_strings_add_row(loader->strings, &loader->format->strings, &read,
                               loader->report, row->offset, loader->err);
}

static enum pfd_status load(struct row_loader *loader,
                            const struct pfd_byte_reader *bytes,
                            uint64_t offset)
{
    enum pfd_status status = PFD_OK;
    struct pfd_site_row row;
    size_t at = 0;
    while (status == PFD_OK && pfd_site_row_next(bytes, &at, &row)) {
        row.offset += offset;
        status = add_row(loader, &row);
    }
    return status;
}

enum pfd_status llpc_load_rows(const struct pfd_format *format,
                               const struct pfd_image *image,
                               struct pfd_strings *strings,
                               struct pfd_report *report, size_t *n_rows,
                               struct pfd_error *err)
{
    struct row_loader loader = { format, strings, report, 0, err, 0 };
    struct pfd_section section;
    enum pfd_status status = PFD_OK;
    for (size_t i = 0;
         status == PFD_OK && pfd_image_section(image, i, &section) == PFD_OK;
         i++) {
        /* Sections of a hostile file may overlap. */
        bool is_data =
            section.type == SHT_PROGBITS && section.offset >= loader.searched;
        if (!is_data)
            continue;
        loader.searched = section.offset + section.bytes.n;
        status = load(&loader, &section.bytes, section.offset);
    }
    *n_rows += loader.n_rows;
    return status;
}
