/* SPDX-License-Identifier: MIT */
/*
 * Captures: the same frames come out however the bytes are split, always an
 * end, and a capture that can be opened can be decoded. The last byte says
 * how large the pieces are.
 */
#include <string.h>

#include <printfdecode/capture.h>
#include <printfdecode/convert.h>
#include <printfdecode/lines.h>

#include "core/output/lines.h"
#include "fuzz.h"
#include "stream/capture/wire.h"

struct seen {
    uint64_t n_frames;
    uint64_t n_errors;
    uint64_t sum; /* of places and lengths */
};

static void touch(struct seen *seen, struct pfd_wire_bytes bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        seen->sum = seen->sum * 31 + (uint8_t)bytes.at[i];
}

static struct seen read_all(const uint8_t *data, size_t n, size_t piece)
{
    struct seen seen = { 0 };
    struct pfd_wire_reader *reader = pfd_wire_reader_new(1 << 16);
    size_t at = 0;
    FUZZ_CHECK(reader);
    for (;;) {
        struct pfd_wire_frame f;
        struct pfd_error err;
        enum pfd_status status = pfd_wire_reader_next(reader, &f, &err);
        if (status == PFD_OK) {
            seen.n_frames++;
            seen.sum = seen.sum * 31 + f.at + f.n_bytes + f.buffer + f.offset;
            touch(&seen, f.name);
            touch(&seen, f.bytes);
            for (size_t i = 0; i < f.n_labels; i++)
                touch(&seen, f.labels[i].value);
            FUZZ_CHECK(f.at + f.n_bytes <= n);
        } else if (status == PFD_MORE) {
            size_t taken = 0;
            size_t k = n - at < piece ? n - at : piece;
            if (!k) {
                pfd_wire_reader_finish(reader);
                continue;
            }
            FUZZ_CHECK(pfd_wire_reader_feed(reader, data + at, k, &taken,
                                            &err) == PFD_OK);
            FUZZ_CHECK(taken > 0);
            at += taken;
        } else if (status == PFD_ERR_CORRUPT) {
            seen.n_errors++;
            FUZZ_CHECK(err.offset <= n && err.text[0]);
        } else {
            FUZZ_CHECK(status == PFD_END || status == PFD_ERR_UNSUPPORTED);
            break;
        }
    }
    pfd_wire_reader_free(reader);
    return seen;
}

static bool count(void *user, const void *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)user += n;
    return *(size_t *)user < 1 << 20;
}

static void open_capture(const uint8_t *data, size_t n)
{
    struct pfd_capture *capture = NULL;
    const struct pfd_capture_buffer *b;
    struct pfd_strings *strings = pfd_strings_new();
    struct pfd_lines *lines = NULL;
    size_t n_out = 0;
    pfd_lines_new("json", false, false, &lines, NULL);
    FUZZ_CHECK(strings && lines);
    if (pfd_capture_open(data, n, "input", strings, NULL, NULL, &capture,
                         NULL) == PFD_OK) {
        for (size_t i = 0; i < 4 && (b = pfd_capture_get(capture, i)); i++) {
            struct pfd_summary summary = { 0 };
            struct pfd_convert convert = {
                .strings = strings,
                .output = "json",
                .format = "llpc",
                .threads = 1,
                .limit = 100,
                .write = count,
                .write_user = &n_out,
            };
            pfd_lines_set_origin(lines, b->origin);
            pfd_lines_set_time(lines, b->time);
            convert.members = pfd_lines_members(lines);
            convert.origin_members = pfd_lines_origin_members(lines);
            const void *bytes = NULL;
            convert.holes = b->holes;
            convert.n_holes = b->n_holes;
            pfd_convert_chunks(&convert, b->chunks, b->n_chunks, &summary,
                               NULL);
            if (pfd_capture_map(capture, i, &bytes, NULL) == PFD_OK)
                pfd_convert_bytes(&convert, bytes, b->n, &summary, NULL);
            pfd_capture_unmap(capture, i, bytes);
        }
        pfd_capture_free(capture);
    }
    pfd_lines_free(lines);
    pfd_strings_free(strings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n)
        return 0;
    struct seen whole = read_all(data, n, n);
    struct seen parts = read_all(data, n, 1 + data[n - 1] % 64);
    FUZZ_CHECK(!memcmp(&whole, &parts, sizeof whole));
    open_capture(data, n);
    return 0;
}
