/* SPDX-License-Identifier: MIT */
/* Input `connect`: connects to a socket that sends capture frames. When the
 * connection is lost, connects again, less and less often. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/name.h"
#include "ingest/ingest.h"
#include "ingest/producer_connection.h"
#include "net/outbound.h"

struct connect_input {
    struct pfdd_input base;
    struct pfdd_outbound outbound;
    struct pfdd_producer_connection *producer_connection;
    struct pfdd_resource_account account; /* of the peer, as a user */
    bool outbound_closed;
};

static void finish_close(struct connect_input *in)
{
    if (in->base.closing && in->outbound_closed && !in->producer_connection)
        pfdd_input_closed(&in->base);
}

static void on_closed(struct pfdd_producer_connection *c)
{
    struct connect_input *in = c->user;
    free(c);
    in->producer_connection = NULL;
    if (in->base.closing) {
        finish_close(in);
    } else {
        pfdd_outbound_lost(&in->outbound, "the peer has gone");
    }
}

static void on_up(void *user, int fd)
{
    struct connect_input *in = user;
    const struct pfdd_input_config *config = in->base.config;
    struct pfdd_producer_connection *c = calloc(1, sizeof *c);
    char name[PFDD_NAME_ROOM];
    const char *text = config->access.address.text;
    pfdd_name_put(name, text, strlen(text));
    if (c) {
        c->closed = on_closed;
        c->user = in;
        c->account.of = &in->account;
    }
    if (c && pfdd_producer_connection_open(c, &in->base, fd, name)) {
        in->producer_connection = c;
        return;
    }
    if (!c)
        close(fd);
    free(c);
    pfdd_outbound_lost(&in->outbound, "out of memory");
}

static void on_outbound_closed(void *user)
{
    struct connect_input *in = user;
    in->outbound_closed = true;
    finish_close(in);
}

static bool open_input(struct pfdd_input *input, char *err, size_t n_err)
{
    struct connect_input *in = (struct connect_input *)input;
    in->account.kind = PFDD_RESOURCE_ACCOUNT_USER;
    in->outbound = (struct pfdd_outbound){ .loop = input->ingest->loop,
                                           .access = &input->config->access,
                                           .up = on_up,
                                           .closed = on_outbound_closed,
                                           .user = in };
    return pfdd_outbound_open(&in->outbound, err, n_err);
}

static void close_input(struct pfdd_input *input)
{
    struct connect_input *in = (struct connect_input *)input;
    pfdd_outbound_close(&in->outbound);
    if (in->producer_connection)
        pfdd_producer_connection_finish(in->producer_connection);
}

static void abandon_input(struct pfdd_input *input)
{
    struct connect_input *in = (struct connect_input *)input;
    if (in->producer_connection)
        pfdd_producer_connection_close(in->producer_connection);
}

/* ---- its keys ---- */

static const struct pfdd_part parts[] = {
    { &pfdd_connect_group, offsetof(struct pfdd_input_config, access) },
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
    fprintf(out, "captures come from %s%s", config->access.address.text,
            config->access.tls.certificate ? ", with TLS" : "");
}

const struct pfdd_input_class pfdd_input_connect = {
    .base = { .name = "connect",
              .size = sizeof(struct pfdd_input_config),
              .parts = parts,
              .plan = plan },
    .size = sizeof(struct connect_input),
    .open = open_input,
    .close = close_input,
    .abandon = abandon_input,
};
