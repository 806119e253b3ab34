/* SPDX-License-Identifier: MIT */
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "follow_entries.h"
#include "input/filter.h"
#include "interrupt.h"
#include "net/nats.h"
#include "net/nats_dedup.h"
#include "net/nats_stream.h"
#include "show/messages.h"
#include "show/output.h"
#include "verb.h"

enum {
    POLL_MS = 20, /* first pause when there is no message; doubled up to */
    POLL_MAX_MS = 100,
    LOOK_MS = 1000,   /* interval of checks that the stream is the same */
    BEHIND_MS = 5000, /* longest lag of one server of a cluster behind others */
    SKEW_MS = 60000,  /* largest clock difference of servers and edges */
    REPORTED_MAX = 20, /* defective messages that are reported */
    NS_PER_MS = 1000000,
};

struct replay {
    const struct options *o;
    bool is_endless;
    const struct nats_class *class;
    struct nats *nats;
    struct nats_state state;
    struct nats_dedup seen;
    struct nats_stream stream;
    struct filter_options chosen; /* of `filtering`: without sources */
    struct filtering filtering;
    struct follow_entries entries;
    struct checks checks;
    uint64_t number; /* of the next message */
    uint64_t looked; /* time of the last check, ms */
    uint64_t came;   /* time of the last message, ms */
    uint64_t pause_ms;
    uint64_t n_wrong;    /* defective messages */
    bool is_unreachable; /* the server cannot be reached: that was reported */
};

static uint64_t now_ms(clockid_t clock)
{
    return pfd_clock_ns(clock) / NS_PER_MS;
}

static void pause_for(uint64_t ms)
{
    struct timespec t = { .tv_sec = (time_t)(ms / 1000),
                          .tv_nsec = (long)(ms % 1000 * NS_PER_MS) };
    nanosleep(&t, NULL);
}

static enum outcome fail(const struct replay *r, const char *why)
{
    message_error("%s: %s", r->o->nats.url, why);
    return OUTCOME_FAILED;
}

/* ---- the first message ---- */

static enum outcome look(struct replay *r)
{
    enum outcome outcome = r->class->look(r->nats, &r->state);
    r->looked = now_ms(CLOCK_MONOTONIC);
    if (outcome == OUTCOME_FAILED)
        return fail(r, r->class->why(r->nats));
    if (outcome == OUTCOME_END) {
        return fail(r, "there is no stream GPULOG: no edge has ever sent "
                       "anything here, see printfdecoded(8)");
    }
    return OUTCOME_DONE;
}

/* Finds the first message that the server stored at `time` or later, by
 * bisection: times grow with numbers. */
static enum outcome find_begin(struct replay *r, uint64_t time)
{
    uint64_t low = r->state.first;
    uint64_t high = r->state.last + 1;
    while (low < high && time) {
        uint64_t mid = low + (high - low) / 2;
        struct nats_message m;
        enum outcome outcome = r->class->next(r->nats, mid, &m);
        if (outcome == OUTCOME_FAILED)
            return fail(r, r->class->why(r->nats));
        if (outcome == OUTCOME_END || m.number >= high || m.time >= time) {
            high = mid;
        } else {
            low = m.number + 1;
        }
    }
    r->number = low;
    return OUTCOME_DONE;
}

static enum outcome begin(struct replay *r)
{
    uint64_t since = r->o->nats.since;
    uint64_t skew = (uint64_t)SKEW_MS * NS_PER_MS;
    if (r->o->nats.ago)
        since = now_ms(CLOCK_REALTIME) * NS_PER_MS - r->o->nats.ago;
    if (r->is_endless && !r->o->nats.has_since)
        since = now_ms(CLOCK_REALTIME) * NS_PER_MS;
    r->stream.since = since;
    enum outcome outcome = look(r);
    return outcome == OUTCOME_DONE
               ? find_begin(r, since > skew ? since - skew : 0)
               : outcome;
}

/* ---- messages ---- */

static void message_wrong(struct replay *r, uint64_t number, const char *why)
{
    r->entries.is_doubtful = true;
    if (++r->n_wrong <= REPORTED_MAX) {
        message_error("%s: message %llu: %s", r->o->nats.url,
                      (unsigned long long)number, why);
    }
}

/* OUTCOME_FAILED: nothing was taken. */
static enum outcome take(struct replay *r, const struct nats_message *m)
{
    if (m->is_edges && nats_dedup_has(&r->seen, m))
        return OUTCOME_DONE;
    enum outcome outcome = nats_stream_put(&r->stream, m);
    if (outcome == OUTCOME_FAILED && *r->entries.why) {
        /* Its entries were printed up to the defect; later messages are not
         * affected. */
        message_wrong(r, m->number, r->stream.why);
        *r->entries.why = '\0';
        outcome = OUTCOME_DONE;
    }
    if (outcome == OUTCOME_FAILED)
        return outcome;
    if (r->stream.wrong)
        message_wrong(r, m->number, r->stream.wrong);
    /* An invalid message must not take up an edge's place. */
    if (!m->is_edges || (r->stream.wrong && !r->stream.has_put))
        return outcome;
    bool had_forgotten = r->seen.has_evicted;
    if (!nats_dedup_take(&r->seen, m)) {
        message_error("out of memory");
        return OUTCOME_STOPPED;
    }
    if (r->seen.has_evicted && !had_forgotten) {
        r->entries.is_doubtful = true;
        message_error("%s: there are too many edges to remember: what some of "
                      "them sent again may be here twice",
                      r->o->nats.url);
    }
    return outcome;
}

