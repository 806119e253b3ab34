/* SPDX-License-Identifier: MIT */
#include "live_entries.h"

#include <stdio.h>
#include <stdlib.h>

#include <printfdecode/subscriber.h>

#include "input/daemon_request.h"
#include "live_rows.h"
#include "show/messages.h"

enum {
    BATCHES = 64 /* that are taken before keys have their turn */
};

struct live_entries {
    struct pfd_subscriber *subscriber;
    struct live_rows *rows;
    bool is_over;
    char why[300];
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

static bool poll_stream(void *user)
{
    struct live_entries *live = user;
    struct pfd_error err;
    if (live->is_over)
        return false;
    enum pfd_status status = pfd_subscriber_wait(live->subscriber, 0, &err);
    if (status != PFD_OK && status != PFD_MORE)
        return end(live, err.text);
    return take_batches(live);
}

struct live_entries *live_entries_new(const struct options *o, const char *path,
                                      size_t memory_max)
{
    struct pfd_error err;
    struct live_entries *live = calloc(1, sizeof *live);
    const struct pfd_subscription what = daemon_request_of(o);
    if (live)
        live->rows = live_rows_new(memory_max, poll_stream, live);
    if (!live || !live->rows) {
        message_error("out of memory");
        free(live);
        return NULL;
    }
    if (pfd_subscriber_connect(path, &what, NULL, &live->subscriber, &err) ==
        PFD_OK)
        return live;
    message_error("%s: %s", path, err.text);
    live_entries_free(live);
    return NULL;
}

void live_entries_free(struct live_entries *live)
{
    if (!live)
        return;
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
