/* SPDX-License-Identifier: MIT */
#include "nats/nats_edge_acks.h"

#include <stdio.h>
#include <string.h>

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
    if (!pfdd_fetch_edge(line, p->edge, give, user))
        return false;
    unsigned at = (first + brought->next++ % PROBES) % PFDD_BROUGHT;
    brought->edges[at].term = term;
    brought->edges[at].partition = p->partition;
    snprintf(brought->edges[at].edge, PFDD_EDGE_NAME, "%s", p->edge);
    return true;
}
