/* SPDX-License-Identifier: MIT */
/*
 * printfdecode follow: prints messages of mapped buffers while they are being
 * written. A store into a mapping causes no event, so files and memory are
 * polled.
 */
#include "follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <printfdecode/tail.h>

#include "core/base/clock.h"
#include "core/decode/inspect.h"
#include "decode.h"
#include "follow_items.h"
#include "input/checks.h"
#include "input/convert_inputs.h"
#include "input/counter.h"
#include "input/found_buffers.h"
#include "input/input.h"
#include "input/open_inputs.h"
#include "input/process_code.h"
#include "interrupt.h"
#include "replay.h"
#include "show/collapsed_lines.h"
#include "show/messages.h"
#include "show/output.h"
#include "show/perfetto_output.h"
#include "stream/live/live_source.h"
#include "stream/live/tail_control.h"
#include "stream/live/walk_pool.h"
#include "verb.h"
#include "view/show.h"

enum {
    NS_PER_MS = 1000000,
    REPLACED_EVERY_MS = 250, /* checks for a new file under the same path */
    LOADED_EVERY_MS = 250,   /* checks for new code of the process; */
    LOADED_SOON_MS = 10,     /* while entries wait, perhaps for its strings */
    LOOK_ANYWAY_MS = 20,     /* a full pass, even if no header has changed */
    SEARCH_EVERY_MS = 1000,  /* searches for new buffers in memory; the pause is
                                at least SEARCH_PART times as long as the last
                                search */
    SEARCH_PART = 20,
    SENTENCE = 512,
};

struct followed {
    struct follow *follow;
    struct follow_origin origin;
    struct buffer *buffer;
    struct pfd_source *source;
    uint64_t looked_ns;
    bool failed;
    bool is_gone; /* its process ended: that was reported */
};

struct follow {
    const struct options *o;
    struct inputs in;
    struct checks *checks;       /* NULL: nothing is checked */
    struct live_counter counter; /* of rings with one in a file of its own */
    struct followed **buffers;   /* [n_buffers] */
    size_t n_buffers; /* the first of in.buffers; the others are complete */
    size_t n_first;   /* n_buffers at the beginning */
    struct pfd_walk_pool
        *walk_pool; /* shared by all buffers; NULL: out of memory */
    struct follow_items items;
    uint64_t collapsed_ns; /* time when collapsed lines were last flushed */
    uint64_t moved_ns;     /* time of the last change */
    bool has_come;         /* the last pass emitted items */
    uint64_t replaced_ns;
    uint64_t loaded_ns;
    uint64_t search_ns;  /* time of the next search for buffers */
    bool searches;       /* no address was given: search for buffers */
    uint64_t n_findings; /* about processes that ended and code that they
                            load */
    bool json;
    bool failed; /* failed apart from any buffer; an error was printed */
};

static void close_followed(struct followed *f)
{
    pfd_tail_free(f->origin.tail);
    pfd_source_close(f->source);
    f->origin.tail = NULL;
    f->source = NULL;
}

static bool open_source(struct followed *f)
{
    struct pfd_error err;
    const struct buffer *b = f->buffer;
    enum pfd_status status =
        b->is_memory ? pfd_source_open_memory(f->follow->in.memory, b->address,
                                              b->n, &f->source, &err)
                     : pfd_source_open_file(b->fd, &f->source, &err);
    if (status == PFD_OK)
        return true;
    message_error("%s: %s", b->name, err.text);
    f->failed = true;
    return false;
}

static bool start(struct followed *f)
{
    const struct follow *follow = f->follow;
    const struct options *o = follow->o;
    struct pfd_error err;
    if (!open_source(f))
        return false;
    pfd_source_set_walk_pool(f->source, follow->walk_pool);
    f->origin.name = f->buffer->name;
    struct pfd_tail_options options = {
        .strings = follow->in.strings,
        .format = o->reading.format ? o->reading.format : f->buffer->format,
        .source = f->buffer->name,
        .options = &o->reading.decoding,
        .settle_ns = o->live.has_settle ? o->live.settle_ms * NS_PER_MS + 1 : 0,
        .read = pfd_source_read,
        .read_user = f->source,
        .item = follow_items_take,
        .item_user = &f->origin,
    };
    if (pfd_tail_new(&options, &f->origin.tail, &err) == PFD_OK) {
        if (follow->counter.source) {
            pfd_tail_set_counter(f->origin.tail, pfd_source_read,
                                 follow->counter.source);
        }
        pfd_tail_take_runs(f->origin.tail,
                           &(struct pfd_tail_runs){ follow_items_take_run,
                                                    follow_items_take_runs,
                                                    follow->walk_pool });
        return true;
    }
    message_error("%s: %s", f->buffer->name, err.text);
    f->failed = true;
    return false;
}

