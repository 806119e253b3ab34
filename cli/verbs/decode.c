/* SPDX-License-Identifier: MIT */
/* printfdecode decode: prints the messages of buffers. */
#include "decode.h"

#include <string.h>
#include <unistd.h>

#include "input/checks.h"
#include "input/convert_inputs.h"
#include "input/filter.h"
#include "input/open_inputs.h"
#include "input/process_code.h"
#include "show/collapsed_lines.h"
#include "show/messages.h"
#include "show/output.h"
#include "show/perfetto_output.h"
#include "verb.h"

/* Consumers of entries instead of lines; each may be NULL. */
struct rows {
    struct pfd_collapse *collapse;
    struct pfd_trace *trace;
    struct checks *checks; /* entries pass through them; NULL: nothing is
                              checked */
};

/* Groups of --collapse end with their buffer. */
static void begin_buffer(void *user, struct pfd_convert *convert,
                         const struct buffer *buffer)
{
    const struct rows *rows = user;
    if (rows->collapse)
        pfd_collapse_end(rows->collapse);
    if (rows->checks)
        checks_set_source(rows->checks, buffer->name);
    if (rows->trace) {
        convert->row_time = buffer->capture ? buffer->captured.time : 0;
        pfd_trace_set_source(rows->trace, buffer->name);
    }
}

static bool open_rows(const struct options *o, const struct inputs *in,
                      struct rows *ret)
{
    const char *form = options_form(o);
    bool is_checked = in->checks && checks_want_rows(in->checks);
    *ret = (struct rows){ .checks = is_checked ? in->checks : NULL };
    if (o->range.count)
        return true;
    if ((o->collapse.how != COLLAPSE_NO || o->collapse.window) &&
        !collapsed_lines_open(&o->collapse, form ? form : o->output,
                              &ret->collapse))
        return false;
    return !options_trace(o) || perfetto_open(in->strings, &ret->trace);
}

static bool close_rows(const struct rows *rows)
{
    bool ok = true;
    if (rows->collapse) {
        ok = collapsed_lines_end(rows->collapse);
        pfd_collapse_free(rows->collapse);
    }
    if (rows->trace) {
        ok = perfetto_end(rows->trace) && ok;
        pfd_trace_free(rows->trace);
    }
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
    if (rows->checks) {
        if (convert->consumer) {
            checks_set_next(rows->checks, convert->consumer->take,
                            convert->consumer->user);
        }
        convert->consumer = checks_consumer(rows->checks);
    }
    if (!o->range.count)
        convert->output = options_form(o);
}

/* Do the options leave entries out? */
static bool is_selective(const struct options *o,
                         const struct filtering *filtering)
{
    return o->verbose && !o->range.count &&
           (filtering->filter || o->range.skip || o->range.tail ||
            o->range.limit != UINT64_MAX);
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
        .format = o->reading.format,
        .options = &o->reading.decoding,
        .show = options_show(o),
        .links = options_links(o),
        .inline_findings = options_inline_findings(o),
        .threads = o->threads,
        .filter = filtering->filter,
        .n_emitted = &filtering->n_given,
        .n_doubts = &filtering->n_doubts,
        .skip = o->range.skip,
        .limit = o->range.limit,
        .no_entries = !o->range.limit,
        .color = options_color(o, STDOUT_FILENO),
        .highlight = filtering->filter,
        .finding_marks = options_finding_marks(o),
        .fields = options_fields(o),
        .limit_unknown = !(o->lines.show & (SHOW_UNKNOWN | SHOW_ALL)),
    };
    set_output(o, &rows, &convert);
    bool ok = can_show &&
              convert_each(o, in, &convert, &total, begin_buffer, &rows) &&
              !in->failed;
    ok = close_rows(&rows) && ok;
    filtering_end(filtering, in->strings);
    if (ok && o->range.count)
        output_printf("%llu\n", (unsigned long long)filtering->n_given);
    total.findings += in->n_findings;
    if (in->n_buffers && (total.findings || o->verbose)) {
        if (is_selective(o, filtering))
            message_shown(filtering->n_given);
        message_summary(&total);
    }
    ok = ok && !output_failed();
    int status = filtering_close(filtering, !ok              ? EXIT_ERROR
                                            : total.findings ? EXIT_FINDINGS
                                                             : EXIT_CLEAN);
    return in->checks ? checks_close(in->checks, in->strings, status) : status;
}

/* The findings of opening files go there. */
struct opening {
    struct checks checks;
    bool is_json;
};

/* Findings of opening files: captures tell of losses there. */
static void take_finding(void *user, const struct pfd_finding *finding)
{
    struct opening *d = user;
    checks_finding(&d->checks, finding);
    if (d->is_json) {
        output_finding(NULL, finding);
    } else {
        message_finding(NULL, finding);
    }
}

static int decode_run(const struct options *o)
{
    struct inputs in;
    struct filtering filtering = { 0 };
    struct opening opening = { .is_json =
                                   o->output && !strcmp(o->output, "json") };
    if (o->memory.code_objects)
        return o->to ? verb_extract.run(o) : process_code_run(o);
    if (!filtering_open(&filtering, &o->filter) ||
        !checks_open(&opening.checks, o))
        return EXIT_ERROR;
    inputs_open(&in, o, take_finding, &opening);
    in.checks = &opening.checks;
    inputs_want_buffers(&in, "; 'printfdecode strings' lists format strings");
    int status = decode_inputs(o, &in, &filtering);
    inputs_close(&in);
    return status;
}

static bool check(const struct options *o)
{
    if (o->memory.code_objects ||
        (!o->to && (!o->force || o->checks.report_file)))
        return true;
    message_error(o->to ? "--to is for --code-objects"
                        : "--force is for --code-objects and --report");
    return false;
}

static const struct option_row rows[] = {
    { "count", 'c', NULL, "say how many entries there are instead",
      offsetof(struct options, range.count), option_flag, false },
    { "code-objects", 0, NULL,
      "list what code objects are in that memory; --to writes them",
      offsetof(struct options, memory.code_objects), option_flag, false },
    { "to", 0, "FOLDER", "with --code-objects: the folder to write them to",
      offsetof(struct options, to), option_text, false },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group,        &options_output_entries, OPTIONS_READING,
    &options_filter,   &options_skip,           &options_limit,
    &options_context,  &options_collapse,       &options_lines,
    &options_filename, &options_work,           &options_checks,
    &options_force,    OPTIONS_ENDING,          NULL,
};

const struct verb verb_decode = {
    .name = "decode",
    .files = "FILE...",
    .help = "print what the buffers say (the default verb)",
    .run = decode_run,
    .groups = groups,
    .check = check,
};
