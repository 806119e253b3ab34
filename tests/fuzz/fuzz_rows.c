/* SPDX-License-Identifier: MIT */
/*
 * Strings of PFD_PRINTF and what devices write for them. Rows are believed by a
 * hash, which no fuzzer finds: so the input says what is in them, and the
 * target writes them. Then a buffer: entries of these rows with right or wrong
 * commit words, and bytes of any kind.
 *
 * Each row is read back as it was written; whatever is written can be printed,
 * and all of it is accounted for.
 */
#include <string.h>

#include <printfdecode/convert.h>
#include <printfdecode/printfdecode.h>

#include "core/base/text.h"
#include "core/objects/site_rows.h"
#include "fuzz.h"
#include "llpc/layout.h"

enum {
    ROWS_MAX = 8,
    HEADER = 16,
    BUFFER_MAX = 1 << 16,
};

/* The rows of an input, and the file that they are in. */
struct rows {
    struct pfd_text file;
    struct pfd_site_row rows[ROWS_MAX];
    size_t n;
};

/* As many as there are. */
static const char *take(struct pfd_byte_reader *c, size_t n)
{
    size_t left = pfd_byte_reader_left(c);
    return (const char *)pfd_byte_reader_bytes(c, n < left ? n : left);
}

static void read_row(struct pfd_byte_reader *c, struct pfd_site_row *ret)
{
    struct pfd_row_header *h = &ret->header;
    *ret = (struct pfd_site_row){ 0 };
    h->kind = pfd_byte_reader_u8(c) % 4;
    h->level = pfd_byte_reader_u8(c);
    h->flags = pfd_byte_reader_u8(c) % 5;
    h->line = pfd_byte_reader_u16(c);
    uint8_t sizes[3] = { pfd_byte_reader_u8(c), pfd_byte_reader_u8(c),
                         pfd_byte_reader_u8(c) };
    size_t left = pfd_byte_reader_left(c);
    h->n_types = (uint8_t)(sizes[0] % (PFD_ROW_TYPES_MAX + 1));
    h->n_types = (uint8_t)(h->n_types < left ? h->n_types : left);
    ret->types = take(c, h->n_types);
    left = pfd_byte_reader_left(c);
    h->n_text = (uint16_t)(sizes[1] < left ? sizes[1] : left);
    ret->text = take(c, h->n_text);
    left = pfd_byte_reader_left(c);
    h->n_file = (uint16_t)(sizes[2] < left ? sizes[2] : left);
    ret->file = take(c, h->n_file);
}

static void make_rows(struct pfd_byte_reader *c, struct rows *ret)
{
    struct pfd_site_row row;
    size_t at = 0;
    ret->n = pfd_byte_reader_u8(c) % (ROWS_MAX + 1);
    pfd_rows_begin_file(&ret->file);
    for (size_t i = 0; i < ret->n; i++) {
        read_row(c, &ret->rows[i]);
        pfd_site_row_write(&ret->rows[i], &ret->file);
    }
    pfd_rows_finish_file(&ret->file);
    FUZZ_CHECK(!ret->file.failed);
    struct pfd_byte_reader file = pfd_byte_reader(ret->file.data, ret->file.n);
    for (size_t i = 0; i < ret->n; i++) {
        FUZZ_CHECK(pfd_site_row_next(&file, &at, &row));
        FUZZ_CHECK(row.header.id == ret->rows[i].header.id);
        FUZZ_CHECK(pfd_site_row_gate(&row) < PFD_GATES);
    }
}

/* An entry of a row: its payload from the input, a commit word that is right
 * unless the input says otherwise. */
static void put_entry(struct pfd_byte_reader *c, const struct pfd_site_row *row,
                      struct pfd_text *buffer)
{
    unsigned how = pfd_byte_reader_u8(c);
    size_t n_words = pfd_byte_reader_u8(c) % 80;
    bool committed = row->header.flags & PFD_ROW_COMMIT && !(how & 1);
    uint64_t header = row->header.id << 16 | (2 + n_words + committed);
    size_t at = buffer->n;
    pfd_text_add(buffer, (const char *)&header, sizeof header);
    for (size_t i = 0; i < n_words; i++) {
        uint32_t word = pfd_byte_reader_u32(c);
        pfd_text_add(buffer, (const char *)&word, sizeof word);
    }
    if (committed && !buffer->failed) {
        uint32_t word = llpc_commit_word((const uint8_t *)buffer->data + at,
                                         buffer->n - at, at);
        pfd_text_add(buffer, (const char *)&word, sizeof word);
    }
}

static void make_buffer(struct pfd_byte_reader *c, const struct rows *rows,
                        struct pfd_text *ret)
{
    uint64_t header[2] = { 0 };
    pfd_text_add(ret, (const char *)header, sizeof header);
    while (pfd_byte_reader_ok(c) && pfd_byte_reader_left(c) > 0 &&
           ret->n < BUFFER_MAX) {
        unsigned what = pfd_byte_reader_u8(c);
        if (what < rows->n) {
            put_entry(c, &rows->rows[what], ret);
        } else {
            uint32_t word = pfd_byte_reader_u32(c);
            pfd_text_add(ret, (const char *)&word, sizeof word);
        }
    }
    FUZZ_CHECK(!ret->failed);
    header[0] = (ret->n - HEADER) / 4;
    memcpy(ret->data, header, sizeof header);
}

static void hear(void *user, const struct pfd_finding *finding)
{
    (void)user;
    FUZZ_CHECK(finding->kind < PFD_N_FINDING_KINDS && finding->text[0]);
}

static bool drop(void *user, const void *bytes, size_t n)
{
    size_t *sum = user;
    *sum += n + ((const uint8_t *)bytes)[n - 1];
    return true;
}

/* Every form of it, with all that is known of each entry. */
static void print(const struct pfd_strings *strings,
                  const struct pfd_text *buffer)
{
    static const char *const outputs[] = { "text", "json", "raw" };
    struct pfd_summary summary = { 0 };
    size_t sum = 0;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const struct pfd_convert convert = {
            .strings = strings,
            .format = "llpc",
            .output = outputs[i],
            .source = "fuzz",
            .threads = 1,
            .limit = UINT64_MAX,
            .notes = true,
            .origin = true,
            .write = drop,
            .write_user = &sum,
            .finding = hear,
        };
        FUZZ_CHECK(pfd_convert_bytes(&convert, buffer->data, buffer->n,
                                     &summary, NULL) == PFD_OK);
        FUZZ_CHECK(summary.bytes + summary.skipped_bytes == buffer->n - HEADER);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct pfd_byte_reader c = pfd_byte_reader(data, n);
    struct rows rows = { 0 };
    struct pfd_text buffer = { 0 };
    struct pfd_strings *strings = pfd_strings_new();
    FUZZ_CHECK(strings);
    make_rows(&c, &rows);
    FUZZ_CHECK(pfd_strings_load(strings, rows.file.data, rows.file.n, "rows",
                                hear, NULL, NULL) == PFD_OK);
    FUZZ_CHECK(pfd_strings_count(strings) <= rows.n);
    make_buffer(&c, &rows, &buffer);
    print(strings, &buffer);
    pfd_strings_free(strings);
    pfd_text_free(&rows.file);
    pfd_text_free(&buffer);
    return 0;
}
