/* SPDX-License-Identifier: MIT */
/* The messages that program files hold: sections of ELF files, parts of DXBC
 * containers, OpString of SPIR-V. */
#include <string.h>

#include "string_rule.h"

enum {
    /* Bytes of texts that a file may lead to: so many for each of its own, and
     * as many as a small file may have. */
    TIMES_MAX = 16,
    BYTES_MIN = 16 << 20,
};

static uint64_t id_of(const struct string_taker *t, uint64_t index,
                      uint64_t offset, uint64_t address)
{
    uint64_t id = t->rule.numbers[RULE_ID];
    return id == ID_INDEX ? index : id == ID_OFFSET ? offset : address;
}

/* Texts one after another, each with a NUL; the last one may have none. */
void string_take_packed(struct string_taker *t, const uint8_t *bytes, size_t n,
                        uint64_t address, uint64_t offset)
{
    size_t index = 0;
    for (size_t at = 0; at < n && string_goes_on(t); index++) {
        size_t length = strnlen((const char *)bytes + at, n - at);
        if (!string_spend(t, length + 1))
            return;
        if (length || t->rule.numbers[RULE_ID] == ID_INDEX) {
            string_take(t, id_of(t, index, at, address + at),
                        (const char *)bytes + at, length, offset + at);
        }
        at += length + 1;
    }
}

/* ---- ELF ---- */

/* The section of a name, or (name: NULL) the one with this address; without
 * bytes: there is none. */
static struct pfd_section find_section(struct string_taker *t,
                                       const struct pfd_image *image,
                                       const char *name, size_t n_name,
                                       uint64_t address)
{
    struct pfd_section s;
    for (size_t i = 0;
         pfd_image_section(image, i, &s) == PFD_OK && string_spend(t, 1); i++) {
        bool is_it = name ? s.n_name == n_name && !memcmp(s.name, name, n_name)
                          : s.address && address >= s.address &&
                                address - s.address < s.bytes.n;
        if (is_it && s.bytes.n)
            return s;
    }
    return (struct pfd_section){ .n_name = 0 };
}

/* The text of a record's pointer; false: it leads to none. texts: the section
 * that it is in; where none is named, that of the record before. */
static bool find_text(struct string_taker *t, const struct pfd_image *image,
                      struct pfd_section *texts, uint64_t pointer,
                      const char **ret, size_t *n)
{
    uint64_t offset = pointer;
    bool is_there =
        pointer >= texts->address && pointer - texts->address < texts->bytes.n;
    if (!t->rule.n_texts && !is_there)
        *texts = find_section(t, image, NULL, 0, pointer);
    if (!t->rule.numbers[RULE_OFFSETS])
        offset = pointer - texts->address;
    if (offset >= texts->bytes.n)
        return false;
    *ret = (const char *)texts->bytes.base + offset;
    *n = strnlen(*ret, texts->bytes.n - (size_t)offset);
    return string_spend(t, *n + 1) && *n < texts->bytes.n - offset;
}

static void take_records(struct string_taker *t, const struct pfd_image *image,
                         const struct pfd_section *s)
{
    const uint64_t *v = t->rule.numbers;
    size_t size = (size_t)v[RULE_RECORD];
    struct pfd_section texts = { .n_name = 0 };
    size_t n_bad = 0;
    if (t->rule.n_texts)
        texts = find_section(t, image, t->rule.texts, t->rule.n_texts, 0);
    for (size_t i = 0; i < s->bytes.n / size && string_goes_on(t); i++) {
        uint64_t pointer = 0;
        const char *text = NULL;
        size_t n = 0;
        memcpy(&pointer, s->bytes.base + i * size + v[RULE_AT],
               v[RULE_BITS] / 8);
        if (find_text(t, image, &texts, pointer, &text, &n)) {
            string_take(t, id_of(t, i, i * size, s->address + i * size), text,
                        n, s->offset + i * size);
        } else if (!t->is_over && !n_bad++) {
            pfd_report_add(t->report, PFD_FINDING_bad_string_row,
                           s->offset + i * size,
                           "record %zu of the messages leads to 0x%llx, where "
                           "no text is",
                           i, (unsigned long long)pointer);
        }
    }
}

/* Texts of the section that values have the addresses of. */
static void take_referred(struct string_taker *t, const struct pfd_image *image)
{
    struct pfd_section s = { .n_name = 0 };
    if (t->rule.n_texts)
        s = find_section(t, image, t->rule.texts, t->rule.n_texts, 0);
    for (size_t at = 0; at < s.bytes.n && string_goes_on(t);) {
        const char *text = (const char *)s.bytes.base + at;
        size_t n = strnlen(text, s.bytes.n - at);
        if (n && s.address)
            string_take_text(t, s.address + at, text, n, s.offset + at);
        at += n + 1;
    }
}

