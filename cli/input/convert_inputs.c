/* SPDX-License-Identifier: MIT */
#include "convert_inputs.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <printfdecode/lines.h>

#include "checks.h"
#include "core/decode/format.h"
#include "core/decode/inspect.h"
#include "core/output/lines.h"
#include "core/strings/strings.h"
#include "show/context.h"
#include "show/messages.h"
#include "show/output.h"

enum {
    PROGRESS_AFTER_MS = 1000,
    PROGRESS_EVERY_MS = 100,
    IDS_MAX = 32, /* printed findings of one kind about entries of different
                      ids */
};

/* Findings of one buffer. */
struct heard {
    const struct inputs *inputs; /* have listeners of their own */
    bool all;                    /* print all findings */
    bool in_place; /* output has findings between entries in their place */
    uint64_t n[PFD_N_FINDING_KINDS];
    uint64_t n_suppressed;
    bool unknown_places; /* ids that no string has, not in entries */
    bool any;
};

/* Prints a finding. Findings of one kind that differ only in their id are
 * limited to IDS_TOLD, unless all are wanted. */
static void hear(void *user, const struct pfd_finding *finding)
{
    struct heard *h = user;
    checks_finding(h->inputs->checks, finding);
    if (h->inputs->heard)
        h->inputs->heard(h->inputs->heard_user, finding);
    if (finding->kind == PFD_FINDING_unknown_id && !finding->count)
        h->unknown_places = true;
    h->any = true;
    if (h->in_place && !finding->has_id && !finding->count &&
        !pfd_finding_is_note(finding->kind))
        return;
    if (finding->has_id && h->n[finding->kind]++ >= IDS_MAX && !h->all) {
        h->n_suppressed++;
    } else {
        message_finding(NULL, finding);
    }
}

struct progress {
    uint64_t n_buffer; /* bytes; 0: not known */
    struct timespec start;
    long shown_ms; /* time of the last update */
};

static long ms_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - start->tv_sec) * 1000 +
           (now.tv_nsec - start->tv_nsec) / 1000000;
}

static bool show(void *user, const struct pfd_summary *so_far)
{
    struct progress *p = user;
    long ms = ms_since(&p->start);
    if (ms >= PROGRESS_AFTER_MS && ms - p->shown_ms >= PROGRESS_EVERY_MS) {
        message_progress(so_far, p->n_buffer);
        p->shown_ms = ms;
    }
    return true;
}

static bool is_wanted(const struct options *o)
{
    if (o->progress != WHEN_AUTO)
        return o->progress == WHEN_ALWAYS;
    /* On the same terminal, progress would break lines of output. */
    return isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
}

/* Passes the capture's metadata of a buffer to the conversion. */
static void use_captured(struct pfd_convert *convert, struct pfd_lines *lines,
                         const struct buffer *buffer)
{
    const struct pfd_capture_buffer *b = &buffer->captured;
    const struct pfd_wire_frame *origin =
        buffer->capture ? b->origin : buffer->origin;
    convert->members = NULL;
    convert->origin_members = NULL;
    if (convert->show & PFD_SHOW_TIME)
        convert->row_time = buffer->capture ? b->time : 0;
    if (!origin || !lines)
        return;
    if (pfd_lines_set_origin(lines, origin) < 0)
        message_error("out of memory");
    pfd_lines_set_time(lines, b->time);
    pfd_lines_set_place(lines, b->generation, UINT64_MAX);
    convert->members = pfd_lines_members(lines);
    convert->origin_members = pfd_lines_origin_members(lines);
}

struct chunked {
    const struct buffer *buffer;
    struct pfd_lines *lines;
};

static const char *members_of(void *user, size_t i)
{
    const struct chunked *c = user;
    pfd_lines_set_time(c->lines, c->buffer->captured.chunks[i].time);
    return pfd_lines_members(c->lines);
}

