/* SPDX-License-Identifier: MIT */
/* Dwords as JSON, a record a line; share/printfdecode.schema.json describes the
 * records. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/convert.h>

#include "core/decode/inspect.h"
#include "core/output/json.h"
#include "inspect_dwords.h"
#include "show/output.h"

enum {
    FLOAT_ROOM = 32
};

/* The largest integer that all readers of JSON keep exactly. */
static const uint64_t exact_max = UINT64_C(1) << 53;

static void put_string(const char *name, const char *text, size_t n)
{
    output_printf(",\"%s\":\"", name);
    output_json(text, n);
    output_printf("\"");
}

static void put_source(const char *source)
{
    put_string("source", source, strlen(source));
    output_printf("}\n");
}

/* The members that all records begin with. */
static void put_place(const char *type, uint64_t at, uint64_t n)
{
    output_printf("{\"type\":\"%s\",\"dword\":%llu,\"offset\":%llu", type,
                  (unsigned long long)at / 4, (unsigned long long)at);
    if (n != 1)
        output_printf(",\"dwords\":%llu", (unsigned long long)n);
}

static void put_name(const struct inspect_argument *argument)
{
    const struct pfd_argument *a = &argument->argument;
    if (a->type == PFD_ARGUMENT_TEXT) {
        output_printf("argument %zu, %u bytes", argument->index, a->n_bytes);
    } else {
        output_printf("argument %zu, %u bits", argument->index, a->n_bytes * 8);
    }
    if (a->conversion)
        output_printf(", %%%c", a->conversion);
}

static void put_what(const struct inspect_piece *p)
{
    const char *what = p->what;
    output_printf(",\"what\":\"");
    while (*what == ' ')
        what++;
    output_json(what, strlen(what));
    for (size_t i = 0; !*what && i < p->n_arguments; i++) {
        output_printf("%s", i ? "; " : "");
        put_name(&p->arguments[i]);
    }
    output_printf("\"");
}

static void show_piece(const struct inspect_piece *p)
{
    if (p->n == 0)
        return; /* the entry's record contains it */
    put_place(p->n == 1 ? "dword" : "region", p->at, p->n);
    if (p->n == 1)
        output_printf(",\"value\":%u", p->value);
    put_what(p);
    if (p->entry) {
        output_printf(",\"entry\":%llu", (unsigned long long)p->entry->index);
    }
    if (p->n_arguments)
        output_printf(",\"arguments\":[");
    for (size_t i = 0; i < p->n_arguments; i++)
        output_printf("%s%zu", i ? "," : "", p->arguments[i].index);
    if (p->n_arguments)
        output_printf("]");
    if (p->is_asked)
        output_printf(",\"asked\":true");
    put_source(p->source);
}

static bool reads_back(const char *text, double f, bool is_single)
{
    return is_single ? strtof(text, NULL) == (float)f : strtod(text, NULL) == f;
}

/* The fewest digits that read back; never looks like an integer. */
static void put_finite(double f, bool is_single)
{
    char text[FLOAT_ROOM];
    int n = 0;
    do {
        snprintf(text, sizeof text, "%.*g", ++n, f);
    } while (!reads_back(text, f, is_single));
    output_printf("%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void put_float(const struct pfd_argument *a)
{
    if (isnan(a->f)) {
        output_printf("\"nan\"");
    } else if (isinf(a->f)) {
        output_printf(a->f < 0 ? "\"-inf\"" : "\"inf\"");
    } else {
        put_finite(a->f, a->n_bytes <= sizeof(float));
    }
}

/* Writes a number also as text if many readers would round it. */
static void put_integer(const struct pfd_argument *a)
{
    bool is_signed = a->type == PFD_ARGUMENT_INT;
    uint64_t size = is_signed && a->i < 0 ? 0 - a->u : a->u;
    output_printf(is_signed ? "%lld" : "%llu", (long long)a->i);
    if (size > exact_max) {
        output_printf(is_signed ? ",\"exact\":\"%lld\"" : ",\"exact\":\"%llu\"",
                      (long long)a->i);
    }
}

static void put_value(const struct pfd_argument *a)
{
    output_printf(",\"value\":");
    switch (a->type) {
    case PFD_ARGUMENT_INT:
    case PFD_ARGUMENT_UNSIGNED:
        put_integer(a);
        break;
    case PFD_ARGUMENT_FLOAT:
        put_float(a);
        break;
    case PFD_ARGUMENT_TEXT:
        output_printf(a->text ? "\"" : "null");
        if (a->text) {
            output_json(a->text, a->n_bytes);
            output_printf("\"");
        }
        break;
    }
}

static void put_argument(const struct pfd_entry *entry,
                         const struct inspect_argument *argument)
{
    const struct pfd_argument *a = &argument->argument;
    uint64_t payload = pfd_entry_payload_offset(entry);
    output_printf("{\"argument\":%zu", argument->index);
    if (payload != PFD_NO_OFFSET) {
        output_printf(",\"offset\":%llu", (unsigned long long)payload + a->at);
    }
    output_printf(",\"bytes\":%u", a->n_bytes);
    if (a->conversion)
        output_printf(",\"conversion\":\"%c\"", a->conversion);
    put_value(a);
    output_printf("}");
}

static void put_message(struct pfd_entry *entry)
{
    size_t n = 0;
    const char *message = pfd_entry_message(entry, &n);
    if (message) {
        output_json_text("message", message, n);
    } else {
        output_printf("\"message\":null");
    }
}

static void put_alternatives(const struct pfd_entry *entry)
{
    struct pfd_entry other;
    size_t i = 0;
    for (; pfd_entry_alternative(entry, i, &other) == PFD_OK; i++) {
        output_printf(i ? ",{" : ",\"alternatives\":[{");
        put_message(&other);
        output_printf("}");
    }
    if (i)
        output_printf("]");
}

static void show_entry(struct pfd_entry *entry, const char *source,
                       const struct inspect_argument *arguments, size_t n)
{
    put_place("region", entry->offset, entry->n_bytes / 4);
    output_printf(",\"what\":\"entry\",\"entry\":%llu,\"id\":\"0x%012llx\",",
                  (unsigned long long)entry->index,
                  (unsigned long long)entry->id);
    put_message(entry);
    put_alternatives(entry);
    output_printf(",\"arguments\":[");
    for (size_t i = 0; i < n; i++) {
        output_printf("%s", i ? "," : "");
        put_argument(entry, &arguments[i]);
    }
    output_printf("]");
    put_source(source);
}

static void show_message(struct pfd_entry *entry, bool color)
{
    (void)entry;
    (void)color;
}

static void show_finding(const struct pfd_finding *finding, bool color)
{
    (void)color;
    pfd_finding_write_json(finding, output_write, NULL);
}

static void show_buffer(const char *name)
{
    (void)name;
}

const struct inspect_form dwords_json = {
    show_buffer, show_piece, show_entry, show_message, show_finding,
};
