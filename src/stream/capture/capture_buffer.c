/* SPDX-License-Identifier: MIT */
#include "stream/capture/capture_buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <printfdecode/capture.h>

#include "core/base/error.h"
#include "stream/capture/chunk_layout.h"

enum {
    HOLE_MIN = 256,  /* shorter ones are stored as zeros */
    PLACES_SHOWN = 4 /* of missing bytes, in a finding */
};

bool pfd_captured_add(struct pfd_captured *b,
                      const struct pfd_wire_frame *frame)
{
    if (frame->zeros)
        pfd_ranges_add(&b->given, frame->offset, frame->offset + frame->zeros);
    if (!frame->bytes.n)
        return !b->given.failed;
    if (b->n_parts == b->parts_room) {
        size_t room = b->parts_room ? b->parts_room * 2 : 4;
        void *parts = realloc(b->parts, room * sizeof *b->parts);
        if (!parts)
            return false;
        b->parts = parts;
        b->parts_room = room;
    }
    b->parts[b->n_parts++] = (struct pfd_captured_part){
        .offset = frame->offset,
        .n = frame->bytes.n,
        .at = frame->bytes_at,
    };
    return !b->given.failed;
}

static bool append_chunk(struct pfd_captured *b,
                         const struct pfd_wire_frame *frame)
{
    if (b->n_chunks == b->chunks_room) {
        size_t room = b->chunks_room ? b->chunks_room * 2 : 4;
        void *chunks = realloc(b->chunks, room * sizeof *b->chunks);
        if (!chunks)
            return false;
        b->chunks = chunks;
        b->chunks_room = room;
    }
    void *bytes = malloc(frame->bytes.n + 1);
    if (!bytes)
        return false;
    if (frame->bytes.n)
        memcpy(bytes, frame->bytes.at, frame->bytes.n);
    b->chunks[b->n_chunks++] = (struct pfd_chunk_bytes){
        .bytes = bytes,
        .n = frame->bytes.n,
        .sequence = frame->sequence,
        .time = frame->time,
    };
    return true;
}

bool pfd_captured_add_chunk(struct pfd_captured *b,
                            const struct pfd_wire_frame *frame,
                            struct pfd_report *report)
{
    uint64_t n = pfd_chunk_item_count(frame->bytes.at, frame->bytes.n);
    uint64_t end = frame->sequence + n;
    if (frame->sequence < b->next_sequence || end < frame->sequence) {
        pfd_report_add(report, PFD_FINDING_bad_frame, frame->at,
                       "entries from number %llu on come twice",
                       (unsigned long long)frame->sequence);
        return true;
    }
    b->n_missed += b->n_chunks ? frame->sequence - b->next_sequence : 0;
    b->next_sequence = end;
    return append_chunk(b, frame);
}

/* ---- missing bytes ---- */

static void describe_places(const struct pfd_ranges *missing, char *ret,
                            size_t n)
{
    size_t at = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < missing->n && i < PLACES_SHOWN; i++) {
        const struct pfd_range *r = &missing->at[i];
        at += (size_t)snprintf(ret + at, n - at, "%s%llu to %llu",
                               i ? ", " : "", (unsigned long long)r->from,
                               (unsigned long long)(r->to - 1));
    }
    if (missing->n > PLACES_SHOWN) {
        snprintf(ret + at, n - at, " and %zu more places",
                 missing->n - PLACES_SHOWN);
    }
}

static void report_missing(const struct pfd_captured *b,
                           const struct pfd_ranges *missing, uint64_t size,
                           struct pfd_report *report)
{
    struct pfd_quoted name;
    char places[PLACES_SHOWN * 48 + 48];
    uint64_t n = pfd_ranges_bytes(missing);
    pfd_quote(&name, b->name, strlen(b->name));
    if (b->n_missed) {
        pfd_report_add(report, PFD_FINDING_missing_data, b->origin.at,
                       "buffer '%s': %llu entries did not come", name.text,
                       (unsigned long long)b->n_missed);
    }
    if (!n && (b->done || b->names_zeros))
        return;
    if (!n) {
        pfd_report_add(report, PFD_FINDING_missing_data, b->origin.at,
                       "buffer '%s' is not said to be complete: more of it "
                       "may be missing",
                       name.text);
    } else if (n == size) {
        pfd_report_add(report, PFD_FINDING_missing_data, b->origin.at,
                       "buffer '%s' has %llu bytes, and none of them came",
                       name.text, (unsigned long long)size);
    } else {
        describe_places(missing, places, sizeof places);
        pfd_report_add(report, PFD_FINDING_missing_data, b->origin.at,
                       "buffer '%s': %llu of %llu bytes did not come: %s",
                       name.text, (unsigned long long)n,
                       (unsigned long long)size, places);
    }
}

