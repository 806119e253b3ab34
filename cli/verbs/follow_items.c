/* SPDX-License-Identifier: MIT */
#include "follow_items.h"

#include <stdlib.h>

#include "core/decode/entry_run.h"
#include "core/output/lines.h"
#include "input/convert_inputs.h"
#include "show/entry_findings.h"
#include "show/messages.h"
#include "show/output.h"

void follow_items_flush(struct follow_items *items)
{
    size_t n = 0;
    items->is_over |= !followed_lines_rest(&items->followed_lines);
    const char *bytes = pfd_lines_bytes(items->lines, &n);
    if (!bytes && n)
        exit_without_memory();
    if (n && !(items->checks     ? checks_write(items->checks, bytes, n)
               : items->collapse ? pfd_collapse_write(items->collapse, bytes, n)
               : items->trace    ? pfd_trace_write(items->trace, bytes, n)
                                 : output_write(NULL, bytes, n)))
        items->is_over = true;
    pfd_lines_clear(items->lines);
}

static bool is_reported(const struct follow_items *items,
                        enum pfd_finding_kind kind)
{
    return items->o->verbose || !pfd_finding_is_note(kind);
}

static void add_finding(struct follow_items *items,
                        const struct pfd_finding *finding, bool is_repeated)
{
    if (!is_reported(items, finding->kind))
        return;
    checks_finding(items->in->checks, finding);
    items->is_over |= !followed_lines_rest(&items->followed_lines);
    pfd_lines_finding(items->lines, finding);
    if (options_inline_findings(items->o)) /* after the messages before it */
        follow_items_flush(items);
    if (!is_repeated || items->o->verbose)
        message_finding(NULL, finding);
}

void follow_items_finding(struct follow_items *items,
                          const struct pfd_finding *finding)
{
    add_finding(items, finding, false);
}

/* ---- unknown ids ---- */

/* Was the id reported before? Without any strings, the lack of them is reported
 * once, and no id: each line shows its own. */
static bool was_reported(struct follow_items *items, uint64_t id)
{
    bool has_strings = pfd_strings_count(items->in->strings) > 0;
    if (!has_strings && !items->misses_strings) {
        items->misses_strings = true;
        follow_items_flush(items);
        inputs_report_no_strings(items->in);
    }
    for (size_t i = 0; i < items->n_unknown; i++) {
        if (items->unknown[i] == id)
            return true;
    }
    if (!has_strings || items->n_unknown == FOLLOW_UNKNOWN_MAX)
        return true;
    items->unknown[items->n_unknown++] = id;
    return false;
}

static void take_finding(void *user, const struct pfd_finding *finding)
{
    struct follow_items *items = user;
    add_finding(items, finding,
                finding->kind == PFD_FINDING_unknown_id && items->is_repeated);
}

static void take_findings(const struct follow_origin *from,
                          const struct pfd_entry *entry)
{
    const uint64_t unknown = PFD_FINDING_BIT(unknown_id);
    struct follow_items *items = from->items;
    items->is_repeated =
        entry->findings & unknown && was_reported(items, entry->id);
    entry_findings_each(entry, from->name, take_finding, items);
}

static void set_facts(struct follow_items *items)
{
    const struct pfd_filter_facts facts = {
        .time_unix_ns = items->time,
        .generation = items->generation,
    };
    if (items->filter)
        pfd_filter_run_set(items->filter, &facts);
    for (size_t i = 0; i < PFD_WATCHES; i++) {
        if (items->watch.runs[i])
            pfd_filter_run_set(items->watch.runs[i], &facts);
    }
}

/* Sets the origin of the items to come. */
static void set_place(const struct follow_origin *from, uint64_t generation)
{
    struct follow_items *items = from->items;
    struct pfd_ordered_render_place place = {
        .strings = items->in->strings,
        .options = &items->o->reading.decoding,
        .source = from->name,
        .buffer = from->number,
        .generation = generation,
        .time = items->time,
    };
    followed_lines_set_place(&items->followed_lines, &place);
    pfd_lines_set_place(items->lines, generation, UINT64_MAX);
    pfd_lines_set_buffer(items->lines, from->number);
    items->placed = from;
    items->generation = generation;
    set_facts(items);
}

/* False: no more items are wanted. */
static bool begin_items(const struct follow_origin *from, uint64_t generation)
{
    struct follow_items *items = from->items;
    if (items->is_over)
        return false;
    if (items->placed != from || items->generation != generation)
        set_place(from, generation);
    return true;
}