/* Checks the stream. If it was replaced, or lost messages that it had, it is
 * read from its beginning; items seen before are dropped as duplicates. */
static enum outcome look_again(struct replay *r)
{
    struct nats_state state = { 0 };
    uint64_t now = now_ms(CLOCK_MONOTONIC);
    if (now - r->looked < LOOK_MS)
        return OUTCOME_DONE;
    r->looked = now;
    enum outcome outcome = r->class->look(r->nats, &state);
    if (outcome == OUTCOME_DONE &&
        (state.created != r->state.created || state.last < r->state.last)) {
        r->number = 0;
    }
    if (outcome == OUTCOME_DONE)
        r->state = state;
    return outcome == OUTCOME_END ? OUTCOME_DONE : outcome;
}

static bool is_idle(const struct replay *r)
{
    return r->o->live.has_until_idle &&
           now_ms(CLOCK_MONOTONIC) - r->came >= r->o->live.until_idle_ms;
}

/* There is no new message: waits, and checks the stream at intervals. */
static enum outcome wait_for_more(struct replay *r)
{
    bool has_some = r->state.last && r->state.first <= r->state.last;
    bool is_behind = has_some && r->number <= r->state.last;
    if (!r->is_endless &&
        (!is_behind || now_ms(CLOCK_MONOTONIC) - r->came >= BEHIND_MS)) {
        if (is_behind)
            message_wrong(r, r->number, "it was there, and is not any more");
        return OUTCOME_END;
    }
    if (r->is_endless && is_idle(r))
        return OUTCOME_END;
    if (!follow_entries_pause(&r->entries, false))
        return OUTCOME_STOPPED;
    pause_for(r->pause_ms);
    r->pause_ms = r->pause_ms * 2 > POLL_MAX_MS ? POLL_MAX_MS : r->pause_ms * 2;
    return r->is_endless ? look_again(r) : OUTCOME_DONE;
}

/* `follow` waits until the server can be reached again. */
static enum outcome wait_for_server(struct replay *r, const char *why)
{
    if (!r->is_endless)
        return fail(r, why);
    if (!r->is_unreachable)
        message_hint("%s: %s; trying again", r->o->nats.url, why);
    r->is_unreachable = true;
    if (is_idle(r))
        return OUTCOME_END;
    pause_for(POLL_MAX_MS);
    return follow_entries_pause(&r->entries, false) ? OUTCOME_DONE
                                                    : OUTCOME_STOPPED;
}

static enum outcome step(struct replay *r)
{
    struct nats_message m;
    const char *why = r->stream.why;
    if (!r->is_endless && r->number > r->state.last)
        return OUTCOME_END;
    enum outcome outcome = r->class->next(r->nats, r->number, &m);
    if (outcome == OUTCOME_DONE) {
        outcome = take(r, &m);
        if (outcome == OUTCOME_DONE) {
            r->number = m.number + 1;
            r->came = now_ms(CLOCK_MONOTONIC);
            r->pause_ms = POLL_MS;
            r->is_unreachable = false;
        }
        if (outcome == OUTCOME_DONE && r->is_endless &&
            !follow_entries_pause(&r->entries, false))
            outcome = OUTCOME_STOPPED;
    } else {
        why = r->class->why(r->nats);
        if (outcome == OUTCOME_END)
            outcome = wait_for_more(r);
    }
    return outcome == OUTCOME_FAILED ? wait_for_server(r, why) : outcome;
}

static void message_missing(struct replay *r)
{
    uint64_t missing = nats_dedup_missing(&r->seen);
    if (r->n_wrong > REPORTED_MAX) {
        message_error("%s: and %llu more messages", r->o->nats.url,
                      (unsigned long long)(r->n_wrong - REPORTED_MAX));
    }
    if (!missing)
        return;
    r->entries.is_doubtful = true;
    message_error(
        "%s: %llu records are not in the stream although others before "
        "and behind them are",
        r->o->nats.url, (unsigned long long)missing);
    checks_gap(r->entries.checks, r->o->nats.url, missing,
               "they are not in the stream");
}

static enum outcome run(struct replay *r)
{
    enum outcome outcome = begin(r);
    r->came = now_ms(CLOCK_MONOTONIC);
    r->pause_ms = POLL_MS;
    if (outcome == OUTCOME_DONE)
        interrupt_catch();
    while (outcome == OUTCOME_DONE)
        outcome = interrupt_came() ? OUTCOME_STOPPED : step(r);
    follow_entries_pause(&r->entries, true);
    if (outcome != OUTCOME_FAILED)
        message_missing(r);
    return outcome;
}