/*
 * Finds the missing bytes. Streams without an end frame do not say which bytes
 * are zero: bytes between received ones are, and bytes behind them if the
 * buffer is said to be complete.
 */
static void find_missing(const struct pfd_captured *b,
                         const struct pfd_ranges *data, uint64_t size,
                         struct pfd_ranges *ret)
{
    uint64_t end = pfd_ranges_end(data);
    if (b->names_zeros) {
        pfd_ranges_gaps(&b->given, size, 1, ret);
    } else if (!end || !b->done) {
        pfd_ranges_add(ret, end, size);
    }
}

/* ---- received bytes ---- */

static void copy_part(struct pfd_captured *b,
                      const struct pfd_captured_part *part, uint64_t room_at,
                      const struct pfd_range *room, const uint8_t *capture)
{
    memcpy(b->bytes + room_at + (part->offset - room->from), capture + part->at,
           (size_t)part->n);
}

/* Later bytes replace earlier ones. Each part lies in one range of `there`. */
static bool gather(struct pfd_captured *b, const uint8_t *capture)
{
    uint64_t *rooms = calloc(b->there.n + 1, sizeof *rooms);
    b->bytes = calloc(1, (size_t)pfd_ranges_bytes(&b->there) + 1);
    if (!rooms || !b->bytes) {
        free(rooms);
        return false;
    }
    for (size_t i = 0; i < b->there.n; i++)
        rooms[i + 1] = rooms[i] + (b->there.at[i].to - b->there.at[i].from);
    for (size_t i = 0; i < b->n_parts; i++) {
        size_t k = pfd_range_find(b->there.at, b->there.n, b->parts[i].offset);
        copy_part(b, &b->parts[i], rooms[k], &b->there.at[k], capture);
    }
    free(rooms);
    return true;
}

static void free_chunks(struct pfd_captured *b)
{
    for (size_t i = 0; i < b->n_chunks; i++)
        free((void *)(uintptr_t)b->chunks[i].bytes);
    free(b->chunks);
    b->chunks = NULL;
    b->n_chunks = b->chunks_room = 0;
}

/* The length of the buffer, as far as it came. */
static uint64_t length_of(const struct pfd_captured *b,
                          const struct pfd_ranges *data)
{
    uint64_t end = pfd_ranges_end(data);
    if (b->names_zeros) {
        end = pfd_ranges_end(&b->given);
    } else if (end && b->done && b->origin.size > end) {
        end = b->origin.size;
    }
    return end < PFD_CAPTURE_BUFFER_MAX ? end : PFD_CAPTURE_BUFFER_MAX;
}

bool pfd_captured_settle(struct pfd_captured *b, const uint8_t *capture,
                         struct pfd_report *report)
{
    struct pfd_ranges data = { 0 };
    struct pfd_ranges missing = { 0 };
    for (size_t i = 0; i < b->n_parts; i++) {
        uint64_t from = b->parts[i].offset;
        pfd_ranges_add(&data, from, from + b->parts[i].n);
        pfd_ranges_add(&b->given, from, from + b->parts[i].n);
    }
    pfd_ranges_settle(&data);
    pfd_ranges_settle(&b->given);
    b->n = (size_t)length_of(b, &data);
    uint64_t size = b->origin.size ? b->origin.size : b->n;
    if (!b->n_chunks || b->n_parts)
        find_missing(b, &data, size, &missing);
    if (b->n_chunks && b->n_parts) {
        pfd_report_add(report, PFD_FINDING_bad_frame, b->origin.at,
                       "a buffer with its bytes and with decoded entries: its "
                       "bytes are decoded");
        free_chunks(b);
    }
    report_missing(b, &missing, size, report);
    for (size_t i = 0; i < missing.n && missing.at[i].from < b->n; i++)
        pfd_ranges_add(&b->missing, missing.at[i].from, missing.at[i].to);
    pfd_ranges_gaps(&data, b->n, HOLE_MIN, &b->holes);
    pfd_ranges_gaps(&b->holes, b->n, 1, &b->there);
    bool ok = !data.failed && !missing.failed && !b->given.failed &&
              !b->holes.failed && !b->missing.failed && !b->there.failed &&
              gather(b, capture);
    pfd_ranges_free(&data);
    pfd_ranges_free(&missing);
    pfd_ranges_free(&b->given);
    free(b->parts);
    b->parts = NULL;
    b->n_parts = b->parts_room = 0;
    return ok;
}

