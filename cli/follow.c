/* SPDX-License-Identifier: MIT */
/*
 * printfdecode follow: what mapped buffers say while they are written. Stores
 * into a mapping wake nobody: the files, or the process' memory, are looked at
 * again and again, often while something moves.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <printfdecode/lines.h>
#include <printfdecode/source.h>
#include <printfdecode/tail.h>

#include "filter.h"
#include "input.h"
#include "loaded.h"
#include "options.h"
#include "output.h"
#include "run.h"
#include "tell.h"

enum {
    NS_PER_MS = 1000000,
    REPLACED_EVERY_MS = 250, /* is the path another file now? */
    LOADED_EVERY_MS = 250,   /* has the program loaded more code? And when */
    LOADED_SOON_MS = 10,     /* something waits, perhaps for its string: */
    LOOK_ANYWAY_MS = 20,     /* although nothing seems to have moved */
    SENTENCE = 512,
};

struct followed {
    struct follow *follow;
    struct buffer *buffer;
    struct pfd_source *source;
    struct pfd_tail *tail;
    uint64_t looked_ns;
    bool failed;
    bool is_gone; /* its process has ended: that was said */
};

struct follow {
    const struct options *o;
    struct inputs in;
    struct followed *buffers; /* [n_buffers] */
    size_t n_buffers;         /* the first of in.buffers; others are complete */
    struct pfd_lines *lines;
    struct filtering filtering;
    struct pfd_filter_run *filter; /* NULL: all are wanted */
    uint64_t moved_ns;             /* when anything came last */
    uint64_t replaced_ns;
    uint64_t loaded_ns;
    uint64_t n_findings; /* of processes that have ended, and what they load */
    bool json;
    bool is_over; /* the limit, or a reader that went away */
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void flush(struct follow *follow)
{
    size_t n = 0;
    const char *bytes = pfd_lines_bytes(follow->lines, &n);
    if (!bytes && n) {
        tell_error("out of memory");
        exit(EXIT_ERROR);
    }
    if (n && !output_write(NULL, bytes, n))
        follow->is_over = true;
    pfd_lines_clear(follow->lines);
}

static bool is_told(const struct follow *follow, enum pfd_finding_kind kind)
{
    return follow->o->verbose || !pfd_finding_is_note(kind);
}

static void give_finding(struct follow *follow,
                         const struct pfd_finding *finding)
{
    if (!is_told(follow, finding->kind))
        return;
    pfd_lines_finding(follow->lines, finding);
    tell_finding(NULL, finding);
}

static void give_entry_findings(struct followed *f,
                                const struct pfd_entry *entry)
{
    for (uint64_t left = entry->findings; left; left &= left - 1) {
        char sentence[SENTENCE];
        struct pfd_finding finding = {
            .kind = (enum pfd_finding_kind)__builtin_ctzll(left),
            .offset = entry->offset,
            .index = entry->index,
            .in_buffer = true,
            .source = f->buffer->name,
            .text = sentence,
        };
        pfd_entry_finding_text(entry, finding.kind, sentence, sizeof sentence);
        give_finding(f->follow, &finding);
    }
}

static void take(void *user, const struct pfd_tail_item *item)
{
    enum {
        FLUSH_AT = 1 << 20
    };
    struct followed *f = user;
    struct follow *follow = f->follow;
    size_t n = 0;
    if (follow->is_over)
        return;
    pfd_lines_set_place(follow->lines, item->generation, UINT64_MAX);
    if (!item->is_entry) {
        give_finding(follow, item->finding);
        return;
    }
    if (follow->filter && !pfd_filter_want(follow->filter, item->entry))
        return;
    pfd_lines_entry(follow->lines, item->entry);
    if (item->entry->findings)
        give_entry_findings(f, item->entry);
    follow->is_over = ++follow->filtering.n_given >= follow->o->limit;
    pfd_lines_bytes(follow->lines, &n);
    if (n >= FLUSH_AT)
        flush(follow);
}

static void close_followed(struct followed *f)
{
    pfd_tail_free(f->tail);
    pfd_source_close(f->source);
    f->tail = NULL;
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
    tell_error("%s: %s", b->name, err.text);
    f->failed = true;
    return false;
}

static bool start(struct follow *follow, struct followed *f)
{
    const struct options *o = follow->o;
    struct pfd_error err;
    if (!open_source(f))
        return false;
    struct pfd_tail_options options = {
        .strings = follow->in.strings,
        .format = o->format,
        .source = f->buffer->name,
        .options = o->decoding,
        .settle_ns = o->settle_ms * NS_PER_MS,
        .read = pfd_source_read,
        .read_user = f->source,
        .item = take,
        .item_user = f,
    };
    if (pfd_tail_new(&options, &f->tail, &err) == PFD_OK)
        return true;
    tell_error("%s: %s", f->buffer->name, err.text);
    f->failed = true;
    return false;
}

static void fail(struct followed *f, const struct pfd_error *err)
{
    tell_error("%s: %s", f->buffer->name, err->text);
    f->failed = true;
}

/* Nobody can say what a process wrote after the last look at it. */
static void tell_end(struct followed *f, const struct pfd_error *err)
{
    char sentence[SENTENCE];
    uint64_t n = pfd_tail_pending(f->tail);
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
    give_finding(f->follow, &finding);
}

/* False: it cannot be looked at, which was said. */
static bool measure(struct followed *f, uint64_t *ret)
{
    struct pfd_error err;
    if (f->failed || f->is_gone)
        return false;
    if (pfd_source_size(f->source, ret, &err) == PFD_OK)
        return true;
    if (f->buffer->is_memory) {
        tell_end(f, &err);
    } else {
        fail(f, &err);
    }
    return false;
}

/* What kept a tail from reading: the source is gone, or a part of it. */
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

/* Nothing in the header has changed, and nothing is awaited. */
static bool is_still(struct followed *f, uint64_t now)
{
    bool same = !pfd_source_changed(f->source);
    return same && !pfd_tail_pending(f->tail) && !pfd_tail_holes(f->tail) &&
           now - f->looked_ns < (uint64_t)LOOK_ANYWAY_MS * NS_PER_MS;
}

/* True when anything moved. */
static bool look_at(struct followed *f, uint64_t now)
{
    struct pfd_error err;
    uint64_t n = 0;
    if (!measure(f, &n) || is_still(f, now))
        return false;
    f->looked_ns = now;
    enum pfd_status status = pfd_tail_look(f->tail, n, now, &err);
    if (status < 0)
        hear_failure(f, &err);
    return status == PFD_OK || pfd_tail_pending(f->tail) > 0;
}

static bool look(struct follow *follow)
{
    bool moved = false;
    bool any = false;
    uint64_t now = now_ns(CLOCK_MONOTONIC);
    pfd_lines_set_time(follow->lines, now_ns(CLOCK_REALTIME));
    for (size_t i = 0; i < follow->n_buffers; i++) {
        struct followed *f = &follow->buffers[i];
        moved |= look_at(f, now);
        any |= !f->failed && !f->is_gone;
    }
    flush(follow);
    follow->is_over |= !any;
    return moved;
}

static void finish(struct follow *follow, struct followed *f)
{
    struct pfd_error err;
    uint64_t n = 0;
    if (measure(f, &n) && pfd_tail_finish(f->tail, n, &err) < 0)
        hear_failure(f, &err);
    flush(follow);
}

/* Programs that start again make a new file under the old name: the old one
 * is done with then. */
static void follow_names(struct follow *follow)
{
    for (size_t i = 0; i < follow->n_buffers; i++) {
        struct followed *f = &follow->buffers[i];
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
        tell_hint("%s: another file has taken its place", f->buffer->name);
        start(follow, f);
    }
}

static void take_finding(void *user, const struct pfd_finding *finding)
{
    struct follow *follow = user;
    bool note = pfd_finding_is_note(finding->kind);
    follow->n_findings += !note;
    give_finding(follow, finding);
}

/* What the program has loaded since is known from the next look on. */
static void follow_code(struct follow *follow)
{
    struct pfd_error err;
    struct inputs *in = &follow->in;
    size_t before = pfd_strings_count(in->strings);
    if (!loaded_renew(in, take_finding, follow))
        return;
    if (follow->o->verbose) {
        tell_hint("%s: %zu format strings were loaded since",
                  pfd_memory_name(in->memory),
                  pfd_strings_count(in->strings) - before);
    }
    pfd_filter_run_free(follow->filter);
    follow->filter = NULL;
    bool ok = filtering_run(&follow->filtering, in->strings, &follow->filter);
    for (size_t i = 0; ok && i < follow->n_buffers; i++) {
        struct followed *f = &follow->buffers[i];
        if (f->tail && pfd_tail_set_strings(f->tail, in->strings, &err) < 0)
            fail(f, &err);
    }
    follow->is_over |= !ok;
}

static void follow_code_in_turn(struct follow *follow, uint64_t now)
{
    uint64_t every = LOADED_EVERY_MS;
    for (size_t i = 0; i < follow->n_buffers; i++) {
        const struct followed *f = &follow->buffers[i];
        if (f->tail && pfd_tail_pending(f->tail))
            every = LOADED_SOON_MS;
    }
    if (now - follow->loaded_ns < every * NS_PER_MS)
        return;
    follow->loaded_ns = now;
    follow_code(follow);
}

static bool is_idle(const struct follow *follow, uint64_t now)
{
    return follow->o->has_until_idle &&
           now - follow->moved_ns >= follow->o->until_idle_ms * NS_PER_MS;
}

static void run(struct follow *follow)
{
    follow->moved_ns = now_ns(CLOCK_MONOTONIC);
    while (!stopped && !follow->is_over) {
        bool moved = look(follow);
        uint64_t now = now_ns(CLOCK_MONOTONIC);
        if (moved)
            follow->moved_ns = now;
        if (is_idle(follow, now))
            break;
        if (follow->in.loaded)
            follow_code_in_turn(follow, now);
        if (now - follow->replaced_ns >=
            (uint64_t)REPLACED_EVERY_MS * NS_PER_MS) {
            follow->replaced_ns = now;
            follow_names(follow);
        }
        uint64_t ns = pfd_source_pause(now - follow->moved_ns);
        struct timespec pause = { .tv_nsec = (long)ns };
        nanosleep(&pause, NULL);
    }
    for (size_t i = 0; i < follow->n_buffers; i++)
        finish(follow, &follow->buffers[i]);
}

static void handle_signals(void)
{
    /* Without SA_RESTART: a pause ends at once. */
    struct sigaction action = { .sa_handler = on_signal };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* Buffers of captures and compressed files will not change any more. */
static bool is_complete(const struct buffer *b)
{
    return b->capture || (b->bytes && b->fd < 0);
}

static void put_complete_last(struct follow *follow)
{
    struct inputs *in = &follow->in;
    for (size_t i = 0; i < in->n_buffers; i++) {
        struct buffer b = in->buffers[i];
        if (is_complete(&b))
            continue;
        memmove(&in->buffers[follow->n_buffers + 1],
                &in->buffers[follow->n_buffers],
                (i - follow->n_buffers) * sizeof b);
        in->buffers[follow->n_buffers++] = b;
    }
    if (follow->n_buffers && follow->n_buffers < in->n_buffers) {
        tell_hint("%zu buffers are complete and are not followed; "
                  "'printfdecode decode' prints them",
                  in->n_buffers - follow->n_buffers);
    }
}

static bool open_all(struct follow *follow)
{
    const struct options *o = follow->o;
    struct pfd_error err;
    inputs_open(&follow->in, o, follow->json ? output_finding : tell_finding,
                NULL);
    if (follow->in.failed)
        return false;
    if (!follow->in.n_buffers) {
        tell_error("no buffer to follow among the files");
        return false;
    }
    put_complete_last(follow);
    if (pfd_lines_new(o->output ? o->output : "text",
                      options_color(o, STDOUT_FILENO), o->verbose,
                      &follow->lines, &err) == PFD_OK) {
        if (options_marks(o))
            pfd_lines_mark(follow->lines);
        return true;
    }
    tell_error("%s", err.text);
    return false;
}

static void close_all(struct follow *follow)
{
    if (follow->filter)
        follow->filtering.n_doubts = pfd_filter_gave_up(follow->filter);
    pfd_filter_run_free(follow->filter);
    pfd_lines_free(follow->lines);
    free(follow->buffers);
    inputs_close(&follow->in);
}

int follow_run(const struct options *o)
{
    if (follow_client_wants(o))
        return follow_client_run(o);
    if (o->from || o->ack || o->no_findings || options_have_tls(o)) {
        tell_error("--from, --ack, --findings and --tls-... are for a daemon");
        return EXIT_ERROR;
    }
    struct follow follow = {
        .o = o,
        .json = o->output && !strcmp(o->output, "json"),
    };
    struct pfd_summary total = { 0 };
    if (!filtering_open(&follow.filtering, o))
        return EXIT_ERROR;
    bool ok =
        open_all(&follow) &&
        filtering_check(&follow.filtering, follow.in.strings) &&
        filtering_run(&follow.filtering, follow.in.strings, &follow.filter);
    if (ok && !follow.n_buffers) { /* all is there, and nothing will come */
        pfd_filter_run_free(follow.filter);
        follow.filter = NULL;
        int status = decode_inputs(o, &follow.in, &follow.filtering);
        close_all(&follow);
        return status;
    }
    follow.buffers = calloc(follow.n_buffers + 1, sizeof *follow.buffers);
    ok = ok && follow.buffers;
    for (size_t i = 0; ok && i < follow.n_buffers; i++) {
        follow.buffers[i].follow = &follow;
        follow.buffers[i].buffer = &follow.in.buffers[i];
        ok = start(&follow, &follow.buffers[i]);
    }
    if (ok) {
        handle_signals();
        run(&follow);
    }
    for (size_t i = 0; follow.buffers && i < follow.n_buffers; i++) {
        struct pfd_summary summary = { 0 };
        if (follow.buffers[i].tail)
            pfd_tail_summary(follow.buffers[i].tail, &summary);
        pfd_summary_add(&total, &summary);
        ok = ok && !follow.buffers[i].failed;
        close_followed(&follow.buffers[i]);
    }
    total.findings += follow.in.n_findings + follow.n_findings;
    if (ok && (total.findings || o->verbose))
        tell_summary(&total);
    close_all(&follow);
    ok = ok && !output_failed();
    return filtering_close(&follow.filtering, !ok              ? EXIT_ERROR
                                              : total.findings ? EXIT_FINDINGS
                                                               : EXIT_CLEAN);
}
