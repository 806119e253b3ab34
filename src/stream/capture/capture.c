/* SPDX-License-Identifier: MIT */
#include "stream/capture/capture.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/capture.h>
#include <printfdecode/strings.h>

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/input.h"
#include "core/base/text.h"
#include "core/decode/string_loader.h"
#include "stream/capture/capture_buffer.h"
#include "stream/capture/capture_descriptions.h"
#include "stream/capture/wire.h"
#include "stream/capture/wire_objects.h"

struct object {
    struct pfd_wire_bytes name;
    uint64_t number;
    void *bytes; /* [n], owned */
    size_t n;
};

/* The array index of the newest item with these numbers. */
struct place {
    uint64_t number;
    uint64_t generation;
    size_t i;
};

struct pfd_capture {
    struct pfd_arena arena;
    struct pfd_captured *buffers; /* [n_buffers], owned */
    size_t n_buffers;
    size_t buffers_room;
    struct pfd_capture_buffer *given; /* [n_buffers], as callers see them */
    void *buffer_places;             /* a tree of struct place: this stream's */
    struct pfd_wire_objects *stream; /* this stream's; owned */
    struct object *objects;          /* [n_objects], owned */
    size_t n_objects;
    size_t objects_room;
    bool says_zeros; /* this stream names its zero bytes */
    uint64_t n_streams;
    struct pfd_capture_descriptions descriptions;
    struct pfd_wire_frame hello;
    struct pfd_strings *strings; /* borrowed */
    struct pfd_report report;
    bool failed; /* out of memory */
};

/* ---- copies that outlive their frames ---- */

static struct pfd_wire_bytes keep(struct pfd_capture *c,
                                  struct pfd_wire_bytes bytes)
{
    char *at = bytes.n ? pfd_arena_take(&c->arena, bytes.n) : NULL;
    c->failed |= bytes.n && !at;
    if (!at)
        return (struct pfd_wire_bytes){ NULL, 0 };
    memcpy(at, bytes.at, bytes.n);
    return (struct pfd_wire_bytes){ at, bytes.n };
}

static struct pfd_wire_frame keep_frame(struct pfd_capture *c,
                                        const struct pfd_wire_frame *frame)
{
    struct pfd_wire_frame ret = *frame;
    ret.bytes = (struct pfd_wire_bytes){ NULL, 0 };
    for (size_t i = 0; i < pfd_wire_n_keys; i++) {
        struct pfd_wire_bytes bytes;
        char *member = (char *)&ret + pfd_wire_keys[i].member;
        if (pfd_wire_keys[i].kind == PFD_WIRE_KEY_NUMBER)
            continue;
        memcpy(&bytes, member, sizeof bytes);
        bytes = keep(c, bytes);
        memcpy(member, &bytes, sizeof bytes);
    }
    size_t n = ret.n_labels;
    struct pfd_wire_label *labels =
        n ? pfd_arena_take(&c->arena, n * sizeof *labels) : NULL;
    c->failed |= n && !labels;
    ret.n_labels = labels ? n : 0;
    for (size_t i = 0; i < ret.n_labels; i++) {
        labels[i].key = keep(c, frame->labels[i].key);
        labels[i].value = keep(c, frame->labels[i].value);
    }
    ret.labels = labels;
    return ret;
}

static char *keep_text(struct pfd_capture *c, struct pfd_wire_bytes text)
{
    char *at = pfd_arena_take(&c->arena, text.n + 1);
    c->failed |= !at;
    if (!at)
        return NULL;
    if (text.n)
        memcpy(at, text.at, text.n);
    at[text.n] = '\0';
    return at;
}

static void *append(void *array, size_t *n, size_t *room, size_t size)
{
    if (*n == *room) {
        size_t next = *room ? *room * 2 : 16;
        array = realloc(array, next * size);
        if (!array)
            return NULL;
        *room = next;
    }
    ++*n;
    return array;
}

/* ---- numbers ---- */

