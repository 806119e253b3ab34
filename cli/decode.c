/* SPDX-License-Identifier: MIT */
/* printfdecode decode: what the buffers say. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "input.h"
#include "options.h"
#include "output.h"
#include "tell.h"

enum {
    PROGRESS_AFTER_MS = 1000,
    PROGRESS_EVERY_MS = 100
};

struct run {
    const struct options *options;
    struct pfd_convert convert;
    struct pfd_summary total;
    uint64_t n_buffer; /* bytes; 0: not known */
    struct timespec start;
    long shown_ms; /* when progress was shown last */
    bool failed;
    bool stopped;
};

static long ms_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - start->tv_sec) * 1000 +
           (now.tv_nsec - start->tv_nsec) / 1000000;
}

static bool show_progress(void *user, const struct pfd_summary *so_far)
{
    struct run *run = user;
    long ms = ms_since(&run->start);
    if (ms >= PROGRESS_AFTER_MS && ms - run->shown_ms >= PROGRESS_EVERY_MS) {
        tell_progress(so_far, run->n_buffer);
        run->shown_ms = ms;
    }
    return true;
}

static bool wants_progress(const struct options *o)
{
    if (o->progress != WHEN_AUTO)
        return o->progress == WHEN_ALWAYS;
    /* Lines on the same terminal would be torn. */
    return isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
}

/* The line's own end does not count, so that $ means the message's. */
static bool matches(void *user, const char *message, size_t n)
{
    const struct options *o = user;
    regmatch_t range = { .rm_so = 0, .rm_eo = (regoff_t)n };
    if (n && message[n - 1] == '\n')
        range.rm_eo--;
    return !regexec(&o->match, message, 1, &range, REG_STARTEND);
}

static void add(struct pfd_summary *to, const struct pfd_summary *from)
{
    to->entries += from->entries;
    to->unknown += from->unknown;
    to->bytes += from->bytes;
    to->lost_bytes += from->lost_bytes;
    to->skipped_bytes += from->skipped_bytes;
    to->findings += from->findings;
}

static void decode(struct run *run, struct buffer *buffer)
{
    struct pfd_summary summary = { 0 };
    struct pfd_error err;
    enum pfd_status status;

    run->convert.source = buffer->name;
    run->n_buffer = buffer->n;
    run->shown_ms = 0;
    clock_gettime(CLOCK_MONOTONIC, &run->start);
    if (buffer->bytes)
        status = pfd_convert_bytes(&run->convert, buffer->bytes, buffer->n,
                                   &summary, &err);
    else
        status = pfd_convert_stream(&run->convert, input_read, &buffer->fd,
                                    &summary, &err);
    add(&run->total, &summary);
    run->stopped = status == PFD_ERR_STOPPED;
    if (status < 0 && !run->stopped) {
        tell_error("%s: %s", buffer->name, err.text);
        run->failed = true;
    }
}

static void prepare(struct run *run, const struct options *o,
                    const struct inputs *in)
{
    run->options = o;
    run->convert = (struct pfd_convert){
        .strings = in->strings,
        .format = o->format,
        .output = o->output ? o->output : "text",
        .threads = o->threads,
        .ids = o->ids,
        .n_ids = o->n_ids,
        .skip = o->skip,
        .limit = o->limit,
        .notes = o->verbose,
        .color = options_color(o, STDOUT_FILENO),
        .write = output_write,
        .finding = tell_finding,
    };
    if (o->has_match) {
        run->convert.match = matches;
        run->convert.match_user = (void *)(uintptr_t)o;
    }
    if (wants_progress(o)) {
        run->convert.progress = show_progress;
        run->convert.progress_user = run;
    }
}

int decode_run(const struct options *o)
{
    struct inputs in;
    struct run run = { 0 };
    bool json = o->output && !strcmp(o->output, "json");

    inputs_open(&in, o, json ? output_finding : tell_finding, NULL);
    prepare(&run, o, &in);
    if (in.n_buffers == 0 && !in.failed) {
        tell_error("no buffer among the files; "
                   "'printfdecode strings' lists format strings");
        in.failed = true;
    }
    for (size_t i = 0; i < in.n_buffers && !run.stopped; i++)
        decode(&run, &in.buffers[i]);
    run.total.findings += in.n_findings;
    if (in.n_buffers && (run.total.findings || o->verbose))
        tell_summary(&run.total);
    bool failed = in.failed || run.failed || output_failed();
    inputs_close(&in);
    if (failed)
        return EXIT_ERROR;
    return run.total.findings ? EXIT_FINDINGS : EXIT_CLEAN;
}
