/* SPDX-License-Identifier: MIT */
/*
 * Inputs as the configuration has them: the class, and the keys that several
 * have.
 */
#ifndef PFDD_INPUT_OPTIONS_H
#define PFDD_INPUT_OPTIONS_H

#include <printfdecode/printfdecode.h>

#include "config/access.h"
#include "config/type_class.h"

struct pfdd_input;

/* Producers whose code objects may be named by URIs. */
enum pfdd_uris {
    PFDD_URIS_OWN, /* those of this process' user */
    PFDD_URIS_ALL,
    PFDD_URIS_NONE,
};

/* A class' own struct begins with it; what the class has no keys for is 0. */
struct pfdd_input_config {
    struct pfdd_block block;
    char *format;               /* NULL: chosen by the strings */
    struct pfd_options options; /* of streams: what they do not say */
    uint64_t settle_ms;
    uint64_t idle_ms; /* of a producer without a buffer that says nothing */
    struct pfdd_access access;
    unsigned uris; /* enum pfdd_uris */
};

struct pfdd_input_class {
    struct pfdd_type_class base;
    size_t size; /* of the object, which begins with struct pfdd_input */
    /* False: err says why; nothing was opened. */
    bool (*open)(struct pfdd_input *input, char *err, size_t n_err);
    /* It may take a while (daemon.h). */
    void (*close)(struct pfdd_input *input);
    /* Is this a name that it gives to what it watches? Nobody else may give it
     * then (reserved_names.h). NULL: it gives none. */
    bool (*owns)(const struct pfdd_input_config *config, const char *name);
};

const struct pfdd_input_class *pfdd_input_class_of(
    const struct pfdd_input_config *config);

/* Of struct pfdd_input_config. */
extern const struct pfdd_group pfdd_options_group; /* of formats */
extern const struct pfdd_group pfdd_format_group;
extern const struct pfdd_group pfdd_settle_group;
extern const struct pfdd_group pfdd_uris_group; /* of the other end */

#endif
