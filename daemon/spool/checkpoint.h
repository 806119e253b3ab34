/* SPDX-License-Identifier: MIT */
/*
 * The file that says how far the queue (spool.h) has come: what each required
 * output has acknowledged, and how far into each source its lines reach.
 */
#ifndef PFDD_CHECKPOINT_H
#define PFDD_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "ring/source_offsets.h"

struct pfdd_checkpoint {
    uint64_t next_seq;
    json_t *acked; /* name -> sequence number; NULL: none */
    struct pfdd_source_offsets source_offsets;
};

void pfdd_checkpoint_deinit(struct pfdd_checkpoint *c);

/* What cannot be read is said, and left out. */
void pfdd_checkpoint_read(const char *dir, struct pfdd_checkpoint *ret);

/* The file's text, allocated; NULL: out of memory. */
char *pfdd_checkpoint_text(const struct pfdd_checkpoint *c);

/* In the place of the one before. False: that one is still there. */
bool pfdd_checkpoint_write(const char *dir, const char *text);

#endif
