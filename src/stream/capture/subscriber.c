/* SPDX-License-Identifier: MIT */
#include "stream/capture/subscriber.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <printfdecode/capture.h>
#include <printfdecode/subscriber.h>

#include "core/base/error.h"
#include "core/base/sized.h"
#include "stream/capture/chunk.h"
#include "stream/capture/producer_strings.h"
#include "stream/capture/wire.h"

enum {
    OBJECTS_MAX = 1 << 30,
    REFUSAL_MAX = 1024, /* bytes of a line that is no stream */
};

/* One generation of a buffer. */
struct buffer {
    uint64_t number;
    uint64_t generation;
    struct pfd_wire_frame *frame; /* owned */
    char *name;
    struct pfd_options options;
};

struct pfd_subscriber {
    int fd; /* below 0: the caller has the connection */
    bool has_ended;
    struct pfd_wire_reader *reader;
    struct pfd_wire_objects *objects;
    struct pfd_producer_strings producer_strings;
    size_t n_held; /* bytes of incomplete objects, and of modules */
    size_t n_objects_max;
    struct pfd_report report;
    char *source;                /* the report's */
    void *buffers;               /* a tree of struct buffer */
    struct pfd_wire_frame frame; /* of the batch */
    struct pfd_chunk_reader *chunk;
    const struct buffer *chunk_of; /* the buffer that the chunk's reader is
                                      for */
    uint64_t chunk_had;            /* number of code objects when it was made */
    bool is_open;                  /* there is a chunk to take items from */
    uint64_t sequence;             /* of its next item */
    char refusal[REFUSAL_MAX];     /* [n_refusal], a line that is no stream */
    size_t n_refusal;
    char *rest; /* [n_rest], owned: received by itself, not read yet */
    size_t n_rest;
    bool is_stream;             /* its first bytes were a stream's */
    struct pfd_batch batch;     /* as it was given last */
    struct pfd_chunk_item item; /* the same */
};

/* ---- buffers ---- */

static int compare(const void *a, const void *b)
{
    const struct buffer *x = a;
    const struct buffer *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->generation > y->generation) - (x->generation < y->generation);
}

static void free_buffer(void *node)
{
    struct buffer *b = node;
    free(b->frame);
    free(b->name);
    free(b);
}

static struct buffer *find_buffer(const struct pfd_subscriber *s,
                                  const struct pfd_wire_frame *frame)
{
    struct buffer key = { .number = frame->buffer,
                          .generation = frame->generation };
    struct buffer *const *found = tfind(&key, &s->buffers, compare);
    return found ? *found : NULL;
}

static void read_options(struct pfd_subscriber *s, struct buffer *b)
{
    const char *format = NULL;
    struct pfd_error err;
    if (pfd_capture_reading(b->frame, &format, &b->options, &err) != PFD_OK) {
        pfd_report_add(&s->report, PFD_FINDING_bad_frame, err.offset, "%s",
                       err.text);
    }
}

static struct buffer *new_buffer(const struct pfd_wire_frame *frame)
{
    struct buffer *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->number = frame->buffer;
    b->generation = frame->generation;
    b->frame = pfd_wire_copy(frame);
    b->name = strndup(frame->name.n ? frame->name.at : "", frame->name.n);
    if (b->frame && b->name)
        return b;
    free_buffer(b);
    return NULL;
}

static bool take_buffer(struct pfd_subscriber *s,
                        const struct pfd_wire_frame *frame)
{
    if (find_buffer(s, frame)) {
        pfd_report_add(&s->report, PFD_FINDING_bad_frame, frame->at,
                       "generation %llu of buffer %llu comes twice",
                       (unsigned long long)frame->generation,
                       (unsigned long long)frame->buffer);
        return true;
    }
    struct buffer *b = new_buffer(frame);
    if (!b || !tsearch(b, &s->buffers, compare)) {
        if (b)
            free_buffer(b);
        return false;
    }
    read_options(s, b);
    return true;
}

