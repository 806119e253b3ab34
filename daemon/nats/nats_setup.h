/* SPDX-License-Identifier: MIT */
/*
 * Has the streams of a configuration made at its servers of NATS, or changed
 * to what it says; done again, it changes nothing. Waits for the network.
 */
#ifndef PFDD_NATS_SETUP_H
#define PFDD_NATS_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct pfdd_nats_options;

/* Tells of each stream. False: err [n] says why not. */
bool pfdd_nats_setup(const struct pfdd_nats_options *nats_options, FILE *out,
                     char *err, size_t n_err);

#endif
