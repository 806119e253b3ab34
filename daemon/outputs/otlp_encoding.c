/* SPDX-License-Identifier: MIT */
#include "outputs/otlp_encoding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/common.h>
#include <printfdecode/convert.h>

#include "base/digits.h"
#include "base/name.h"
#include "core/output/json.h"

/* ---- values ---- */

static void put_string(struct pfd_text *out, const char *text, size_t n)
{
    char *at = pfd_text_reserve(out, 6 * n + 2);
    if (!at)
        return;
    size_t n_out = pfd_escape_for_json(at + 1, text, n);
    at[0] = at[n_out + 1] = '"';
    out->n += n_out + 2;
}

/* OTLP's integers are signed: a number that does not fit becomes a text. */
static bool is_int64(const char *digits, size_t n)
{
    static const char max[] = "9223372036854775807";
    return n < sizeof max - 1 ||
           (n == sizeof max - 1 && memcmp(digits, max, n) <= 0);
}

struct attributes {
    struct pfd_text *out;
    bool is_next; /* an attribute precedes */
    bool has_host;
    bool has_device;
};

static void put_attribute(struct attributes *a, const char *prefix,
                          const struct pfdd_field *field)
{
    struct pfd_text *out = a->out;
    pfd_text_puts(out, a->is_next ? ",{\"key\":\"" : "{\"key\":\"");
    a->is_next = true;
    pfd_text_puts(out, prefix);
    pfd_text_add(out, field->name, field->n_name);
    pfd_text_puts(out, field->is_number && is_int64(field->value, field->n)
                           ? "\",\"value\":{\"intValue\":"
                           : "\",\"value\":{\"stringValue\":");
    put_string(out, field->value, field->n);
    pfd_text_puts(out, "}}");
}

static void put_text(struct attributes *a, const char *name, const char *value)
{
    const struct pfdd_field field = {
        .name = name, .n_name = strlen(name), .value = value, .n = strlen(value)
    };
    put_attribute(a, "", &field);
}

/* ---- records ---- */

/* Our field names and their names in the semantic conventions. */
static const struct name {
    const char *ours;
    size_t n;
    const char *theirs;
} names[] = {
    { "file", 4, "code.file.path" },
    { "line", 4, "code.line.number" },
    { "time_unix_nano", 14, NULL }, /* a member of the record itself */
}, resource_names[] = {
    /* They identify the producer, not the message. */
    { "host", 4, "host.name" },
    { "process", 7, "process.executable.name" },
    { "pid", 3, "process.pid" },
    { "device", 6, "hw.name" },
};

static const struct name *find_name(const struct pfdd_field *field,
                                    const struct name *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (all[i].n == field->n_name &&
            !memcmp(all[i].ours, field->name, field->n_name))
            return &all[i];
    }
    return NULL;
}

#define FIND(field, all) find_name(field, all, sizeof(all) / sizeof *(all))

static void put_named(struct attributes *a, const struct name *name,
                      const struct pfdd_field *field)
{
    struct pfdd_field theirs = *field;
    theirs.name = name->theirs;
    theirs.n_name = strlen(name->theirs);
    put_attribute(a, "", &theirs);
}

static void put_resource_field(void *user, const struct pfdd_field *field)
{
    struct attributes *a = user;
    const struct name *name = FIND(field, resource_names);
    if (!name)
        return;
    a->has_host |= !strcmp(name->ours, "host");
    a->has_device |= !strcmp(name->ours, "device");
    put_named(a, name, field);
}

static void put_resource(struct pfd_text *out,
                         const struct pfdd_log_record *log_record)
{
    struct attributes a = { .out = out };
    pfdd_log_record_buffer_fields(log_record, put_resource_field, &a);
    if (!a.has_host)
        put_text(&a, "host.name", pfdd_host_name());
    if (a.has_device)
        put_text(&a, "hw.type", "gpu");
    pfd_text_add(out, "", 1);
}

/* Appends a field that belongs to no resource. */
static void put_field(void *user, const struct pfdd_field *field)
{
    const struct name *name = FIND(field, names);
    if (field->of_buffer && FIND(field, resource_names))
        return;
    if (!name) {
        put_attribute(user, "gpu.", field);
    } else if (name->theirs) {
        put_named(user, name, field);
    }
}

