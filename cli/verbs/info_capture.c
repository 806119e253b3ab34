/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <printfdecode/capture.h>

#include "info.h"
#include "show/fields.h"
#include "show/messages.h"
#include "stream/capture/capture.h"
#include "stream/capture/wire.h"

/* Counts of a stream's frames by type. */
struct frames {
    uint64_t n[PFD_WIRE_N_TYPES];
    bool has_end;
};

static void count_frames(const struct code_source *s, struct frames *ret)
{
    struct pfd_wire_reader *reader = pfd_wire_reader_new(0);
    const char *bytes = s->bytes;
    size_t at = 0;
    *ret = (struct frames){ 0 };
    while (reader) {
        struct pfd_wire_frame frame;
        size_t taken = 0;
        enum pfd_status status = pfd_wire_reader_next(reader, &frame, NULL);
        if (status == PFD_OK && (unsigned)frame.type < PFD_WIRE_N_TYPES) {
            ret->n[frame.type]++;
        } else if (status == PFD_MORE && at == s->n) {
            pfd_wire_reader_finish(reader);
        } else if (status == PFD_MORE) {
            if (pfd_wire_reader_feed(reader, bytes + at, s->n - at, &taken,
                                     NULL) != PFD_OK ||
                !taken)
                break;
            at += taken;
        } else if (status != PFD_OK && status != PFD_ERR_CORRUPT) {
            break;
        }
    }
    pfd_wire_reader_free(reader);
}

static void show_time(struct fields *f, const char *name, uint64_t ns)
{
    char text[64];
    struct tm tm;
    time_t seconds = (time_t)(ns / 1000000000);
    if (!ns || !gmtime_r(&seconds, &tm))
        return;
    size_t n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + n, sizeof text - n, ".%09uZ", (unsigned)(ns % 1000000000));
    fields_text(f, name, text);
}

static void show_buffer(struct fields *f, const struct pfd_capture_buffer *b)
{
    const struct pfd_wire_frame *o = b->origin;
    fields_item(f, "buffers", "buffer");
    fields_text(f, "name", b->name);
    if (o->format.n)
        fields_text_n(f, "format", o->format.at, o->format.n);
    fields_number(f, "bytes", b->n);
    fields_count(f, "chunks", b->n_chunks);
    fields_count(f, "generation", b->generation);
    fields_flag(f, "complete", b->done);
    if (o->process.n)
        fields_text_n(f, "process", o->process.at, o->process.n);
    fields_count(f, "pid", o->pid);
    if (o->device.n)
        fields_text_n(f, "device", o->device.at, o->device.n);
    if (o->queue.n)
        fields_text_n(f, "queue", o->queue.at, o->queue.n);
    fields_item_end(f);
}

static void show_labels(struct fields *f, const struct pfd_capture *capture)
{
    struct pfd_capture_buffer b;
    for (size_t i = 0; pfd_capture_get(capture, i, &b) == PFD_OK; i++) {
        for (size_t k = 0; k < b.origin->n_labels; k++) {
            const struct pfd_wire_label *l = &b.origin->labels[k];
            fields_item(f, "labels", "label");
            fields_text(f, "buffer", b.name);
            fields_text_n(f, "key", l->key.at, l->key.n);
            fields_text_n(f, "value", l->value.at, l->value.n);
            fields_item_end(f);
        }
    }
}

/* Prints the first and last time that the buffers have. */
static void show_span(struct fields *f, const struct pfd_capture *capture)
{
    struct pfd_capture_buffer b;
    uint64_t first = 0;
    uint64_t last = 0;
    for (size_t i = 0; pfd_capture_get(capture, i, &b) == PFD_OK; i++) {
        for (size_t k = 0; k < b.n_chunks; k++) {
            uint64_t time = b.chunks[k].time;
            first = time && (!first || time < first) ? time : first;
            last = time > last ? time : last;
        }
        first = b.time && (!first || b.time < first) ? b.time : first;
        last = b.time > last ? b.time : last;
    }
    show_time(f, "first_time", first);
    show_time(f, "last_time", last);
}

static void show_capture(struct info *x, const struct code_source *s,
                         const struct pfd_capture *capture,
                         const struct pfd_strings *strings)
{
    struct fields f;
    struct frames frames;
    struct pfd_capture_buffer b;
    struct pfd_capture_object o;
    count_frames(s, &frames);
    fields_begin(&f, x->json, s->path, "capture");
    fields_number(&f, "bytes", s->n);
    fields_flag(&f, "compressed", s->inflated != NULL);
    fields_number(&f, "strings", pfd_strings_count(strings));
    show_span(&f, capture);
    for (unsigned i = 0; i < PFD_WIRE_N_TYPES; i++) {
        if (!frames.n[i] || i == PFD_WIRE_START)
            continue;
        fields_item(&f, "frames", "frames");
        fields_text(&f, "type", pfd_wire_type_name((enum pfd_wire_type)i));
        fields_number(&f, "count", frames.n[i]);
        fields_item_end(&f);
    }
    for (size_t i = 0; pfd_capture_object(capture, i, &o) == PFD_OK; i++) {
        fields_item(&f, "objects", "object");
        fields_text_n(&f, "name", o.name.n ? o.name.at : "", o.name.n);
        fields_number(&f, "bytes", o.n);
        fields_item_end(&f);
    }
    for (size_t i = 0; pfd_capture_get(capture, i, &b) == PFD_OK; i++)
        show_buffer(&f, &b);
    show_labels(&f, capture);
    fields_end(&f);
}

bool info_capture(struct info *x, const struct code_source *s)
{
    struct pfd_capture *capture = NULL;
    struct pfd_error err = { .text = "out of memory" };
    struct pfd_strings *strings = pfd_strings_new();
    enum pfd_status status = PFD_ERR_NOMEM;
    if (strings) {
        status = pfd_capture_open(s->bytes, s->n, s->path, strings, x->hear, x,
                                  &capture, &err);
    }
    if (status == PFD_OK) {
        show_capture(x, s, capture, strings);
    } else {
        message_error("%s: %s", s->path, err.text);
    }
    pfd_capture_free(capture);
    pfd_strings_free(strings);
    return status == PFD_OK;
}
