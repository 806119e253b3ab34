/* SPDX-License-Identifier: MIT */
#include "inputs/edge_entries.h"

#include <printfdecode/capture.h>
#include <printfdecode/wire.h>

#include "core/base/text.h"
#include "ingest/chunker.h"
#include "ingest/ingest.h"
#include "stream/capture/chunk.h"
#include "stream/capture/wire.h"

enum {
    FRAME_MAX = 16 << 20,
};

static struct pfdd_stamp stamp_of(struct pfdd_edge_entries *e,
                                  struct pfdd_buffer *buffer, uint64_t time)
{
    return (struct pfdd_stamp){
        .source = pfdd_source_table_find(e->known.ingest->source_table,
                                         buffer->name, buffer->host),
        .time = time ? time : pfdd_time_now(),
        .buffer = buffer,
    };
}

static void put_gap(struct pfdd_edge_entries *e, struct pfdd_buffer *buffer,
                    const char *reason, uint64_t missed)
{
    struct pfdd_ingest *ingest = e->known.ingest;
    struct pfdd_stamp stamp = stamp_of(e, buffer, 0);
    pfdd_source_table_count(ingest->source_table, stamp.source, 0, 1);
    ingest->count->gap_lines += missed;
    pfdd_ring_gap(ingest->ring, &stamp, reason, missed);
}

/* NULL, or why the chunk cannot be used. */
static const char *put_entries(struct pfdd_edge_entries *e,
                               struct pfdd_buffer *buffer,
                               const struct pfd_wire_frame *f)
{
    struct pfdd_ingest *ingest = e->known.ingest;
    struct pfd_chunk_counts counts;
    struct pfdd_chunk_batch chunk_batch;
    if (f->bytes.n > PFDD_DECODED_CHUNK_MAX)
        return "too_large";
    if (pfd_chunk_count(f->bytes.at, f->bytes.n, &counts, NULL) != PFD_OK)
        return "bad_frame";
    pfdd_chunk_batch_init(&chunk_batch);
    if (!pfdd_chunk_batch_add(&chunk_batch, f, &counts))
        return "no_memory";
    struct pfdd_stamp stamp = stamp_of(e, buffer, f->time);
    pfdd_follower_stats_add_chunk(&e->sums, &ingest->outcome, &counts);
    pfdd_source_table_count(ingest->source_table, stamp.source,
                            chunk_batch.n_entries, 0);
    pfdd_source_table_trouble(ingest->source_table, stamp.source,
                              &(struct pfdd_source_troubles){
                                  .findings = counts.findings,
                                  .lost_bytes = counts.lost_bytes,
                                  .skipped_bytes = counts.skipped_bytes });
    if (chunk_batch.first)
        pfdd_ring_append(ingest->ring, &stamp, chunk_batch.first);
    return NULL;
}

static bool keep_part(void *user, const void *bytes, size_t n, uint32_t n_items)
{
    struct pfd_text *out = user;
    (void)n_items;
    pfd_text_add(out, bytes, n);
    return !out->failed;
}

/* Likewise, behind the first items. */
static const char *put_rest(struct pfdd_edge_entries *e,
                            struct pfdd_buffer *buffer,
                            const struct pfd_wire_frame *f, uint64_t skip)
{
    struct pfd_text rest = { 0 };
    struct pfd_wire_frame frame = *f;
    const char *why = "bad_frame";
    if (!skip)
        return put_entries(e, buffer, f);
    if (f->bytes.n <= PFDD_DECODED_CHUNK_MAX &&
        pfd_chunk_cut(f->bytes.at, f->bytes.n, skip, SIZE_MAX, keep_part, &rest,
                      NULL) == PFD_OK) {
        frame.bytes = (struct pfd_wire_bytes){ rest.data, rest.n };
        why = rest.n ? put_entries(e, buffer, &frame) : NULL;
    }
    pfd_text_free(&rest);
    return why;
}

/* The sequence number after this chunk, if it was in the spool at the start; 0:
 * it was not. */
static uint64_t find_mark(struct pfdd_edge_entries *e,
                          const struct pfd_wire_frame *f)
{
    if (e->dedup.n_left == 0)
        return 0;
    return pfdd_resend_dedup_find(
        &e->dedup, pfdd_resend_dedup_mark_of(f->time, f->bytes.at, f->bytes.n));
}

/* Reads the next frame of bytes [n], of which the reader has *at. False: there
 * is no valid one. */
