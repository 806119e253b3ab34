/* SPDX-License-Identifier: MIT */
#include "outputs/otlp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include <printfdecode/convert.h>
#include <printfdecode/version.h>

/* ---- values ---- */

static void put_string(struct pfdd_growing *out, const char *text, size_t n)
{
    pfdd_growing_puts(out, "\"");
    char *at = pfdd_growing_room(out, 6 * n);
    if (at)
        out->n += pfd_escape_for_json(at, text, n);
    pfdd_growing_puts(out, "\"");
}

/* OTLP's integers have a sign: what does not fit is a text. */
static bool is_int64(const char *digits, size_t n)
{
    static const char max[] = "9223372036854775807";
    return n < sizeof max - 1 ||
           (n == sizeof max - 1 && memcmp(digits, max, n) <= 0);
}

static void put_attribute(struct pfdd_growing *out, const char *prefix,
                          const char *name, const char *value, size_t n,
                          bool is_number)
{
    bool is_next = out->n && out->at[out->n - 1] == '}';
    pfdd_growing_puts(out, is_next ? ",{\"key\":\"" : "{\"key\":\"");
    pfdd_growing_puts(out, prefix);
    pfdd_growing_puts(out, name);
    pfdd_growing_puts(out, is_number && is_int64(value, n)
                               ? "\",\"value\":{\"intValue\":"
                               : "\",\"value\":{\"stringValue\":");
    put_string(out, value, n);
    pfdd_growing_puts(out, "}}");
}

/* ---- notes ---- */

/* What names of ours are in the semantic conventions. */
static const struct name {
    const char *ours;
    const char *theirs;
    bool is_resource; /* says who has printed, not what */
} names[] = {
    { "host", "host.name", true },
    { "process", "process.executable.name", true },
    { "pid", "process.pid", true },
    { "device", "hw.name", true },
    { "file", "code.file.path", false },
    { "line", "code.line.number", false },
    { "time_unix_nano", NULL, false }, /* stands in the record itself */
};

struct fields {
    struct pfdd_growing *out;
    bool of_resource; /* these, or the others */
    bool has_host;
    bool has_device;
};

static void put_field(void *user, const char *name, const char *value, size_t n,
                      bool is_number)
{
    struct fields *f = user;
    const struct name *known = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(names[i].ours, name))
            known = &names[i];
    }
    bool is_resource = known && known->is_resource;
    f->has_host |= !strcmp(name, "host");
    f->has_device |= !strcmp(name, "device");
    if (is_resource != f->of_resource || (known && !known->theirs))
        return;
    put_attribute(f->out, known ? "" : "gpu.", known ? known->theirs : name,
                  value, n, is_number);
}

static void put_resource(struct pfdd_growing *out, const struct pfdd_note *note)
{
    struct pfdd_growing own = { 0 };
    struct fields f = { &own, true, false, false };
    pfdd_note_fields(note, put_field, &f);
    if (!f.has_host) {
        char host[256] = "";
        gethostname(host, sizeof host - 1);
        put_attribute(&own, "", "host.name", host, strlen(host), false);
    }
    if (f.has_device)
        put_attribute(&own, "", "hw.type", "gpu", 3, false);
    pfdd_growing_add(out, own.at, own.n);
    pfdd_growing_add(out, "", 1);
    out->failed |= own.failed;
    pfdd_growing_free(&own);
}

/* The number of a level, and its word. */
struct severity {
    unsigned number;
    const char *text;
};

