/* SPDX-License-Identifier: MIT */
/*
 * printfdecode follow SOCKET, address or URL: prints entries of a running
 * printfdecoded. The daemon decodes, filters and numbers them; follow_entries.h
 * handles the received frames.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <printfdecode/subscriber.h>

#include "follow.h"
#include "follow_entries.h"
#include "input/daemon_request.h"
#include "net/connection.h"
#include "net/daemon_address.h"
#include "options/options.h"
#include "recording.h"
#include "show/collapsed_lines.h"
#include "show/messages.h"
#include "show/output.h"

enum {
    NS_PER_MS = 1000000,
    TURN_MS = 20,        /* between turns of a taker while nothing is
                            received */
    REQUEST = 16 * 1024, /* HTTP request; a byte may be escaped to three */
    LINE = 4096,
    BYTES = 64 * 1024,
};

struct client {
    const struct options *o;
    struct daemon_address address;
    struct connection connection;
    bool is_ready;                    /* bytes have come */
    const struct follow_taker *taker; /* NULL: prints lines */
    struct follow_entries entries;
};

bool follow_client_wants(const struct options *options)
{
    return options->n_files == 1 && daemon_address_is(options->files[0].path);
}

/* ---- the request ---- */

/* Appends to ret [*n]. Text beyond REQUEST is cut, and refused later. */
__attribute__((format(printf, 3, 4))) static void put(char *ret, size_t *n,
                                                      const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    int k = vsnprintf(ret + *n, REQUEST - *n, text, ap);
    va_end(ap);
    *n += (size_t)k < REQUEST - *n ? (size_t)k : REQUEST - *n;
}

static void put_key(char *ret, size_t *n, const char *key, const char *value)
{
    if (!value)
        return;
    put(ret, n, "&%s=", key);
    for (; *value; value++)
        put(ret, n, "%%%02x", (unsigned char)*value);
}

static void put_keys(char *ret, size_t *n, const char *key, const char **values,
                     size_t n_values)
{
    for (size_t i = 0; i < n_values; i++)
        put_key(ret, n, key, values[i]);
}

static size_t put_get(char *ret, const struct options *o, const char *host)
{
    size_t n = 0;
    put(ret, &n, "GET /lines?output=entries");
    put_key(ret, &n, "from", o->live.from);
    put_keys(ret, &n, "match", o->filter.matches.all, o->filter.matches.n);
    put_keys(ret, &n, "format_string", o->filter.format_strings.all,
             o->filter.format_strings.n);
    for (size_t i = 0; i < o->filter.ids.n; i++)
        put(ret, &n, "&id=0x%llx", (unsigned long long)o->filter.ids.all[i]);
    put_key(ret, &n, "where", o->filter.where);
    put_keys(ret, &n, "source", o->filter.sources.all, o->filter.sources.n);
    put(ret, &n, "%s%s%s", o->filter.ignore_case ? "&ignore_case=true" : "",
        o->filter.invert ? "&invert=true" : "",
        o->live.no_findings ? "&findings=false" : "");
    put(ret, &n, " HTTP/1.1\r\nHost: %.200s\r\nConnection: close\r\n\r\n",
        host);
    return n;
}

/* The first bytes have come: the daemon has the request. */
static bool say_ready(struct client *c)
{
    int fd = c->is_ready ? 0 : c->o->live.ready_fd;
    c->is_ready = true;
    return !fd || write(fd, "", 1) == 1;
}

static enum outcome take(struct client *c, const char *bytes, size_t n)
{
    if (!recording_write(c->entries.recording, bytes, n) || !say_ready(c))
        return OUTCOME_STOPPED;
    enum outcome outcome = follow_entries_take(&c->entries, bytes, n);
    return outcome == OUTCOME_FAILED
               ? connection_fail(&c->connection, "%s", c->entries.why)
               : outcome;
}

