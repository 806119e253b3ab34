/* SPDX-License-Identifier: MIT */
/*
 * The pages of an output `http`: each answers one request. /metrics and /state
 * are made by a worker, one for all clients that asked before it began; so is
 * an excerpt. Loop thread only.
 */
#ifndef PFDD_HTTP_PAGES_H
#define PFDD_HTTP_PAGES_H

struct pfdd_http_connection;
struct pfdd_http_request;

void pfdd_http_page_metrics(struct pfdd_http_connection *c,
                            const struct pfdd_http_request *q);
void pfdd_http_page_state(struct pfdd_http_connection *c,
                          const struct pfdd_http_request *q);
void pfdd_http_page_health(struct pfdd_http_connection *c,
                           const struct pfdd_http_request *q);
void pfdd_http_page_readiness(struct pfdd_http_connection *c,
                              const struct pfdd_http_request *q);
void pfdd_http_page_excerpt(struct pfdd_http_connection *c,
                            const struct pfdd_http_request *q);
/* A file of the live page, or 404. */
void pfdd_http_page_site(struct pfdd_http_connection *c,
                         const struct pfdd_http_request *q);

#endif
