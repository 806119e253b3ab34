/* SPDX-License-Identifier: MIT */
/*
 * Chunks of any bytes. Input: as any_format.h has it, and edits: a place (2)
 * and what is turned over there (1). The buffer's entries are kept in a chunk,
 * its bytes are edited, and all that it then has is shown; unedited, it is what
 * the buffer says. Or the buffer is a chunk itself.
 */
#include <string.h>

#include <printfdecode/capture.h>
#include <printfdecode/convert.h>

#include "any_format.h"
#include "core/base/text.h"
#include "pieces.h"
#include "stream/capture/chunk.h"

enum {
    CHUNKS = 8,
    EDITS = 64
};

struct kept {
    uint8_t *bytes[CHUNKS];
    struct pfd_chunk_bytes chunks[CHUNKS];
    size_t n;
};

static bool keep(void *user, const void *bytes, size_t n, uint64_t n_items)
{
    struct kept *kept = user;
    (void)n_items;
    if (kept->n == CHUNKS)
        return false;
    uint8_t *copy = malloc(n + !n);
    FUZZ_CHECK(copy);
    if (n)
        memcpy(copy, bytes, n);
    kept->bytes[kept->n] = copy;
    kept->chunks[kept->n++] = (struct pfd_chunk_bytes){ .bytes = copy, .n = n };
    return true;
}

static bool edit(struct kept *kept, struct pfd_byte_reader *edits)
{
    bool is_edited = false;
    for (size_t i = 0; i < EDITS && pfd_byte_reader_left(edits) >= 3; i++) {
        size_t at = pfd_byte_reader_u16(edits);
        uint8_t bits = pfd_byte_reader_u8(edits);
        struct pfd_chunk_bytes *chunk = &kept->chunks[at % CHUNKS];
        if (at % CHUNKS >= kept->n || !chunk->n)
            chunk = &kept->chunks[0];
        if (kept->n && chunk->n)
            kept->bytes[chunk - kept->chunks][at % chunk->n] ^= bits;
        is_edited |= bits;
    }
    return is_edited;
}

static bool to_text(void *user, const void *bytes, size_t n)
{
    struct pfd_text *text = user;
    pfd_text_add(text, bytes, n);
    return text->n < 1 << 22;
}

static struct pfd_text convert(const struct any_format *in,
                               const struct kept *kept, const char *output)
{
    struct pfd_text ret = { 0 };
    struct pfd_summary sum = { 0 };
    struct pfd_convert how = {
        .strings = in->strings,
        .output = output,
        .format = in->format,
        .options = &in->options,
        .source = "fuzz",
        .threads = 1,
        .limit = UINT64_MAX,
        .origin = true,
        .finding_marks = true,
        .write = to_text,
        .write_user = &ret,
    };
    enum pfd_status status =
        kept ? pfd_convert_chunks(&how, kept->chunks, kept->n, &sum, NULL)
             : pfd_convert_bytes(&how, in->buffer.base, in->buffer.n, &sum,
                                 NULL);
    FUZZ_CHECK(status == PFD_OK || status == PFD_ERR_STOPPED);
    return ret;
}

/* Item by item, all that an entry can be asked. */
static void read_items(const struct any_format *in, const struct kept *kept)
{
    struct pfd_chunk_reader *reader = NULL;
    struct pfd_chunk_item item;
    FUZZ_CHECK(pfd_chunk_reader_new(in->strings, "fuzz", &in->options, &reader,
                                    NULL) == PFD_OK);
    for (size_t i = 0; i < kept->n; i++) {
        enum pfd_status status = pfd_chunk_reader_open(
            reader, kept->chunks[i].bytes, kept->chunks[i].n, NULL);
        while (status == PFD_OK) {
            size_t n = 0;
            status = pfd_chunk_reader_next(reader, &item, NULL);
            if (status != PFD_OK || item.type != PFD_CHUNK_ENTRY)
                continue;
            const struct pfd_argument *a = pfd_entry_arguments(&item.entry, &n);
            for (size_t k = 0; k < n; k++) {
                FUZZ_CHECK(a[k].at + (uint64_t)a[k].n_bytes <=
                           item.entry.n_payload);
            }
        }
        FUZZ_CHECK(status == PFD_END || status == PFD_ERR_CORRUPT ||
                   status == PFD_ERR_UNSUPPORTED);
    }
    pfd_chunk_reader_free(reader);
}

static void show(const struct any_format *in, const struct kept *kept,
                 bool is_edited)
{
    static const char *const outputs[] = { "json", "text", "raw" };
    for (size_t i = 0; i < 3; i++) {
        struct pfd_text got = convert(in, kept, outputs[i]);
        struct pfd_text want = { 0 };
        if (!is_edited) {
            want = convert(in, NULL, outputs[i]);
            FUZZ_CHECK(want.n == got.n &&
                       (!got.n || !memcmp(want.data, got.data, got.n)));
        }
        pfd_text_free(&got);
        pfd_text_free(&want);
    }
    read_items(in, kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct any_format in;
    struct kept kept = { .n = 0 };
    struct pfd_summary sum = { 0 };
    if (!any_format_read(&in, data, n))
        return 0;
    struct pfd_convert to_chunks = {
        .strings = in.strings,
        .format = in.format,
        .options = &in.options,
        .threads = 1,
        .limit = UINT64_MAX,
        .write_chunk = keep,
        .write_user = &kept,
    };
    bool is_chunk = data[1] & 128;
    if (is_chunk) {
        keep(&kept, in.buffer.base, in.buffer.n, 0);
    } else if (pfd_convert_bytes(&to_chunks, in.buffer.base, in.buffer.n, &sum,
                                 NULL) != PFD_OK) {
        kept.n = 0; /* more than there is room for */
    }
    bool is_edited = edit(&kept, &in.rest);
    if (kept.n)
        show(&in, &kept, is_edited || is_chunk);
    for (size_t i = 0; i < CHUNKS; i++)
        free(kept.bytes[i]);
    pfd_strings_free(in.strings);
    return 0;
}