static bool next_frame(struct pfd_wire_reader *reader, const char *bytes,
                       size_t n, size_t *at, struct pfd_wire_frame *ret)
{
    for (;;) {
        size_t taken = 0;
        enum pfd_status status = pfd_wire_reader_next(reader, ret, NULL);
        if (status == PFD_OK && ret->type != PFD_WIRE_START)
            return true;
        if (status == PFD_OK)
            continue;
        if (status != PFD_MORE || *at == n ||
            pfd_wire_reader_feed(reader, bytes + *at, n - *at, &taken, NULL) !=
                PFD_OK)
            return false;
        *at += taken;
    }
}

static bool feed_start(void *reader, const void *bytes, size_t n)
{
    size_t taken = 0;
    return pfd_wire_reader_feed(reader, bytes, n, &taken, NULL) == PFD_OK &&
           taken == n;
}

/* Takes the frames of a message: its buffer, and entries or a gap. Returns the
 * sequence number after them; *is_entries: they were entries. */
static uint64_t put_frames(struct pfdd_edge_entries *e,
                           const struct pfdd_worker_message *p,
                           const struct pfdd_edge_code *code, uint64_t skip,
                           struct pfd_wire_reader *reader, bool *is_entries)
{
    struct pfdd_ingest *ingest = e->known.ingest;
    struct pfd_wire_frame frame;
    struct pfdd_buffer *buffer = NULL;
    const char *why = "bad_frame";
    uint64_t missed = p->last - p->first + 1;
    size_t at = 0;
    if (next_frame(reader, p->bytes, p->n, &at, &frame) &&
        frame.type == PFD_WIRE_BUFFER) {
        bool fits = frame.n_bytes <= PFDD_EDGE_FRAME;
        if (fits)
            buffer = pfdd_edge_buffer_find(&e->known, p, code, &frame);
        why = buffer ? why : fits ? "no_memory" : "too_large";
    }
    if (buffer && next_frame(reader, p->bytes, p->n, &at, &frame)) {
        uint64_t end =
            frame.type == PFD_WIRE_ENTRIES ? find_mark(e, &frame) : 0;
        *is_entries = end > 0;
        if (end)
            return end;
        if (frame.type == PFD_WIRE_ENTRIES)
            why = put_rest(e, buffer, &frame, skip);
        if (frame.type == PFD_WIRE_GAP) {
            why = "too_large";
            missed = frame.lost_entries;
        }
    }
    *is_entries = !why;
    if (!why)
        return ingest->ring->next_seq;
    ingest->count->bad_frames++;
    pfdd_log_peer(PFDD_WARNING, "nats: a message of edge %s cannot be used: %s",
                  p->edge, why);
    struct pfd_wire_frame none = { .type = PFD_WIRE_BUFFER };
    struct pfdd_buffer *made =
        buffer ? pfdd_buffer_ref(buffer)
               : pfdd_edge_buffer_make(&e->known, p, code, &none);
    if (made)
        put_gap(e, made, why, missed);
    pfdd_buffer_unref(made);
    return ingest->ring->next_seq;
}

uint64_t pfdd_edge_entries_put(struct pfdd_edge_entries *e,
                               const struct pfdd_worker_message *p,
                               const struct pfdd_edge_code *code, uint64_t skip,
                               bool *is_entries)
{
    struct pfd_wire_reader *reader = pfd_wire_reader_new(FRAME_MAX);
    uint64_t end = 0;
    if (reader && pfd_wire_write_start(feed_start, reader) == PFD_OK)
        end = put_frames(e, p, code, skip, reader, is_entries);
    pfd_wire_reader_free(reader);
    return end;
}

uint64_t pfdd_edge_entries_mark(const struct pfdd_worker_message *p)
{
    struct pfd_wire_reader *reader = pfd_wire_reader_new(FRAME_MAX);
    struct pfd_wire_frame frame;
    uint64_t ret = 0;
    size_t at = 0;
    bool ok = reader && pfd_wire_write_start(feed_start, reader) == PFD_OK;
    while (ok && next_frame(reader, p->bytes, p->n, &at, &frame)) {
        if (frame.type == PFD_WIRE_ENTRIES) {
            ret = pfdd_resend_dedup_mark_of(frame.time, frame.bytes.at,
                                            frame.bytes.n) |
                  1;
            break;
        }
    }
    pfd_wire_reader_free(reader);
    return ret;
}
