/* SPDX-License-Identifier: MIT */
#include "nats/nats_fetch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool get_number(const struct pfd_stored_message *message,
                       const char *name, uint64_t *ret)
{
    char text[24];
    char *end = NULL;
    if (!pfd_stored_message_header(message, name, text, sizeof text) ||
        *text < '0' || *text > '9')
        return false;
    *ret = strtoull(text, &end, 10);
    return !*end && *ret <= PFDD_NATS_MAX;
}

/* Gets n_ret - 1 hexadecimal digits. False: malformed; *ret is empty. */
static bool get_word(const struct pfd_stored_message *message, const char *name,
                     char *ret, size_t n_ret)
{
    bool ok = pfd_stored_message_header(message, name, ret, n_ret) &&
              strspn(ret, "0123456789abcdef") == n_ret - 1;
    if (!ok)
        *ret = '\0';
    return ok;
}

/* The host in a subject of GPULOG. */
static void get_host(const char *subject, char ret[PFDD_HOST_TOKEN])
{
    static const char prefix[] = "gpulog.v1.00.";
    const char *at = subject ? subject : "";
    at += strlen(at) > sizeof prefix ? sizeof prefix - 1 : strlen(at);
    snprintf(ret, PFDD_HOST_TOKEN, "%.*s", (int)strcspn(at, "."), at);
}

struct pfdd_worker_message *pfdd_fetch_entries(
    struct pfd_stored_message *message)
{
    struct pfdd_worker_message *p = calloc(1, sizeof *p);
    bool ok = p && message->n > 0 &&
              get_word(message, PFDD_HEADER_EDGE, p->edge, sizeof p->edge) &&
              get_number(message, PFDD_HEADER_FIRST, &p->first) &&
              get_number(message, PFDD_HEADER_LAST, &p->last) &&
              get_number(message, PFDD_HEADER_PREVIOUS, &p->previous) &&
              get_number(message, PFDD_HEADER_ACKED, &p->acked) &&
              get_number(message, PFDD_HEADER_EPOCH, &p->epoch) &&
              p->previous < p->first && p->first <= p->last;
    if (!ok) {
        pfdd_worker_message_free(p);
        return NULL;
    }
    if (!get_number(message, PFDD_HEADER_QUEUED, &p->queued) ||
        p->queued < p->last)
        p->queued = p->last;
    get_number(message, PFDD_HEADER_WINDOW, &p->window);
    get_word(message, PFDD_HEADER_CODE, p->code, sizeof p->code);
    get_word(message, PFDD_HEADER_PLACE, p->place, sizeof p->place);
    get_word(message, PFDD_HEADER_STATE, p->state, sizeof p->state);
    get_word(message, PFDD_HEADER_RUN, p->run, sizeof p->run);
    get_host(message->subject, p->host);
    p->number = message->number;
    p->bytes = message->bytes;
    p->n = message->n;
    message->bytes = NULL;
    message->n = 0;
    return p;
}

struct pfdd_worker_message *pfdd_fetch_ack(
    const struct pfd_stored_message *message)
{
    static const char prefix[] = "gpuack.v1.00.";
    const char *subject = message->subject;
    size_t n = strlen(subject);
    const char *edge = subject + sizeof prefix - 1;
    struct pfdd_nats_ack ack;
    struct pfdd_worker_message *p = NULL;
    if (n == sizeof prefix - 1 + PFDD_EDGE_NAME - 1 &&
        strspn(edge, "0123456789abcdef") == PFDD_EDGE_NAME - 1 &&
        message->n < INT_MAX &&
        pfdd_ack_get(message->bytes, (int)message->n, &ack))
        p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->kind = PFDD_WORKER_MESSAGE_ACKED;
    snprintf(p->edge, sizeof p->edge, "%s", edge);
    p->acked = ack.acked;
    return p;
}

/* Fetches the acknowledgement of an edge and hands it over with ownership, if
 * there is one. False: try again later. */
static bool fetch_edge(struct pfdd_nats *line, const char *edge,
                       void (*give)(void *user,
                                    struct pfdd_worker_message *worker_message),
                       void *user)
{
    char subject[PFDD_SUBJECT];
    struct pfd_stored_message message;
    pfdd_ack_subject(edge, subject);
    natsStatus s =
        pfd_stored_message_last(line->nc, PFDD_ACK_STREAM, subject, &message);
    struct pfdd_worker_message *p =
        s == NATS_OK ? pfdd_fetch_ack(&message) : NULL;
    if (p)
        give(user, p);
    pfd_stored_message_deinit(&message);
    return s == NATS_OK || s == NATS_NOT_FOUND;
}

enum {
    PROBES = 8, /* places for each edge */
};

bool pfdd_nats_edge_acks_bring(
    struct pfdd_nats_edge_acks *brought, struct pfdd_nats *line,
    const struct pfdd_worker_message *p, unsigned term,
    void (*give)(void *user, struct pfdd_worker_message *worker_message),
    void *user)
{
    unsigned first = pfdd_edge_hash(p->edge);
    for (unsigned i = 0; i < PROBES; i++) {
        unsigned at = (first + i) % PFDD_BROUGHT;
        if (brought->edges[at].term == term &&
            brought->edges[at].partition == p->partition &&
            !strcmp(brought->edges[at].edge, p->edge))
            return true;
    }
    if (!fetch_edge(line, p->edge, give, user))
        return false;
    unsigned at = (first + brought->next++ % PROBES) % PFDD_BROUGHT;
    brought->edges[at].term = term;
    brought->edges[at].partition = p->partition;
    snprintf(brought->edges[at].edge, PFDD_EDGE_NAME, "%s", p->edge);
    return true;
}