static void fail(struct followed *f, const struct pfd_error *err)
{
    message_error("%s: %s", f->buffer->name, err->text);
    f->failed = true;
}

/* Reports that the process ended: bytes that it wrote after the last pass are
 * unknown. */
static void message_end(struct followed *f, const struct pfd_error *err)
{
    char sentence[SENTENCE];
    uint64_t n = pfd_tail_pending(f->origin.tail);
    struct pfd_finding finding = {
        .kind = PFD_FINDING_unreadable,
        .offset = PFD_NO_OFFSET,
        .index = PFD_NO_INDEX,
        .in_buffer = true,
        .source = f->buffer->name,
        .text = sentence,
    };
    snprintf(sentence, sizeof sentence,
             "%s: what it wrote after the last look is not known, and %llu "
             "bytes that were reserved by then had not been seen twice",
             err->text, (unsigned long long)n);
    f->is_gone = true;
    f->follow->n_findings++;
    follow_items_finding(&f->follow->items, &finding);
}

/* Gets the source's size. False: it cannot be read; an error was printed. */
static bool measure(struct followed *f, uint64_t *ret)
{
    struct pfd_error err;
    if (f->failed || f->is_gone)
        return false;
    if (pfd_source_size(f->source, ret, &err) == PFD_OK)
        return true;
    if (f->buffer->is_memory) {
        message_end(f, &err);
    } else {
        fail(f, &err);
    }
    return false;
}

/* Reports why a read pass failed: the source, or a part of it, is gone. */
static void hear_failure(struct followed *f, const struct pfd_error *why)
{
    struct pfd_error err = *why;
    uint64_t n = 0;
    if (!measure(f, &n))
        return;
    if (f->buffer->is_memory && err.offset != PFD_NO_OFFSET) {
        unsigned long long at = f->buffer->address + err.offset;
        snprintf(err.text, sizeof err.text,
                 "nothing that can be read is mapped at 0x%llx (any more)", at);
    }
    fail(f, &err);
}

/* Is the header unchanged, and is nothing pending? Then no pass is needed. */
static bool is_still(struct followed *f, uint64_t now)
{
    bool same = !pfd_source_changed(f->source);
    return same && !pfd_tail_pending(f->origin.tail) &&
           !pfd_tail_holes(f->origin.tail) &&
           now - f->looked_ns < (uint64_t)LOOK_ANYWAY_MS * NS_PER_MS;
}

/* Makes a read pass over one buffer. True: something changed. */
static bool look_at(struct followed *f, uint64_t now)
{
    struct pfd_error err;
    uint64_t n = 0;
    if (!measure(f, &n) || is_still(f, now))
        return false;
    f->looked_ns = now;
    enum pfd_status status = pfd_tail_poll(f->origin.tail, n, now, &err);
    if (status < 0)
        hear_failure(f, &err);
    f->follow->has_come |= status == PFD_OK;
    return status == PFD_OK || pfd_tail_pending(f->origin.tail) > 0;
}

/* Is the search for buffers still possible, since the process exists? */
static bool is_waiting(struct follow *follow)
{
    struct pfd_error err;
    if (!follow->searches)
        return false;
    if (pfd_memory_check(follow->in.memory, &err) == PFD_OK)
        return true;
    if (!follow->n_buffers) /* else it was reported for each buffer */
        message_error("%s, and no buffer was found in it", err.text);
    follow->failed |= !follow->n_buffers;
    return false;
}

static bool look(struct follow *follow, uint64_t now)
{
    bool moved = false;
    bool any = false;
    follow->has_come = false;
    follow_items_look(&follow->items, pfd_clock_ns(CLOCK_REALTIME));
    for (size_t i = 0; i < follow->n_buffers; i++) {
        struct followed *f = follow->buffers[i];
        moved |= look_at(f, now);
        any |= !f->failed && !f->is_gone;
    }
    if (!follow->items.followed_lines.is_on)
        follow_items_flush(&follow->items);
    follow->items.is_over |=
        !followed_lines_end_look(&follow->items.followed_lines);
    follow->items.is_over |= !any && !is_waiting(follow);
    return moved;
}

static void finish(struct follow *follow, struct followed *f)
{
    struct pfd_error err;
    uint64_t n = 0;
    if (measure(f, &n) && pfd_tail_finish(f->origin.tail, n, &err) < 0)
        hear_failure(f, &err);
    follow_items_flush(&follow->items);
}

