/* SPDX-License-Identifier: MIT */
#include "ring/log_record.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "core/decode/inspect.h"
#include "core/output/json.h"

/* ---- fields ---- */

struct fields {
    pfdd_field_fn call;
    void *user;
    bool of_buffer;
};

enum {
    LABEL_NAME = 33,  /* syslog's limit (RFC 5424, 6.3.3), and a NUL */
    LABELS_MAX = 256, /* of a record */
    FIELD_MAX = 8192, /* bytes of a format string or of arguments */
};

/* A name that is known at compile time. */
struct name {
    const char *at; /* [n] */
    size_t n;
};
#define NAME(text) ((struct name){ (text), sizeof(text) - 1 })

static void put(const struct fields *f, struct name name, const char *value,
                size_t n, bool is_number)
{
    const struct pfdd_field field = { name.at, name.n,    value,
                                      n,       is_number, f->of_buffer };
    f->call(f->user, &field);
}

static void put_bytes(const struct fields *f, struct name name,
                      struct pfd_wire_bytes value)
{
    if (value.n)
        put(f, name, value.at, value.n, false);
}

static void put_text(const struct fields *f, struct name name,
                     const char *value)
{
    put(f, name, value, strlen(value), false);
}

static void put_number(const struct fields *f, struct name name, uint64_t value)
{
    char text[PFDD_DIGITS];
    put(f, name, text, pfdd_decimal(text, value), true);
}

static void put_hex(const struct fields *f, struct name name, uint64_t value,
                    unsigned n_digits)
{
    char text[PFDD_DIGITS];
    put(f, name, text, pfdd_hex(text, value, n_digits), false);
}

/* "1,2,3" */
static void put_parts(const struct fields *f, struct name name,
                      const struct pfd_origin *o)
{
    char text[3 * PFDD_DIGITS];
    size_t n = 0;
    for (uint32_t i = 0; i < o->n && i < 3; i++) {
        uint32_t bits = (uint32_t)o->value[i];
        float real;
        memcpy(&real, &bits, sizeof real);
        if (i)
            text[n++] = ',';
        n += o->type == PFD_ORIGIN_FLOATS
                 ? (size_t)snprintf(text + n, sizeof text - n, "%.9g",
                                    (double)real)
                 : pfdd_decimal(text + n, o->value[i]);
    }
    put(f, name, text, n, false);
}

static void put_origin(const struct fields *f, const struct pfd_origin *o)
{
    struct name name = { o->name, strlen(o->name) };
    switch (o->type) {
    case PFD_ORIGIN_NUMBER:
        put_number(f, name, o->value[0]);
        break;
    case PFD_ORIGIN_HEX:
        put_hex(f, name, o->value[0], 16);
        break;
    case PFD_ORIGIN_COORDS:
    case PFD_ORIGIN_FLOATS:
        put_parts(f, name, o);
        break;
    case PFD_ORIGIN_TEXT:
        put(f, name, o->text, o->n, false);
        break;
    }
}

/* As JSON has them: a list. Where it is too long for services it is left out. */
static void put_args(const struct fields *f, struct pfd_entry *entry)
{
    char *text = malloc(pfd_entry_args_room(entry));
    size_t n = text ? pfd_entry_args(text, entry) : 0;
    if (n && n <= FIELD_MAX)
        put(f, NAME("args"), text, n, false);
    free(text);
}

/* The name of a label may be anything, and fields of some services may not: "label_"
 * and letters, digits and '_', the others replaced. */
