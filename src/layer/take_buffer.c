/* SPDX-License-Identifier: MIT */
#include "take_buffer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "mapping.h"
#include "memory_read.h"
#include "modules.h"
#include "own_queues.h"
#include "settings.h"
#include "validation.h"

enum {
    HEAD_BYTES = 16, /* where formats count the written bytes */
    ENTRY_BYTES = 4096,
    FIRST_BYTES = 64,    /* that are read at once: most buffers are empty */
    BEHIND_BYTES = 32,   /* that are read behind the counted ones */
    WANTED_BYTES = 4096, /* a size that is proposed is a multiple of it */
    RECORD_DWORDS = 4,   /* of the smallest record */
    LABELS_MAX = 8,
    HANDLE_BYTES = 20,
    LOOKS_MAX = 4, /* at a buffer whose count rises meanwhile */
};

static const char *const format_names[] = {
    [CONTENTS_UNKNOWN] = "",
    [CONTENTS_DEBUGPRINTF] = "debugprintf",
    [CONTENTS_GPUAV] = "gpuav",
};

/* ---- bytes ---- */

/* Makes room for n bytes; NULL: there is none, which was logged. */
static char *make_room(struct device *d, size_t n)
{
    if (n > d->scratch.n) {
        char *scratch = realloc(d->scratch.bytes, n);
        if (!scratch) {
            log_once(TELL_MEMORY, "out of memory: something is missing");
            return NULL;
        }
        d->scratch.bytes = scratch;
        d->scratch.n = n;
    }
    return d->scratch.bytes;
}

static void log_cut(uint64_t n)
{
    log_once(TELL_TOO_LARGE,
             "a buffer has %" PRIu64 " bytes: only the first %zu of them are "
             "taken (buffer_bytes)",
             n, settings_get()->n_buffer_max);
}

