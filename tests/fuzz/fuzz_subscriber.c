/* SPDX-License-Identifier: MIT */
/*
 * What a daemon sends, of any bytes, whose checksums are put right so that what
 * is in the frames is read. The same comes out however the bytes are split; the
 * last byte says how large the pieces are.
 */
#include <stdlib.h>
#include <string.h>

#include <printfdecode/lines.h>
#include <printfdecode/subscriber.h>

#include "core/base/crc32c.h"
#include "fuzz.h"

enum {
    HEAD = PFD_WIRE_HEADER_BYTES,
    OUT_MAX = 1 << 20, /* bytes of text */
};

static uint32_t read_length(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}

/* Each frame that is there as a whole has the checksum that it should have. */
static void seal(uint8_t *bytes, size_t n)
{
    size_t at = PFD_WIRE_START_BYTES;
    while (at + HEAD <= n && read_length(bytes + at) <= n - at - HEAD) {
        uint32_t length = read_length(bytes + at);
        uint32_t crc = pfd_crc32c(0, bytes + at, 4);
        crc = pfd_crc32c(crc, bytes + at + HEAD, length);
        for (unsigned i = 0; i < 4; i++)
            bytes[at + 4 + i] = (uint8_t)(crc >> (8 * i));
        at += HEAD + length;
    }
}

struct seen {
    uint64_t n_batches;
    uint64_t n_items;
    uint64_t n_missed;
    uint64_t n_errors;
    uint64_t sum; /* of sequence numbers and bytes of text */
};

static void take_items(struct pfd_subscriber *s, struct pfd_lines *lines,
                       struct seen *seen)
{
    struct pfd_chunk_item *item;
    struct pfd_error err;
    uint64_t sequence = 0;
    enum pfd_status status = PFD_OK;
    while ((status = pfd_subscriber_item(s, &item, &sequence, &err)) ==
           PFD_OK) {
        size_t n = 0;
        seen->n_items++;
        if (item->type == PFD_CHUNK_ENTRY) {
            pfd_lines_entry(lines, &item->entry);
        } else if (item->type == PFD_CHUNK_FINDING) {
            pfd_lines_finding(lines, &item->finding);
        } else {
            pfd_lines_gap(lines, &item->gap, NULL);
        }
        pfd_lines_bytes(lines, &n);
        seen->sum = seen->sum * 31 + sequence + n;
        if (n > OUT_MAX)
            pfd_lines_clear(lines);
    }
    FUZZ_CHECK(status == PFD_END || status == PFD_ERR_CORRUPT);
}

/* False: no more can come. */
static bool take_batch(struct pfd_subscriber *s, struct pfd_lines *lines,
                       struct seen *seen)
{
    const struct pfd_batch *batch;
    struct pfd_error err = { .text = "" };
    enum pfd_status status = pfd_subscriber_next(s, &batch, &err);
    if (status == PFD_OK) {
        seen->n_batches++;
        seen->n_missed += batch->missed;
        if (batch->type == PFD_BATCH_ENTRIES) {
            FUZZ_CHECK(batch->source && batch->buffer && batch->strings);
            pfd_lines_set_origin(lines, batch->buffer);
            take_items(s, lines, seen);
        }
        return true;
    }
    FUZZ_CHECK(status == PFD_MORE || status == PFD_END || err.text[0]);
    seen->n_errors += status < 0;
    return status == PFD_ERR_CORRUPT;
}

static struct seen read_all(const uint8_t *bytes, size_t n, size_t piece)
{
    struct seen seen = { 0 };
    struct pfd_subscriber_options options = { .n_objects_max = 1 << 20 };
    struct pfd_subscriber *s = NULL;
    struct pfd_lines *lines = NULL;
    size_t at = 0;
    FUZZ_CHECK(pfd_subscriber_new(&options, &s, NULL) == PFD_OK &&
               pfd_lines_new("json", false, true, &lines, NULL) == PFD_OK);
    while (at < n && seen.n_errors < 16) {
        size_t taken = 0;
        size_t k = n - at < piece ? n - at : piece;
        FUZZ_CHECK(pfd_subscriber_feed(s, bytes + at, k, &taken, NULL) ==
                   PFD_OK);
        at += taken;
        bool any = taken > 0;
        while (seen.n_errors < 16 && take_batch(s, lines, &seen))
            any = true;
        if (!any)
            break;
    }
    pfd_subscriber_finish(s);
    while (seen.n_errors < 16 && take_batch(s, lines, &seen))
        ;
    pfd_subscriber_free(s);
    pfd_lines_free(lines);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *bytes = malloc(n + 1);
    FUZZ_CHECK(bytes);
    if (n) {
        memcpy(bytes, data, n);
        seal(bytes, n);
        struct seen whole = read_all(bytes, n, n);
        struct seen parts = read_all(bytes, n, 1 + bytes[n - 1] % 64);
        FUZZ_CHECK(whole.n_items == parts.n_items || whole.n_errors);
        FUZZ_CHECK(whole.sum == parts.sum || whole.n_errors);
    }
    free(bytes);
    return 0;
}
