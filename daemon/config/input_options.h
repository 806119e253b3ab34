/* SPDX-License-Identifier: MIT */
/*
 * Options that several inputs share, and the class of an input.
 */
#ifndef PFDD_INPUT_OPTIONS_H
#define PFDD_INPUT_OPTIONS_H

#include <printfdecode/printfdecode.h>

#include "config/access.h"
#include "config/type_class.h"

struct pfdd_input;

/* Producers that may name code objects by URIs. */
enum pfdd_uris {
    PFDD_URIS_OWN, /* those of this process's user */
    PFDD_URIS_ALL,
    PFDD_URIS_NONE,
};

/* A class's own struct begins with it; members for which the class has no keys
 * are 0. */
struct pfdd_input_config {
    struct pfdd_block block;
    char *format;               /* NULL: detected from the strings */
    char *describe;             /* description of its rings, or NULL */
    struct pfd_options options; /* for streams that do not set them */
    uint64_t settle_ms;
    uint64_t idle_ms; /* timeout of a silent producer without a buffer */
    struct pfdd_access access;
    unsigned uris; /* enum pfdd_uris */
};

struct pfdd_input_class {
    struct pfdd_type_class base;
    size_t size; /* of the object, which begins with struct pfdd_input */
    /* False: see err; nothing was opened. */
    bool (*open)(struct pfdd_input *input, char *err, size_t n_err);
    /* Asynchronous (ingest.h). */
    void (*close)(struct pfdd_input *input);
    /* Ends it at once, after close. NULL: close waits for no peer. */
    void (*abandon)(struct pfdd_input *input);
    /* True: the input gives this name to a source of its own, so no producer
     * may use it (reserved_names.h). NULL: it gives no names. */
    bool (*owns)(const struct pfdd_input_config *config, const char *name);
    /* As of an output. */
    bool (*trouble)(const struct pfdd_input *input, char *ret, size_t n);
    /* Writes metrics of its own; NULL: it has none. Returns how many bytes these
     * are at most, also if out is NULL. */
    size_t (*metrics)(const struct pfdd_input *input, FILE *out);
};

const struct pfdd_input_class *pfdd_input_class_of(
    const struct pfdd_input_config *config);

/* The format that its configuration says, static; NULL: none. */
const char *pfdd_input_format(const struct pfdd_input_config *config);

/* Of struct pfdd_input_config. */
extern const struct pfdd_group pfdd_options_group; /* options of formats */
extern const struct pfdd_group pfdd_format_group;
extern const struct pfdd_group pfdd_settle_group;
extern const struct pfdd_group pfdd_uris_group; /* rules for producers' URIs */

#endif