/* A level's number and word. */
struct severity {
    unsigned number;
    const char *text;
};

static struct severity severity_of(const struct pfdd_log_record *log_record)
{
    static const struct severity trace = { 1, "TRACE" };
    const struct pfd_origin *level =
        pfdd_log_record_origin(log_record, "level");
    if (level && level->n == 5 && level->type == PFD_ORIGIN_TEXT &&
        !memcmp(level->text, "trace", 5) &&
        log_record->severity == PFDD_SEVERITY_DEBUG)
        return trace;
    switch (log_record->severity) {
    case PFDD_SEVERITY_ERROR:
        return (struct severity){ 17, "ERROR" };
    case PFDD_SEVERITY_WARNING:
        return (struct severity){ 13, "WARN" };
    case PFDD_SEVERITY_DEBUG:
        return (struct severity){ 5, "DEBUG" };
    case PFDD_SEVERITY_INFO:
        break;
    }
    return (struct severity){ 9, "INFO" };
}

static void put_record(struct pfd_text *out,
                       const struct pfdd_log_record *log_record)
{
    struct severity severity = severity_of(log_record);
    struct attributes a = { .out = out };
    pfd_text_puts(out, "{\"timeUnixNano\":\"");
    pfdd_text_number(out, log_record->time);
    pfd_text_puts(out, "\",\"observedTimeUnixNano\":\"");
    pfdd_text_number(out, log_record->time);
    pfd_text_puts(out, "\",\"severityNumber\":");
    pfdd_text_number(out, severity.number);
    pfd_text_puts(out, ",\"severityText\":\"");
    pfd_text_puts(out, severity.text);
    pfd_text_puts(out, "\",\"body\":{\"stringValue\":");
    put_string(out, log_record->text, log_record->n);
    pfd_text_puts(out, "},\"attributes\":[");
    pfdd_log_record_fields(log_record, put_field, &a);
    pfd_text_puts(out, "]}");
    pfd_text_add(out, "", 1);
}

static void put(struct pfd_text *out, const struct pfdd_log_record *log_record)
{
    put_resource(out, log_record);
    put_record(out, log_record);
}

const struct pfdd_encoding pfdd_otlp_encoding = { .put = put };

/* ---- bodies ---- */

static void begin_resource(struct pfdd_otlp *body, const char *service,
                           const char *resource)
{
    struct pfd_text *out = &body->text;
    struct attributes a = { .out = out };
    pfd_text_puts(out, body->resource ? "]}]}," : "{\"resourceLogs\":[");
    pfd_text_puts(out, "{\"resource\":{\"attributes\":[");
    put_text(&a, "service.name", service);
    if (*resource)
        pfd_text_puts(out, ",");
    pfd_text_puts(out, resource);
    pfd_text_puts(out, "]},\"scopeLogs\":[{\"scope\":{\"name\":"
                       "\"printfdecode\",\"version\":\"");
    pfd_text_puts(out, pfd_version());
    pfd_text_puts(out, "\"},\"logRecords\":[");
    free(body->resource);
    body->resource = strdup(resource);
    out->failed |= !body->resource;
}

void pfdd_otlp_add(struct pfdd_otlp *body, const char *service,
                   const struct pfdd_log_record_made *note)
{
    const char *resource = note->bytes;
    size_t n_resource = strlen(resource) + 1;
    if (body->resource && !strcmp(body->resource, resource)) {
        pfd_text_puts(&body->text, ",");
    } else {
        begin_resource(body, service, resource);
    }
    pfd_text_add(&body->text, resource + n_resource, note->n - n_resource - 1);
}

bool pfdd_otlp_end(struct pfdd_otlp *body)
{
    pfd_text_puts(&body->text, "]}]}]}");
    return !body->text.failed;
}

void pfdd_otlp_free(struct pfdd_otlp *body)
{
    pfd_text_free(&body->text);
    free(body->resource);
    *body = (struct pfdd_otlp){ 0 };
}
