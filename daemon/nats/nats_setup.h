/* SPDX-License-Identifier: MIT */
/*
 * Makes missing streams at the NATS servers of a configuration, and changes
 * others to it. Repeating it changes nothing. Waits for the network.
 */
#ifndef PFDD_NATS_SETUP_H
#define PFDD_NATS_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct pfdd_nats_options;

/* Prints a line for each stream. False: err [n_err] says why. */
bool pfdd_nats_setup(const struct pfdd_nats_options *nats_options, FILE *out,
                     char *err, size_t n_err);

#endif
