/* SPDX-License-Identifier: MIT */
/* Dwords as text, a line each; facts about an entry stand below its header. */
#include <string.h>

#include "core/decode/inspect.h"
#include "inspect_dwords.h"
#include "options/options.h"
#include "show/output.h"

static void show_buffer(const char *name)
{
    output_escaped(name, strlen(name));
    output_printf(":\n");
}

static void put_value(const struct pfd_argument *a)
{
    switch (a->type) {
    case PFD_ARGUMENT_INT:
        output_printf(" = %lld", (long long)a->i);
        break;
    case PFD_ARGUMENT_UNSIGNED:
        output_printf(" = %llu", (unsigned long long)a->u);
        break;
    case PFD_ARGUMENT_FLOAT:
        output_printf(" = %.*g", a->n_bytes == 8 ? 17 : 9, a->f);
        break;
    case PFD_ARGUMENT_TEXT:
        output_printf(" = %s", a->text ? "'" : "(null)");
        if (a->text) {
            output_escaped(a->text, a->n_bytes);
            output_printf("'");
        }
        break;
    }
}

static void put_argument(const struct inspect_argument *argument)
{
    const struct pfd_argument *a = &argument->argument;
    bool is_text = a->type == PFD_ARGUMENT_TEXT;
    output_printf("argument %zu, %u %s", argument->index,
                  is_text ? a->n_bytes : a->n_bytes * 8,
                  is_text ? "bytes" : "bits");
    if (a->conversion)
        output_printf(", %%%c", a->conversion);
    put_value(a);
}

static void put_id(const struct pfd_entry *entry)
{
    output_printf("  (entry %llu, %u dwords, id 0x%012llx)",
                  (unsigned long long)entry->index, entry->n_bytes / 4,
                  (unsigned long long)entry->id);
}

static void show_stretch(const struct inspect_piece *p)
{
    output_printf("%c%7s  %8s  %llu more dwords: %s\n", p->is_asked ? '>' : ' ',
                  "...", "", (unsigned long long)p->n, p->what);
}

static void show_piece(const struct inspect_piece *p)
{
    size_t i = 0;
    if (p->n > 1) {
        show_stretch(p);
        return;
    }
    if (p->n) {
        output_printf("%c%7llu  %08x  ", p->is_asked ? '>' : ' ',
                      (unsigned long long)p->at / 4, p->value);
    } else {
        output_printf("%20s", "");
    }
    output_escaped(p->what, strlen(p->what));
    if (*p->what && p->n_arguments == 1) {
        put_value(&p->arguments[i++].argument);
    } else if (!*p->what && p->n_arguments) {
        put_argument(&p->arguments[i++]);
    }
    if (p->is_first)
        put_id(p->entry);
    output_printf("\n");
    for (; i < p->n_arguments; i++) {
        output_printf("%20s", "");
        put_argument(&p->arguments[i]);
        output_printf("\n");
    }
}

static void show_entry(struct pfd_entry *entry, const char *source,
                       const struct inspect_argument *arguments, size_t n)
{
    (void)source;
    (void)arguments;
    (void)n;
    if (pfd_entry_payload_offset(entry) != PFD_NO_OFFSET)
        return; /* its first dword shows it */
    output_printf("%8llu  entry %llu, %u dwords, id 0x%012llx\n",
                  (unsigned long long)entry->offset / 4,
                  (unsigned long long)entry->index, entry->n_bytes / 4,
                  (unsigned long long)entry->id);
}

static double float_of(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float f;
    memcpy(&f, &low, sizeof f);
    return (double)f;
}

static void put_origin_value(const struct pfd_origin *o)
{
    bool several = o->type == PFD_ORIGIN_COORDS || o->type == PFD_ORIGIN_FLOATS;
    uint32_t n = several ? o->n : 1;
    if (o->type == PFD_ORIGIN_TEXT) {
        output_escaped(o->text, o->n);
        return;
    }
    for (uint32_t k = 0; k < n && k < 3; k++) {
        if (o->type == PFD_ORIGIN_FLOATS) {
            output_printf("%s%.9g", k ? ", " : "", float_of(o->value[k]));
        } else {
            output_printf(o->type == PFD_ORIGIN_HEX ? "%s0x%llx" : "%s%llu",
                          k ? ", " : "", (unsigned long long)o->value[k]);
        }
    }
}

static void show_origin(struct pfd_entry *entry)
{
    const char *stream = pfd_stream_name((enum pfd_stream)entry->stream);
    size_t n;
    const struct pfd_origin *origins = pfd_entry_origins(entry, &n);
    if (stream)
        output_printf("%20sstream: %s\n", "", stream);
    for (size_t i = 0; i < n; i++) {
        output_printf("%20s%s: ", "", origins[i].name);
        put_origin_value(&origins[i]);
        output_printf("\n");
    }
}

static void put_message(struct pfd_entry *entry, const char *before, bool color)
{
    size_t n = 0;
    const char *message = pfd_entry_message(entry, &n);
    if (!message && n)
        exit_without_memory();
    if (!message)
        return;
    output_printf("%20s%s%s\"", "", before, color ? "\033[32m" : "");
    for (size_t i = 0; i < n;) {
        const char *newline = memchr(message + i, '\n', n - i);
        size_t k = newline ? (size_t)(newline - message) - i : n - i;
        output_escaped(message + i, k);
        if (newline)
            output_printf("\\n");
        i += k + (newline != NULL);
    }
    output_printf("\"%s\n", color ? "\033[0m" : "");
}

static void show_message(struct pfd_entry *entry, bool color)
{
    struct pfd_entry other;
    put_message(entry, "", color);
    for (size_t i = 0; pfd_entry_alternative(entry, i, &other) == PFD_OK; i++)
        put_message(&other, "or ", color);
    show_origin(entry);
}

static void show_finding(const struct pfd_finding *finding, bool color)
{
    output_printf("%20s%s%s: ", "", color ? "\033[33m" : "",
                  pfd_finding_name(finding->kind));
    output_escaped(finding->text, strlen(finding->text));
    output_printf("%s\n", color ? "\033[0m" : "");
}

const struct inspect_form dwords_text = {
    show_buffer, show_piece, show_entry, show_message, show_finding,
};