static void put_label_name(const struct pfd_wire_label *label,
                           char ret[LABEL_NAME])
{
    static const char prefix[] = "label_";
    size_t at = sizeof prefix - 1;
    memcpy(ret, prefix, sizeof prefix);
    for (size_t i = 0; i < label->key.n && at < LABEL_NAME - 1; i++) {
        char c = label->key.at[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9');
        ret[at++] = is_plain ? c : '_';
    }
    ret[at] = '\0';
}

static bool is_first(const struct pfd_wire_frame *frame, size_t i,
                     const char *name)
{
    char other[LABEL_NAME];
    for (size_t k = 0; k < i; k++) {
        put_label_name(&frame->labels[k], other);
        if (!strcmp(other, name))
            return false;
    }
    return true;
}

/* Of labels whose names become the same the first one has it. */
static void put_labels(const struct fields *f,
                       const struct pfd_wire_frame *frame)
{
    char name[LABEL_NAME];
    for (size_t i = 0; i < frame->n_labels && i < LABELS_MAX; i++) {
        put_label_name(&frame->labels[i], name);
        if (is_first(frame, i, name)) {
            put(f, (struct name){ name, strlen(name) },
                frame->labels[i].value.at, frame->labels[i].value.n, false);
        }
    }
}

/* Bytes that are no UTF-8, which services of text lose. */
static void put_message_bytes(const struct fields *f,
                              const struct pfdd_log_record *log_record)
{
    size_t room = (log_record->n + 2) / 3 * 4;
    if (!log_record->n)
        return;
    char *text = malloc(room);
    size_t n =
        text ? pfd_base64_for_json(text, log_record->text, log_record->n) : 0;
    if (n)
        put(f, NAME("message_b64"), text, n, false);
    free(text);
}

static void put_entry(const struct fields *f, struct pfd_entry *entry)
{
    size_t n;
    const char *format_string = pfd_entry_format_string(entry, &n);
    if (format_string && n <= FIELD_MAX)
        put(f, NAME("format_string"), format_string, n, false);
    put_args(f, entry);
    put_number(f, NAME("index"), entry->index);
    put_number(f, NAME("offset"), entry->offset);
    const struct pfd_origin *origins = pfd_entry_origins(entry, &n);
    const char *stream = pfd_stream_name((enum pfd_stream)entry->stream);
    put_hex(f, NAME("id"), entry->id, 12);
    if (stream)
        put_text(f, NAME("stream"), stream);
    for (size_t i = 0; i < n; i++)
        put_origin(f, &origins[i]);
}

/* "unknown_id width_mismatch" */
static void put_findings(const struct fields *f, uint64_t findings)
{
    char text[1024];
    size_t n = 0;
    if (!findings)
        return;
    for (uint64_t left = findings; left && n < sizeof text; left &= left - 1) {
        unsigned kind = (unsigned)__builtin_ctzll(left);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "",
                              pfd_finding_name((enum pfd_finding_kind)kind));
    }
    put_text(f, NAME("findings"), text);
}

void pfdd_log_record_buffer_fields(const struct pfdd_log_record *log_record,
                                   pfdd_field_fn call, void *user)
{
    const struct fields f = { call, user, true };
    const struct pfd_wire_frame *frame =
        log_record->buffer ? log_record->buffer->frame : NULL;
    if (!frame)
        return;
    put_text(&f, NAME("source"), log_record->buffer->name);
    put_bytes(&f, NAME("host"), frame->host);
    put_bytes(&f, NAME("process"), frame->process);
    if (frame->pid)
        put_number(&f, NAME("pid"), frame->pid);
    put_bytes(&f, NAME("device"), frame->device);
    put_bytes(&f, NAME("queue"), frame->queue);
    if (frame->pipeline)
        put_hex(&f, NAME("pipeline"), frame->pipeline, 16);
    put_bytes(&f, NAME("pipeline_type"), frame->pipeline_type);
    if (frame->dispatch)
        put_number(&f, NAME("dispatch"), frame->dispatch);
    put_bytes(&f, NAME("stage"), frame->stage);
    put_labels(&f, frame);
}

void pfdd_log_record_fields(const struct pfdd_log_record *log_record,
                            pfdd_field_fn call, void *user)
{
    const struct fields f = { call, user, false };
    put_text(&f, NAME("type"), log_record->type);
    put_number(&f, NAME("sequence"), log_record->sequence);
    put_number(&f, NAME("time_unix_nano"), log_record->time);
    pfdd_log_record_buffer_fields(log_record, call, user);
    if (log_record->generation)
        put_number(&f, NAME("generation"), log_record->generation);
    put_message_bytes(&f, log_record);
    if (log_record->entry)
        put_entry(&f, log_record->entry);
    put_findings(&f, log_record->findings);
}

const struct pfd_origin *pfdd_log_record_origin(
    const struct pfdd_log_record *log_record, const char *name)
{
    if (!log_record->entry)
        return NULL;
    size_t n;
    const struct pfd_origin *all = pfd_entry_origins(log_record->entry, &n);
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(all[i].name, name))
            return &all[i];
    }
    return NULL;
}