/* Reads the HTTP head up to the empty line; lines follow. */
static enum outcome read_head(struct client *c)
{
    char head[REQUEST];
    size_t n = 0;
    char *end = NULL;
    while (!end) {
        size_t got = 0;
        enum outcome outcome = OUTCOME_END;
        if (n + 1 < sizeof head) {
            outcome = connection_receive(&c->connection, head + n,
                                         sizeof head - 1 - n, &got);
        }
        if (outcome == OUTCOME_END)
            return connection_fail(&c->connection, "no answer of HTTP");
        if (outcome != OUTCOME_DONE)
            return outcome;
        n += got;
        head[n] = '\0';
        end = strstr(head, "\r\n\r\n");
    }
    end += 4;
    if (strncmp(head, "HTTP/1.", 7) != 0 ||
        strncmp(head + 8, " 200 ", 5) != 0) {
        head[strcspn(head, "\r\n")] = '\0';
        return connection_fail(&c->connection, "%s %s", head, end);
    }
    return take(c, end, n - (size_t)(end - head));
}

/* ---- receiving ---- */

/* Acknowledges only entries that this process has written out. */
static enum outcome acknowledge(struct client *c, uint64_t before)
{
    char line[64];
    if (!c->o->live.ack || c->entries.written == before)
        return OUTCOME_DONE;
    int n = snprintf(line, sizeof line, "{\"ack\":%llu}\n",
                     (unsigned long long)c->entries.written);
    return connection_send(&c->connection, line, (size_t)n);
}

static enum outcome end(struct client *c)
{
    enum outcome outcome = follow_entries_end(&c->entries);
    return outcome == OUTCOME_FAILED
               ? connection_fail(&c->connection, "%s", c->entries.why)
               : outcome;
}

/* Receives bytes. Meanwhile, collapsed lines are written in time, and a taker
 * has its turns. */
static enum outcome receive(struct client *c, char *bytes, size_t n,
                            size_t *n_ret)
{
    const struct options *o = c->o;
    bool pauses = o->collapse.how || c->taker;
    uint64_t each_ns =
        (uint64_t)(c->taker ? TURN_MS : COLLAPSING_MS) * NS_PER_MS;
    uint64_t left_ns =
        o->live.has_until_idle ? o->live.until_idle_ms * NS_PER_MS : UINT64_MAX;
    enum outcome outcome = OUTCOME_LATE;
    do {
        uint64_t part_ns = pauses && left_ns > each_ns ? each_ns : left_ns;
        c->connection.idle_ns = part_ns;
        left_ns -= left_ns == UINT64_MAX ? 0 : part_ns;
        outcome = connection_receive(&c->connection, bytes, n, n_ret);
        if (!follow_entries_pause(&c->entries, false))
            return OUTCOME_STOPPED;
    } while (outcome == OUTCOME_LATE && left_ns);
    return outcome;
}

static enum outcome pass_on(struct client *c)
{
    char bytes[BYTES];
    enum outcome outcome = OUTCOME_DONE;
    while (outcome == OUTCOME_DONE) {
        size_t n = 0;
        uint64_t before = c->entries.written;
        outcome = receive(c, bytes, sizeof bytes, &n);
        if (outcome != OUTCOME_DONE)
            break;
        outcome = take(c, bytes, n);
        if (outcome == OUTCOME_FAILED || c->entries.is_closed)
            break;
        enum outcome told = acknowledge(c, before);
        outcome = told == OUTCOME_DONE ? outcome : told;
    }
    return outcome == OUTCOME_END ? end(c) : outcome;
}

/* ---- all of it ---- */

static bool chooses(const struct options *o)
{
    return o->filter.matches.n || o->filter.format_strings.n ||
           o->filter.ids.n || o->filter.where || o->filter.sources.n;
}

static bool is_possible(const struct client *c)
{
    const struct options *o = c->o;
    if (o->filter.sources.n > 1) {
        message_error("--source: a daemon can be asked for one");
    } else if (o->live.ack && c->address.is_url) {
        message_error("--ack wants a socket");
    } else if (o->live.ack && (chooses(o) || o->live.no_findings)) {
        message_error("--ack is for all lines: nothing can be chosen");
    } else if (o->live.ack &&
               (o->collapse.how || o->collapse.window || options_trace(o))) {
        message_error(
            "--ack is for lines as they come, not for what is made of "
            "several");
    } else if (options_have_tls(o) && !c->address.is_tls) {
        message_error("--tls-... are for tls:HOST:PORT and https:// URLs");
    } else {
        return options_check_certificate(o);
    }
    return false;
}