/* ---- all of it ---- */

static bool is_local(const char *url)
{
    const char *host = url + strlen("nats://");
    return !strncmp(host, "127.", 4) || !strncmp(host, "localhost", 9) ||
           !strncmp(host, "[::1]", 5);
}

static bool is_possible(const struct options *o)
{
    const char *url = o->nats.url;
    bool is_tls = !strncmp(url, "tls://", 6);
    if (!is_tls && strncmp(url, "nats://", 7) != 0) {
        message_error("--nats: '%s' is no nats://HOST:PORT or tls://HOST:PORT",
                      url);
    } else if (strchr(url, '@')) {
        message_error(
            "--nats: who we are is said by --user and --password-file, "
            "or by --credentials");
    } else if (o->n_files || options_have_memory(o)) {
        message_error(
            "what comes from --nats comes with its strings: no files");
    } else if (!o->nats.user != !o->nats.password_file) {
        message_error("--user and --password-file go together");
    } else if (o->nats.user && !is_tls && !is_local(url)) {
        message_error("--nats: a password goes to tls://HOST:PORT only");
    } else if (options_have_tls(o) && !is_tls) {
        message_error("--tls-... are for tls:// URLs");
    } else if (o->live.from || o->live.ack) {
        message_error("--from and --ack are for a daemon; with --nats it is "
                      "--since");
    } else {
        return options_check_certificate(o);
    }
    return false;
}

static bool open_nats(struct replay *r)
{
    char err[400];
    const struct nats_config config = {
        .url = r->o->nats.url,
        .credentials = r->o->nats.credentials,
        .user = r->o->nats.user,
        .password_file = r->o->nats.password_file,
        .tls = &r->o->tls,
        .persists = r->is_endless,
    };
    r->class = nats_load(err, sizeof err);
    if (!r->class) {
        message_error("%s", err);
        return false;
    }
    r->nats = r->class->open(&config, err, sizeof err);
    if (!r->nats)
        fail(r, err);
    return r->nats;
}

static enum outcome print_frames(void *user, const char *bytes, size_t n,
                                 const char **why)
{
    struct follow_entries *entries = user;
    enum outcome outcome = follow_entries_take(entries, bytes, n);
    *why = entries->why;
    return outcome;
}

/* The stream itself filters by --source, before it fetches objects. */
static bool open_entries(struct replay *r)
{
    r->chosen = r->o->filter;
    r->chosen.sources.n = 0;
    if (!filtering_open(&r->filtering, &r->chosen))
        return false;
    if (!checks_open(&r->checks, r->o) ||
        !follow_entries_init(&r->entries, r->o, NULL, &r->checks))
        return false;
    r->entries.filtering = &r->filtering;
    r->stream = (struct nats_stream){
        .class = r->class,
        .nats = r->nats,
        .take = print_frames,
        .user = &r->entries,
        .sources = r->o->filter.sources.all,
        .n_sources = r->o->filter.sources.n,
    };
    return true;
}

static int status_of(const struct replay *r, enum outcome outcome)
{
    const struct options *o = r->o;
    bool chooses = r->filtering.filter || o->filter.sources.n;
    if (outcome == OUTCOME_FAILED || output_failed() || r->entries.has_failed)
        return EXIT_ERROR;
    if (r->entries.is_doubtful)
        return EXIT_FINDINGS;
    return chooses && !r->entries.n_entries ? EXIT_NOTHING : EXIT_CLEAN;
}

int replay_take(const struct options *o, bool is_endless)
{
    struct replay r = { .o = o, .is_endless = is_endless };
    int status = EXIT_ERROR;
    if (!is_possible(o) || !open_nats(&r))
        return status;
    bool is_open = open_entries(&r);
    if (is_open) {
        status = status_of(&r, run(&r));
        follow_entries_deinit(&r.entries);
    }
    filtering_end(&r.filtering, NULL);
    status = filtering_close(&r.filtering, status);
    if (is_open)
        status = checks_close(&r.checks, NULL, status);
    nats_stream_deinit(&r.stream);
    nats_dedup_deinit(&r.seen);
    r.class->close(r.nats);
    return status;
}

static int replay_run(const struct options *o)
{
    if (o->nats.url)
        return replay_take(o, false);
    message_error("--nats URL is missing: files are read by 'printfdecode "
                  "decode'");
    return EXIT_ERROR;
}

static const struct option_group *const groups[] = {
    &options_output_entries,
    &options_nats,
    &options_filter,
    &options_limit,
    &options_collapse,
    &options_lines,
    &options_remote,
    &options_checks,
    &options_messages,
    &options_help,
    NULL,
};

const struct verb verb_replay = {
    .name = "replay",
    .files = "",
    .help = "print what edges have sent to servers of NATS",
    .run = replay_run,
    .groups = groups,
};
