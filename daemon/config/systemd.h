/* SPDX-License-Identifier: MIT */
/*
 * Notifications to the service manager, and the descriptors that it passes.
 * Without libsystemd, or without a manager, nothing here has an effect.
 */
#ifndef PFDD_SYSTEMD_H
#define PFDD_SYSTEMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

/* Takes the passed sockets; once, at the start. */
void pfdd_systemd_init(void);

/* The socket that was passed for an address, or -1. */
int pfdd_systemd_socket(const struct pfdd_address *address);

/* Sends "READY=1" and the like. */
void pfdd_systemd_notify(const char *state);

/* Descriptors of buffers, named "buffer-N-memory", "-bell" and "-meta": the
 * manager keeps copies of them across a restart. */
bool pfdd_systemd_stores(void); /* false: it stores none */
void pfdd_systemd_store(const char *name, int fd);
void pfdd_systemd_unstore(const char *name);

/* Descriptors that an earlier process stored: the number of entry i; the
 * memory, bell and meta of a buffer (-1: missing), borrowed until they are
 * removed. */
bool pfdd_systemd_stored(size_t i, unsigned *number);
bool pfdd_systemd_parts(unsigned number, int ret[3]);
void pfdd_systemd_forget(void);

/* Half of the watchdog's timeout, ms; 0: there is no watchdog. */
uint64_t pfdd_systemd_watchdog_ms(void);

#endif