static bool is_zero(const char *bytes, size_t n)
{
    size_t i = 0;
    while (i < n && !bytes[i])
        i++;
    return i == n;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What a buffer holds. */
struct counted {
    struct validation_count count;
    const char *bytes; /* [n], in the device's scratch */
    size_t n;
    bool is_whole; /* these are all that shaders have written */
};

/* What the header of a named buffer counts, at most: formats that count have
 * dwords or bytes in the first dword, and 16 bytes in front of what they count.
 * If it is another number, the bytes behind it tell. */
static struct validation_count named_count(const uint32_t head[1])
{
    return (struct validation_count){ .end =
                                          HEAD_BYTES + 4 * (uint64_t)head[0] };
}

/* Copies the bytes from the buffer's start to `end`, and n_behind bytes behind
 * it; head: what it began with a moment ago. The device may write meanwhile: the
 * older header counts no bytes that are not there. */
static bool copy_up_to(struct device *d, struct own_queue *queue,
                       const struct buffer *b, const char *head, uint64_t end,
                       size_t n_behind, struct counted *ret)
{
    uint64_t max = smaller(b->size, settings_get()->n_buffer_max);
    end = smaller(end, b->size);
    ret->n = (size_t)smaller(end + n_behind, max);
    ret->is_whole = end <= max;
    char *bytes = make_room(d, ret->n);
    if (!bytes ||
        (ret->n > FIRST_BYTES && !reading_copy(d, queue, b, 0, ret->n, bytes)))
        return false;
    memcpy(bytes, head, smaller(ret->n, FIRST_BYTES));
    ret->bytes = bytes;
    return true;
}

static bool is_zero_behind(const struct counted *c)
{
    uint64_t end = smaller(c->count.end, c->n);
    return is_zero(c->bytes + end, c->n - (size_t)end);
}

/* Copies what the buffer's header counts, and some bytes behind. If those are
 * not zero, the count has risen meanwhile; or it is none, or has wrapped, and
 * all is copied. False: it is not readable. */
static bool copy_counted(struct device *d, struct own_queue *queue,
                         const struct buffer *b, enum contents contents,
                         struct counted *ret)
{
    bool is_named = contents == CONTENTS_NAMED;
    size_t n_behind = is_named ? ENTRY_BYTES : BEHIND_BYTES;
    uint64_t end = UINT64_MAX;
    for (int i = 0; i < LOOKS_MAX; i++) {
        uint32_t head[FIRST_BYTES / 4] = { 0 };
        if (!reading_copy(d, NULL, b, 0, (size_t)smaller(b->size, sizeof head),
                          (char *)head))
            return false;
        ret->count = is_named ? named_count(head)
                              : validation_count(d->instance->validation,
                                                 contents, head);
        bool is_same = i && ret->count.end == end;
        end = is_same || i == LOOKS_MAX - 1 ? b->size : ret->count.end;
        if (!copy_up_to(d, queue, b, (const char *)head, end, n_behind, ret))
            return false;
        if (end >= b->size || is_zero_behind(ret))
            break;
    }
    if (!ret->is_whole)
        log_cut(smaller(end, b->size));
    return true;
}

static bool append_report(uint64_t n)
{
    const char *path = settings_get()->report;
    FILE *file = path ? fopen(path, "ae") : NULL;
    if (!file)
        return false;
    bool ok = fprintf(file, "%" PRIu64 "\n", n) > 0;
    return !fclose(file) && ok;
}

/* Notes the size that would have been enough: with an empty record behind the
 * others, which validation of 2023 looks for, even behind the buffer. It is
 * reported at once, since many programs end without destroying their device. */
static void note_wanted(struct device *d, const struct buffer *b,
                        const struct counted *c)
{
    uint64_t end = c->count.end;
    if (end == UINT64_MAX || end <= b->size)
        return;
    end = (end + BEHIND_BYTES + WANTED_BYTES - 1) / WANTED_BYTES * WANTED_BYTES;
    if (end <= d->n_wanted)
        return;
    d->n_wanted = end;
    d->is_reported = append_report(end);
}

static bool is_drained(const struct device *d, const struct use *use)
{
    enum settings_drain drain = settings_get()->drain;
    return use->contents == CONTENTS_DEBUGPRINTF && !d->is_lost &&
           (drain == DRAIN_ALWAYS ||
            (drain == DRAIN_UNWANTED && !d->instance->wants_prints)) &&
           frame_output_is_open(d->frame_output);
}

/* Empties a buffer as validation does that: all that is used, and then the
 * count. */
static void drain(struct device *d, const struct buffer *b,
                  const struct counted *c)
{
    size_t at = c->count.dword * sizeof(uint32_t);
    size_t begin = at + sizeof(uint32_t);
    if (c->n > begin)
        mapping_clear(d, b, begin, c->n - begin);
    mapping_clear(d, b, at, sizeof(uint32_t));
}

/* The size without the zeros at the end. */
static size_t used(const char *bytes, size_t n)
{
    while (n >= 8 && !bytes[n - 1]) {
        uint64_t word;
        memcpy(&word, bytes + n - 8, sizeof word);
        if (word)
            break;
        n -= 8;
    }
    while (n && !bytes[n - 1])
        n--;
    return n;
}

/* Does the buffer have only validation's flags for its shaders? Any record has
 * more dwords than their value. */
static bool is_flags(const char *bytes, size_t n)
{
    return n == 1 && bytes[0] > 0 && bytes[0] < RECORD_DWORDS;
}

/* The number of bytes to send for n used ones of n_read: includes zeros that an
 * entry may end in, since a reader of a stream may treat absent bytes as the
 * buffer's end. */
static size_t sent(size_t n_read, size_t n)
{
    size_t more = (n + 3) / 4 * 4 + ENTRY_BYTES;
    return more < n_read ? more : n_read;
}

/* ---- labels ---- */

struct labels {
    struct pfd_wire_label at[LABELS_MAX];
    size_t n;
    char command[HANDLE_BYTES];
    char pipeline[HANDLE_BYTES];
};

static void add_label(struct labels *l, const char *key, const char *value)
{
    if (value && l->n < LABELS_MAX) {
        l->at[l->n++] =
            (struct pfd_wire_label){ pfd_wire_text(key), pfd_wire_text(value) };
    }
}

static const char *handle_text(char ret[HANDLE_BYTES], uint64_t handle)
{
    snprintf(ret, HANDLE_BYTES, "0x%" PRIx64, handle);
    return ret;
}

static void add_use(struct device *d, struct labels *l, const struct use *use)
{
    uint64_t command = KEY(use->command);
    uint64_t pipeline = KEY(use->pipeline);
    add_label(l, "command_buffer",
              handle_map_find(&d->names.commands, command));
    add_label(l, "command_buffer_handle", handle_text(l->command, command));
    if (!pipeline)
        return;
    add_label(l, "pipeline", handle_map_find(&d->names.pipelines, pipeline));
    add_label(l, "pipeline_handle", handle_text(l->pipeline, pipeline));
}

static const char *point_name(const struct use *use)
{
    if (use->is_before)
        return "";
    switch ((int)use->point) {
    case VK_PIPELINE_BIND_POINT_GRAPHICS:
        return "graphics";
    case VK_PIPELINE_BIND_POINT_COMPUTE:
        return "compute";
    case VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR:
        return "raytracing";
    default:
        return "";
    }
}

/* ---- frames ---- */

static void put_data(struct device *d, uint64_t number, uint64_t generation,
                     const char *bytes, size_t from, size_t to)
{
    struct pfd_wire_frame data = {
        .type = PFD_WIRE_DATA,
        .buffer = number,
        .generation = generation,
        .offset = from,
        .bytes = { bytes + from, to - from },
    };
    if (to > from)
        frame_output_put(d->frame_output, &data);
}

/* Declares the bytes behind as zeros, which are not sent: a reader has the
 * whole buffer even if the program ends now. */
static void put_zeros(struct device *d, const struct buffer *b, size_t from)
{
    struct pfd_wire_frame zeros = {
        .type = PFD_WIRE_DATA,
        .buffer = b->number,
        .generation = b->generation,
        .offset = from,
        .zeros = b->size - from,
    };
    if (b->size > from)
        frame_output_put(d->frame_output, &zeros);
}

static void put_done(struct device *d, uint64_t number, uint64_t generation)
{
    struct pfd_wire_frame done = {
        .type = PFD_WIRE_DONE,
        .buffer = number,
        .generation = generation,
    };
    frame_output_put(d->frame_output, &done);
}

/* Sends a buffer of validation. All of one kind share a stream: each is a
 * generation of it. */
static void put_use(struct device *d, const struct buffer *b,
                    const struct use *use, const struct counted *c, size_t n)
{
    uint64_t *number = &d->streams.numbers[use->contents];
    struct labels labels = { .n = 0 };
    modules_send(d);
    if (d->is_lost)
        add_label(&labels, "device", "lost");
    add_use(d, &labels, use);
    uint64_t generation = d->streams.generations[use->contents];
    if (!*number) {
        *number = frame_output_number(d->frame_output);
    } else {
        generation = ++d->streams.generations[use->contents];
    }
    struct pfd_wire_frame frame = {
        .type = PFD_WIRE_BUFFER,
        .buffer = *number,
        .generation = generation,
        .size = c->n,
        .name = pfd_wire_text("validation"),
        .format = pfd_wire_text(format_names[use->contents]),
        .device = pfd_wire_text(d->name),
        .pipeline_type = pfd_wire_text(point_name(use)),
        .dispatch = use->index,
        .labels = labels.at,
        .n_labels = labels.n,
    };
    frame_output_put(d->frame_output, &frame);
    put_data(d, *number, generation, c->bytes, 0, sent(c->n, n));
    put_done(d, *number, generation);
}

void take_use(struct device *d, struct buffer *b, const struct use *use,
              VkQueue finished)
{
    struct own_queue *queue = finished ? own_queue_for(d, finished) : NULL;
    struct counted c;
    bool ok = copy_counted(d, queue, b, use->contents, &c);
    size_t n = ok ? used(c.bytes, c.n) : 0;
    if (!n || is_flags(c.bytes, n) ||
        (use->is_before &&
         !validation_is_errors(d->instance->validation, c.bytes, n)))
        return;
    note_wanted(d, b, &c);
    put_use(d, b, use, &c, n);
    if (finished && c.is_whole && is_drained(d, use))
        drain(d, b, &c);
}

void take_report(struct device *d)
{
    if (d->n_wanted && !d->is_reported) {
        log_once(TELL_OVERFLOW,
                 "shaders printed more than a buffer holds: with "
                 "printf_buffer_size = %" PRIu64
                 " nothing would have been lost",
                 d->n_wanted);
    }
    d->n_wanted = 0;
}

/* ---- named buffers ---- */

static void end_generation(struct device *d, struct buffer *b)
{
    if (b->last_sent.is_open)
        put_done(d, b->number, b->generation);
    b->last_sent.is_open = false;
}

static void begin_generation(struct device *d, struct buffer *b)
{
    struct labels labels = { .n = 0 };
    end_generation(d, b);
    if (b->number) {
        b->generation++;
    } else {
        b->number = frame_output_number(d->frame_output);
    }
    modules_send(d);
    if (d->is_lost)
        add_label(&labels, "device", "lost");
    struct pfd_wire_frame frame = {
        .type = PFD_WIRE_BUFFER,
        .buffer = b->number,
        .generation = b->generation,
        .size = b->size,
        .name = pfd_wire_text(b->name),
        .device = pfd_wire_text(d->name),
        .labels = labels.at,
        .n_labels = labels.n,
    };
    frame_output_put(d->frame_output, &frame);
    b->last_sent.is_open = true;
    b->last_sent.epoch = frame_output_epoch(d->frame_output);
}

static bool keep_given(struct buffer *b, const char *bytes, size_t n)
{
    if (n > b->last_sent.n) {
        char *more = realloc(b->last_sent.bytes, n);
        if (!more)
            return false;
        b->last_sent.bytes = more;
    }
    memcpy(b->last_sent.bytes, bytes, n);
    b->last_sent.n = n;
    return true;
}

/* True: bytes [n] begin with the bytes sent last, except for the header. */
static bool goes_on(const struct last_sent *g, const char *bytes, size_t n)
{
    return g->is_open && !g->is_renewed && n >= g->n &&
           (g->n <= HEAD_BYTES ||
            !memcmp(g->bytes + HEAD_BYTES, bytes + HEAD_BYTES,
                    g->n - HEAD_BYTES));
}

/* The buffer's work is known to be finished only if all work is. */
static struct own_queue *queue_if_idle(struct device *d)
{
    return d->submissions.n || d->submissions.is_unknown
               ? NULL
               : own_queue_for(d, NULL);
}

static void take_one(struct device *d, struct buffer *b)
{
    struct last_sent *g = &b->last_sent;
    struct counted c;
    bool ok = copy_counted(d, queue_if_idle(d), b, CONTENTS_NAMED, &c);
    size_t n = ok ? used(c.bytes, c.n) : 0;
    bool is_more = n && goes_on(g, c.bytes, n) &&
                   g->epoch == frame_output_epoch(d->frame_output);
    if (!n || (is_more && n == g->n && !memcmp(g->bytes, c.bytes, n)))
        return;
    if (is_more) {
        /* The header comes last: the bytes that it counts are there then. */
        put_data(d, b->number, b->generation, c.bytes, g->n, sent(c.n, n));
        put_data(d, b->number, b->generation, c.bytes, 0,
                 n < HEAD_BYTES ? n : HEAD_BYTES);
    } else {
        begin_generation(d, b);
        put_data(d, b->number, b->generation, c.bytes, 0, sent(c.n, n));
        if (c.is_whole)
            put_zeros(d, b, sent(c.n, n));
    }
    g->is_renewed = !keep_given(b, c.bytes, n);
}

void take_named(struct device *d)
{
    struct handle_map_slot *slot;
    size_t at = 0;
    while (d->n_named && (slot = handle_map_next(&d->objects.buffers, &at))) {
        struct buffer *b = slot->value;
        if (b->name && !b->n_renewing)
            take_one(d, b);
    }
}

void take_rest(struct device *d, struct buffer *b)
{
    if (!b->name)
        return;
    take_one(d, b);
    end_generation(d, b);
}

void take_end(struct device *d)
{
    struct handle_map_slot *slot;
    size_t at = 0;
    while ((slot = handle_map_next(&d->objects.buffers, &at)))
        end_generation(d, slot->value);
}

/* Was the buffer restarted? The header counts written bytes, and only a restart
 * makes a count smaller. */
static bool has_begun_anew(const struct last_sent *g, const char *bytes)
{
    for (size_t i = 0; i + 4 <= HEAD_BYTES && i + 4 <= g->n; i += 4) {
        uint32_t before;
        uint32_t now;
        memcpy(&before, g->bytes + i, sizeof before);
        memcpy(&now, bytes + i, sizeof now);
        if (now < before)
            return true;
    }
    return false;
}

void take_look(struct device *d)
{
    struct handle_map_slot *slot;
    size_t at = 0;
    while (d->n_named && (slot = handle_map_next(&d->objects.buffers, &at))) {
        struct buffer *b = slot->value;
        const char *bytes = b->name && b->last_sent.n && !b->n_renewing
                                ? mapping_bytes(d, b)
                                : NULL;
        if (bytes && has_begun_anew(&b->last_sent, bytes))
            b->last_sent.is_renewed = true;
    }
}