static struct severity severity_of(const struct pfdd_note *note)
{
    static const struct severity trace = { 1, "TRACE" };
    struct pfd_origin level;
    if (pfdd_note_origin(note, "level", &level) && level.n == 5 &&
        level.type == PFD_ORIGIN_TEXT && !memcmp(level.text, "trace", 5) &&
        note->severity == PFDD_SEVERITY_DEBUG)
        return trace;
    switch (note->severity) {
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

static void put_record(struct pfdd_growing *out, const struct pfdd_note *note)
{
    struct severity severity = severity_of(note);
    struct fields f = { out, false, false, false };
    pfdd_growing_print(out,
                       "{\"timeUnixNano\":\"%" PRIu64
                       "\",\"observedTimeUnixNano\":\"%" PRIu64
                       "\",\"severityNumber\":%u,\"severityText\":\"%s\","
                       "\"body\":{\"stringValue\":",
                       note->time, note->time, severity.number, severity.text);
    put_string(out, note->text, note->n);
    pfdd_growing_puts(out, "},\"attributes\":[");
    pfdd_note_fields(note, put_field, &f);
    pfdd_growing_puts(out, "]}");
    pfdd_growing_add(out, "", 1);
}

static void put(struct pfdd_growing *out, const struct pfdd_note *note)
{
    put_resource(out, note);
    put_record(out, note);
}

const struct pfdd_encoding pfdd_otlp_encoding = { .put = put };

/* ---- bodies ---- */

static void begin_resource(struct pfdd_otlp *body, const char *service,
                           const char *resource)
{
    struct pfdd_growing *out = &body->text;
    pfdd_growing_puts(out, body->resource ? "]}]}," : "{\"resourceLogs\":[");
    pfdd_growing_puts(out, "{\"resource\":{\"attributes\":[");
    put_attribute(out, "", "service.name", service, strlen(service), false);
    if (*resource)
        pfdd_growing_puts(out, ",");
    pfdd_growing_puts(out, resource);
    pfdd_growing_puts(out, "]},\"scopeLogs\":[{\"scope\":{\"name\":"
                           "\"printfdecode\",\"version\":\"");
    pfdd_growing_puts(out, pfd_version());
    pfdd_growing_puts(out, "\"},\"logRecords\":[");
    free(body->resource);
    body->resource = strdup(resource);
    out->failed |= !body->resource;
}

void pfdd_otlp_add(struct pfdd_otlp *body, const char *service,
                   const struct pfdd_noted *note)
{
    const char *resource = note->bytes;
    size_t n_resource = strlen(resource) + 1;
    if (body->resource && !strcmp(body->resource, resource)) {
        pfdd_growing_puts(&body->text, ",");
    } else {
        begin_resource(body, service, resource);
    }
    pfdd_growing_add(&body->text, resource + n_resource,
                     note->n - n_resource - 1);
}

bool pfdd_otlp_end(struct pfdd_otlp *body)
{
    pfdd_growing_puts(&body->text, "]}]}]}");
    return !body->text.failed;
}

void pfdd_otlp_free(struct pfdd_otlp *body)
{
    pfdd_growing_free(&body->text);
    free(body->resource);
    *body = (struct pfdd_otlp){ 0 };
}

/* ---- answers ---- */

/* A number, or the text of one, as the mapping has it. */
static uint64_t number_of(const json_t *value, uint64_t max)
{
    const char *text = json_string_value(value);
    char *end = NULL;
    json_int_t number = json_integer_value(value);
    if (text && *text >= '0' && *text <= '9') {
        unsigned long long n = strtoull(text, &end, 10);
        return *end ? 0 : n < max ? n : max;
    }
    return number <= 0 ? 0 : (uint64_t)number < max ? (uint64_t)number : max;
}

uint64_t pfdd_otlp_rejected(const char *answer, size_t n_answer, uint64_t n,
                            char *why, size_t n_why)
{
    json_t *root = json_loadb(answer, n_answer, 0, NULL);
    const json_t *partial = json_object_get(root, "partialSuccess");
    const char *text =
        json_string_value(json_object_get(partial, "errorMessage"));
    uint64_t ret = number_of(json_object_get(partial, "rejectedLogRecords"), n);
    snprintf(why, n_why, "%s", text ? text : "");
    json_decref(root);
    return ret;
}