static void close_chunk(struct pfd_subscriber *s)
{
    pfd_chunk_reader_free(s->chunk);
    s->chunk = NULL;
    s->chunk_of = NULL;
    s->is_open = false;
}

/* Begins another stream, whose numbers are its own. */
static void begin_anew(struct pfd_subscriber *s)
{
    close_chunk(s);
    tdestroy(s->buffers, free_buffer);
    s->buffers = NULL;
    pfd_producer_strings_clear(&s->producer_strings);
}

/* ---- code objects ---- */

static bool hold(void *user, size_t n)
{
    struct pfd_subscriber *s = user;
    if (n > s->n_objects_max - s->n_held ||
        s->producer_strings.n_bytes > s->n_objects_max - s->n_held - n)
        return false;
    s->n_held += n;
    return true;
}

static void release(void *user, size_t n)
{
    struct pfd_subscriber *s = user;
    s->n_held -= n;
}

static bool take_object(void *user, struct pfd_wire_object *given)
{
    struct pfd_subscriber *s = user;
    if (given->use == PFD_WIRE_OBJECT_NAMED) {
        pfd_report_add(&s->report, PFD_FINDING_no_format_strings, given->at,
                       "code object %llu is only named, which is not followed",
                       (unsigned long long)given->number);
    }
    return pfd_producer_strings_add(&s->producer_strings, given);
}

/* ---- creation ---- */

static bool open_parts(struct pfd_subscriber *s)
{
    struct pfd_wire_objects_options options = {
        .give = take_object,
        .hold = hold,
        .release = release,
        .user = s,
        .fn = s->report.fn,
        .fn_user = s->report.user,
        .source = s->source,
    };
    s->reader = pfd_wire_reader_new(0);
    s->objects = pfd_wire_objects_new(&options);
    return s->reader && s->objects;
}

