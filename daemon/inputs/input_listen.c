/* SPDX-License-Identifier: MIT */
/* Input `listen`: producers connect, and send capture frames or pass memory. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor_limit.h"
#include "base/log.h"
#include "ingest/follower.h"
#include "ingest/ingest.h"
#include "ingest/producer_connection.h"
#include "ingest/stream.h"
#include "ingest/string_store.h"
#include "net/listener.h"

struct listen_input {
    struct pfdd_input base;
    struct pfdd_user_accounts users; /* and of all producers */
    struct pfdd_listener listener;
    struct pfdd_producer_connection *producer_connections;
    unsigned n_connections; /* including connections that are closing */
    struct pfdd_peer_limit peer_limit;
    uint64_t n_accepted;
    bool is_full;        /* there was no memory for the last newcomer, */
    uint64_t full_since; /* since then (uv_now()) */
    struct pfdd_log_topic told_full;
    bool listener_closed;
};

static void finish_close(struct listen_input *in)
{
    if (in->base.closing && in->listener_closed && !in->producer_connections)
        pfdd_input_closed(&in->base);
}

static void on_closed(struct pfdd_producer_connection *c)
{
    struct listen_input *in = c->user;
    struct pfdd_producer_connection **at = &in->producer_connections;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    in->n_connections--;
    pfdd_user_accounts_leave(&c->account);
    free(c);
    finish_close(in);
}

enum {
    FULL_MS = 2000, /* until it is logged */
    EARLY_MS = 500, /* in which a new producer announces a buffer */
    /* bytes of a new connection */
    GUEST = sizeof(struct pfdd_producer_connection) + PFDD_STREAM_SMALL,
    EARLY = PFDD_FOLLOWER_BYTES / 2, /* bytes; a follower takes no more, as a
                                        rule */
    PLACES_MAX = 4096,               /* in the admission queue, */
    PLACE = 16 << 10,                /* one for so many bytes of memory_max */
};

/* Connections that are about to have a buffer. */
static size_t count_early(const struct listen_input *in)
{
    uint64_t now = uv_now(in->base.ingest->loop);
    size_t n = 0;
    for (const struct pfdd_producer_connection *c = in->producer_connections; c;
         c = c->next) {
        n += !c->closing && !pfdd_stream_has_buffers(c->stream) &&
             (pfdd_stream_is_waiting(c->stream) || now - c->heard < EARLY_MS);
    }
    return n;
}

/* True: a newcomer waits. Memory will be free again, as producers go and code
 * objects are read, so newcomers are not refused. Nor is a newcomer admitted
 * that would take the memory that admitted producers need for a follower each:
 * all would wait for all. */
static bool must_wait(void *user)
{
    struct listen_input *in = user;
    struct pfdd_ingest *ingest = in->base.ingest;
    uint64_t now = uv_now(ingest->loop);
    pfdd_string_store_evict(ingest->string_store, GUEST);
    size_t wanted = GUEST + PFDD_FOLLOWER_BYTES + count_early(in) * EARLY;
    bool is_full = ingest->budget->n_waiting > 0 ||
                   !pfdd_memory_budget_has_for_last(ingest->budget, wanted);
    if (!is_full || !in->is_full)
        in->full_since = now;
    in->is_full = is_full;
    if (is_full && now - in->full_since >= FULL_MS) {
        pfdd_log_about(&in->told_full, PFDD_WARNING,
                       "%s: memory is up to its cap; who comes waits",
                       in->base.config->access.address.text);
    }
    return is_full;
}

/* Makes a place, if need be by closing a connection that has not sent a
 * producer's first bytes. False: there is no place. */
static bool make_place(struct listen_input *in, const struct pfdd_peer_key *key)
{
    struct pfdd_limited_peer *silent = NULL;
    unsigned n_max = (unsigned)in->base.config->access.max_clients;
    pfdd_string_store_evict(in->base.ingest->string_store, GUEST);
    if (in->n_connections >= 2 * n_max ||
        !pfdd_memory_budget_has_for_last(in->base.ingest->budget, GUEST) ||
        !pfdd_peer_limit_evict(&in->peer_limit, key, n_max, &silent))
        return false;
    for (struct pfdd_producer_connection *c = in->producer_connections;
         silent && c; c = c->next) {
        if (&c->limited_peer != silent)
            continue;
        in->base.ingest->count->refused++;
        pfdd_producer_connection_close(c);
        break;
    }
    return true;
}

