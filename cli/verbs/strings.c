/* SPDX-License-Identifier: MIT */
/* printfdecode strings: prints the format strings of code objects, one per
 * line. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <printfdecode/strings.h>

#include "core/decode/string_loader.h"
#include "core/spirv/spirv.h"
#include "input/input.h"
#include "input/object_list.h"
#include "input/open_inputs.h"
#include "show/messages.h"
#include "show/output.h"
#include "verb.h"

enum {
    WIDTHS_MAX = 65535
};

static void print_widths_text(const uint8_t *widths, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        output_printf("%s", i ? "," : "");
        if (widths[i]) {
            output_printf("%u", widths[i]);
        } else {
            output_printf("s"); /* a string of any length */
        }
    }
    if (n == 0)
        output_printf("-");
}

/* Prints the string on one line: a newline becomes \n. */
static void print_string_text(const char *text, size_t n)
{
    while (n) {
        const char *newline = memchr(text, '\n', n);
        size_t k = newline ? (size_t)(newline - text) : n;
        output_escaped(text, k);
        if (!newline)
            return;
        output_printf("\\n");
        text += k + 1;
        n -= k + 1;
    }
}

static void print_text(const struct pfd_string_info *s, const uint8_t *widths,
                       size_t n, bool verbose)
{
    output_printf("0x%012llx  %llu  ", (unsigned long long)s->id,
                  (unsigned long long)s->argument_count);
    print_widths_text(widths, n);
    output_printf("  ");
    print_string_text(s->text, s->n_text);
    if (verbose) {
        output_printf("  (");
        output_escaped(s->source, strlen(s->source));
        output_printf(")");
    }
    output_printf("\n");
}

static void print_json(const struct pfd_string_info *s, const uint8_t *widths,
                       size_t n)
{
    output_printf("{\"id\":\"0x%012llx\",", (unsigned long long)s->id);
    output_json_text("string", s->text, s->n_text);
    output_printf(",\"argument_count\":%llu,\"widths\":[",
                  (unsigned long long)s->argument_count);
    for (size_t i = 0; i < n; i++)
        output_printf("%s%u", i ? "," : "", widths[i]);
    output_printf("],\"source\":\"");
    output_json(s->source, strlen(s->source));
    output_printf("\",\"format\":\"%s\"}\n", s->format);
}

/* ---- debugPrintf calls of shaders ---- */

static void print_types(const struct pfd_spirv *module, size_t i, uint32_t n,
                        const char *quote)
{
    char name[16];
    for (uint32_t k = 0; k < n; k++) {
        pfd_spirv_operand_name(module, i, k, name);
        output_printf("%s%s%s%s", k ? "," : "", quote, name, quote);
    }
}

static void print_call_text(uint32_t id, const struct pfd_spirv *module,
                            size_t i, const struct pfd_spirv_call *c)
{
    if (id == PFD_SHADER_NEXT) {
        output_printf("shader ?  ");
    } else {
        output_printf("shader %u  ", id);
    }
    output_printf("%%%u  @%u  ", c->format_id, c->offset);
    print_types(module, i, c->n_operands, "");
    output_printf("%s  ", c->n_operands ? "" : "-");
    if (c->place.file) {
        output_escaped(c->place.file, c->place.n_file);
        output_printf(":%u", c->place.line);
        if (c->place.column)
            output_printf(":%u", c->place.column);
    } else {
        output_printf("-");
    }
    output_printf("  ");
    print_string_text(c->text ? c->text : "", c->n_text);
    output_printf("\n");
}

static void print_call_json(uint32_t id, const char *source,
                            const struct pfd_spirv *module, size_t i,
                            const struct pfd_spirv_call *c)
{
    char key[32] = "null";
    char shader[16] = "null";
    if (id != PFD_SHADER_NEXT) {
        snprintf(key, sizeof key, "\"0x%012llx\"",
                 (unsigned long long)id << 32 | c->offset);
        snprintf(shader, sizeof shader, "%u", id);
    }
    output_printf("{\"id\":%s,", key);
    output_json_text("string", c->text ? c->text : "", c->n_text);
    output_printf(",\"shader\":%s,\"format_id\":%u,\"instruction\":%u,"
                  "\"ordinal\":%u,\"types\":[",
                  shader, c->format_id, c->offset, c->ordinal);
    print_types(module, i, c->n_operands, "\"");
    output_printf("]");
    if (c->place.file) {
        output_printf(",\"file\":\"");
        output_json(c->place.file, c->place.n_file);
        output_printf("\",\"line\":%u", c->place.line);
    }
    if (c->place.file && c->place.column)
        output_printf(",\"column\":%u", c->place.column);
    output_printf(",\"source\":\"");
    output_json(source, strlen(source));
    output_printf("\",\"format\":\"debugprintf\"}\n");
}

static void print_calls(const struct pfd_strings *strings, bool json)
{
    const struct pfd_spirv *module;
    const char *source;
    struct pfd_spirv_call c;
    uint32_t id;
    for (size_t s = 0;
         pfd_strings_shader(strings, s, &id, &source, &module) == PFD_OK; s++) {
        for (size_t i = 0; pfd_spirv_call_get(module, i, &c) == PFD_OK; i++) {
            if (json) {
                print_call_json(id, source, module, i, &c);
            } else {
                print_call_text(id, module, i, &c);
            }
        }
    }
}

static const char *search_hint(const struct buffer *b)
{
    return b->bytes && pfd_strings_search(b->bytes, b->n)
               ? "; what looks like a code object is in it: --scan searches for it"
               : "";
}

static int strings_run(const struct options *o)
{
    static uint8_t widths[WIDTHS_MAX];
    struct inputs in;
    struct pfd_string_info s;
    bool json = o->output && !strcmp(o->output, "json");

    inputs_open(&in, o, message_finding, NULL);
    for (size_t i = 0; i < in.n_buffers; i++) {
        if (in.buffers[i].capture)
            continue; /* only its code objects are wanted */
        message_error(
            "%s: no format strings: neither ELF nor SPIR-V, and no archive, bundle or cache of them%s",
            in.buffers[i].name, search_hint(&in.buffers[i]));
        in.failed = true;
    }
    if (o->verbose)
        object_list_print(o, json);
    for (size_t i = 0; pfd_strings_get(in.strings, i, &s) == PFD_OK; i++) {
        if (!strcmp(s.format, "debugprintf"))
            continue; /* these are listed as calls */
        size_t n = pfd_strings_widths(in.strings, i, widths, WIDTHS_MAX);
        if (n == SIZE_MAX)
            exit_without_memory();
        if (json) {
            print_json(&s, widths, n);
        } else {
            print_text(&s, widths, n, o->verbose);
        }
    }
    print_calls(in.strings, json);
    if (o->verbose) {
        message_hint("%zu strings, %zu bytes of memory",
                     pfd_strings_count(in.strings),
                     pfd_strings_memory(in.strings));
    }
    bool failed = in.failed || output_failed();
    bool findings = in.n_findings > 0;
    inputs_close(&in);
    return failed ? EXIT_ERROR : findings ? EXIT_FINDINGS : EXIT_CLEAN;
}

static const struct option_group *const groups[] = {
    &options_output,   &options_strings, &options_process,
    &options_search,   &options_core,    &options_inflated,
    &options_messages, &options_help,    NULL,
};

const struct verb verb_strings = {
    .name = "strings",
    .files = "FILE...",
    .help = "list the format strings of ELF files and archives",
    .run = strings_run,
    .groups = groups,
    .wants_strings = true,
};
