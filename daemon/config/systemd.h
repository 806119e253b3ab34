/* SPDX-License-Identifier: MIT */
/*
 * What the service manager is told and what it hands over. Without libsystemd,
 * or without a manager, all of it does nothing.
 */
#ifndef PFDD_SYSTEMD_H
#define PFDD_SYSTEMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

/* Takes the sockets that were handed over; once, at the start. */
void pfdd_systemd_init(void);

/* The socket that was handed over for an address, or -1. */
int pfdd_systemd_socket(const struct pfdd_address *address);

/* "READY=1" and the like. */
void pfdd_systemd_notify(const char *state);

/* Descriptors of buffers, called "buffer-N-memory", "-bell" and "-meta": the
 * manager keeps a copy over a restart. */
bool pfdd_systemd_stores(void); /* false: it keeps nothing */
void pfdd_systemd_store(const char *name, int fd);
void pfdd_systemd_unstore(const char *name);

/* What an earlier process left: the number of descriptor i, of a buffer's
 * memory, bell and meta (-1: not there), borrowed until they are forgotten. */
bool pfdd_systemd_stored(size_t i, unsigned *number);
bool pfdd_systemd_parts(unsigned number, int ret[3]);
void pfdd_systemd_forget(void);

/* Half of the time within which a sign of life is wanted, ms; 0: none is. */
uint64_t pfdd_systemd_watchdog_ms(void);

#endif
