/* SPDX-License-Identifier: MIT */
/*
 * The class of an input or an output. Each type has a file of its own with its
 * class: `type: WORD` is daemon/inputs/input_WORD.c with pfdd_input_WORD, or
 * daemon/outputs/output_WORD.c with pfdd_output_WORD, and WORD is in a list of
 * daemon/meson.build. There is no other place.
 *
 * The class lists the keys of its block. Reading, checking, comparing at a
 * reload, freeing and the sandbox's grants follow from their rows (key_lookup.h). A
 * reload keeps objects whose blocks are unchanged; it closes all others, and
 * opens the new ones.
 */
#ifndef PFDD_TYPE_CLASS_H
#define PFDD_TYPE_CLASS_H

#include <stdio.h>

#include "base/features.h"
#include "config/key_lookup.h"

struct pfdd_block;

struct pfdd_type_class {
    const char *name; /* the value of `type` */
    size_t size;      /* of the struct of a block (below) */
    const struct pfdd_part *parts;
    /* Writes half a sentence: the effect of the block. */
    void (*plan)(const struct pfdd_block *block, FILE *out);
    bool reads_processes; /* of others, which landlock forbids */
    /* The reason why an output must be required; NULL: it need not be. */
    const char *needs_required;
    const char *only_one; /* why not more than one; NULL: any number */
    /* Sets up the servers of a block's type for `printfdecoded nats-setup`, and
     * prints what it did. False: see err. NULL: there is nothing to set up. */
    bool (*set_up)(const struct pfdd_block *block, FILE *out, char *err,
                   size_t n_err);
    /* Prints what these servers have, for `printfdecoded nats-status`. Likewise. */
    bool (*status)(const struct pfdd_block *block, FILE *out, char *err,
                   size_t n_err);
    /* The FEATURE that this build lacks, so that only the name of the type
     * exists; NULL: the type is available. */
    const char *lacks;
    enum pfdd_feature feature; /* of `lacks` */
};

/* The values of an input or output; the class's own struct begins with it.
 * Immutable. */
struct pfdd_block {
    const struct pfdd_type_class *type_class;
    struct pfdd_place place; /* where it begins in the configuration */
};

/* From the lists of daemon/meson.build; NULL at the end. */
extern const struct pfdd_type_class *const pfdd_inputs[];
extern const struct pfdd_type_class *const pfdd_outputs[];

/* True: the same class, and all keys have equal values. */
bool pfdd_block_is_same(const struct pfdd_block *a, const struct pfdd_block *b);
void pfdd_block_free(struct pfdd_block *block);

#endif
