/* SPDX-License-Identifier: MIT */
#include "core/objects/hsa_printf.h"

#include <string.h>

#include "core/objects/metadata.h"

enum {
    NT_AMDGPU_METADATA = 32,  /* owner AMDGPU: V3 and later */
    NT_AMD_HSA_METADATA = 10, /* owner AMD: V2 */
    HASH_DIGITS_MAX = 16,
    /* e_machine, e_ident[EI_OSABI] and the place and value of
     * e_ident[EI_ABIVERSION]: AMDGPUUsage, "Header". */
    EM_AMDGPU = 224,
    OSABI_HSA = 64,
    ABI_VERSION_AT = 8,
    ABI_VERSION_V6 = 4,
};

struct reader {
    pfd_hsa_row_fn fn;
    void *user;
    struct pfd_report *report;
    struct pfd_error *err;
};

/* The key of the rows in a MessagePack document. */
#define TABLE "amdhsa.printf"

/* One note while it is read. */
struct table {
    const struct reader *reader;
    const struct pfd_note *note;
    const struct pfd_metadata *metadata;
    const char *key;
};

static uint64_t file_offset(const struct table *table,
                            const struct pfd_value *value)
{
    uint64_t at = pfd_metadata_offset(table->metadata, value);
    return at == PFD_NO_OFFSET ? table->note->offset
                               : table->note->desc_offset + at;
}

static enum pfd_status read_rows(const struct table *table)
{
    const struct reader *r = table->reader;
    const struct pfd_value *root = pfd_metadata_root(table->metadata);
    const struct pfd_value *rows = pfd_value_get(root, table->key, NULL);
    enum pfd_status status = PFD_OK;
    if (rows && pfd_value_kind(rows) != PFD_VALUE_ARRAY &&
        pfd_value_kind(rows) != PFD_VALUE_NIL) {
        pfd_report_add(r->report, PFD_FINDING_bad_string_row,
                       file_offset(table, root), "%s is %s, expected an array",
                       table->key, pfd_value_kind_name(rows));
    }
    for (size_t i = 0; i < pfd_value_count(rows) && status == PFD_OK; i++) {
        const struct pfd_value *value = pfd_value_at(rows, i);
        struct pfd_hsa_row row = { .i = i,
                                   .offset = file_offset(table, value) };
        if (pfd_value_bytes(value, &row.text, &row.n_text)) {
            status = r->fn(r->user, &row);
        } else {
            pfd_report_add(r->report, PFD_FINDING_bad_string_row, row.offset,
                           "row %zu of %s is %s, expected text", i, table->key,
                           pfd_value_kind_name(value));
        }
    }
    return status;
}

/* Does the table's name stand somewhere behind a byte like this? */
static bool has_name_behind(const uint8_t *bytes, size_t n, uint8_t before)
{
    const size_t n_name = sizeof TABLE - 1;
    const uint8_t *end = bytes + n;
    while (bytes && (size_t)(end - bytes) > n_name) {
        bytes = memchr(bytes, before, (size_t)(end - bytes) - n_name);
        if (bytes && !memcmp(++bytes, TABLE, n_name))
            return true;
    }
    return false;
}

/* A document with a table holds the table's name literally: most documents need
 * not be unpacked to see that there is none. The name's length stands before
 * it, as a byte or in the bits of a short text, and is faster to search. */
static bool may_have_table(const struct pfd_note *note)
{
    struct pfd_byte_reader c = note->desc;
    size_t n = pfd_byte_reader_left(&c);
    const uint8_t *bytes = pfd_byte_reader_bytes(&c, n);
    return n > 0 && (has_name_behind(bytes, n, sizeof TABLE - 1) ||
                     has_name_behind(bytes, n, 0xa0 | (sizeof TABLE - 1)));
}

static enum pfd_status read_msgpack(const struct reader *reader,
                                    const struct pfd_note *note)
{
    struct pfd_metadata *metadata = NULL;
    if (!may_have_table(note))
        return PFD_OK;
    struct pfd_error why;
    size_t n_used = 0;
    enum pfd_status status =
        pfd_metadata_open(note->desc, note->room, &metadata, &n_used, &why);
    if (status != PFD_OK) {
        if (status == PFD_ERR_NOMEM && reader->err)
            *reader->err = why;
        return status == PFD_ERR_NOMEM ? status : PFD_OK;
    }
    struct table table = { reader, note, metadata, TABLE };
    status = read_rows(&table);
    pfd_metadata_free(metadata);
    return status;
}

static enum pfd_status read_yaml(const struct reader *reader,
                                 const struct pfd_note *note)
{
    struct pfd_metadata *metadata = NULL;
    struct pfd_error problem;
    enum pfd_status status = pfd_metadata_open_yaml(
        note->desc, note->room, &metadata, &problem, reader->err);
    if (status != PFD_OK)
        return status;
    if (problem.code != PFD_OK) {
        uint64_t at = problem.offset == PFD_NO_OFFSET ? 0 : problem.offset;
        pfd_report_add(reader->report, PFD_FINDING_bad_yaml,
                       note->desc_offset + at,
                       "the metadata note at 0x%llx is not YAML that can be "
                       "read beyond this point: %s",
                       (unsigned long long)note->offset, problem.text);
    }
    struct table table = { reader, note, metadata, "Printf" };
    status = read_rows(&table);
    pfd_metadata_free(metadata);
    return status;
}

static bool is_owner(const struct pfd_note *note, const char *owner)
{
    size_t n = strlen(owner);
    return note->n_owner == n && !memcmp(note->owner, owner, n);
}

static enum pfd_status read_note(void *user, const struct pfd_note *note)
{
    const struct reader *reader = user;
    if (note->type == NT_AMDGPU_METADATA && is_owner(note, "AMDGPU"))
        return read_msgpack(reader, note);
    if (note->type == NT_AMD_HSA_METADATA && is_owner(note, "AMD"))
        return read_yaml(reader, note);
    return PFD_OK;
}

static void check_version(const struct pfd_image *image,
                          struct pfd_report *report)
{
    const struct pfd_image_header *h = pfd_image_header(image);
    if (h->machine == EM_AMDGPU && h->osabi == OSABI_HSA &&
        h->abi_version > ABI_VERSION_V6) {
        pfd_report_add(report, PFD_FINDING_version, ABI_VERSION_AT,
                       "code object V%u (ABI version %u) is newer than V6, the "
                       "newest that is known; it is read all the same",
                       2u + h->abi_version, h->abi_version);
    }
}

enum pfd_status pfd_hsa_rows(const struct pfd_image *image, pfd_hsa_row_fn fn,
                             void *user, struct pfd_report *report,
                             struct pfd_error *err)
{
    struct reader reader = { fn, user, report, err };
    /* Other readers report faults of the notes themselves. */
    struct pfd_report quiet = { .source = report->source };
    check_version(image, report);
    return pfd_image_notes(image, read_note, &reader, &quiet, err);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool pfd_hsa_row_is_hip(const struct pfd_hsa_row *row, uint64_t *hash,
                        size_t *format)
{
    static const char start[] = "0:0:";
    size_t at = sizeof start - 1;
    if (row->n_text < at || memcmp(row->text, start, at) != 0)
        return false;
    size_t first = at;
    *hash = 0;
    for (; at < row->n_text && hex_digit(row->text[at]) >= 0; at++) {
        if (at - first == HASH_DIGITS_MAX)
            return false;
        *hash = *hash << 4 | (unsigned)hex_digit(row->text[at]);
    }
    *format = at + 1;
    return at > first && at < row->n_text && row->text[at] == ',';
}
