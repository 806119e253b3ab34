/* SPDX-License-Identifier: MIT */
/*
 * What the environment asks of the layer: PFD_LAYER, words of the form
 * KEY=VALUE with commas between them. Read once, and the same for all threads.
 */
#ifndef LAYER_SETTINGS_H
#define LAYER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SETTINGS_STRINGS_MAX = 16,
};

enum settings_modules {
    MODULES_PRINTING, /* those that print, or that validation has changed */
    MODULES_ALL,
    MODULES_NONE,
};

struct settings {
    char *to;     /* a capture file; NULL: a socket. %p is the process' number,
                     %n the device's */
    char *socket; /* NULL: the service's own */
    char *strings[SETTINGS_STRINGS_MAX]; /* [n_strings] files */
    size_t n_strings;
    enum settings_modules modules;
    bool takes_debugprintf;
    bool takes_gpuav;
    bool takes_named;
    bool is_quiet;
    bool shows_errors;   /* of validation, on standard error */
    unsigned wait_ms;    /* that a reader who is slow may hold the program up */
    size_t n_modules;    /* bytes of modules that are kept for the service */
    size_t n_buffer_max; /* bytes of a buffer that is taken */
};

/* Reads them on the first call, and says what is wrong with them, or what
 * there is when `help` stands among them. */
const struct settings *settings_get(void);

#endif
