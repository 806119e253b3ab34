/* SPDX-License-Identifier: MIT */
/* printfdecode strings: the format strings of code objects, one a line. */
#include <string.h>
#include <unistd.h>

#include "input.h"
#include "objects.h"
#include "options.h"
#include "output.h"
#include "tell.h"

enum {
    WIDTHS_MAX = 65535
};

static void print_widths_text(const uint8_t *widths, size_t n)
{
    for (size_t i = 0; i < n; i++)
        output_printf("%s%u", i ? "," : "", widths[i]);
    if (n == 0)
        output_printf("-");
}

/* The string on one line: a newline is \n here. */
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
    output_printf("{\"id\":\"0x%012llx\",\"string\":\"",
                  (unsigned long long)s->id);
    output_json(s->text, s->n_text);
    output_printf("\",\"argument_count\":%llu,\"widths\":[",
                  (unsigned long long)s->argument_count);
    for (size_t i = 0; i < n; i++)
        output_printf("%s%u", i ? "," : "", widths[i]);
    output_printf("],\"source\":\"");
    output_json(s->source, strlen(s->source));
    output_printf("\",\"format\":\"%s\"}\n", s->format);
}

int strings_run(const struct options *o)
{
    static uint8_t widths[WIDTHS_MAX];
    struct inputs in;
    struct pfd_string_info s;
    bool json = o->output && !strcmp(o->output, "json");

    inputs_open(&in, o, tell_finding, NULL);
    for (size_t i = 0; i < in.n_buffers; i++) {
        tell_error("%s: neither an ELF file nor an ar archive",
                   in.buffers[i].name);
        in.failed = true;
    }
    if (o->verbose)
        objects_print(o, json);
    for (size_t i = 0; pfd_strings_get(in.strings, i, &s) == PFD_OK; i++) {
        size_t n = pfd_strings_widths(in.strings, i, widths, WIDTHS_MAX);
        if (json)
            print_json(&s, widths, n);
        else
            print_text(&s, widths, n, o->verbose);
    }
    if (o->verbose)
        tell_hint("%zu strings, %zu bytes of memory",
                  pfd_strings_count(in.strings),
                  pfd_strings_memory(in.strings));
    bool failed = in.failed || output_failed();
    bool findings = in.n_findings > 0;
    inputs_close(&in);
    return failed ? EXIT_ERROR : findings ? EXIT_FINDINGS : EXIT_CLEAN;
}