static int compare(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->generation > y->generation) - (x->generation < y->generation);
}

static const struct place *find_place(void *tree, uint64_t number,
                                      uint64_t generation)
{
    struct place key = { number, generation, 0 };
    struct place *const *found = tfind(&key, &tree, compare);
    return found ? *found : NULL;
}

static void set_place(struct pfd_capture *c, void **tree, uint64_t number,
                      uint64_t generation, size_t i)
{
    struct place *place = pfd_arena_take(&c->arena, sizeof *place);
    if (place)
        *place = (struct place){ number, generation, i };
    struct place *const *found = place ? tsearch(place, tree, compare) : NULL;
    if (found)
        (*found)->i = i;
    c->failed |= !found;
}

/* The arena owns the nodes. */
static void keep_node(void *node)
{
    (void)node;
}

static void forget_places(void **tree)
{
    tdestroy(*tree, keep_node);
    *tree = NULL;
}

/* ---- code objects and shaders ---- */

/* Stores [n] bytes of an object, for pfd_capture_object(). */
static void keep_object(struct pfd_capture *c,
                        const struct pfd_wire_object *given, void *bytes)
{
    struct object *objects =
        append(c->objects, &c->n_objects, &c->objects_room, sizeof *objects);
    if (!objects || !bytes) {
        c->n_objects -= objects != NULL;
        c->objects = objects ? objects : c->objects;
        c->failed = true;
        free(bytes);
        return;
    }
    c->objects = objects;
    c->objects[c->n_objects - 1] = (struct object){
        .number = given->number,
        .name = keep(c, given->name),
        .bytes = bytes,
        .n = given->n,
    };
}

static void load(struct pfd_capture *c, const struct pfd_wire_object *given,
                 const void *bytes, size_t n)
{
    struct pfd_error err;
    char *name = keep_text(c, given->name.n ? given->name : given->uri);
    if (!name)
        return;
    /* A module of a validation layer holds strings only through a shader. */
    enum pfd_status status = pfd_strings_load(
        c->strings, bytes, n, name, c->report.fn, c->report.user, &err);
    c->failed |= status == PFD_ERR_NOMEM;
    bool is_module = n >= 4 && n % 4 == 0;
    bool is_bad = status == PFD_ERR_UNSUPPORTED && !is_module;
    if (pfd_strings_describes(bytes, n)) {
        const struct pfd_capture_owner owner = { c->n_streams, given->scope };
        is_bad = status != PFD_OK;
        c->failed |= !pfd_capture_descriptions_add(&c->descriptions, &c->arena,
                                                   owner, is_bad);
    }
    if (is_bad) {
        pfd_report_add(&c->report, PFD_FINDING_bad_frame, given->at,
                       "code object %llu: %s",
                       (unsigned long long)given->number, err.text);
    }
}

static void load_uri(struct pfd_capture *c, const struct pfd_wire_object *given)
{
    struct pfd_quoted quoted;
    struct pfd_input *input = NULL;
    struct pfd_error err;
    size_t n = 0;
    char *uri = keep_text(c, given->uri);
    if (!uri)
        return;
    /* A capture is not trusted: it may name files, not memory. */
    if (!strncmp(uri, "file://", 7) &&
        pfd_input_open(uri, &input, &err) == PFD_OK) {
        const void *bytes = pfd_input_bytes(input, &n);
        load(c, given, bytes, n);
        pfd_input_close(input);
        return;
    }
    pfd_report_add(&c->report, PFD_FINDING_no_format_strings, given->at,
                   "code object %llu is only named, as '%s', which cannot be "
                   "read; give the file as well",
                   (unsigned long long)given->number,
                   pfd_quote(&quoted, uri, strlen(uri)));
}

