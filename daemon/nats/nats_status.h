/* SPDX-License-Identifier: MIT */
/*
 * What the servers have, for `printfdecoded nats-status`: streams, workers with
 * their partitions, and how far each edge is written. Reads only. Waits for the
 * network.
 */
#ifndef PFDD_NATS_STATUS_H
#define PFDD_NATS_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "config/nats_options.h"

/* Prints it. inbox: of nats_connection.h, that of the user who asks. False: there
 * is no connection, or a stream cannot be read; err [n_err] says why. */
bool pfdd_nats_status(const struct pfdd_nats_options *nats_options,
                      const char *inbox, FILE *out, char *err, size_t n_err);

#endif
