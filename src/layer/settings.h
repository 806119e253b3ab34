/* SPDX-License-Identifier: MIT */
/*
 * Settings from the environment: PFD_LAYER, words of the form KEY=VALUE with
 * commas between them. Read once; all threads share them.
 */
#ifndef LAYER_SETTINGS_H
#define LAYER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SETTINGS_STRINGS_MAX = 16,
};

enum settings_modules {
    MODULES_PRINTING, /* modules that print, or that validation has changed */
    MODULES_ALL,
    MODULES_NONE,
};

/* Are buffers of debugPrintf emptied once they are taken, so that validation
 * finds nothing in them? */
enum settings_drain {
    DRAIN_NEVER,
    DRAIN_UNWANTED, /* unless the program has a messenger for it */
    DRAIN_ALWAYS,
};

struct settings {
    char *to;     /* a capture file; NULL: a socket. %p is the process' id, %n
                     the device's number */
    char *socket; /* NULL: the service's default */
    char
        *report; /* a file for the size that buffers need; NULL: it is logged */
    char *strings[SETTINGS_STRINGS_MAX]; /* [n_strings] files */
    size_t n_strings;
    enum settings_modules modules;
    enum settings_drain drain;
    bool takes_debugprintf;
    bool takes_gpuav;
    bool takes_named;
    bool is_quiet;
    bool is_copied_by_cpu; /* never by the device */
    bool shows_errors;     /* log validation's errors on standard error */
    unsigned wait_ms;      /* limit of the time that a slow reader may block the
                            program */
    size_t n_modules;      /* limit of bytes of modules that are kept for the
                            service */
    size_t n_buffer_max;   /* limit of bytes of a taken buffer */
};

/* Reads the settings on the first call; logs errors in them, and the list of
 * settings if it has `help`. */
const struct settings *settings_get(void);

#endif
