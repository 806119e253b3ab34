/* SPDX-License-Identifier: MIT */
/*
 * What an input or an output is. Each type has a file of its own, with its
 * class: `type: WORD` is daemon/inputs/input_WORD.c with pfdd_input_WORD, or
 * daemon/outputs/output_WORD.c with pfdd_output_WORD, and WORD stands in the
 * list of daemon/meson.build. There is no other place.
 *
 * The class says which keys its block takes: reading, checking, comparing at a
 * reload, freeing and the sandbox's grants follow from their rows (keys.h).
 * At a reload what says the same goes on; what says anything else is closed,
 * and opened as it is now.
 */
#ifndef PFDD_TYPE_CLASS_H
#define PFDD_TYPE_CLASS_H

#include <stdio.h>

#include "base/features.h"
#include "config/keys.h"

struct pfdd_block;

struct pfdd_type_class {
    const char *name; /* the word for `type` */
    size_t size;      /* of what is read of a block (below) */
    const struct pfdd_part *parts;
    /* Says in half a sentence what it would do. */
    void (*plan)(const struct pfdd_block *block, FILE *out);
    bool reads_processes; /* the memory of others: landlock forbids it */
    /* Why an output has to be required, NULL: none has. */
    const char *needs_required;
    const char *only_one; /* why there cannot be two; NULL: there can */
    /* Only its name stands in this build, which has no FEATURE; NULL: it is
     * there. */
    const char *lacks;
    enum pfdd_feature feature; /* of what it lacks */
};

/* What was read of one input or output; the class' own struct begins with it.
 * Immutable. */
struct pfdd_block {
    const struct pfdd_type_class *type_class;
};

/* The lists of daemon/meson.build; NULL at the end. */
extern const struct pfdd_type_class *const pfdd_inputs[];
extern const struct pfdd_type_class *const pfdd_outputs[];

/* The same class, and all keys say the same. */
bool pfdd_block_is_same(const struct pfdd_block *a, const struct pfdd_block *b);
void pfdd_block_free(struct pfdd_block *block);

#endif
