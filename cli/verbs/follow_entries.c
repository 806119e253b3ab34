/* SPDX-License-Identifier: MIT */
#include "follow_entries.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/output/lines.h"
#include "options/options.h"
#include "recording.h"
#include "show/collapsed_lines.h"
#include "show/entry_findings.h"
#include "show/last_lines.h"
#include "show/messages.h"
#include "show/output.h"
#include "show/perfetto_output.h"

enum {
    FLUSH_AT = 1 << 20,
    WORD = 40,
    NOTE = 400, /* bytes of what a daemon has to say, at most */
};

static bool is_number(const char *text)
{
    return text && *text && strspn(text, "0123456789") == strlen(text);
}

/* The daemon has chosen the entries: patterns are for colour alone, and without
 * PCRE2 there is none. */
static bool show_matches(struct follow_entries *e, struct pfd_error *err)
{
    const struct options *o = e->o;
    const struct pfd_filter_spec spec = {
        .patterns = o->filter.matches.all,
        .n_patterns = o->filter.matches.n,
        .ignore_case = o->filter.ignore_case,
        .invert = o->filter.invert,
        .jit = true,
    };
    bool is_text = !e->is_json && !e->is_raw && !e->collapse && !e->trace &&
                   !e->taker && !e->checks_rows && !e->tail;
    if (!o->filter.matches.n || !is_text || !options_color(o, STDOUT_FILENO))
        return true;
    enum pfd_status status = pfd_filter_new(&spec, &e->shown, err);
    if (status == PFD_OK)
        status = pfd_lines_highlight(e->lines, e->shown, err);
    return status == PFD_OK || status == PFD_ERR_UNSUPPORTED;
}

static bool make_lines(struct follow_entries *e, const char *form,
                       struct pfd_error *err)
{
    const struct options *o = e->o;
    bool has_lines =
        !e->taker && !e->trace && !o->range.count && options_form(o);
    if (pfd_lines_new(form, options_color(o, STDOUT_FILENO), e->is_json,
                      &e->lines, err) != PFD_OK ||
        !show_matches(e, err))
        return false;
    if (options_fields(o))
        pfd_lines_fields(e->lines);
    if (!e->is_json)
        pfd_lines_show(e->lines, options_show(o), options_links(o));
    if (e->collapse || ((e->checks_rows || e->tail) && has_lines))
        pfd_lines_rows(e->lines);
    if (e->trace || (e->checks_rows && !has_lines))
        pfd_lines_values(e->lines);
    if (has_lines) {
        pfd_lines_fail_losses(e->lines, o->checks.loss);
        if (!o->live.no_findings)
            pfd_lines_tell(e->lines);
        return true;
    }
    if (pfd_lines_new("text", options_color(o, STDERR_FILENO), false,
                      &e->beside, err) != PFD_OK)
        return false;
    pfd_lines_tell(e->beside);
    return true;
}

/* The last entries, as lines. */
static bool open_tail(struct follow_entries *e)
{
    bool is_possible =
        !e->collapse && !e->trace && !e->o->range.count && options_form(e->o);
    if (!is_possible) {
        message_error("--tail is for lines of single entries");
        return false;
    }
    e->tail = last_lines_new(e->o->range.tail);
    if (!e->tail)
        message_error("out of memory");
    return e->tail;
}

bool follow_entries_init(struct follow_entries *ret, const struct options *o,
                         const struct follow_taker *taker,
                         struct checks *checks)
{
    const char *form = taker ? NULL : options_form(o);
    form = form ? form : "text";
    struct pfd_error err;
    *ret = (struct follow_entries){
        .o = o,
        .taker = taker,
        .checks = checks,
        .checks_rows = checks && checks_want_rows(checks),
        .traced = UINT64_MAX,
        .is_json = !strcmp(form, "json"),
        .is_raw = !strcmp(form, "raw"),
        .from = is_number(o->live.from) ? strtoull(o->live.from, NULL, 10) : 0,
    };
    struct pfd_subscriber_options options = { .fn = message_finding };
    if (!collapsed_lines_open(&o->collapse, form, &ret->collapse) ||
        (!taker && options_trace(o) && !perfetto_open(NULL, &ret->trace)))
        return false;
    if (o->range.tail && !open_tail(ret))
        return false;
    if (ret->checks_rows && ret->tail)
        checks_set_next(checks, last_lines_write, ret->tail);
    if (ret->checks_rows && ret->collapse)
        checks_set_next(checks, pfd_collapse_write, ret->collapse);
    if (ret->checks_rows && ret->trace)
        checks_set_next(checks, pfd_trace_write, ret->trace);
    if (pfd_subscriber_new(&options, &ret->subscriber, &err) == PFD_OK &&
        make_lines(ret, form, &err))
        return true;
    message_error("%s", err.text);
    follow_entries_deinit(ret);
    return false;
}