/* Writes the request into ret; returns its length. 0: too long; an error was
 * printed. */
static size_t put_request(const struct client *c, char *ret)
{
    struct pfd_subscription what = daemon_request_of(c->o);
    what.no_findings = c->o->live.no_findings;
    struct pfd_error err;
    size_t n = 0;
    if (c->o->live.ack)
        return (size_t)sprintf(ret, "{\"output\":\"entries\"}\n");
    if (pfd_subscription_line(&what, ret, LINE, &n, &err) != PFD_OK) {
        message_error("%s", err.text);
        return 0;
    }
    return c->address.is_url ? put_get(ret, c->o, c->address.host) : n;
}

/* Sends the request. A server that refuses it may close before it has read all:
 * its answer is read nevertheless. */
static enum outcome ask(struct client *c, const char *request, size_t n)
{
    enum outcome outcome = connection_send(&c->connection, request, n);
    if (outcome == OUTCOME_END)
        outcome = OUTCOME_DONE;
    if (outcome == OUTCOME_DONE && c->address.is_url)
        outcome = read_head(c);
    return outcome;
}

static int status_of(const struct client *c, enum outcome outcome)
{
    const struct options *o = c->o;
    if (outcome == OUTCOME_FAILED || output_failed() || c->entries.has_failed)
        return EXIT_ERROR;
    if (c->entries.is_doubtful)
        return EXIT_FINDINGS;
    return chooses(o) && c->entries.n_entries == 0 ? EXIT_NOTHING : EXIT_CLEAN;
}

static enum outcome spool(struct client *c)
{
    const char *folder = c->o->live.spool_folder;
    const char *temporary = getenv("TMPDIR");
    if (!folder)
        folder = temporary && *temporary ? temporary : "/tmp";
    return connection_spool(&c->connection, folder, c->o->live.spool_max);
}

static enum outcome follow(struct client *c, const char *request, size_t n)
{
    enum outcome outcome = connection_open(&c->connection, &c->address.peer);
    if (outcome == OUTCOME_DONE)
        outcome = ask(c, request, n);
    if (outcome == OUTCOME_DONE && c->o->live.spool_max)
        outcome = spool(c);
    if (outcome == OUTCOME_DONE)
        outcome = pass_on(c);
    follow_entries_pause(&c->entries, true);
    if (outcome == OUTCOME_FAILED)
        message_error("%s: %s", c->address.name, c->connection.why);
    if (outcome == OUTCOME_FAILED && c->o->is_default_daemon) {
        message_hint(
            "no file is given, and no printfdecoded of yours is there: "
            "start one, or name a buffer, a socket or an address");
    }
    if (outcome == OUTCOME_END && !c->o->verb->runs_program) {
        message_hint("%s: the daemon has ended the connection",
                     c->address.name);
    }
    connection_close(&c->connection);
    return outcome;
}

int follow_client_take(const struct options *o,
                       const struct follow_taker *taker)
{
    char request[REQUEST];
    struct client c = {
        .o = o,
        .taker = taker,
    };
    bool has_port = daemon_address_read(&c.address, o->files[0].path, &o->tls);
    if (!is_possible(&c))
        return EXIT_ERROR;
    if (!has_port) {
        message_error("%s: the port is missing", c.address.name);
        return EXIT_ERROR;
    }
    size_t n = put_request(&c, request);
    struct checks checks = { 0 };
    if (!n || (!taker && !checks_open(&checks, o)) ||
        !follow_entries_init(&c.entries, o, taker, taker ? NULL : &checks) ||
        !recording_open(o->to, &c.entries.recording))
        return EXIT_ERROR;
    enum outcome outcome = follow(&c, request, n);
    int status = status_of(&c, outcome);
    if (!recording_close(c.entries.recording, outcome == OUTCOME_END))
        status = EXIT_ERROR;
    if (o->live.n_entries)
        *o->live.n_entries = c.entries.n_entries;
    if (o->range.count)
        output_printf("%llu\n", (unsigned long long)c.entries.n_entries);
    follow_entries_deinit(&c.entries);
    return taker ? status : checks_close(&checks, NULL, status);
}