static enum pfd_status convert_chunks(struct pfd_convert *convert,
                                      const struct buffer *buffer,
                                      struct pfd_lines *lines,
                                      struct pfd_summary *summary,
                                      struct pfd_error *err)
{
    const struct pfd_capture_buffer *b = &buffer->captured;
    struct chunked chunked = { buffer, lines };
    convert->chunk_members = lines ? members_of : NULL;
    convert->chunk_user = &chunked;
    enum pfd_status status =
        pfd_convert_chunks(convert, b->chunks, b->n_chunks, summary, err);
    convert->chunk_members = NULL;
    convert->chunk_user = NULL;
    return status;
}

static enum pfd_status convert_once(struct pfd_convert *convert,
                                    struct buffer *buffer,
                                    struct pfd_lines *lines,
                                    struct pfd_summary *summary,
                                    struct pfd_error *err)
{
    *summary = (struct pfd_summary){ 0 };
    if (buffer->captured.n_chunks)
        return convert_chunks(convert, buffer, lines, summary, err);
    if (buffer->bytes) {
        return pfd_convert_bytes(convert, buffer->bytes, buffer->n, summary,
                                 err);
    }
    return pfd_convert_stream(convert, input_read, buffer, summary, err);
}

/* First pass: which entries are wanted. Second pass: prints those. */
static enum pfd_status convert_twice(const struct options *options,
                                     const struct pfd_convert *convert,
                                     struct buffer *buffer,
                                     struct pfd_lines *lines,
                                     struct pfd_summary *summary,
                                     struct pfd_error *err)
{
    struct context n;
    struct pfd_convert look = *convert;
    struct pfd_convert show = *convert;
    context_init(&n, options->range.tail, options->range.context);
    context_look(&n, &look);
    enum pfd_status status = convert_once(&look, buffer, lines, summary, err);
    if (status == PFD_OK && !context_show(&n, &show)) {
        status = PFD_ERR_NOMEM;
        snprintf(err->text, sizeof err->text, "out of memory");
    }
    if (status == PFD_OK)
        status = convert_once(&show, buffer, lines, summary, err);
    context_deinit(&n);
    return status;
}

/* Facts about a buffer, for conditions. */
static struct pfd_filter_facts facts_of(const struct buffer *buffer)
{
    const struct pfd_capture_buffer *b = &buffer->captured;
    if (!buffer->capture)
        return (struct pfd_filter_facts){ .buffer = buffer->origin };
    return (struct pfd_filter_facts){
        .time_unix_ns = b->time,
        .generation = b->generation,
        .buffer = b->origin,
    };
}

static enum pfd_status convert_buffer(const struct options *options,
                                      struct pfd_convert *convert,
                                      struct buffer *buffer,
                                      struct pfd_lines *lines,
                                      struct pfd_summary *total)
{
    struct pfd_options reading;
    struct pfd_convert as_given = *convert;
    struct pfd_filter_facts facts = facts_of(buffer);
    struct pfd_summary summary = { 0 };
    struct pfd_error err;
    enum pfd_status status;
    bool is_decoded = buffer->captured.n_chunks > 0;
    bool twice = options->range.tail || options->range.context;
    if (input_is_missing(buffer))
        return PFD_OK;
    if (is_decoded && options_decide(options, true)) {
        message_error("%s: its bytes are not here, and how they are read was "
                      "decided when its entries were captured",
                      buffer->name);
        return PFD_ERR_USAGE;
    }
    if ((buffer->capture || twice) && !is_decoded && !input_map(buffer, &err)) {
        message_error("%s: %s", buffer->name, err.text);
        return PFD_ERR_NOMEM;
    }
    convert->facts = &facts;
    convert->source = buffer->name;
    convert->read_at = buffer->is_mapped ? input_read_at : NULL;
    convert->read_at_user = buffer;
    convert->holes = buffer->holes;
    convert->n_holes = buffer->n_holes;
    convert->missing = buffer->missing;
    convert->n_missing = buffer->n_missing;
    input_reading(options, buffer, &convert->format, &reading);
    convert->options = &reading;
    status =
        twice ? convert_twice(options, convert, buffer, lines, &summary, &err)
              : convert_once(convert, buffer, lines, &summary, &err);
    convert->facts = NULL;
    convert->format = as_given.format;
    convert->options = as_given.options;
    input_unmap(buffer);
    pfd_summary_add(total, &summary);
    if (status < 0 && status != PFD_ERR_STOPPED)
        message_error("%s: %s", buffer->name, err.text);
    return status;
}

