/* SPDX-License-Identifier: MIT */
/*
 * The rows that LLVM's AMDGPUPrintfRuntimeBinding writes into HSA metadata:
 * "ID:N:S0:...:format", with some bytes of the format escaped.
 */
#include <string.h>

#include "core/objects/hsa_printf.h"
#include "layout.h"

enum {
    /* Of all arguments: four times the size of today's whole buffers. */
    SIZE_MAX_BYTES = 1 << 24,
    ID_DIGITS_MAX = 10,
};

struct loader {
    const struct pfd_format *format;
    struct pfd_strings *strings;
    struct pfd_report *report;
    size_t n_rows;
    struct pfd_error *err;
    struct pfd_text text; /* scratch */
};

/* The fields of a row. */
struct fields {
    uint64_t id;
    uint64_t n_arguments;
    uint32_t sizes[OPENCL_SIZES_MAX];
    size_t n_sizes;
    uint64_t n_payload;
    size_t format; /* where it begins in the row */
};

/* Reads the number up to the next colon, and moves *at behind it; false: no
 * number below 2^32. */
static bool read_number(const struct pfd_hsa_row *row, size_t *at,
                        uint64_t *ret)
{
    size_t i = *at;
    *ret = 0;
    for (; i < row->n_text && row->text[i] >= '0' && row->text[i] <= '9'; i++) {
        if (i - *at == ID_DIGITS_MAX)
            return false;
        *ret = *ret * 10 + (unsigned)(row->text[i] - '0');
    }
    if (i == *at || i == row->n_text || row->text[i] != ':' ||
        *ret > UINT32_MAX)
        return false;
    *at = i + 1;
    return true;
}

static bool refuse(const struct loader *loader, const struct pfd_hsa_row *row,
                   const char *why)
{
    struct pfd_quoted text;
    pfd_quote(&text, row->text, row->n_text);
    pfd_report_add(loader->report, PFD_FINDING_bad_string_row, row->offset,
                   "row %zu of the printf metadata, '%s', %s", row->i,
                   text.text, why);
    return false;
}

/*
 * ':' is escaped in a format, so every colon ends a field. If a format contains
 * one nevertheless, the format begins at the first field that is no size.
 */
static bool read_fields(const struct loader *loader,
                        const struct pfd_hsa_row *row, struct fields *ret)
{
    size_t at = 0;
    uint64_t size = 0;
    ret->n_sizes = 0;
    ret->n_payload = 0;
    if (!read_number(row, &at, &ret->id) ||
        !read_number(row, &at, &ret->n_arguments))
        return refuse(loader, row, "does not begin with ID:N:");
    while (read_number(row, &at, &size)) {
        if (ret->n_sizes == OPENCL_SIZES_MAX || size > SIZE_MAX_BYTES ||
            ret->n_payload + size > SIZE_MAX_BYTES)
            return refuse(loader, row, "has more argument bytes than we read");
        ret->sizes[ret->n_sizes++] = (uint32_t)size;
        ret->n_payload += size;
    }
    ret->format = at;
    return true;
}

/* Undoes only the compiler's escapes; other backslashes stay. */
static void unescape(struct pfd_text *out, const char *text, size_t n)
{
    static const char letters[] = "abfnrv";
    static const char bytes[] = "\a\b\f\n\r\v";
    out->n = 0;
    for (size_t i = 0; i < n; i++) {
        const char *letter = NULL;
        if (text[i] == '\\' && i + 1 < n && text[i + 1])
            letter = strchr(letters, text[i + 1]);
        if (letter) {
            pfd_text_add(out, &bytes[letter - letters], 1);
            i++;
        } else if (n - i >= 3 && !memcmp(text + i, "\\72", 3)) {
            pfd_text_add(out, ":", 1);
            i += 2;
        } else {
            pfd_text_add(out, text + i, 1);
        }
    }
}

static enum pfd_status read_row(void *user, const struct pfd_hsa_row *row)
{
    struct loader *loader = user;
    struct fields fields;
    uint64_t words[PFD_LAYOUT_MAX] = { 0 };
    uint64_t hash;
    size_t format;
    if (pfd_hsa_row_is_hip(row, &hash, &format))
        return PFD_OK;
    loader->n_rows++;
    if (!read_fields(loader, row, &fields))
        return PFD_OK;
    if (fields.id == 0) {
        refuse(loader, row, "has ID 0, which no entry of this format has");
        return PFD_OK;
    }
    if (row->n_text - fields.format > PFD_TEXT_MAX) {
        refuse(loader, row, "is too long");
        return PFD_OK;
    }
    unescape(&loader->text, row->text + fields.format,
             row->n_text - fields.format);
    if (loader->text.failed) {
        return pfd_fail(loader->err, PFD_ERR_NOMEM, row->offset,
                        "out of memory");
    }
    for (size_t i = 0; i < fields.n_sizes; i++)
        words[i / 2] |= (uint64_t)fields.sizes[i] << (32 * (i % 2));
    struct pfd_string_row string = {
        .key = fields.id,
        .text = loader->text.n ? loader->text.data : "",
        .n_text = loader->text.n,
        .n_arguments = fields.n_sizes,
        .layout = words,
        .n_layout = (fields.n_sizes + 1) / 2,
    };
    return pfd_strings_add_row(loader->strings, &loader->format->strings,
                               &string, loader->report, row->offset,
                               loader->err);
}

enum pfd_status opencl_load(const struct pfd_format *self,
                            const struct pfd_image *image,
                            struct pfd_strings *strings,
                            struct pfd_report *report, size_t *n_rows,
                            struct pfd_error *err)
{
    struct loader loader = {
        .format = self,
        .strings = strings,
        .report = report,
        .err = err,
    };
    enum pfd_status status =
        pfd_hsa_rows(image, read_row, &loader, report, err);
    pfd_text_free(&loader.text);
    *n_rows = loader.n_rows;
    return status;
}