static void add_shader(struct pfd_capture *c,
                       const struct pfd_wire_object *given)
{
    struct pfd_error err = { .code = PFD_OK };
    struct pfd_shader_info info = {
        .id = (uint32_t)given->shader,
        .bytes = given->bytes,
        .n_bytes = given->n,
        .source = keep_text(c, given->name),
    };
    if (!info.source)
        return;
    enum pfd_status status = pfd_strings_add_shader(
        c->strings, &info, c->report.fn, c->report.user, &err);
    c->failed |= status == PFD_ERR_NOMEM;
    if (status < 0) {
        pfd_report_add(&c->report, PFD_FINDING_bad_frame, given->at,
                       "shader %llu: %s", (unsigned long long)given->shader,
                       err.text);
    }
}

static bool take_object(void *user, struct pfd_wire_object *given)
{
    struct pfd_capture *c = user;
    switch (given->use) {
    case PFD_WIRE_OBJECT_STRINGS:
        load(c, given, given->bytes, given->n);
        keep_object(c, given, given->bytes);
        given->bytes = NULL;
        break;
    case PFD_WIRE_OBJECT_NAMED:
        load_uri(c, given);
        break;
    case PFD_WIRE_OBJECT_MODULE: {
        void *copy = malloc(given->n);
        if (copy)
            memcpy(copy, given->bytes, given->n);
        keep_object(c, given, copy);
        break;
    }
    case PFD_WIRE_OBJECT_SHADER:
        add_shader(c, given);
        break;
    case PFD_WIRE_OBJECT_LOOSE:
        load(c, given, given->bytes, given->n);
        break;
    }
    return !c->failed;
}

/* ---- buffers ---- */

static struct pfd_captured *find_buffer(struct pfd_capture *c, uint64_t number,
                                        uint64_t generation)
{
    const struct place *place =
        find_place(c->buffer_places, number, generation);
    return place ? &c->buffers[place->i] : NULL;
}

static char *name_of(struct pfd_capture *c, const struct pfd_wire_frame *frame)
{
    char text[512];
    if (frame->name.n)
        return keep_text(c, frame->name);
    snprintf(text, sizeof text, "%s:%llu", c->report.source,
             (unsigned long long)frame->buffer);
    return keep_text(c, pfd_wire_text(text));
}

static struct pfd_captured *add_buffer(struct pfd_capture *c,
                                       const struct pfd_wire_frame *frame)
{
    if (c->n_buffers == PFD_CAPTURE_BUFFERS_MAX) {
        pfd_report_add(&c->report, PFD_FINDING_too_large, frame->at,
                       "more than %d buffers", PFD_CAPTURE_BUFFERS_MAX);
        return NULL;
    }
    struct pfd_captured *buffers =
        append(c->buffers, &c->n_buffers, &c->buffers_room, sizeof *buffers);
    if (!buffers) {
        c->failed = true;
        return NULL;
    }
    c->buffers = buffers;
    struct pfd_captured *b = &c->buffers[c->n_buffers - 1];
    *b = (struct pfd_captured){ .origin = keep_frame(c, frame),
                                .stream = c->n_streams,
                                .names_zeros = c->says_zeros };
    set_place(c, &c->buffer_places, frame->buffer, frame->generation,
              c->n_buffers - 1);
    b->name = name_of(c, frame);
    if (!b->origin.host.n)
        b->origin.host = c->hello.host;
    if (!b->origin.process.n)
        b->origin.process = c->hello.process;
    if (!b->origin.pid)
        b->origin.pid = c->hello.pid;
    b->time = frame->time;
    return b;
}

/* Reports a format or layout that is not known. */
static void check_reading(struct pfd_capture *c,
                          const struct pfd_wire_frame *buffer)
{
    const char *format = NULL;
    struct pfd_options options = { 0 };
    struct pfd_error err;
    if (pfd_capture_reading(buffer, &format, &options, &err) == PFD_OK)
        return;
    pfd_report_add(&c->report, PFD_FINDING_bad_frame, buffer->at,
                   "buffer %llu: its %s, and is found out from its bytes",
                   (unsigned long long)buffer->buffer, err.text);
}

