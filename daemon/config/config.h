/* SPDX-License-Identifier: MIT */
/*
 * Reads the configuration from YAML into structs. Each error has a line and a
 * column, and all of them are reported, not only the first. An unknown key is
 * an error. Immutable once read; objects hold a reference to the configuration
 * that they were opened with.
 *
 * To add a key, add a member, a row of its group (key_lookup.h), and a paragraph in
 * printfdecoded.8. Keys of a single input or output are in its own file.
 */
#ifndef PFDD_CONFIG_H
#define PFDD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/input_options.h"
#include "config/output_options.h"

struct pfdd_config {
    unsigned refs;
    unsigned log_level; /* enum pfdd_level */
    char *state_dir;
    uint64_t ring;       /* bytes */
    uint64_t memory_max; /* bytes */
    uint64_t queue_max;  /* bytes on disk */
    uint64_t workers;    /* threads; 0: one less than there are processors */
    uint64_t drain_ms;
    bool sandbox;
    struct pfdd_names code_objects;
    struct pfdd_block **inputs; /* [n_inputs], struct pfdd_input_config */
    size_t n_inputs;
    struct pfdd_block **outputs; /* [n_outputs], struct pfdd_output_config */
    size_t n_outputs;
};

/* Of struct pfdd_config, without its blocks. */
extern const struct pfdd_part pfdd_config_parts[];

/* Reads a file, or text [n] under a name. NULL: errors were reported. */
struct pfdd_config *pfdd_config_read(const char *path, pfdd_config_tell_fn tell,
                                     void *user);
struct pfdd_config *pfdd_config_read_text(const char *name, const char *text,
                                          size_t n, pfdd_config_tell_fn tell,
                                          void *user);
/* One more reference; one less, which frees it at last (NULL is allowed). */
struct pfdd_config *pfdd_config_ref(struct pfdd_config *config);
void pfdd_config_unref(struct pfdd_config *config);

const struct pfdd_input_config *pfdd_config_input(
    const struct pfdd_config *config, size_t i);
const struct pfdd_output_config *pfdd_config_output(
    const struct pfdd_config *config, size_t i);

/* Of all inputs, and behind them all outputs, block i. */
struct pfdd_block *pfdd_config_block(const struct pfdd_config *config,
                                     size_t i);

/* True: some output is required. */
bool pfdd_config_has_required(const struct pfdd_config *config);

/* True: an input reads the memory of processes. */
bool pfdd_config_reads_processes(const struct pfdd_config *config);

/* Calls for each path in the configuration (key_lookup.h). */
bool pfdd_config_paths(const struct pfdd_config *config, pfdd_path_fn call,
                       void *user);

#endif
