/* SPDX-License-Identifier: MIT */
/* printfdecode decode: what the buffers say. */
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "loaded.h"
#include "output.h"
#include "run.h"
#include "tell.h"

int decode_inputs(const struct options *o, struct inputs *in,
                  struct filtering *filtering)
{
    struct pfd_summary total = { 0 };
    bool can_filter = filtering_check(filtering, in->strings);
    struct pfd_convert convert = {
        .strings = in->strings,
        .format = o->format,
        .options = o->decoding,
        .origin = o->verbose,
        .output = o->count    ? NULL
                  : o->output ? o->output
                              : "text",
        .threads = o->threads,
        .filter = filtering->filter,
        .n_given = &filtering->n_given,
        .n_doubts = &filtering->n_doubts,
        .skip = o->skip,
        .limit = o->limit,
        .color = options_color(o, STDOUT_FILENO),
        .marks = options_marks(o),
        .few_unknown = !(o->show & SHOW_UNKNOWN),
        .write = output_write,
    };
    bool ok = can_filter && run_buffers(o, in, &convert, &total) && !in->failed;
    if (ok && o->count)
        output_printf("%llu\n", (unsigned long long)filtering->n_given);
    total.findings += in->n_findings;
    if (in->n_buffers && (total.findings || o->verbose))
        tell_summary(&total);
    ok = ok && !output_failed();
    return filtering_close(filtering, !ok              ? EXIT_ERROR
                                      : total.findings ? EXIT_FINDINGS
                                                       : EXIT_CLEAN);
}

int decode_run(const struct options *o)
{
    struct inputs in;
    struct filtering filtering = { 0 };
    bool json = o->output && !strcmp(o->output, "json");
    if (o->code_objects)
        return o->to ? extract_run(o) : loaded_run(o);
    if (!filtering_open(&filtering, o))
        return EXIT_ERROR;
    inputs_open(&in, o, json ? output_finding : tell_finding, NULL);
    inputs_want_buffers(&in, "; 'printfdecode strings' lists format strings");
    int status = decode_inputs(o, &in, &filtering);
    inputs_close(&in);
    return status;
}
