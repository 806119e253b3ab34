/* SPDX-License-Identifier: MIT */
#include "followed_lines.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/decode/entry_run.h"
#include "core/output/lines.h"
#include "input/convert_inputs.h"
#include "show/messages.h"
#include "stream/capture/chunk.h"
#include "stream/live/tail_control.h"

enum {
    CHUNK = 16 << 10, /* bytes: their lines fit into a processor's cache */
    MUCH = 512 << 10, /* bytes of entries in a read pass */
    LONG_RUN = 64,    /* entries: enough to be worth another thread */
};

static bool check(enum pfd_status status)
{
    if (status == PFD_OK || status == PFD_ERR_STOPPED)
        return status == PFD_OK;
    message_error(status == PFD_ERR_NOMEM ? "out of memory"
                                          : "lines could not be made");
    exit(EXIT_ERROR);
}

struct pfd_lines *followed_lines_lines(const struct options *o,
                                       const struct pfd_filter *filter,
                                       bool has_form, bool has_rows,
                                       bool has_values)
{
    struct pfd_error err;
    struct pfd_lines *lines = NULL;
    const char *form = has_form ? options_form(o) : NULL;
    if (pfd_lines_new(form ? form : "text", options_color(o, STDOUT_FILENO),
                      o->verbose, &lines, &err) != PFD_OK) {
        message_error("%s", err.text);
        return NULL;
    }
    pfd_lines_show(lines, options_show(o), options_links(o));
    if (options_finding_marks(o))
        pfd_lines_mark(lines);
    if (options_fields(o))
        pfd_lines_fields(lines);
    if (filter && !has_rows && !has_values)
        check(pfd_lines_highlight(lines, filter, NULL));
    if (has_rows)
        pfd_lines_rows(lines);
    if (has_values)
        pfd_lines_values(lines);
    return lines;
}

void followed_lines_init(struct followed_lines *ret,
                         const struct pfd_ordered_render_options *options,
                         bool is_possible)
{
    *ret = (struct followed_lines){
        .options = *options,
        .is_possible = is_possible && sysconf(_SC_NPROCESSORS_ONLN) > 1,
    };
}

void followed_lines_deinit(struct followed_lines *p)
{
    pfd_ordered_render_free(p->ordered_render);
    p->ordered_render = NULL;
}

void followed_lines_set_place(struct followed_lines *p,
                              const struct pfd_ordered_render_place *place)
{
    if (p->is_on)
        pfd_ordered_render_submit(p->ordered_render, &p->place);
    p->place = *place;
}

bool followed_lines_take(struct followed_lines *p,
                         const struct pfd_entry *entry)
{
    p->n_bytes += entry->n_bytes;
    if (!p->is_on)
        return false;
    if (entry->findings) { /* findings are printed beside the line */
        followed_lines_rest(p);
        return false;
    }
    struct pfd_chunk_writer *chunk =
        pfd_ordered_render_chunk(p->ordered_render);
    check(pfd_chunk_add_entry(chunk, entry, NULL));
    if (pfd_chunk_size(chunk) >= CHUNK)
        pfd_ordered_render_submit(p->ordered_render, &p->place);
    return true;
}

bool followed_lines_take_run(struct followed_lines *p,
                             const struct pfd_entry_run *entry_run)
{
    size_t n = pfd_entry_run_count(entry_run);
    if (!p->is_on)
        return false;
    p->n_bytes += pfd_entry_run_bytes(entry_run);
    if (n >= LONG_RUN) {
        pfd_ordered_render_run(p->ordered_render, entry_run, &p->place);
        return true;
    }
    for (size_t i = 0; i < n;) {
        struct pfd_chunk_writer *chunk =
            pfd_ordered_render_chunk(p->ordered_render);
        check(pfd_chunk_add_run(chunk, entry_run, &i, CHUNK - 1, NULL));
        if (pfd_chunk_size(chunk) >= CHUNK)
            pfd_ordered_render_submit(p->ordered_render, &p->place);
    }
    return true;
}

bool followed_lines_take_runs(struct followed_lines *p,
                              const struct pfd_entry_run *const *entry_runs,
                              size_t n, struct pfd_tail *tail)
{
    if (!p->is_on)
        return false;
    for (size_t i = 0; i < n; i++)
        p->n_bytes += pfd_entry_run_bytes(entry_runs[i]);
    pfd_ordered_render_runs(p->ordered_render, entry_runs, n, &p->place,
                            pfd_tail_share, tail);
    return true;
}

/* Starts the threads; without them, lines are rendered here. */
static void begin(struct followed_lines *p)
{
    if (!p->ordered_render) {
        p->is_possible = pfd_ordered_render_new(&p->options, &p->ordered_render,
                                                NULL) == PFD_OK;
    }
    p->is_on = p->is_possible;
}

bool followed_lines_end_look(struct followed_lines *p)
{
    bool is_much = p->n_bytes >= MUCH;
    bool ok = true;
    p->n_bytes = 0;
    if (p->is_on && is_much) {
        pfd_ordered_render_submit(p->ordered_render, &p->place);
        ok = check(pfd_ordered_render_status(p->ordered_render));
    } else if (p->is_on) {
        ok = followed_lines_rest(p);
    } else if (is_much && p->is_possible) {
        begin(p);
    }
    return ok;
}

bool followed_lines_rest(struct followed_lines *p)
{
    if (!p->is_on)
        return true;
    p->is_on = false;
    pfd_ordered_render_submit(p->ordered_render, &p->place);
    return check(pfd_ordered_render_drain(p->ordered_render));
}