void pfd_captured_drop(struct pfd_captured *b)
{
    pfd_ranges_free(&b->there);
    pfd_ranges_free(&b->holes);
    pfd_ranges_free(&b->missing);
    free_chunks(b);
    b->n = 0;
}

void pfd_captured_deinit(struct pfd_captured *b)
{
    pfd_ranges_free(&b->given);
    pfd_ranges_free(&b->there);
    pfd_ranges_free(&b->holes);
    pfd_ranges_free(&b->missing);
    free(b->parts);
    free(b->bytes);
    free_chunks(b);
}

/* ---- in one piece ---- */

static bool is_whole(const struct pfd_captured *b)
{
    return b->n == 0 || (b->there.n == 1 && !b->holes.n);
}

enum pfd_status pfd_captured_map(const struct pfd_captured *b, const void **ret,
                                 struct pfd_error *err)
{
    if (is_whole(b)) {
        *ret = b->bytes;
        return PFD_OK;
    }
    /* Untouched pages take no memory. */
    uint8_t *map = mmap(NULL, b->n, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET,
                        "no room for a buffer of %zu bytes", b->n);
    }
    const uint8_t *from = b->bytes;
    for (size_t i = 0; i < b->there.n; i++) {
        size_t n = (size_t)(b->there.at[i].to - b->there.at[i].from);
        memcpy(map + b->there.at[i].from, from, n);
        from += n;
    }
    *ret = map;
    return PFD_OK;
}

void pfd_captured_unmap(const struct pfd_captured *b, const void *bytes)
{
    if (!is_whole(b) && bytes)
        munmap((void *)(uintptr_t)bytes, b->n);
}

/* How to read a buffer of a capture, as far as its frame says. */

static bool is_text(const struct pfd_wire_bytes *bytes, const char *text)
{
    return strlen(text) == bytes->n && !memcmp(text, bytes->at, bytes->n);
}

static const char *format_of(const struct pfd_wire_frame *buffer)
{
    const struct pfd_format_info *info;
    for (size_t i = 0; (info = pfd_format_get(i)); i++) {
        if (is_text(&buffer->format, info->name))
            return info->name;
    }
    return NULL;
}

/* Sets one option by its word. */
static enum pfd_status set_option(const struct pfd_wire_frame *buffer,
                                  const char *name,
                                  const struct pfd_wire_bytes *said,
                                  struct pfd_options *options,
                                  struct pfd_error *err)
{
    struct pfd_quoted quoted;
    char word[PFD_OPTION_TEXT];
    if (!said->n)
        return PFD_OK;
    if (said->n < sizeof word && !memchr(said->at, '\0', said->n)) {
        memcpy(word, said->at, said->n);
        word[said->n] = '\0';
        if (pfd_options_set(options, name, word, NULL) == PFD_OK)
            return PFD_OK;
    }
    return pfd_fail(err, PFD_ERR_USAGE, buffer->at, "%s '%s' is not known",
                    name, pfd_quote(&quoted, said->at, said->n));
}

enum pfd_status pfd_capture_reading(const struct pfd_wire_frame *buffer,
                                    const char **format,
                                    struct pfd_options *options,
                                    struct pfd_error *err)
{
    const struct {
        const char *name;
        const struct pfd_wire_bytes *said;
    } all[] = {
        { "layout", &buffer->layout },
        { "compat", &buffer->compat },
        { "opencl-strings", &buffer->opencl_strings },
        { "kernel", &buffer->kernel },
    };
    struct pfd_quoted quoted;
    enum pfd_status status = PFD_OK;
    *format = format_of(buffer);
    for (size_t i = 0; i < sizeof all / sizeof *all && status == PFD_OK; i++)
        status = set_option(buffer, all[i].name, all[i].said, options, err);
    if (status == PFD_OK && buffer->format.n && !*format) {
        return pfd_fail(
            err, PFD_ERR_USAGE, buffer->at, "format '%s' is not known",
            pfd_quote(&quoted, buffer->format.at, buffer->format.n));
    }
    return status;
}
