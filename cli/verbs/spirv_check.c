/* SPDX-License-Identifier: MIT */
/* printfdecode spirv-check: prints what the validation layer's checker would
 * report about the debugPrintf calls of modules, in the form of compiler
 * messages. */
#include <string.h>

#include <printfdecode/strings.h>

#include "core/decode/string_loader.h"
#include "core/spirv/spirv.h"
#include "input/open_inputs.h"
#include "show/messages.h"
#include "show/output.h"
#include "verb.h"

struct check {
    const char *source;
    struct pfd_spirv_call call;
    uint64_t n_errors;
    uint64_t n_remarks;
};

/* Prints the call; begins with file:line if the module has it. */
static void print_place(const struct check *c)
{
    const struct pfd_spirv_place *p = &c->call.place;
    if (p->file && p->n_file) {
        output_escaped(p->file, p->n_file);
    } else {
        output_escaped(c->source, strlen(c->source));
    }
    if (p->file && p->column) {
        output_printf(":%u:%u: ", p->line, p->column);
    } else if (p->file) {
        output_printf(":%u: ", p->line);
    } else {
        output_printf(":@%u: ", c->call.offset);
    }
}

static void print_remark(void *user, enum pfd_verdict verdict, const char *text)
{
    static const char *const names[] = { "warning", "error", "error" };
    static const char *const ends[] = { "", "; no record is ever written",
                                        "; records are written all the same" };
    struct check *c = user;
    c->n_remarks++;
    c->n_errors += verdict == PFD_VERDICT_SILENT;
    print_place(c);
    output_printf("%s: ", names[verdict]);
    output_escaped(text, strlen(text));
    output_printf("%s\n", ends[verdict]);
}

static void print_text(const struct check *c)
{
    const char *text = c->call.text;
    size_t n = c->call.n_text;
    output_printf("    \"");
    while (n) {
        const char *newline = memchr(text, '\n', n);
        size_t k = newline ? (size_t)(newline - text) : n;
        output_escaped(text, k);
        if (!newline)
            break;
        output_printf("\\n");
        text += k + 1;
        n -= k + 1;
    }
    output_printf("\"\n");
}

static void check_module(const struct pfd_spirv *module, struct check *c)
{
    for (size_t i = 0; pfd_spirv_call_get(module, i, &c->call) == PFD_OK; i++) {
        if (pfd_spirv_check(module, i, print_remark, c) && c->call.text)
            print_text(c);
    }
}

static int spirv_check_run(const struct options *o)
{
    struct inputs in;
    struct check check = { 0 };
    const struct pfd_spirv *module;
    uint32_t id;
    inputs_open(&in, o, message_finding, NULL);
    for (size_t i = 0; i < in.n_buffers; i++) {
        if (in.buffers[i].capture)
            continue;
        message_error("%s: not SPIR-V", in.buffers[i].name);
        in.failed = true;
    }
    for (size_t i = 0; pfd_strings_shader(in.strings, i, &id, &check.source,
                                          &module) == PFD_OK;
         i++)
        check_module(module, &check);
    bool failed = in.failed || output_failed();
    bool findings = in.n_findings || check.n_remarks;
    inputs_close(&in);
    return failed ? EXIT_ERROR : findings ? EXIT_FINDINGS : EXIT_CLEAN;
}

static const struct option_group *const groups[] = {
    &options_strings,
    &options_messages,
    &options_help,
    NULL,
};

const struct verb verb_spirv_check = {
    .name = "spirv-check",
    .files = "FILE...",
    .help = "say which debugPrintf calls the validation layer would refuse",
    .run = spirv_check_run,
    .groups = groups,
};
