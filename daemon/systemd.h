/* SPDX-License-Identifier: MIT */
/*
 * What the service manager is told and what it hands over. Without libsystemd,
 * or without a manager, all of it does nothing.
 */
#ifndef PFDD_SYSTEMD_H
#define PFDD_SYSTEMD_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

/* Takes the sockets that were handed over; once, at the start. */
void pfdd_systemd_init(void);

/* The socket that was handed over for an address, or -1. */
int pfdd_systemd_socket(const struct pfdd_address *address);

/* "READY=1" and the like. */
void pfdd_systemd_notify(const char *state);

/* Half of the time within which a sign of life is wanted, ms; 0: none is. */
uint64_t pfdd_systemd_watchdog_ms(void);

#endif