static void on_accept(struct pfdd_listener *l, int fd)
{
    struct listen_input *in = l->user;
    char name[64];
    struct pfdd_peer_key key = pfdd_listener_peer(l, fd);
    struct pfdd_producer_connection *c =
        make_place(in, &key) ? calloc(1, sizeof *c) : NULL;
    if (!c || !pfdd_user_accounts_join(&in->users, &key, &c->account)) {
        in->base.ingest->count->refused++;
        free(c);
        close(fd);
        return;
    }
    c->closed = on_closed;
    c->user = in;
    snprintf(name, sizeof name, "producer %llu",
             (unsigned long long)++in->n_accepted);
    if (!pfdd_producer_connection_open(c, &in->base, fd, name)) {
        pfdd_user_accounts_leave(&c->account);
        free(c);
        return;
    }
    c->next = in->producer_connections;
    in->producer_connections = c;
    in->n_connections++;
    c->peer_limit = &in->peer_limit;
    pfdd_peer_limit_join(&in->peer_limit, &c->limited_peer, &key,
                         uv_now(in->base.ingest->loop));
}

static unsigned lower(unsigned a, size_t b)
{
    return a < b ? a : (unsigned)b;
}

/* Places in the admission queue. */
static unsigned count_places(const struct pfdd_ingest *ingest)
{
    unsigned n =
        lower(pfdd_descriptor_limit_for_waiting(), ingest->budget->max / PLACE);
    return lower(n, PLACES_MAX);
}

static void on_listener_closed(void *user)
{
    struct listen_input *in = user;
    in->listener_closed = true;
    in->base.ingest->budget->inputs -=
        pfdd_admission_queue_memory(in->listener.admission_queue.n_max);
    finish_close(in);
}

static bool open_input(struct pfdd_input *input, char *err, size_t n_err)
{
    struct listen_input *in = (struct listen_input *)input;
    in->users.account.kind = PFDD_RESOURCE_ACCOUNT_INPUT;
    in->listener.user = in;
    in->listener.accept = on_accept;
    in->listener.waits = must_wait;
    in->listener.admission_queue.n_max = count_places(input->ingest);
    in->listener.n_waiting = &input->ingest->count->waiting;
    in->listener.closed = on_listener_closed;
    in->listener.refused = &input->ingest->count->refused;
    in->listener.out_of_fds = &input->ingest->count->out_of_fds;
    if (!pfdd_listener_open(&in->listener, input->ingest->loop,
                            &input->config->access.address,
                            &input->config->access, err, n_err))
        return false;
    /* Charged before connections come. */
    input->ingest->budget->inputs +=
        pfdd_admission_queue_memory(in->listener.admission_queue.n_max);
    pfdd_log(PFDD_INFO, "producers: %s", input->config->access.address.text);
    return true;
}

static void close_input(struct pfdd_input *input)
{
    struct listen_input *in = (struct listen_input *)input;
    pfdd_listener_accept_rest(&in->listener);
    pfdd_listener_close(&in->listener);
    for (struct pfdd_producer_connection *c = in->producer_connections; c;
         c = c->next)
        pfdd_producer_connection_finish(c);
}

static void abandon_input(struct pfdd_input *input)
{
    struct listen_input *in = (struct listen_input *)input;
    for (struct pfdd_producer_connection *c = in->producer_connections; c;
         c = c->next)
        pfdd_producer_connection_close(c);
}

/* ---- its keys ---- */

static const struct pfdd_key keys[] = {
    { .name = "idle_timeout",
      .kind = PFDD_KEY_TIME,
      .at = offsetof(struct pfdd_input_config, idle_ms),
      .min = 100,
      .max = 86400000,
      .initial = 60000 },
    { 0 },
};
static const struct pfdd_group group = { keys, NULL };
static const struct pfdd_part parts[] = {
    { &group, 0 },
    { &pfdd_listen_group, offsetof(struct pfdd_input_config, access) },
    { &pfdd_tls_group, offsetof(struct pfdd_input_config, access) },
    { &pfdd_uris_group, 0 },
    { &pfdd_options_group, 0 },
    { &pfdd_format_group, 0 },
    { &pfdd_settle_group, 0 },
    { 0 },
};

static void plan(const struct pfdd_block *block, FILE *out)
{
    const struct pfdd_input_config *config =
        (const struct pfdd_input_config *)block;
    fprintf(out, "producers connect to %s", config->access.address.text);
    pfdd_access_explain(&config->access, out);
    if (config->uris == PFDD_URIS_ALL)
        fputs(", and may name files as code objects", out);
}

const struct pfdd_input_class pfdd_input_listen = {
    .base = { .name = "listen",
              .size = sizeof(struct pfdd_input_config),
              .parts = parts,
              .plan = plan },
    .size = sizeof(struct listen_input),
    .open = open_input,
    .close = close_input,
    .abandon = abandon_input,
};
