/* SPDX-License-Identifier: MIT */
/* Format strings and texts in program binaries: of patch tokens, by index; of a
 * zebin's section, by offset. */
#include <string.h>

#include "layout.h"

enum {
    /* Of a patch-token binary, in bytes: u32 magic, version, device, pointer
     * size, number of kernels, stepping, bytes of its patch list. */
    PROGRAM_HEADER = 28,
    KERNELS_AT = 16,
    PROGRAM_PATCHES_AT = 24,
    /* Of a kernel: u32 checksum, u64 hash, u32 bytes of its name, of its patch
     * list, of four heaps, of the unpadded kernel. */
    KERNEL_HASHES = 12,
    HEAPS = 4,
    PATCH_HEADER = 8,
    PATCH_STRING = 28, /* u32 index, u32 bytes, text, zeros */
};

struct taker {
    const struct pfd_format *format;
    struct pfd_strings *strings;
    struct pfd_report *report;
    struct pfd_error *err;
    struct pfd_text text; /* scratch: one without escapes */
    size_t n_rows;
    enum pfd_status status;
};

static void add(struct taker *t, uint64_t key, const char *text, size_t n,
                uint64_t offset)
{
    struct pfd_string_row row = {
        .key = key,
        .text = n ? text : "",
        .n_text = n,
        .counted = true,
    };
    if (t->status != PFD_OK)
        return;
    if (n > PFD_TEXT_MAX) {
        pfd_report_add(t->report, PFD_FINDING_bad_string_row, offset,
                       "a text of %zu bytes is too long", n);
        return;
    }
    t->status = pfd_strings_add_row(t->strings, &t->format->strings, &row,
                                    t->report, offset, t->err);
    t->n_rows++;
}

/* ---- patch tokens ---- */

/* Texts are stored with the escapes of C. */
static void add_escaped(struct taker *t, uint64_t key, const char *text,
                        size_t n, uint64_t offset)
{
    static const char letters[] = "abfnrtv";
    static const char values[] = "\a\b\f\n\r\t\v";
    t->text.n = 0;
    for (size_t i = 0; i < n; i++) {
        const char *known = NULL;
        if (text[i] == '\\' && i + 1 < n)
            known = strchr(letters, text[++i]);
        pfd_text_add(&t->text, known ? &values[known - letters] : &text[i], 1);
    }
    if (t->text.failed) {
        t->status =
            pfd_fail(t->err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
        return;
    }
    add(t, key, t->text.data, t->text.n, offset);
}

static void take_patch(struct taker *t, struct pfd_byte_reader c,
                       uint64_t offset)
{
    uint32_t index = pfd_byte_reader_u32(&c);
    uint32_t n = pfd_byte_reader_u32(&c);
    const uint8_t *text = pfd_byte_reader_bytes(&c, n);
    if (text) {
        add_escaped(t, index, (const char *)text,
                    strnlen((const char *)text, n), offset);
    } else {
        pfd_report_add(t->report, PFD_FINDING_bad_string_row, offset,
                       "the text with index %u is longer than its token",
                       index);
    }
}

/* A patch list; false: a token in it goes over its end. */
static bool take_patches(struct taker *t, struct pfd_byte_reader c,
                         uint64_t offset)
{
    while (pfd_byte_reader_left(&c) >= PATCH_HEADER && t->status == PFD_OK) {
        uint64_t at = offset + c.at;
        uint32_t token = pfd_byte_reader_u32(&c);
        uint32_t n = pfd_byte_reader_u32(&c);
        const uint8_t *bytes =
            n < PATCH_HEADER ? NULL
                             : pfd_byte_reader_bytes(&c, n - PATCH_HEADER);
        if (!bytes)
            return false;
        if (token == PATCH_STRING)
            take_patch(t, pfd_byte_reader(bytes, n - PATCH_HEADER), at);
    }
    return true;
}

/* The next kernel of a binary; false: it goes over the end. */
static bool take_kernel(struct taker *t, struct pfd_byte_reader *c,
                        uint64_t offset)
{
    uint64_t n = 0;
    pfd_byte_reader_skip(c, KERNEL_HASHES);
    uint32_t n_name = pfd_byte_reader_u32(c);
    uint32_t n_patches = pfd_byte_reader_u32(c);
    for (int i = 0; i < HEAPS; i++)
        n += pfd_byte_reader_u32(c);
    pfd_byte_reader_u32(c);
    if (!pfd_byte_reader_ok(c) || n + n_name > pfd_byte_reader_left(c))
        return false;
    pfd_byte_reader_skip(c, (size_t)(n + n_name));
    uint64_t at = offset + c->at;
    const uint8_t *patches = pfd_byte_reader_bytes(c, n_patches);
    return patches && take_patches(t, pfd_byte_reader(patches, n_patches), at);
}

static void take_binary(struct taker *t, const struct pfd_section *s)
{
    struct pfd_byte_reader c = s->bytes;
    if (c.n < PROGRAM_HEADER || memcmp(c.base, "CTNI", 4) != 0)
        return;
    pfd_byte_reader_seek(&c, KERNELS_AT);
    uint32_t n_kernels = pfd_byte_reader_u32(&c);
    pfd_byte_reader_seek(&c, PROGRAM_PATCHES_AT);
    pfd_byte_reader_skip(&c, pfd_byte_reader_u32(&c));
    bool ok = pfd_byte_reader_ok(&c);
    for (uint32_t i = 0; i < n_kernels && ok && t->status == PFD_OK; i++)
        ok = take_kernel(t, &c, s->offset);
    if (!ok) {
        pfd_report_add(t->report, PFD_FINDING_bad_elf, s->offset,
                       "a kernel or a patch token goes over the end of the "
                       "device binary; what is behind it is not read");
    }
}

/* ---- zebin ---- */

/* Texts one after another, each with a NUL. */
static void take_texts(struct taker *t, const struct pfd_section *s)
{
    const char *text = (const char *)s->bytes.base;
    for (size_t at = 0; at < s->bytes.n && t->status == PFD_OK;) {
        size_t n = strnlen(text + at, s->bytes.n - at);
        add(t, INTEL_OFFSET_KEY | at, text + at, n, s->offset + at);
        at += n + 1;
    }
}

static bool is_zebin(const struct pfd_image *image)
{
    struct pfd_section s;
    for (size_t i = 0; pfd_image_section(image, i, &s) == PFD_OK; i++) {
        if (pfd_section_is(&s, ".ze_info"))
            return true;
    }
    return false;
}

enum pfd_status intel_load(const struct pfd_format *self,
                           const struct pfd_image *image,
                           struct pfd_strings *strings,
                           struct pfd_report *report, size_t *n_rows,
                           struct pfd_error *err)
{
    struct taker t = { .format = self,
                       .strings = strings,
                       .report = report,
                       .err = err,
                       .status = PFD_OK };
    struct pfd_section s;
    bool has_texts = is_zebin(image);
    for (size_t i = 0;
         pfd_image_section(image, i, &s) == PFD_OK && t.status == PFD_OK; i++) {
        if (pfd_section_is(&s, "Intel(R) OpenCL Device Binary")) {
            take_binary(&t, &s);
        } else if (has_texts && pfd_section_is(&s, ".data.const.string")) {
            take_texts(&t, &s);
        }
    }
    pfd_text_free(&t.text);
    *n_rows = t.n_rows;
    return t.status;
}
