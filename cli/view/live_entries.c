/* SPDX-License-Identifier: MIT */
#include "live_entries.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <printfdecode/subscriber.h>

#include "input/daemon_request.h"
#include "live_rows.h"
#include "net/daemon_address.h"
#include "show/messages.h"

enum {
    BATCHES = 64, /* that are taken before keys have their turn */
    ROUNDS = 16,  /* of receiving, likewise */
    BYTES = 64 * 1024,
    REQUEST = 4096,
};

struct live_entries {
    struct daemon_address address;
    struct connection connection;
    char bytes[BYTES]; /* [n], of which the subscriber has taken [n_taken] */
    size_t n;
    size_t n_taken;
    struct pfd_subscriber *subscriber;
    struct live_rows *rows;
    bool is_over;
    char why[600];
};

static bool end(struct live_entries *live, const char *why)
{
    snprintf(live->why, sizeof live->why, "%s", why);
    live->is_over = true;
    return false;
}

static bool take_batch(struct live_entries *live, const struct pfd_batch *b)
{
    char why[64];
    if (b->type == PFD_BATCH_GAP) {
        size_t n = b->why.n < sizeof why - 1 ? b->why.n : sizeof why - 1;
        snprintf(why, sizeof why, "%.*s", (int)n,
                 n ? (const char *)b->why.at : "");
        return live_rows_take_gap(live->rows, b->missed, why);
    }
    const struct live_chunk chunk = {
        .strings = b->strings,
        .options = b->options,
        .source = b->source,
        .bytes = b->bytes,
        .n = b->n,
        .sequence = b->sequence,
        .time = b->time,
    };
    return live_rows_take_chunk(live->rows, &chunk);
}

static bool take_batches(struct live_entries *live)
{
    struct pfd_error err = { 0 };
    const struct pfd_batch *batch;
    enum pfd_status status = PFD_OK;
    bool ok = true;
    for (int i = 0; i < BATCHES && ok; i++) {
        status = pfd_subscriber_next(live->subscriber, &batch, &err);
        if (status == PFD_ERR_CORRUPT)
            continue;
        if (status != PFD_OK)
            break;
        ok = take_batch(live, batch);
    }
    if (!ok)
        return end(live, "out of memory");
    if (status == PFD_END)
        return end(live, "the daemon has ended the connection");
    return status >= PFD_OK || status == PFD_ERR_CORRUPT ? true
                                                         : end(live, err.text);
}

/* Receives the items at hand, once all earlier ones are handed over. */
static bool receive(struct live_entries *live)
{
    size_t n = 0;
    if (live->n_taken < live->n)
        return true;
    enum outcome outcome = connection_receive(&live->connection, live->bytes,
                                              sizeof live->bytes, &n);
    if (outcome == OUTCOME_FAILED)
        return end(live, live->connection.why);
    if (outcome == OUTCOME_END)
        pfd_subscriber_finish(live->subscriber);
    live->n = n;
    live->n_taken = 0;
    return true;
}

/* Hands over the received items. */
static bool feed(struct live_entries *live)
{
    struct pfd_error err;
    size_t taken = 0;
    if (pfd_subscriber_feed(live->subscriber, live->bytes + live->n_taken,
                            live->n - live->n_taken, &taken, &err) != PFD_OK)
        return end(live, err.text);
    live->n_taken += taken;
    return true;
}

static bool poll_stream(void *user)
{
    struct live_entries *live = user;
    bool ok = !live->is_over;
    bool comes = true;
    for (int i = 0; i < ROUNDS && ok && comes; i++) {
        ok = receive(live);
        comes = live->n_taken < live->n;
        ok = ok && (!comes || feed(live)) && take_batches(live);
    }
    return ok;
}

/* ---- the connection ---- */

/* Signals end the process, as they do with files. */
static void release_signals(void)
{
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigprocmask(SIG_UNBLOCK, &held, NULL);
}

/* False: said why. */
static bool is_possible(struct live_entries *live, const struct options *o)
{
    const char *name = o->files[0].path;
    bool has_port = daemon_address_read(&live->address, name, &o->tls);
    if (!has_port) {
        message_error("%s: the port is missing", name);
    } else if (options_have_tls(o) && !live->address.is_tls) {
        message_error("--tls-... are for tls:HOST:PORT");
    } else {
        return options_check_certificate(o);
    }
    return false;
}

/* Connects, and asks. False: said why. */
static bool begin(struct live_entries *live, const struct options *o)
{
    struct pfd_subscription what = daemon_request_of(o);
    const char *name = o->files[0].path;
    struct pfd_error err = { 0 };
    char request[REQUEST];
    size_t n = 0;
    what.no_findings = o->live.no_findings;
    if (!is_possible(live, o))
        return false;
    if (pfd_subscription_line(&what, request, sizeof request, &n, &err) !=
            PFD_OK ||
        pfd_subscriber_new(NULL, &live->subscriber, &err) != PFD_OK) {
        message_error("%s", err.text);
        return false;
    }
    enum outcome outcome =
        connection_open(&live->connection, &live->address.peer);
    if (outcome == OUTCOME_DONE)
        outcome = connection_send(&live->connection, request, n);
    if (outcome == OUTCOME_END) /* its reason can still be read */
        outcome = OUTCOME_DONE;
    release_signals();
    live->connection.idle_ns = 0;
    if (outcome == OUTCOME_FAILED)
        message_error("%s: %s", name, live->connection.why);
    return outcome == OUTCOME_DONE;
}

struct live_entries *live_entries_new(const struct options *o,
                                      size_t memory_max)
{
    struct live_entries *live = calloc(1, sizeof *live);
    if (live) {
        live->connection = (struct connection){ .fd = -1, .stop_fd = -1 };
        live->rows = live_rows_new(memory_max, poll_stream, live);
    }
    if (!live || !live->rows) {
        message_error("out of memory");
    } else if (begin(live, o)) {
        return live;
    }
    live_entries_free(live);
    return NULL;
}

void live_entries_free(struct live_entries *live)
{
    if (!live)
        return;
    connection_close(&live->connection);
    pfd_subscriber_free(live->subscriber);
    live_rows_free(live->rows);
    free(live);
}

const char *live_entries_why(const struct live_entries *live)
{
    return live->why;
}

struct view_source live_entries_source(const struct live_entries *live)
{
    return (struct view_source){ &live_rows_class, live->rows };
}