/* Is the buffer, or without a choice anything that was given, a described ring's? */
static bool is_described(const struct options *options,
                         const struct pfd_strings *strings)
{
    const struct pfd_format *format = pfd_format_find("described");
    return options->reading.format
               ? !strcmp(options->reading.format, format->info.name)
               : pfd_strings_table(strings, &format->strings)->n > 0;
}

/* What gives the ids that are missing. Strings of a described ring are nowhere
 * but where its description says. */
static const char *next_step(const struct options *options,
                             const struct pfd_strings *strings)
{
    return is_described(options, strings)
               ? "add the missing messages to the description, or give the "
                 "file that its `strings` names"
               : "give the code object or SPIR-V module that was in use when "
                 "the buffer was written";
}

/* Says how many of the buffer's ids the loaded files have. */
static void message_verdict(const struct options *options, const char *name,
                            const struct pfd_strings *strings,
                            const struct pfd_id_counts *ids, bool nothing_read)
{
    const char *some = ids->is_more ? "more than " : "";
    unsigned long long all = ids->known + ids->unknown;
    if (pfd_strings_count(strings) == 0 || (!ids->unknown && !nothing_read))
        return;
    const char *step = next_step(options, strings);
    if (nothing_read) {
        message_hint("%s: nothing in this buffer is of an id that is in these "
                     "files: %s",
                     name, step);
    } else if (ids->known) {
        message_hint("%s: %llu of the %s%llu ids in this buffer %s in these "
                     "files, the others are not: %s",
                     name, (unsigned long long)ids->known, some, all,
                     ids->known == 1 ? "is" : "are", step);
    } else if (all == 1) {
        message_hint("%s: the one id in this buffer is not in these files: %s",
                     name, step);
    } else {
        message_hint("%s: none of the %s%llu ids in this buffer is in these "
                     "files: %s",
                     name, some, all, step);
    }
}

/* Prints the buffer's name in the style of head(1), where messages are lines of
 * text. */
static void name_buffer(const struct options *options,
                        const struct inputs *inputs,
                        const struct pfd_convert *convert, size_t i)
{
    const char *name = inputs->buffers[i].name;
    if (!convert->output || strcmp(convert->output, "text") != 0 ||
        !options_names(options, inputs->n_buffers))
        return;
    output_printf(i ? "\n==> " : "==> ");
    output_escaped(name, strlen(name));
    output_printf(" <==\n");
    output_flush();
}

/* Says why a file may have no entries; called before it is read. NULL: its
 * findings explain it. */
static const char *why_nothing(const struct buffer *buffer)
{
    const char *bytes = buffer->n_head ? buffer->head : buffer->bytes;
    size_t n = buffer->n_head ? buffer->n_head : buffer->n;
    bool is_text = bytes && n;
    if (buffer->capture)
        return NULL;
    for (size_t i = 0; is_text && i < n && i < sizeof buffer->head; i++) {
        is_text = (bytes[i] >= ' ' && bytes[i] < 0x7f) ||
                  (bytes[i] >= '\t' && bytes[i] <= '\r');
    }
    return is_text
               ? "it looks like text; a buffer is a dump of what a GPU wrote"
           : n ? NULL
               : "there is nothing in it";
}

/* The number of first bytes that are zero, if these are a header at least. 0:
 * they are not, or the buffer is too short for an entry. *all: no other byte is
 * among those that were looked at. */
static size_t count_zeros(const struct buffer *buffer, bool *all)
{
    enum {
        HEADER = 16,
        SEEN = 1 << 20
    };
    const char *bytes = buffer->n_head ? buffer->head : buffer->bytes;
    size_t n = buffer->n_head ? buffer->n_head : buffer->n;
    n = n < SEEN ? n : (size_t)SEEN;
    size_t n_zeros = 0;
    while (!buffer->capture && bytes && n_zeros < n && !bytes[n_zeros])
        n_zeros++;
    *all = n_zeros == n;
    return n > HEADER && n_zeros >= HEADER ? n_zeros : 0;
}

