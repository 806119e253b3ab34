/* SPDX-License-Identifier: MIT */
#include "outputs/http_pages.h"

#include <stdio.h>
#include <string.h>

#include "outputs/excerpt.h"
#include "outputs/http_connection.h"
#include "web/site.h"

static void refuse_metrics(struct pfdd_http_connection *c)
{
    c->wish = PFDD_HTTP_NO_METRICS;
    pfdd_http_connection_refuse(c, c->is_head, 503, "no memory for it now");
}

static void send_metrics(struct pfdd_http_connection *c, struct pfdd_metrics *m,
                         const char *type)
{
    c->wish = PFDD_HTTP_NO_METRICS;
    m->refs++;
    c->metrics = m;
    pfdd_http_connection_send_body(c, c->is_head, type, PFDD_HTTP_NO_PAGE,
                                   m->text, m->n);
}

static void make_metrics(struct pfdd_http_output *o, bool is_state);

/* Sends the page to all clients that asked before it was begun. */
static void metrics_done(struct pfdd_job *job)
{
    struct pfdd_metrics *m = PFDD_MEMBER_OF(struct pfdd_metrics, job, job);
    struct pfdd_accepted_client *hold = m->user;
    struct pfdd_http_output *o =
        pfdd_http_output_of((struct pfdd_http_connection *)hold);
    struct pfdd_accepted_client *next = NULL;
    o->n_metrics -= m->account.n_bytes;
    pfdd_metrics_finish(m);
    o->n_metrics += m->account.n_bytes;
    o->is_making[m->is_state] = false;
    bool is_state = m->is_state;
    for (struct pfdd_accepted_client *v = o->accepted_clients.first; v;
         v = next) {
        struct pfdd_http_connection *c = (struct pfdd_http_connection *)v;
        next = v->next;
        if (v->closing || c->wish != PFDD_HTTP_MAKING ||
            c->wants_state != is_state)
            continue;
        if (m->text) {
            send_metrics(c, m,
                         is_state ? "application/json"
                                  : "text/plain; version=0.0.4; "
                                    "charset=utf-8");
        } else {
            refuse_metrics(c);
        }
    }
    pfdd_http_connection_unref_metrics(o, m);
    make_metrics(o, is_state);
    pfdd_accepted_client_let_go(hold);
}

/* Starts a page for all waiting clients, if there are any and none is being
 * made. */
static void make_metrics(struct pfdd_http_output *o, bool is_state)
{
    struct pfdd_metrics *m = NULL;
    struct pfdd_accepted_client *next = NULL;
    if (o->is_making[is_state])
        return;
    for (struct pfdd_accepted_client *v = o->accepted_clients.first; v && !m;
         v = next) {
        struct pfdd_http_connection *c = (struct pfdd_http_connection *)v;
        next = v->next;
        if (v->closing || c->wish != PFDD_HTTP_NEXT ||
            c->wants_state != is_state)
            continue;
        m = pfdd_metrics_new(o->base.delivery, &v->limited_peer.key, is_state);
        if (!m) {
            refuse_metrics(c);
            continue;
        }
        m->user = v;
        pfdd_accepted_client_hold(v);
    }
    if (!m)
        return;
    for (struct pfdd_accepted_client *v = o->accepted_clients.first; v;
         v = v->next) {
        struct pfdd_http_connection *c = (struct pfdd_http_connection *)v;
        if (c->wish == PFDD_HTTP_NEXT && c->wants_state == is_state)
            c->wish = PFDD_HTTP_MAKING;
    }
    o->is_making[is_state] = true;
    o->n_metrics += m->account.n_bytes;
    m->job.done = metrics_done;
    pfdd_pool_submit(o->base.delivery->thread_pools->choosers, &m->job);
}

static void await_metrics(struct pfdd_http_connection *c,
                          const struct pfdd_http_request *q, bool is_state)
{
    c->is_head = q->is_head;
    c->wants_state = is_state;
    c->wish = PFDD_HTTP_NEXT;
    c->state = PFDD_HTTP_WAITING;
    c->base.limited_peer.is_silent = false;
    pfdd_http_connection_watch(c, 0);
    make_metrics(pfdd_http_output_of(c), is_state);
}

void pfdd_http_page_metrics(struct pfdd_http_connection *c,
                            const struct pfdd_http_request *q)
{
    await_metrics(c, q, false);
}

void pfdd_http_page_state(struct pfdd_http_connection *c,
                          const struct pfdd_http_request *q)
{
    await_metrics(c, q, true);
}

void pfdd_http_page_health(struct pfdd_http_connection *c,
                           const struct pfdd_http_request *q)
{
    pfdd_http_connection_send_text(c, q->is_head, 200, "ok\n");
}

void pfdd_http_page_readiness(struct pfdd_http_connection *c,
                              const struct pfdd_http_request *q)
{
    char why[PFDD_TROUBLE];
    char text[sizeof why + 30];
    bool ready = pfdd_is_ready_or(pfdd_http_output_of(c)->base.delivery, why,
                                  sizeof why);
    snprintf(text, sizeof text, "not ready: %s\n", why);
    pfdd_http_connection_send_text(c, q->is_head, ready ? 200 : 503,
                                   ready ? "ready\n" : text);
}

/* Its text is the client's from now on: what it was made in is for others. */
static void send_excerpt(struct pfdd_http_connection *c, struct pfdd_excerpt *e)
{
    struct pfdd_http_output *o = pfdd_http_output_of(c);
    struct pfdd_metrics *m =
        e->text ? pfdd_metrics_of(o->base.delivery, &c->base.limited_peer.key,
                                  e->text, e->n)
                : NULL;
    c->is_head = e->is_head;
    if (!m) {
        refuse_metrics(c);
        return;
    }
    e->text = NULL;
    o->n_metrics += m->account.n_bytes;
    send_metrics(c, m, "application/json");
    pfdd_http_connection_unref_metrics(o, m);
}

static void excerpt_done(struct pfdd_excerpt *e)
{
    struct pfdd_http_connection *c = e->user;
    if (!c->base.closing)
        send_excerpt(c, e);
    pfdd_excerpt_free(e);
    pfdd_accepted_client_let_go(&c->base);
}

/* Stops reading the connection until the excerpt is done. */
void pfdd_http_page_excerpt(struct pfdd_http_connection *c,
                            const struct pfdd_http_request *q)
{
    char err[160];
    unsigned status =
        pfdd_excerpt_ask(pfdd_http_output_of(c)->base.delivery->render_cache, q,
                         excerpt_done, c, err, sizeof err);
    if (status) {
        pfdd_http_connection_refuse(c, q->is_head, status, err);
        return;
    }
    pfdd_accepted_client_hold(&c->base);
    c->state = PFDD_HTTP_WAITING;
    c->base.limited_peer.is_silent = false;
    pfdd_http_connection_watch(c, 0);
}

void pfdd_http_page_site(struct pfdd_http_connection *c,
                         const struct pfdd_http_request *q)
{
    const struct pfdd_site_file *f = pfdd_site_find(q->path);
    if (!f) {
        pfdd_http_connection_send_text(
            c, q->is_head, 404,
            "there are /, /state, /excerpt, /metrics, /healthz, /readyz, "
            "/events and /lines\n");
        return;
    }
    pfdd_http_connection_send_body(c, q->is_head, f->type, pfdd_site_policy,
                                   (const char *)f->bytes, f->n);
}