static void take_elf(struct string_taker *t, const void *bytes, size_t n)
{
    struct pfd_image *image = NULL;
    t->status = pfd_image_open_sections(bytes, n, &image, t->err);
    if (t->status != PFD_OK)
        return;
    struct pfd_section s =
        find_section(t, image, t->rule.name, t->rule.n_name, 0);
    if (s.bytes.n && t->rule.numbers[RULE_RECORD]) {
        take_records(t, image, &s);
        take_referred(t, image);
    } else if (s.bytes.n) {
        string_take_packed(t, s.bytes.base, s.bytes.n, s.address, s.offset);
    }
    pfd_image_free(image);
}

/* ---- DXBC ---- */

/*
 * A container of DirectX (DxilContainer.h of DirectXShaderCompiler): "DXBC",
 * 16 bytes of digest, u16 x 2 of version, u32 of its size, u32 of the number of
 * parts; their offsets; at each a name of 4 letters, u32 of its size, its bytes.
 */
static void take_container(struct string_taker *t, const uint8_t *bytes,
                           size_t n)
{
    enum {
        COUNT_AT = 28,
        OFFSETS_AT = 32,
        PART_HEADER = 8,
    };
    struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    pfd_byte_reader_seek(&c, COUNT_AT);
    uint32_t count = pfd_byte_reader_u32(&c);
    for (uint32_t i = 0;
         i < count && pfd_byte_reader_ok(&c) && string_goes_on(t); i++) {
        struct pfd_byte_reader part = c;
        uint32_t at = pfd_byte_reader_u32(&c);
        pfd_byte_reader_seek(&part, at);
        const uint8_t *name = pfd_byte_reader_bytes(&part, 4);
        uint32_t size = pfd_byte_reader_u32(&part);
        const uint8_t *p = pfd_byte_reader_bytes(&part, size);
        if (p && t->rule.n_name == 4 && !memcmp(name, t->rule.name, 4))
            string_take_packed(t, p, size, 0, (uint64_t)at + PART_HEADER);
    }
}

/* ---- SPIR-V ---- */

static void take_module(struct string_taker *t, const struct pfd_spirv *module)
{
    uint32_t n = pfd_spirv_n_instructions(module);
    for (uint32_t k = 0, index = 0; k < n && t->status == PFD_OK; k++) {
        uint32_t n_words = 0;
        const uint32_t *w = pfd_spirv_words(module, k, &n_words);
        size_t n_text = 0;
        const char *text = NULL;
        if ((w[0] & UINT16_MAX) == PFD_SPV_STRING && n_words > 2)
            text = pfd_spirv_string(module, w[1], &n_text);
        if (!text)
            continue;
        uint64_t at = (uint64_t)pfd_spirv_offset(module, k) * 4;
        string_take(t, id_of(t, index++, at, w[1]), text, n_text, at);
    }
}

/* ---- members of the format ---- */

/* Sources have other texts with {}, too: that none has types is a mistake. */
static void report_untyped(const struct string_taker *t)
{
    if (!t->n_untyped || t->n_typed)
        return;
    pfd_report_add(t->report, PFD_FINDING_bad_string_row, t->untyped_at,
                   "none of the %zu texts with {} has types, so none is a "
                   "message: 'messages' lists texts with 'types', or a text "
                   "states them: {0,I}",
                   t->n_untyped);
}

/* Is it text? Sources have no NUL. */
static bool is_text(const void *bytes, size_t n)
{
    return !memchr(bytes, 0, n);
}

enum pfd_status described_load_file(const struct pfd_format *self,
                                    const void *bytes, size_t n,
                                    struct pfd_strings *strings,
                                    struct pfd_report *report, bool *is_taken,
                                    struct pfd_error *err)
{
    struct string_taker t;
    *is_taken = false;
    if (!string_taker_start(&t, self, strings, report, err))
        return PFD_OK;
    t.left = (uint64_t)n * TIMES_MAX + BYTES_MIN;
    uint64_t from = t.rule.numbers[RULE_FROM];
    bool is_container = from == FROM_PART && n > 4 && !memcmp(bytes, "DXBC", 4);
    bool is_elf = n > 4 && !memcmp(bytes, "\177ELF", 4);
    if (from == FROM_SECTION && is_elf) {
        take_elf(&t, bytes, n);
    } else if (is_container) {
        take_container(&t, bytes, n);
    } else if (from == FROM_SOURCE && is_text(bytes, n)) {
        string_take_source(&t, bytes, n);
        report_untyped(&t);
    }
    *is_taken =
        is_container || t.n_rows || t.n_typed || t.n_untyped || t.is_over;
    if (is_container && !t.n_rows && !t.is_over) {
        pfd_report_add(report, PFD_FINDING_no_format_strings, PFD_NO_OFFSET,
                       "the container has no part with messages by the "
                       "description's rule");
    }
    return t.status;
}

enum pfd_status described_shader(const struct pfd_format *self,
                                 struct pfd_strings *strings,
                                 const struct pfd_shader *shader,
                                 struct pfd_report *report,
                                 struct pfd_error *err)
{
    struct string_taker t;
    if (string_taker_start(&t, self, strings, report, err) &&
        t.rule.numbers[RULE_FROM] == FROM_SPIRV)
        take_module(&t, shader->module);
    return t.status;
}