/* A buffer that begins with zeros gave nothing. */
static void report_zeros(const struct buffer *buffer, size_t n_zeros, bool all)
{
    if (all) {
        message_hint(
            "%s: nothing was written: it begins with zeros; nothing "
            "printed, or it is another buffer, or it was read too early",
            buffer->name);
    } else {
        message_hint(
            "%s: its header says that nothing was written, and byte "
            "%zu is not zero: 'printfdecode recover' looks for entries "
            "there, --format NAME reads it as another buffer",
            buffer->name, n_zeros);
    }
}

enum pfd_status convert_opened_buffer(const struct options *options,
                                      const struct inputs *inputs,
                                      struct pfd_convert *convert,
                                      struct buffer *buffer,
                                      struct pfd_lines *lines,
                                      struct pfd_summary *total)
{
    struct pfd_id_counts ids = { 0 };
    struct heard buffer_findings = { .all = options->verbose,
                                     .in_place = convert->inline_findings,
                                     .inputs = inputs };
    uint64_t before = total->entries;
    const char *why = why_nothing(buffer);
    bool is_empty = !buffer->n && !buffer->n_head;
    bool all_zero = false;
    size_t n_zeros = count_zeros(buffer, &all_zero);
    convert->finding = hear;
    convert->finding_user = &buffer_findings;
    convert->id_counts = &ids;
    use_captured(convert, lines, buffer);
    convert->notes = options->verbose;
    enum pfd_status status =
        convert_buffer(options, convert, buffer, lines, total);
    convert->id_counts = NULL;
    convert->finding_user = NULL;
    message_progress_done();
    if (why && (!buffer_findings.any || is_empty) && status >= 0 &&
        total->entries == before)
        message_hint("%s: %s", buffer->name, why);
    if (n_zeros && (all_zero || !buffer_findings.any) && status >= 0 &&
        total->entries == before)
        report_zeros(buffer, n_zeros, all_zero);
    buffer->needs_strings = buffer_findings.unknown_places;
    if (buffer_findings.n_suppressed) {
        message_hint("%s: %llu more findings of more ids; -v tells all",
                     buffer->name,
                     (unsigned long long)buffer_findings.n_suppressed);
    }
    message_verdict(options, buffer->name, inputs->strings, &ids,
                    buffer_findings.unknown_places && total->entries == before);
    return status;
}

bool convert_quietly(const struct options *options, struct pfd_convert *convert,
                     struct buffer *buffer, struct pfd_summary *total)
{
    return convert_buffer(options, convert, buffer, NULL, total) >= 0;
}

bool convert_buffers(const struct options *options, struct inputs *inputs,
                     struct pfd_convert *convert, struct pfd_summary *total)
{
    return convert_each(options, inputs, convert, total, NULL, NULL);
}

bool convert_each(const struct options *options, struct inputs *inputs,
                  struct pfd_convert *convert, struct pfd_summary *total,
                  convert_begin_fn begin, void *user)
{
    struct progress progress = { 0 };
    enum pfd_status status = PFD_OK;
    struct pfd_lines *lines = NULL;
    bool needs_strings = false;
    bool ok = pfd_lines_new("json", false, false, &lines, NULL) == PFD_OK;
    if (!ok)
        message_error("out of memory");
    if (is_wanted(options)) {
        convert->progress = show;
        convert->progress_user = &progress;
    }
    for (size_t i = 0; i < inputs->n_buffers && status != PFD_ERR_STOPPED;
         i++) {
        progress = (struct progress){ .n_buffer = inputs->buffers[i].n };
        clock_gettime(CLOCK_MONOTONIC, &progress.start);
        if (begin)
            begin(user, convert, &inputs->buffers[i]);
        name_buffer(options, inputs, convert, i);
        status = convert_opened_buffer(options, inputs, convert,
                                       &inputs->buffers[i], lines, total);
        ok = ok && (status >= 0 || status == PFD_ERR_STOPPED);
        needs_strings |= inputs->buffers[i].needs_strings;
    }
    pfd_lines_free(lines);
    convert->progress_user = NULL;
    message_progress_done();
    if ((total->unknown || needs_strings) &&
        pfd_strings_count(inputs->strings) == 0)
        inputs_report_no_strings(inputs);
    return ok;
}
