/* SPDX-License-Identifier: MIT */
/* printfdecode recover: finds entries anywhere in files. */
#include "core/decode/recover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <printfdecode/lines.h>

#include "core/output/lines.h"
#include "input/filter.h"
#include "input/input.h"
#include "input/open_inputs.h"
#include "show/messages.h"
#include "show/output.h"
#include "verb.h"

struct recovery {
    const struct options *o;
    const char *source;
    struct pfd_lines *lines;
    struct filtering filtering;
    struct pfd_filter_run *filter; /* NULL: all entries are wanted */
    uint64_t n_runs;
    bool is_over;
};

static bool flush(struct recovery *r)
{
    size_t n = 0;
    const char *bytes = pfd_lines_bytes(r->lines, &n);
    if (!bytes && n)
        exit_without_memory();
    bool ok = n == 0 || output_write(NULL, bytes, n);
    pfd_lines_clear(r->lines);
    r->is_over |= !ok;
    return ok;
}

static bool take_run(void *user, const struct pfd_recover_run *run)
{
    struct recovery *r = user;
    r->n_runs++;
    if (!r->o->verbose)
        return true;
    if (run->header == PFD_NO_OFFSET) {
        message_hint("%s: %llu entries at bytes %llu to %llu", r->source,
                     (unsigned long long)run->n_entries,
                     (unsigned long long)run->from,
                     (unsigned long long)run->to);
    } else {
        message_hint(
            "%s: %llu entries at bytes %llu to %llu, behind the header "
            "of a buffer whose entries end at %llu",
            r->source, (unsigned long long)run->n_entries,
            (unsigned long long)run->from, (unsigned long long)run->to,
            (unsigned long long)run->used);
    }
    return true;
}

static bool take_entry(void *user, struct pfd_entry *entry)
{
    enum {
        FLUSH_AT = 1 << 20
    };
    struct recovery *r = user;
    size_t n = 0;
    if (r->filter && !pfd_filter_want(r->filter, entry))
        return true;
    if (r->filtering.n_given++ == r->o->range.limit) {
        r->is_over = true;
        return false;
    }
    pfd_lines_entry(r->lines, entry);
    pfd_lines_bytes(r->lines, &n);
    return n < FLUSH_AT || flush(r);
}

static bool recover_file(struct recovery *r, struct inputs *in,
                         struct buffer *b)
{
    struct pfd_error err;
    uint64_t n_entries = 0;
    struct pfd_recover recover = {
        .strings = in->strings,
        .source = b->name,
        .holes = b->holes,
        .n_holes = b->n_holes,
        .run = take_run,
        .entry = take_entry,
        .user = r,
    };
    if (input_is_missing(b))
        return true;
    if (!input_map(b, &err)) {
        message_error("%s: %s", b->name, err.text);
        return false;
    }
    r->source = b->name;
    r->n_runs = 0;
    enum pfd_status status =
        pfd_recover(&recover, b->bytes, b->n, &n_entries, &err);
    flush(r);
    input_unmap(b);
    if (status < 0 && status != PFD_ERR_STOPPED) {
        message_error("%s: %s", b->name, err.text);
        return false;
    }
    message_hint(
        "%s: %llu %s in %llu %s", b->name, (unsigned long long)n_entries,
        n_entries == 1 ? "entry" : "entries", (unsigned long long)r->n_runs,
        r->n_runs == 1 ? "run" : "runs");
    return true;
}

static bool open_filter(struct recovery *r, const struct pfd_strings *strings)
{
    return filtering_run(&r->filtering, strings, &r->filter);
}

static int recover_run(const struct options *o)
{
    struct inputs in;
    struct pfd_error err;
    struct recovery r = { .o = o };
    bool json = o->output && !strcmp(o->output, "json");
    if (!filtering_open(&r.filtering, &o->filter))
        return EXIT_ERROR;
    inputs_open(&in, o, json ? output_finding : message_finding, NULL);
    bool ok = !in.failed;
    if (ok && !in.n_buffers) {
        message_error("nothing to search; an ELF core is given with --buffer");
        ok = false;
    }
    if (ok && pfd_lines_new(o->output ? o->output : "text",
                            options_color(o, STDOUT_FILENO), false, &r.lines,
                            &err) != PFD_OK) {
        message_error("%s", err.text);
        ok = false;
    }
    ok = ok && open_filter(&r, in.strings);
    if (ok)
        pfd_lines_show(r.lines, options_show(o), options_links(o));
    if (ok && options_finding_marks(o))
        pfd_lines_mark(r.lines);
    if (ok && options_fields(o))
        pfd_lines_fields(r.lines);
    if (ok && r.filtering.filter)
        ok = pfd_lines_highlight(r.lines, r.filtering.filter, &err) == PFD_OK;
    for (size_t i = 0; ok && i < in.n_buffers && !r.is_over; i++)
        ok = recover_file(&r, &in, &in.buffers[i]);
    bool findings = in.n_findings > 0;
    if (r.filter)
        r.filtering.n_doubts = pfd_filter_gave_up(r.filter);
    pfd_filter_run_free(r.filter);
    filtering_end(&r.filtering, in.strings);
    pfd_lines_free(r.lines);
    inputs_close(&in);
    ok = ok && !output_failed();
    return filtering_close(&r.filtering, !ok        ? EXIT_ERROR
                                         : findings ? EXIT_FINDINGS
                                                    : EXIT_CLEAN);
}

static const struct option_group *const groups[] = {
    &options_output,   &options_strings,
    &options_buffers,  &options_filter,
    &options_limit,    &options_lines,
    &options_inflated, &options_messages,
    &options_help,     NULL,
};

const struct verb verb_recover = {
    .name = "recover",
    .files = "FILE...",
    .help = "find entries in any file: a core, a memory image",
    .run = recover_run,
    .groups = groups,
    .takes_cores = true,
};