void follow_items_take(void *user, const struct pfd_tail_item *item)
{
    enum {
        FLUSH_AT = 1 << 20
    };
    const struct follow_origin *from = user;
    struct follow_items *items = from->items;
    size_t n = 0;
    if (!begin_items(from, item->generation))
        return;
    if ((items->trace || items->checks) && items->traced != from) {
        follow_items_flush(items);
        if (items->trace)
            pfd_trace_set_source(items->trace, from->name);
        if (items->checks)
            checks_set_source(items->checks, from->name);
        items->traced = from;
    }
    if (!item->is_entry) {
        follow_items_finding(items, item->finding);
        return;
    }
    if (items->filter && !pfd_filter_want(items->filter, item->entry))
        return;
    if (!items->taker &&
        followed_lines_take(&items->followed_lines, item->entry)) {
        items->filtering.n_given++;
        return;
    }
    if (!items->taker)
        pfd_lines_entry(items->lines, item->entry);
    if (item->entry->findings)
        take_findings(from, item->entry);
    items->is_over = ++items->filtering.n_given >= items->o->range.limit;
    if (items->taker && !items->taker->entry(items->taker->user, item->entry,
                                             items->time, items->in->strings))
        items->is_over = items->failed = true;
    pfd_lines_bytes(items->lines, &n);
    if (n >= FLUSH_AT)
        follow_items_flush(items);
}

/* Renders the run on threads, or passes its entries one by one to a filter or
 * taker. */
void follow_items_take_run(void *user, const struct pfd_entry_run *entry_run,
                           uint64_t generation)
{
    const struct follow_origin *from = user;
    struct follow_items *items = from->items;
    size_t n = pfd_entry_run_count(entry_run);
    if (!begin_items(from, generation))
        return;
    if (!items->filter && !items->taker &&
        followed_lines_take_run(&items->followed_lines, entry_run)) {
        items->filtering.n_given += n;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct pfd_entry entry;
        const struct pfd_tail_item item = {
            .is_entry = true,
            .entry = &entry,
            .generation = generation,
        };
        pfd_entry_run_entry(entry_run, i, &entry);
        follow_items_take(user, &item);
    }
}

/* Like follow_items_take_run(), for several runs. */
void follow_items_take_runs(void *user,
                            const struct pfd_entry_run *const *entry_runs,
                            size_t n, uint64_t generation)
{
    const struct follow_origin *from = user;
    struct follow_items *items = from->items;
    bool is_plain = !items->filter && !items->taker;
    if (begin_items(from, generation) && is_plain &&
        followed_lines_take_runs(&items->followed_lines, entry_runs, n,
                                 from->tail)) {
        for (size_t i = 0; i < n; i++)
            items->filtering.n_given += pfd_entry_run_count(entry_runs[i]);
        return;
    }
    for (size_t i = 0; i < n; i++)
        follow_items_take_run(user, entry_runs[i], generation);
}

/* ---- setup and teardown ---- */

static struct pfd_lines *make_lines(void *user)
{
    const struct follow_items *items = user;
    bool has_lines = !items->trace && options_form(items->o);
    return followed_lines_lines(items->o, items->filtering.filter,
                                !items->taker,
                                items->collapse || (items->checks && has_lines),
                                items->trace || (items->checks && !has_lines));
}

/* Opens what entries become instead of lines, and has them checked before. */
static bool open_consumers(struct follow_items *items)
{
    const struct options *o = items->o;
    const char *form = options_form(o);
    if (!collapsed_lines_open(&o->collapse, form ? form : o->output,
                              &items->collapse) ||
        (options_trace(o) && !perfetto_open(items->in->strings, &items->trace)))
        return false;
    if (!items->in->checks || !checks_want_rows(items->in->checks))
        return true;
    items->checks = items->in->checks;
    if (items->collapse)
        checks_set_next(items->checks, pfd_collapse_write, items->collapse);
    if (items->trace)
        checks_set_next(items->checks, pfd_trace_write, items->trace);
    return true;
}

bool follow_items_open(struct follow_items *items, bool is_live)
{
    const struct pfd_ordered_render_options press = {
        .lines = make_lines,
        .write = output_write,
        .user = items,
    };
    if (is_live && !open_consumers(items))
        return false;
    items->lines = make_lines(items);
    if (!items->lines)
        return false;
    bool is_plain =
        !items->taker && !items->collapse && !items->trace && !items->checks;
    followed_lines_init(&items->followed_lines, &press,
                        is_plain && items->o->range.limit == UINT64_MAX);
    return true;
}

void follow_items_close(struct follow_items *items)
{
    if (items->filter)
        items->filtering.n_doubts = pfd_filter_gave_up(items->filter);
    pfd_filter_run_free(items->filter);
    checks_watch_free(&items->watch);
    followed_lines_deinit(&items->followed_lines);
    pfd_lines_free(items->lines);
    pfd_collapse_free(items->collapse);
    pfd_trace_free(items->trace);
}

void follow_items_look(struct follow_items *items, uint64_t time)
{
    items->time = time;
    items->placed = NULL;
    pfd_lines_set_time(items->lines, time);
}

bool follow_items_renew(struct follow_items *items)
{
    items->placed = NULL;
    pfd_filter_run_free(items->filter);
    items->filter = NULL;
    checks_watch_free(&items->watch);
    if (!filtering_run(&items->filtering, items->in->strings, &items->filter))
        return false;
    if (!items->checks)
        return true;
    pfd_lines_watch(items->lines, &items->watch);
    return checks_watch(items->checks, items->in->strings, &items->watch);
}