void follow_entries_deinit(struct follow_entries *e)
{
    pfd_subscriber_free(e->subscriber);
    pfd_lines_free(e->lines);
    pfd_lines_free(e->beside);
    pfd_filter_free(e->shown);
    last_lines_free(e->tail);
    pfd_collapse_free(e->collapse);
    pfd_trace_free(e->trace);
}

static enum outcome fail(struct follow_entries *e, const struct pfd_error *err)
{
    char place[40] = "";
    if (err->offset != PFD_NO_OFFSET) {
        snprintf(place, sizeof place,
                 "byte %llu: ", (unsigned long long)err->offset);
    }
    snprintf(e->why, sizeof e->why, "%s%s", place, err->text);
    return OUTCOME_FAILED;
}

/* ---- received items ---- */

/* The reason as a word; untrusted text is replaced. */
static struct pfd_wire_bytes word_of(struct pfd_wire_bytes text)
{
    bool ok = text.n > 0 && text.n <= WORD;
    for (size_t i = 0; ok && i < text.n; i++)
        ok = text.at[i] == '_' || (text.at[i] >= 'a' && text.at[i] <= 'z');
    return ok ? text : pfd_wire_text("subscriber_lag");
}

/* What the daemon has to say of the request: untrusted text. */
static void write_note(const struct pfd_batch *batch)
{
    int n = batch->why.n < NOTE ? (int)batch->why.n : NOTE;
    message_hint("so far: %.*s", n, batch->why.at);
}

/* A gap of a batch belongs to no buffer. */
static void write_gap(struct follow_entries *e, const struct pfd_batch *batch)
{
    char line[256];
    struct pfd_wire_bytes why = word_of(batch->why);
    char reason[WORD + 1];
    int n = 0;
    snprintf(reason, sizeof reason, "%.*s", (int)why.n, why.at);
    checks_gap(e->checks, NULL, batch->missed, reason);
    if (e->is_raw || e->o->live.no_findings)
        return;
    e->is_doubtful = true;
    if (e->is_json) {
        n = snprintf(line, sizeof line,
                     "{\"type\":\"gap\",\"missed\":%" PRIu64
                     ",\"next_sequence\":%" PRIu64 ",\"reason\":\"%.*s\"}\n",
                     batch->missed, batch->sequence, (int)why.n, why.at);
    } else {
        n = snprintf(line, sizeof line,
                     "! gap: %" PRIu64 " records missed, next is %" PRIu64 "\n",
                     batch->missed, batch->sequence);
    }
    pfd_lines_add(e->beside ? e->beside : e->lines, line, (size_t)n);
}

static bool is_doubt(uint64_t findings)
{
    for (uint64_t left = findings; left; left &= left - 1) {
        if (!pfd_finding_is_note((enum pfd_finding_kind)__builtin_ctzll(left)))
            return true;
    }
    return false;
}

/* Prints a finding of an entry beside it: for takers, and for traces, which
 * hold only its name. */
static void message_entry_finding(void *user, const struct pfd_finding *finding)
{
    const struct follow_entries *e = user;
    bool is_told = e->o->verbose || !pfd_finding_is_note(finding->kind);
    if (is_told && !e->o->live.no_findings)
        pfd_lines_finding(e->beside, finding);
}

static void check_entry_finding(void *user, const struct pfd_finding *finding)
{
    const struct follow_entries *e = user;
    checks_finding(e->checks, finding);
}

static void give_entry(struct follow_entries *e, const struct pfd_batch *batch,
                       struct pfd_entry *entry)
{
    bool is_counted = e->o->range.count && !e->checks_rows;
    if (!e->taker && !is_counted) {
        pfd_lines_entry(e->lines, entry);
    } else if (e->taker && !e->taker->entry(e->taker->user, entry, batch->time,
                                            batch->strings)) {
        e->has_failed = true;
    }
    if (e->beside)
        entry_findings_each(entry, batch->source, message_entry_finding, e);
    if (e->checks && entry->findings)
        entry_findings_each(entry, batch->source, check_entry_finding, e);
    e->is_doubtful |= is_doubt(entry->findings);
    e->n_entries++;
}