static void take_buffer(struct pfd_capture *c,
                        const struct pfd_wire_frame *frame)
{
    if (find_buffer(c, frame->buffer, frame->generation)) {
        pfd_report_add(&c->report, PFD_FINDING_bad_frame, frame->at,
                       "generation %llu of buffer %llu comes twice",
                       (unsigned long long)frame->generation,
                       (unsigned long long)frame->buffer);
        return;
    }
    struct pfd_captured *b = add_buffer(c, frame);
    if (b)
        check_reading(c, &b->origin);
}

/* The frame's buffer; one that was not announced is added all the same. */
static struct pfd_captured *buffer_of(struct pfd_capture *c,
                                      const struct pfd_wire_frame *frame)
{
    struct pfd_captured *b = find_buffer(c, frame->buffer, frame->generation);
    struct pfd_wire_frame plain = {
        .type = PFD_WIRE_BUFFER,
        .at = frame->at,
        .buffer = frame->buffer,
        .generation = frame->generation,
    };
    if (b)
        return b;
    pfd_report_add(&c->report, PFD_FINDING_bad_frame, frame->at,
                   "generation %llu of buffer %llu was not announced",
                   (unsigned long long)frame->generation,
                   (unsigned long long)frame->buffer);
    return add_buffer(c, &plain);
}

static void take_data(struct pfd_capture *c, const struct pfd_wire_frame *frame)
{
    struct pfd_captured *b = buffer_of(c, frame);
    uint64_t n = frame->bytes.n + frame->zeros;
    uint64_t end = frame->offset + n;
    if (!b)
        return;
    if (n < frame->zeros || (frame->bytes.n && frame->zeros) ||
        end < frame->offset || end > PFD_CAPTURE_BUFFER_MAX ||
        (b->origin.size && end > b->origin.size)) {
        pfd_report_add(&c->report, PFD_FINDING_bad_frame, frame->at,
                       "%llu bytes at %llu of buffer %llu, which has %llu",
                       (unsigned long long)n, (unsigned long long)frame->offset,
                       (unsigned long long)frame->buffer,
                       (unsigned long long)(b->origin.size
                                                ? b->origin.size
                                                : PFD_CAPTURE_BUFFER_MAX));
        return;
    }
    c->failed |= !pfd_captured_add(b, frame);
    if (frame->time)
        b->time = frame->time;
}

static void take_entries(struct pfd_capture *c,
                         const struct pfd_wire_frame *frame)
{
    struct pfd_captured *b = buffer_of(c, frame);
    if (!b)
        return;
    c->failed |= !pfd_captured_add_chunk(b, frame, &c->report);
    if (frame->time)
        b->time = frame->time;
}

static void take_gap(struct pfd_capture *c, const struct pfd_wire_frame *frame)
{
    struct pfd_quoted quoted;
    if (frame->lost_entries) {
        pfd_report_add(&c->report, PFD_FINDING_gap, frame->at,
                       "%llu entries and findings were not sent: '%s'",
                       (unsigned long long)frame->lost_entries,
                       pfd_quote(&quoted, frame->reason.at, frame->reason.n));
        return;
    }
    pfd_report_add(&c->report, PFD_FINDING_gap, frame->at,
                   "the sender lost %llu frames, %llu bytes (buffer %llu): "
                   "'%s'",
                   (unsigned long long)frame->lost_frames,
                   (unsigned long long)frame->lost_bytes,
                   (unsigned long long)frame->buffer,
                   pfd_quote(&quoted, frame->reason.at, frame->reason.n));
}

static void take_error(struct pfd_capture *c,
                       const struct pfd_wire_frame *frame)
{
    struct pfd_quoted quoted;
    pfd_report_add(&c->report, PFD_FINDING_gap, frame->at,
                   "the sender gave up here: '%s'",
                   pfd_quote(&quoted, frame->reason.at, frame->reason.n));
}