/* Findings of an entry that are not notes, a bit for each kind. */
static uint64_t findings_of(const struct pfd_entry *entry)
{
    uint64_t ret = 0;
    for (uint64_t left = entry->findings; left; left &= left - 1) {
        unsigned kind = (unsigned)__builtin_ctzll(left);
        if (!pfd_finding_is_note((enum pfd_finding_kind)kind))
            ret |= UINT64_C(1) << kind;
    }
    return ret;
}

/* From the entry's level or stream, and its findings. */
static enum pfdd_severity severity_of(struct pfd_entry *entry,
                                      uint64_t findings)
{
    static const struct {
        const char *level;
        enum pfdd_severity severity;
    } levels[] = {
        { "error", PFDD_SEVERITY_ERROR }, { "warning", PFDD_SEVERITY_WARNING },
        { "info", PFDD_SEVERITY_INFO },   { "debug", PFDD_SEVERITY_DEBUG },
        { "trace", PFDD_SEVERITY_DEBUG },
    };
    const struct pfdd_log_record log_record = { .entry = entry };
    const struct pfd_origin *level =
        pfdd_log_record_origin(&log_record, "level");
    enum pfdd_severity ret = PFDD_SEVERITY_INFO;
    if (level) {
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
            if (level->n == strlen(levels[i].level) &&
                !memcmp(level->text, levels[i].level, level->n))
                ret = levels[i].severity;
        }
    } else if (entry->stream == PFD_STREAM_STDERR) {
        ret = PFDD_SEVERITY_ERROR;
    }
    return findings && ret > PFDD_SEVERITY_WARNING ? PFDD_SEVERITY_WARNING
                                                   : ret;
}

const char *pfdd_severity_name(enum pfdd_severity severity)
{
    switch (severity) {
    case PFDD_SEVERITY_ERROR:
        return "error";
    case PFDD_SEVERITY_WARNING:
        return "warning";
    case PFDD_SEVERITY_DEBUG:
        return "debug";
    case PFDD_SEVERITY_INFO:
        break;
    }
    return "info";
}

/* ---- sequences of records ---- */

struct head {
    uint64_t sequence;
    uint64_t time;
    uint64_t n; /* bytes after it */
};

void pfdd_log_record_put(struct pfd_text *out,
                         const struct pfdd_encoding *encoding,
                         const struct pfdd_log_record *log_record)
{
    struct head head = { log_record->sequence, log_record->time, 0 };
    size_t before = out->n;
    if (encoding->is_lines) {
        encoding->put(out, log_record);
        return;
    }
    pfd_text_add(out, &head, sizeof head);
    encoding->put(out, log_record);
    if (out->failed)
        return;
    head.n = out->n - before - sizeof head;
    memcpy(out->data + before, &head, sizeof head);
}

void pfdd_log_record_at(const char *bytes, size_t n,
                        struct pfdd_log_record_made *ret)
{
    struct head head = { 0 };
    assert(n >= sizeof head);
    memcpy(&head, bytes, sizeof head);
    assert(head.n <= n - sizeof head);
    *ret = (struct pfdd_log_record_made){ .sequence = head.sequence,
                                          .time = head.time,
                                          .bytes = bytes + sizeof head,
                                          .n = (size_t)head.n,
                                          .n_whole =
                                              sizeof head + (size_t)head.n };
}

void pfdd_log_record_set_item(struct pfdd_log_record *log_record,
                              struct pfd_chunk_item *item, bool has_findings)
{
    static const char *const types[] = { "entry", "finding", "gap" };
    log_record->type = item ? types[item->type] : "gap";
    log_record->severity = PFDD_SEVERITY_WARNING;
    if (item && item->type == PFD_CHUNK_ENTRY) {
        log_record->entry = &item->entry;
        if (has_findings)
            log_record->findings = findings_of(&item->entry);
        log_record->severity = severity_of(&item->entry, log_record->findings);
    } else if (log_record->n > 2 && !memcmp(log_record->text, "! ", 2)) {
        log_record->text += 2;
        log_record->n -= 2;
    }
    log_record->n -=
        log_record->n && log_record->text[log_record->n - 1] == '\n';
}