static void write_item(struct follow_entries *e, const struct pfd_batch *batch,
                       struct pfd_chunk_item *item, uint64_t sequence)
{
    struct pfd_lines *others = e->beside ? e->beside : e->lines;
    pfd_lines_set_stamp(e->lines, sequence, batch->time);
    switch (item->type) {
    case PFD_CHUNK_ENTRY:
        give_entry(e, batch, &item->entry);
        break;
    case PFD_CHUNK_FINDING:
        checks_finding(e->checks, &item->finding);
        pfd_lines_finding(others, &item->finding);
        e->is_doubtful |= !pfd_finding_is_note(item->finding.kind);
        break;
    case PFD_CHUNK_GAP:
        checks_gap(e->checks, batch->source, item->gap.missed,
                   item->gap.reason);
        pfd_lines_gap(others, &item->gap, batch->source);
        e->is_doubtful = true;
        break;
    }
}

static bool flush(struct follow_entries *e)
{
    size_t n = 0;
    const char *bytes = pfd_lines_bytes(e->lines, &n);
    if (!bytes && n)
        exit_without_memory();
    bool ok = !n || (e->checks_rows ? checks_write(e->checks, bytes, n)
                     : e->tail      ? last_lines_write(e->tail, bytes, n)
                     : e->collapse  ? pfd_collapse_write(e->collapse, bytes, n)
                     : e->trace     ? pfd_trace_write(e->trace, bytes, n)
                                    : output_write(NULL, bytes, n));
    pfd_lines_clear(e->lines);
    bytes = e->beside ? pfd_lines_bytes(e->beside, &n) : NULL;
    if (bytes && n) {
        message_lines(bytes, n);
        pfd_lines_clear(e->beside);
    }
    return ok;
}

static void set_facts(const struct pfd_watch *watch,
                      const struct pfd_filter_facts *facts)
{
    for (size_t i = 0; i < PFD_WATCHES; i++) {
        if (watch->runs[i])
            pfd_filter_run_set(watch->runs[i], facts);
    }
}

/* Does the item pass the filter? */
static bool choose(struct follow_entries *e, const struct pfd_batch *batch,
                   struct pfd_filter_run *run, const struct pfd_watch *watch,
                   struct pfd_chunk_item *item, uint64_t sequence)
{
    const struct pfd_filter_facts facts = {
        .time_unix_ns = batch->time,
        .sequence = sequence,
        .generation = batch->generation,
        .buffer = batch->buffer,
    };
    if (item->type == PFD_CHUNK_ENTRY)
        set_facts(watch, &facts);
    if (!run || item->type != PFD_CHUNK_ENTRY)
        return true;
    pfd_filter_run_set(run, &facts);
    bool ret = pfd_filter_want(run, &item->entry);
    e->filtering->n_given += ret;
    return ret;
}

static enum outcome take_chosen(struct follow_entries *e,
                                const struct pfd_batch *batch,
                                struct pfd_filter_run *run,
                                const struct pfd_watch *watch)
{
    struct pfd_chunk_item *item;
    struct pfd_error err;
    uint64_t sequence = 0;
    enum pfd_status status = PFD_OK;
    while ((status = pfd_subscriber_item(e->subscriber, &item, &sequence,
                                         &err)) == PFD_OK) {
        size_t n = 0;
        if (item->type == PFD_CHUNK_ENTRY && e->n_entries == e->o->range.limit)
            return OUTCOME_STOPPED;
        if (sequence >= e->from && choose(e, batch, run, watch, item, sequence))
            write_item(e, batch, item, sequence);
        e->last = sequence;
        if (e->n_entries == e->o->range.limit || e->has_failed)
            return OUTCOME_STOPPED;
        pfd_lines_bytes(e->lines, &n);
        if (n >= FLUSH_AT && !flush(e))
            return OUTCOME_STOPPED;
    }
    return status == PFD_END ? OUTCOME_DONE : fail(e, &err);
}