enum pfd_status pfd_subscriber_new(const struct pfd_subscriber_options *options,
                                   struct pfd_subscriber **ret,
                                   struct pfd_error *err)
{
    static const struct pfd_subscriber_options none;
    struct pfd_subscriber_options own;
    if (pfd_sized_take(&own, sizeof own, options ? options : &none, err) !=
        PFD_OK)
        return PFD_ERR_USAGE;
    const struct pfd_subscriber_options *o = &own;
    struct pfd_subscriber *s = calloc(1, sizeof *s);
    bool ok = s;
    if (s) {
        s->fd = -1;
        s->n_objects_max = o->n_objects_max ? o->n_objects_max : OBJECTS_MAX;
        s->source = o->source ? strdup(o->source) : NULL;
        s->report = (struct pfd_report){ .fn = o->fn,
                                         .user = o->user,
                                         .source = s->source };
        ok = (s->source || !o->source) && open_parts(s);
    }
    if (!ok) {
        pfd_subscriber_free(s);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    *ret = s;
    return PFD_OK;
}

void pfd_subscriber_hang_up(int fd)
{
    if (fd >= 0)
        close(fd);
}

void pfd_subscriber_free(struct pfd_subscriber *s)
{
    if (!s)
        return;
    begin_anew(s);
    pfd_wire_objects_free(s->objects);
    pfd_wire_reader_free(s->reader);
    pfd_subscriber_hang_up(s->fd);
    free(s->source);
    free(s->rest);
    free(s);
}

void pfd_subscriber_use(struct pfd_subscriber *s, int fd)
{
    s->fd = fd;
}

int pfd_subscriber_fd(const struct pfd_subscriber *s)
{
    return s->fd;
}

/* ---- bytes ---- */

/* A daemon that refuses sends a line, and no stream. */
static void take_refusal(struct pfd_subscriber *s, const char *bytes, size_t n)
{
    size_t room = sizeof s->refusal - s->n_refusal;
    size_t k = n < room ? n : room;
    memcpy(s->refusal + s->n_refusal, bytes, k);
    s->n_refusal += k;
}

enum pfd_status pfd_subscriber_feed(struct pfd_subscriber *s, const void *bytes,
                                    size_t n, size_t *taken,
                                    struct pfd_error *err)
{
    *taken = 0;
    if (!s->is_stream && n) {
        s->is_stream = !s->n_refusal && pfd_wire_may_begin(bytes, n);
        if (!s->is_stream) {
            take_refusal(s, bytes, n);
            *taken = n;
            return PFD_OK;
        }
    }
    return pfd_wire_reader_feed(s->reader, bytes, n, taken, err);
}

/* Feeds bytes that were received and did not fit yet. */
static enum pfd_status feed_rest(struct pfd_subscriber *s,
                                 struct pfd_error *err)
{
    size_t taken = 0;
    enum pfd_status status =
        pfd_subscriber_feed(s, s->rest, s->n_rest, &taken, err);
    s->n_rest -= taken;
    memmove(s->rest, s->rest + taken, s->n_rest);
    return status;
}

enum pfd_status pfd_subscriber_take(struct pfd_subscriber *s, const char *bytes,
                                    size_t n, struct pfd_error *err)
{
    char *rest = realloc(s->rest, s->n_rest + n);
    if (!rest)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    memcpy(rest + s->n_rest, bytes, n);
    s->rest = rest;
    s->n_rest += n;
    return feed_rest(s, err);
}

void pfd_subscriber_finish(struct pfd_subscriber *s)
{
    s->has_ended = true;
    pfd_wire_reader_finish(s->reader);
}

/* ---- batches ---- */

static struct pfd_batch gap_of(const struct pfd_wire_frame *frame)
{
    return (struct pfd_batch){
        .type = PFD_BATCH_GAP,
        .sequence = frame->sequence,
        .time = frame->time,
        .missed = frame->lost_entries,
        .why = frame->reason,
    };
}

static enum pfd_status open_chunk(struct pfd_subscriber *s,
                                  const struct buffer *b,
                                  const struct pfd_strings *strings,
                                  struct pfd_error *err)
{
    if (!s->chunk && pfd_chunk_reader_new(strings, b->name, &b->options,
                                          &s->chunk, err) != PFD_OK)
        return PFD_ERR_NOMEM;
    s->chunk_of = b;
    s->chunk_had = s->producer_strings.n_objects;
    return pfd_chunk_reader_open(s->chunk, s->frame.bytes.at, s->frame.bytes.n,
                                 err);
}

static enum pfd_status take_entries(struct pfd_subscriber *s,
                                    struct pfd_error *err)
{
    const struct pfd_wire_frame *frame = &s->frame;
    const struct buffer *b = find_buffer(s, frame);
    if (!b) {
        return pfd_fail(err, PFD_ERR_CORRUPT, frame->at,
                        "generation %llu of buffer %llu was not announced",
                        (unsigned long long)frame->generation,
                        (unsigned long long)frame->buffer);
    }
    if (s->chunk_of != b || s->chunk_had != s->producer_strings.n_objects)
        close_chunk(s); /* an old set may be freed now */
    const struct pfd_strings *strings = pfd_producer_strings_get(
        &s->producer_strings, b->frame->scope, s->report.fn, s->report.user);
    if (!strings)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    enum pfd_status status = open_chunk(s, b, strings, err);
    if (status != PFD_OK)
        return status;
    s->is_open = true;
    s->sequence = frame->sequence;
    s->batch = (struct pfd_batch){
        .type = PFD_BATCH_ENTRIES,
        .sequence = frame->sequence,
        .time = frame->time,
        .buffer = b->frame,
        .source = b->name,
        .generation = b->generation,
        .strings = strings,
        .options = &b->options,
        .bytes = frame->bytes.at,
        .n = frame->bytes.n,
    };
    return PFD_OK;
}

/* PFD_MORE: the frame is no batch. */
static enum pfd_status take(struct pfd_subscriber *s, struct pfd_error *err)
{
    const struct pfd_wire_frame *frame = &s->frame;
    if (pfd_wire_objects_take(s->objects, frame) == PFD_ERR_NOMEM)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    switch (frame->type) {
    case PFD_WIRE_START:
        begin_anew(s);
        return PFD_MORE;
    case PFD_WIRE_BUFFER:
        return take_buffer(s, frame) ? PFD_MORE
                                     : pfd_fail(err, PFD_ERR_NOMEM,
                                                PFD_NO_OFFSET, "out of memory");
    case PFD_WIRE_ENTRIES:
        return take_entries(s, err);
    case PFD_WIRE_GAP:
        s->batch = gap_of(frame);
        return PFD_OK;
    case PFD_WIRE_ERROR:
        return pfd_fail(err, PFD_ERR_STOPPED, PFD_NO_OFFSET, "%.*s",
                        (int)(frame->reason.n < 400 ? frame->reason.n : 400),
                        frame->reason.at);
    case PFD_WIRE_HELLO:
    case PFD_WIRE_CODE_OBJECT: /* taken above */
    case PFD_WIRE_SHADER:
    case PFD_WIRE_DATA: /* a daemon sends none */
    case PFD_WIRE_DONE:
    case PFD_WIRE_END:
    case PFD_WIRE_UNKNOWN:
    case PFD_WIRE_N_TYPES:
        break;
    }
    return PFD_MORE;
}

/* The text of a line of JSON, {"type":"error","text":"..."}, into ret
 * [n_ret]. */
static void read_refusal(const char *line, size_t n, char *ret, size_t n_ret)
{
    static const char key[] = "\"text\":\"";
    const char *at = memmem(line, n, key, sizeof key - 1);
    size_t k = 0;
    at = at ? at + sizeof key - 1 : line;
    for (; at < line + n && *at != '"' && *at != '\n' && k + 1 < n_ret; at++) {
        at += *at == '\\' && at + 1 < line + n;
        ret[k++] = *at;
    }
    ret[k] = '\0';
}

static size_t n_line(const struct pfd_subscriber *s)
{
    size_t n = 0;
    while (n < s->n_refusal && s->refusal[n] != '\r' && s->refusal[n] != '\n')
        n++;
    return n;
}

static enum pfd_status refused(const struct pfd_subscriber *s,
                               struct pfd_error *err)
{
    static const char refusal[] = "{\"type\":\"error\"";
    struct pfd_quoted quoted;
    char why[REFUSAL_MAX];
    size_t n = s->n_refusal;
    if (!s->has_ended && !memchr(s->refusal, '\n', n) && n < sizeof s->refusal)
        return PFD_MORE;
    if (n < sizeof refusal - 1 ||
        memcmp(s->refusal, refusal, sizeof refusal - 1) != 0) {
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, PFD_NO_OFFSET,
                        "no printfdecoded that sends entries: '%s'",
                        pfd_quote(&quoted, s->refusal, n_line(s)));
    }
    read_refusal(s->refusal, n, why, sizeof why);
    return pfd_fail(err, PFD_ERR_STOPPED, PFD_NO_OFFSET, "refused: %s", why);
}

enum pfd_status pfd_subscriber_next(struct pfd_subscriber *s,
                                    const struct pfd_batch **ret,
                                    struct pfd_error *err)
{
    enum pfd_status status = PFD_MORE;
    *ret = &s->batch;
    s->is_open = false;
    if (s->n_refusal)
        return refused(s, err);
    while (status == PFD_MORE) {
        status = pfd_wire_reader_next(s->reader, &s->frame, err);
        if (status == PFD_OK) {
            status = take(s, err);
        } else if (status != PFD_MORE || !s->n_rest) {
            return status;
        } else if (feed_rest(s, err) != PFD_OK) {
            return PFD_ERR_NOMEM;
        }
    }
    return status;
}

enum pfd_status pfd_subscriber_item(struct pfd_subscriber *s,
                                    struct pfd_chunk_item **ret,
                                    uint64_t *sequence, struct pfd_error *err)
{
    enum pfd_status status =
        s->is_open ? pfd_chunk_reader_next(s->chunk, &s->item, err) : PFD_END;
    *ret = &s->item;
    *sequence = s->sequence++;
    return status;
}