static void take(struct pfd_capture *c, const struct pfd_wire_frame *frame)
{
    c->failed |= pfd_wire_objects_take(c->stream, frame) == PFD_ERR_NOMEM;
    switch (frame->type) {
    case PFD_WIRE_START:
        forget_places(&c->buffer_places);
        c->hello = (struct pfd_wire_frame){ .type = PFD_WIRE_HELLO };
        c->says_zeros = frame->features & PFD_WIRE_HAS_END;
        c->n_streams++;
        break;
    case PFD_WIRE_HELLO:
        c->hello = keep_frame(c, frame);
        break;
    case PFD_WIRE_BUFFER:
        take_buffer(c, frame);
        break;
    case PFD_WIRE_DATA:
        take_data(c, frame);
        break;
    case PFD_WIRE_ENTRIES:
        take_entries(c, frame);
        break;
    case PFD_WIRE_DONE: {
        struct pfd_captured *b =
            find_buffer(c, frame->buffer, frame->generation);
        if (b)
            b->done = true;
        break;
    }
    case PFD_WIRE_GAP:
        take_gap(c, frame);
        break;
    case PFD_WIRE_ERROR:
        take_error(c, frame);
        break;
    case PFD_WIRE_CODE_OBJECT: /* taken above */
    case PFD_WIRE_SHADER:
    case PFD_WIRE_END: /* the reader has checked it */
    case PFD_WIRE_UNKNOWN:
    case PFD_WIRE_N_TYPES:
        break;
    }
}

/* ---- the file ---- */

static enum pfd_status read_all(struct pfd_capture *c,
                                struct pfd_wire_reader *reader,
                                const uint8_t *bytes, size_t n,
                                struct pfd_error *err)
{
    size_t at = 0;
    for (;;) {
        struct pfd_wire_frame frame;
        enum pfd_status status = pfd_wire_reader_next(reader, &frame, err);
        if (c->failed)
            return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
        if (status == PFD_OK) {
            take(c, &frame);
        } else if (status == PFD_ERR_CORRUPT) {
            pfd_report_add(&c->report, PFD_FINDING_bad_frame, err->offset, "%s",
                           err->text);
        } else if (status != PFD_MORE) {
            c->failed |= pfd_wire_objects_finish(c->stream) == PFD_ERR_NOMEM;
            return status == PFD_END ? PFD_OK : status;
        } else if (at == n) {
            pfd_wire_reader_finish(reader);
        } else {
            enum {
                PIECE = 1 << 20
            };
            size_t taken = 0;
            size_t piece = n - at < PIECE ? n - at : PIECE;
            status =
                pfd_wire_reader_feed(reader, bytes + at, piece, &taken, err);
            if (status != PFD_OK)
                return status;
            at += taken;
        }
    }
}

/* A buffer is not read by a description that is not its own. */
static void refuse_described(struct pfd_capture *c, struct pfd_captured *b)
{
    struct pfd_quoted name;
    if (!pfd_capture_descriptions_refuse(&c->descriptions, b))
        return;
    pfd_report_add(&c->report, PFD_FINDING_not_read, b->origin.at,
                   "buffer '%s' is not read: the description that is loaded is "
                   "not that of its ring",
                   pfd_quote(&name, b->name, strlen(b->name)));
    pfd_captured_drop(b);
}

static void settle(struct pfd_capture *c, const void *bytes)
{
    for (size_t i = 0; i < c->n_buffers; i++) {
        c->failed |= !pfd_captured_settle(&c->buffers[i], bytes, &c->report);
        refuse_described(c, &c->buffers[i]);
    }
}

static struct pfd_capture *new_capture(const char *source,
                                       struct pfd_strings *strings,
                                       pfd_finding_fn fn, void *user)
{
    struct pfd_capture *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    struct pfd_wire_objects_options options = {
        .give = take_object,
        .user = c,
        .fn = fn,
        .fn_user = user,
        .source = source,
    };
    c->strings = strings;
    c->report = (struct pfd_report){ .fn = fn, .user = user, .source = source };
    c->stream = pfd_wire_objects_new(&options);
    if (c->stream)
        return c;
    free(c);
    return NULL;
}