/* Replaces files: a program that restarts creates a new file of the same name.
 * The old file is finished first. */
static void follow_names(struct follow *follow)
{
    for (size_t i = 0; i < follow->n_buffers; i++) {
        struct followed *f = follow->buffers[i];
        struct stat named;
        struct stat open_file;
        if (f->failed || f->buffer->is_memory ||
            stat(f->buffer->name, &named) || fstat(f->buffer->fd, &open_file) ||
            (named.st_ino == open_file.st_ino &&
             named.st_dev == open_file.st_dev))
            continue;
        int fd = open(f->buffer->name, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        finish(follow, f);
        close(f->buffer->fd);
        f->buffer->fd = fd;
        close_followed(f);
        message_hint("%s: another file has taken its place", f->buffer->name);
        start(f);
    }
}

static void take_finding(void *user, const struct pfd_finding *finding)
{
    struct follow *follow = user;
    follow->n_findings += !pfd_finding_is_note(finding->kind);
    follow_items_finding(&follow->items, finding);
}

/* Loads code that the process has loaded since; passes from the next on use
 * it. */
static void follow_code(struct follow *follow)
{
    struct pfd_error err;
    struct inputs *in = &follow->in;
    size_t before = pfd_strings_count(in->strings);
    /* Pending lines need strings that are about to be replaced. */
    follow_items_flush(&follow->items);
    if (!process_code_renew(in, take_finding, follow))
        return;
    if (follow->o->verbose) {
        message_hint("%s: %zu format strings were loaded since",
                     pfd_memory_name(in->memory),
                     pfd_strings_count(in->strings) - before);
    }
    bool ok = follow_items_renew(&follow->items);
    for (size_t i = 0; ok && i < follow->n_buffers; i++) {
        struct followed *f = follow->buffers[i];
        if (f->origin.tail &&
            pfd_tail_set_strings(f->origin.tail, in->strings, &err) < 0)
            fail(f, &err);
    }
    follow->items.is_over |= !ok;
}

static void follow_code_in_turn(struct follow *follow, uint64_t now)
{
    uint64_t every = LOADED_EVERY_MS;
    for (size_t i = 0; i < follow->n_buffers; i++) {
        const struct followed *f = follow->buffers[i];
        if (f->origin.tail && pfd_tail_pending(f->origin.tail))
            every = LOADED_SOON_MS;
    }
    if (now - follow->loaded_ns < every * NS_PER_MS)
        return;
    follow->loaded_ns = now;
    follow_code(follow);
}

/* ---- new buffers ---- */

static struct followed *add_followed(struct follow *follow)
{
    size_t n = follow->n_buffers + 1;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are meant */
    struct followed **at = realloc(follow->buffers, n * sizeof *at);
    struct followed *f = at ? calloc(1, sizeof *f) : NULL;
    if (at)
        follow->buffers = at;
    if (!f)
        exit_without_memory();
    f->follow = follow;
    f->origin.items = &follow->items;
    f->origin.number = follow->n_buffers;
    follow->buffers[follow->n_buffers++] = f;
    return f;
}

/* Moves new buffers of the list behind the followed ones, and follows them. The
 * list may have been reallocated. */
static void take_new(struct follow *follow, size_t n_before)
{
    struct inputs *in = &follow->in;
    size_t first = follow->n_buffers;
    for (size_t i = n_before; i < in->n_buffers; i++) {
        struct buffer b = in->buffers[i];
        size_t to = follow->n_buffers;
        add_followed(follow);
        in->buffers[i] = in->buffers[to];
        in->buffers[to] = b;
    }
    for (size_t i = 0; i < follow->n_buffers; i++)
        follow->buffers[i]->buffer = &in->buffers[i];
    for (size_t i = first; i < follow->n_buffers; i++)
        start(follow->buffers[i]);
}

/* Follows known buffers while memory is searched. */
static bool look_meanwhile(void *user)
{
    struct follow *follow = user;
    if (look(follow, pfd_clock_ns(CLOCK_MONOTONIC)))
        follow->moved_ns = pfd_clock_ns(CLOCK_MONOTONIC);
    return !interrupt_came() && !follow->items.is_over;
}

static void search_in_turn(struct follow *follow, uint64_t now)
{
    size_t n = follow->in.n_buffers;
    if (now < follow->search_ns)
        return;
    found_buffers_renew(&follow->in, follow->o, look_meanwhile, follow,
                        take_finding, follow);
    if (follow->in.n_buffers > n)
        take_new(follow, n);
    uint64_t end = pfd_clock_ns(CLOCK_MONOTONIC);
    uint64_t pause = (end - now) * SEARCH_PART;
    uint64_t least = (uint64_t)SEARCH_EVERY_MS * NS_PER_MS;
    follow->search_ns = end + (pause > least ? pause : least);
}

/* ---- all buffers ---- */

static bool is_idle(const struct follow *follow, uint64_t now)
{
    return follow->o->live.has_until_idle &&
           now - follow->moved_ns >= follow->o->live.until_idle_ms * NS_PER_MS;
}

static bool turn(const struct follow *follow, bool is_last)
{
    const struct follow_taker *taker = follow->items.taker;
    return !taker || taker->turn(taker->user, is_last);
}

/* Pauses until the next pass. While items come, the pause is measured from the
 * beginning of the last pass, so its length does not slow the pace. */
static void pause_after(const struct follow *follow, uint64_t began)
{
    uint64_t now = pfd_clock_ns(CLOCK_MONOTONIC);
    uint64_t pause = pfd_source_pause(now - follow->moved_ns);
    uint64_t over = follow->has_come ? now - began : 0;
    if (over < pause)
        nanosleep(&(struct timespec){ .tv_nsec = (long)(pause - over) }, NULL);
}

static void run(struct follow *follow)
{
    follow->moved_ns = pfd_clock_ns(CLOCK_MONOTONIC);
    follow->collapsed_ns = follow->moved_ns;
    while (!interrupt_came() && !follow->items.is_over) {
        uint64_t began = pfd_clock_ns(CLOCK_MONOTONIC);
        bool moved = look(follow, began);
        uint64_t now = pfd_clock_ns(CLOCK_MONOTONIC);
        if (moved)
            follow->moved_ns = now;
        collapsed_lines_end_in_time(follow->items.collapse,
                                    &follow->collapsed_ns);
        if (is_idle(follow, now) || !turn(follow, false))
            break;
        if (follow->in.process_code)
            follow_code_in_turn(follow, now);
        if (follow->searches)
            search_in_turn(follow, now);
        if (now - follow->replaced_ns >=
            (uint64_t)REPLACED_EVERY_MS * NS_PER_MS) {
            follow->replaced_ns = now;
            follow_names(follow);
        }
        pause_after(follow, began);
    }
    for (size_t i = 0; i < follow->n_buffers; i++)
        finish(follow, follow->buffers[i]);
    collapsed_lines_end(follow->items.collapse);
    follow->failed |= !turn(follow, true);
}

/* Can new items come? */
static bool is_live(const struct follow *follow)
{
    return follow->n_first || follow->searches;
}

/* Findings of opening files. */
static void take_opening_finding(void *user, const struct pfd_finding *finding)
{
    struct follow *follow = user;
    checks_finding(follow->checks, finding);
    if (follow->json) {
        output_finding(NULL, finding);
    } else {
        message_finding(NULL, finding);
    }
}

static bool open_all(struct follow *follow)
{
    const struct options *o = follow->o;
    inputs_open(&follow->in, o, take_opening_finding, follow);
    follow->in.checks = follow->checks;
    if (follow->in.failed)
        return false;
    follow->searches = o->memory.pid && !o->memory.has_address;
    if (!follow->in.n_buffers && !follow->searches) {
        message_error("no buffer to follow among the files");
        return false;
    }
    follow->n_first = inputs_put_complete_last(&follow->in);
    (void)pfd_walk_pool_new(0, &follow->walk_pool, NULL);
    return counter_open(o, &follow->counter) &&
           follow_items_open(&follow->items, is_live(follow));
}

static void close_all(struct follow *follow)
{
    follow_items_close(&follow->items);
    for (size_t i = 0; i < follow->n_buffers; i++)
        free(follow->buffers[i]);
    free(follow->buffers);
    pfd_walk_pool_free(follow->walk_pool);
    counter_close(&follow->counter);
    inputs_close(&follow->in);
}

/* Adds up the counts of all buffers. False: one of them failed; an error was
 * printed. */
static bool sum_up(struct follow *follow, struct pfd_summary *total)
{
    bool ok = !follow->failed && !follow->items.failed;
    for (size_t i = 0; i < follow->n_buffers; i++) {
        struct followed *f = follow->buffers[i];
        if (f->origin.tail)
            pfd_summary_add(total, pfd_tail_summary(f->origin.tail));
        ok = ok && !f->failed;
        close_followed(f);
    }
    return ok;
}

/* All inputs are complete: decodes them instead. */
static int take_all(struct follow *follow)
{
    pfd_filter_run_free(follow->items.filter);
    follow->items.filter = NULL;
    if (!follow->items.taker)
        return decode_inputs(follow->o, &follow->in, &follow->items.filtering);
    message_error("nothing more will come of what is complete: without --live");
    return filtering_close(&follow->items.filtering, EXIT_ERROR);
}

/* The verb's values. */
struct follow_options {
    struct options common;
    bool view;
};

/* Were options given that say how lines are written? */
static bool writes_lines(const struct options *o)
{
    return o->output || o->range.limit != UINT64_MAX || o->collapse.how ||
           o->lines.show || o->live.ack || o->live.has_until_idle ||
           o->checks.matches.n || o->checks.where || o->checks.errors ||
           o->checks.loss;
}

static int follow_view(const struct options *o)
{
    if (!view_is_of_daemon(o)) {
        message_error("--view is for the socket of a daemon; 'printfdecode "
                      "view' shows files as they are now");
        return EXIT_ERROR;
    }
    if (writes_lines(o)) {
        message_error("--view draws on the terminal: options for lines, their "
                      "number and --fail-on are without meaning");
        return EXIT_ERROR;
    }
    return view_show(o, 0);
}

static int follow_run(const struct options *o)
{
    if (((const struct follow_options *)o)->view)
        return follow_view(o);
    if (o->nats.url)
        return replay_take(o, true);
    if (options_have_nats(o)) {
        message_error("--since, --credentials, --user and --password-file are "
                      "for --nats");
        return EXIT_ERROR;
    }
    if (follow_client_wants(o))
        return follow_client_take(o, NULL);
    if (options_have_daemon(o)) {
        message_error(
            "--from, --ack, --findings and --tls-... are for a daemon");
        return EXIT_ERROR;
    }
    return follow_take(o, NULL);
}

int follow_take(const struct options *o, const struct follow_taker *taker)
{
    struct follow follow = {
        .o = o,
        .items = { .o = o, .in = &follow.in, .taker = taker },
        .counter = { .fd = -1 },
        .json = o->output && !strcmp(o->output, "json"),
    };
    struct pfd_summary total = { 0 };
    struct checks checks = { 0 };
    if (!filtering_open(&follow.items.filtering, &o->filter) ||
        (!taker && !checks_open(&checks, o)))
        return EXIT_ERROR;
    follow.checks = taker ? NULL : &checks;
    bool ok = open_all(&follow) && follow_items_renew(&follow.items);
    if (ok && !is_live(&follow)) {
        int status = take_all(&follow);
        close_all(&follow);
        return status;
    }
    ok = ok && (!taker ||
                taker->begin(taker->user, &follow.in, &follow.items.filtering));
    for (size_t i = 0; ok && i < follow.n_first; i++) {
        struct followed *f = add_followed(&follow);
        f->buffer = &follow.in.buffers[i];
        ok = start(f);
    }
    if (ok) {
        interrupt_catch();
        run(&follow);
    }
    ok = sum_up(&follow, &total) && ok;
    ok = ok && perfetto_end(follow.items.trace);
    total.findings += follow.in.n_findings + follow.n_findings;
    filtering_end(&follow.items.filtering, follow.in.strings);
    if (ok && (total.findings || o->verbose))
        message_summary(&total);
    ok = ok && !output_failed();
    int status = filtering_close(&follow.items.filtering, !ok ? EXIT_ERROR
                                                          : total.findings
                                                              ? EXIT_FINDINGS
                                                              : EXIT_CLEAN);
    if (follow.checks)
        status = checks_close(&checks, follow.in.strings, status);
    close_all(&follow);
    return status;
}

static const struct option_row rows[] = {
    { "ack", 0, NULL,
      "tell a daemon which entries are written, for a required output",
      offsetof(struct options, live.ack), option_flag, false },
    { "view", 0, NULL,
      "of a daemon: on a terminal to look around in, as 'view'",
      offsetof(struct follow_options, view), option_flag, false },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group,        &options_output_entries,
    &options_strings,  &options_buffers,
    &options_decoding, &options_decoding_text,
    &options_process,  &options_search,
    &options_address,  &options_live,
    &options_filter,   &options_limit,
    &options_collapse, &options_lines,
    &options_remote,   &options_nats,
    &options_checks,   &options_spool,
    &options_inflated, &options_messages,
    &options_help,     NULL,
};

const struct verb verb_follow = {
    .name = "follow",
    .files = "[BUFFER FILE... | SOCKET | ADDRESS | URL]",
    .help = "print what a mapped buffer or a printfdecoded says",
    .run = follow_run,
    .groups = groups,
    .size = sizeof(struct follow_options),
    .follows = true,
};
