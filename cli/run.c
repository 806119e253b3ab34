/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include <printfdecode/lines.h>

#include "tell.h"

enum {
    PROGRESS_AFTER_MS = 1000,
    PROGRESS_EVERY_MS = 100
};

struct progress {
    uint64_t n_buffer; /* bytes; 0: not known */
    struct timespec start;
    long shown_ms; /* when it was shown last */
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
        tell_progress(so_far, p->n_buffer);
        p->shown_ms = ms;
    }
    return true;
}

static bool is_wanted(const struct options *o)
{
    if (o->progress != WHEN_AUTO)
        return o->progress == WHEN_ALWAYS;
    /* Lines on the same terminal would be torn. */
    return isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
}

/* What a capture says of its buffer. */
static void use_captured(struct pfd_convert *convert, struct pfd_lines *lines,
                         const struct buffer *buffer)
{
    const struct pfd_capture_buffer *b = &buffer->captured;
    bool is_said = buffer->capture && lines;
    convert->members = NULL;
    convert->origin_members = NULL;
    if (!is_said)
        return;
    if (pfd_lines_set_origin(lines, b->origin) < 0)
        tell_error("out of memory");
    pfd_lines_set_time(lines, b->time);
    pfd_lines_set_place(lines, b->generation, UINT64_MAX);
    convert->members = pfd_lines_members(lines);
    convert->origin_members = pfd_lines_origin_members(lines);
}

/* A capture names its buffers' formats; the command line may know better. */
static const char *captured_format(const struct buffer *buffer)
{
    struct pfd_format_info info;
    const struct pfd_wire_bytes *name = &buffer->captured.origin->format;
    for (size_t i = 0; pfd_format_get(i, &info) == PFD_OK; i++) {
        if (strlen(info.name) == name->n &&
            !memcmp(info.name, name->at, name->n))
            return info.name;
    }
    return NULL;
}

static enum pfd_status run_buffer(struct pfd_convert *convert,
                                  struct buffer *buffer,
                                  struct pfd_summary *total)
{
    const char *format = convert->format;
    struct pfd_summary summary = { 0 };
    struct pfd_error err;
    enum pfd_status status;
    if (input_is_missing(buffer))
        return PFD_OK;
    if (buffer->capture && !input_map(buffer, &err)) {
        tell_error("%s: %s", buffer->name, err.text);
        return PFD_ERR_NOMEM;
    }
    convert->source = buffer->name;
    convert->holes = buffer->holes;
    convert->n_holes = buffer->n_holes;
    if (!format && buffer->capture)
        convert->format = captured_format(buffer);
    if (buffer->bytes) {
        status = pfd_convert_bytes(convert, buffer->bytes, buffer->n, &summary,
                                   &err);
    } else {
        status =
            pfd_convert_stream(convert, input_read, buffer, &summary, &err);
    }
    convert->format = format;
    input_unmap(buffer);
    pfd_summary_add(total, &summary);
    if (status < 0 && status != PFD_ERR_STOPPED)
        tell_error("%s: %s", buffer->name, err.text);
    return status;
}

bool run_buffers(const struct options *options, struct inputs *inputs,
                 struct pfd_convert *convert, struct pfd_summary *total)
{
    struct progress progress = { 0 };
    enum pfd_status status = PFD_OK;
    struct pfd_lines *lines = NULL;
    bool ok = pfd_lines_new("json", false, false, &lines, NULL) == PFD_OK;
    convert->finding = tell_finding;
    convert->notes = options->verbose;
    if (is_wanted(options)) {
        convert->progress = show;
        convert->progress_user = &progress;
    }
    for (size_t i = 0; i < inputs->n_buffers && status != PFD_ERR_STOPPED;
         i++) {
        progress = (struct progress){ .n_buffer = inputs->buffers[i].n };
        clock_gettime(CLOCK_MONOTONIC, &progress.start);
        use_captured(convert, lines, &inputs->buffers[i]);
        status = run_buffer(convert, &inputs->buffers[i], total);
        ok = ok && (status >= 0 || status == PFD_ERR_STOPPED);
    }
    pfd_lines_free(lines);
    convert->progress_user = NULL;
    tell_progress_done();
    if (total->unknown && pfd_strings_count(inputs->strings) == 0) {
        tell_hint("no format strings are loaded; give the program's ELF file "
                  "as well");
    }
    return ok;
}