/* Nothing of the buffers changes any more. */
static void give_buffers(struct pfd_capture *c)
{
    c->given = calloc(c->n_buffers ? c->n_buffers : 1, sizeof *c->given);
    c->failed |= !c->given;
    for (size_t i = 0; c->given && i < c->n_buffers; i++) {
        const struct pfd_captured *b = &c->buffers[i];
        c->given[i] = (struct pfd_capture_buffer){
            .origin = &b->origin,
            .name = b->name,
            .n = b->n,
            .holes = b->holes.at,
            .n_holes = b->holes.n,
            .missing = b->missing.at,
            .n_missing = b->missing.n,
            .chunks = b->chunks,
            .n_chunks = b->n_chunks,
            .generation = b->origin.generation,
            .time = b->time,
            .done = b->done,
        };
    }
}

enum pfd_status pfd_capture_open(const void *bytes, size_t n,
                                 const char *source,
                                 struct pfd_strings *strings, pfd_finding_fn fn,
                                 void *user, struct pfd_capture **ret,
                                 struct pfd_error *err)
{
    struct pfd_error own;
    if (!pfd_wire_recognise(bytes, n))
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, 0, "not a capture");
    struct pfd_capture *c = new_capture(source, strings, fn, user);
    struct pfd_wire_reader *reader = pfd_wire_reader_new(0);
    if (!c || !reader) {
        pfd_capture_free(c);
        pfd_wire_reader_free(reader);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    enum pfd_status status = read_all(c, reader, bytes, n, err ? err : &own);
    uint64_t skipped = pfd_wire_reader_skipped(reader);
    pfd_wire_reader_free(reader);
    pfd_wire_objects_free(c->stream);
    c->stream = NULL;
    forget_places(&c->buffer_places);
    if (status == PFD_OK) {
        settle(c, bytes);
        give_buffers(c);
    }
    if (c->failed)
        status = pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    if (skipped) {
        pfd_report_add(&c->report, PFD_FINDING_bad_frame, PFD_NO_OFFSET,
                       "%llu bytes of the capture are in no sound frame",
                       (unsigned long long)skipped);
    }
    if (status != PFD_OK) {
        pfd_capture_free(c);
        return status;
    }
    c->report.source = NULL;
    *ret = c;
    return PFD_OK;
}

void pfd_capture_free(struct pfd_capture *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_buffers; i++)
        pfd_captured_deinit(&c->buffers[i]);
    for (size_t i = 0; i < c->n_objects; i++)
        free(c->objects[i].bytes);
    pfd_wire_objects_free(c->stream);
    free(c->buffers);
    free(c->given);
    free(c->objects);
    pfd_arena_free(&c->arena);
    free(c);
}

const struct pfd_capture_buffer *pfd_capture_get(const struct pfd_capture *c,
                                                 size_t i)
{
    return i < c->n_buffers ? &c->given[i] : NULL;
}

enum pfd_status pfd_capture_map(const struct pfd_capture *c, size_t i,
                                const void **ret, struct pfd_error *err)
{
    return i < c->n_buffers ? pfd_captured_map(&c->buffers[i], ret, err)
                            : PFD_END;
}

void pfd_capture_unmap(const struct pfd_capture *c, size_t i, const void *bytes)
{
    if (i < c->n_buffers)
        pfd_captured_unmap(&c->buffers[i], bytes);
}

enum pfd_status pfd_capture_object(const struct pfd_capture *c, size_t i,
                                   struct pfd_capture_object *ret)
{
    if (i >= c->n_objects)
        return PFD_END;
    const struct object *o = &c->objects[i];
    *ret = (struct pfd_capture_object){
        .name = o->name,
        .number = o->number,
        .bytes = o->bytes,
        .n = o->n,
    };
    return PFD_OK;
}
