/* SPDX-License-Identifier: MIT */
/* printfdecode decode: prints the messages of buffers. */
#include <string.h>
#include <unistd.h>

#include "input/convert_inputs.h"
#include "input/filter.h"
#include "input/open_inputs.h"
#include "input/process_code.h"
#include "show/collapsed_lines.h"
#include "show/messages.h"
#include "show/output.h"
#include "show/perfetto_output.h"

/* Consumers of entries instead of lines; each may be NULL. */
struct rows {
    struct pfd_collapse *collapse;
    struct pfd_trace *trace;
};

/* Groups of --collapse end with their buffer. */
static void begin_buffer(void *user, struct pfd_convert *convert,
                         const struct buffer *buffer)
{
    const struct rows *rows = user;
    if (rows->collapse)
        pfd_collapse_end(rows->collapse);
    if (rows->trace) {
        convert->row_time = buffer->capture ? buffer->captured.time : 0;
        pfd_trace_set_source(rows->trace, buffer->name);
    }
}

static bool open_rows(const struct options *o, const struct inputs *in,
                      struct rows *ret)
{
    *ret = (struct rows){ 0 };
    return o->count || (collapsed_lines_open(o, &ret->collapse) &&
                        perfetto_open(o, in->strings, &ret->trace));
}

static bool close_rows(const struct rows *rows)
{
    bool ok = collapsed_lines_end(rows->collapse);
    ok = perfetto_end(rows->trace) && ok;
    pfd_collapse_free(rows->collapse);
    pfd_trace_free(rows->trace);
    return ok;
}

static void set_output(const struct options *o, const struct rows *rows,
                       struct pfd_convert *convert)
{
    convert->write = output_write;
    if (rows->collapse) {
        convert->consumer = pfd_collapse_consumer(rows->collapse);
    } else if (rows->trace) {
        convert->consumer = pfd_trace_consumer(rows->trace);
    }
    if (!o->count && !rows->trace)
        convert->output = o->output ? o->output : "text";
}

/* Do the options leave entries out? */
static bool is_selective(const struct options *o,
                         const struct filtering *filtering)
{
    return o->verbose && !o->count &&
           (filtering->filter || o->skip || o->tail || o->limit != UINT64_MAX);
}

/* The summary counts all entries that were read; this counts the shown ones. */
static void message_shown(uint64_t n)
{
    message_hint("%llu %s shown; read were:", (unsigned long long)n,
                 n == 1 ? "entry is" : "entries are");
}

int decode_inputs(const struct options *o, struct inputs *in,
                  struct filtering *filtering)
{
    struct pfd_summary total = { 0 };
    struct rows rows;
    bool can_show = open_rows(o, in, &rows);
    struct pfd_convert convert = {
        .strings = in->strings,
        .format = o->format,
        .options = &o->decoding,
        .show = options_show(o),
        .links = options_links(o),
        .inline_findings = options_inline_findings(o),
        .threads = o->threads,
        .filter = filtering->filter,
        .n_emitted = &filtering->n_given,
        .n_doubts = &filtering->n_doubts,
        .skip = o->skip,
        .limit = o->limit,
        .no_entries = !o->limit,
        .color = options_color(o, STDOUT_FILENO),
        .highlight = filtering->filter,
        .finding_marks = options_finding_marks(o),
        .fields = options_fields(o),
        .limit_unknown = !(o->show & (SHOW_UNKNOWN | SHOW_ALL)),
    };
    set_output(o, &rows, &convert);
    bool ok = can_show &&
              convert_each(o, in, &convert, &total, begin_buffer, &rows) &&
              !in->failed;
    ok = close_rows(&rows) && ok;
    filtering_end(filtering, in->strings);
    if (ok && o->count)
        output_printf("%llu\n", (unsigned long long)filtering->n_given);
    total.findings += in->n_findings;
    if (in->n_buffers && (total.findings || o->verbose)) {
        if (is_selective(o, filtering))
            message_shown(filtering->n_given);
        message_summary(&total);
    }
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
        return o->to ? extract_run(o) : process_code_run(o);
    if (!filtering_open(&filtering, o))
        return EXIT_ERROR;
    inputs_open(&in, o, json ? output_finding : message_finding, NULL);
    inputs_want_buffers(&in, "; 'printfdecode strings' lists format strings");
    int status = decode_inputs(o, &in, &filtering);
    inputs_close(&in);
    return status;
}