static enum outcome take_items(struct follow_entries *e,
                               const struct pfd_batch *batch)
{
    struct pfd_filter_run *run = NULL;
    if (e->filtering && !filtering_run(e->filtering, batch->strings, &run))
        exit(EXIT_ERROR);
    struct pfd_watch watch = { 0 };
    if (e->checks_rows && !checks_watch(e->checks, batch->strings, &watch))
        exit(EXIT_ERROR);
    if (e->checks_rows) {
        checks_set_source(e->checks, batch->source);
        pfd_lines_watch(e->lines, &watch);
    }
    enum outcome outcome = take_chosen(e, batch, run, &watch);
    pfd_lines_watch(e->lines, NULL);
    checks_watch_free(&watch);
    if (run)
        e->filtering->n_doubts += pfd_filter_gave_up(run);
    pfd_filter_run_free(run);
    return outcome;
}

static enum outcome take_batch(struct follow_entries *e,
                               const struct pfd_batch *batch)
{
    if (batch->type == PFD_BATCH_GAP) {
        if (batch->missed) {
            write_gap(e, batch);
        } else {
            write_note(batch);
        }
        return OUTCOME_DONE;
    }
    recording_note(e->recording, batch->buffer->buffer, batch->generation);
    if (e->is_json && pfd_lines_set_origin(e->lines, batch->buffer) != PFD_OK)
        exit_without_memory();
    pfd_lines_set_buffer(e->lines, batch->buffer->buffer);
    /* Lines name no generation when it is the first. */
    pfd_lines_set_place(e->lines,
                        batch->generation ? batch->generation : UINT64_MAX,
                        UINT64_MAX);
    if (!e->trace && !e->checks_rows)
        return take_items(e, batch);
    if (e->trace) {
        pfd_trace_set_strings(e->trace, batch->strings);
        if (e->traced != batch->buffer->buffer)
            pfd_trace_set_source(e->trace, batch->source);
        e->traced = batch->buffer->buffer;
    }
    enum outcome outcome = take_items(e, batch);
    /* The batch's strings and name are valid until the next batch. */
    e->is_closed |= !flush(e);
    return e->is_closed && outcome == OUTCOME_DONE ? OUTCOME_STOPPED : outcome;
}

/* Handles all complete batches. */
static enum outcome take_batches(struct follow_entries *e)
{
    enum outcome outcome = OUTCOME_DONE;
    while (outcome == OUTCOME_DONE) {
        const struct pfd_batch *batch;
        struct pfd_error err;
        enum pfd_status status =
            pfd_subscriber_next(e->subscriber, &batch, &err);
        if (status == PFD_MORE || status == PFD_END)
            break;
        outcome = status == PFD_OK ? take_batch(e, batch) : fail(e, &err);
    }
    e->is_closed |= !flush(e) || !output_flush();
    if (!e->is_closed)
        e->written = e->last;
    return e->is_closed && outcome == OUTCOME_DONE ? OUTCOME_STOPPED : outcome;
}

enum outcome follow_entries_take(struct follow_entries *e, const char *bytes,
                                 size_t n)
{
    enum outcome outcome = OUTCOME_DONE;
    while (n && outcome == OUTCOME_DONE) {
        struct pfd_error err;
        size_t taken = 0;
        if (pfd_subscriber_feed(e->subscriber, bytes, n, &taken, &err) !=
            PFD_OK)
            return fail(e, &err);
        bytes += taken;
        n -= taken;
        outcome = take_batches(e);
    }
    return outcome;
}

enum outcome follow_entries_end(struct follow_entries *e)
{
    pfd_subscriber_finish(e->subscriber);
    enum outcome outcome = take_batches(e);
    return outcome == OUTCOME_DONE ? OUTCOME_END : outcome;
}

bool follow_entries_pause(struct follow_entries *e, bool is_end)
{
    bool ok = is_end
                  ? collapsed_lines_end(e->collapse)
                  : collapsed_lines_end_in_time(e->collapse, &e->collapsed_ns);
    if (is_end)
        ok = last_lines_end(e->tail) && ok;
    e->is_closed |= !ok || (e->collapse && !output_flush());
    if (e->taker && !e->taker->turn(e->taker->user, is_end))
        e->has_failed = e->is_closed = true;
    if (is_end && !perfetto_end(e->trace))
        e->has_failed = true;
    return !e->is_closed;
}
