/* SPDX-License-Identifier: MIT */
/*
 * The spool's state file (spool.h): the last item that each required output has
 * acknowledged, and the offset in each source up to which entries are on disk.
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

/* Logs an unreadable file; *ret is then empty. */
void pfdd_checkpoint_read(const char *dir, struct pfdd_checkpoint *ret);

/* The last item that the output has acknowledged; 0: none. */
uint64_t pfdd_checkpoint_acked(const struct pfdd_checkpoint *c,
                               const char *name);
void pfdd_checkpoint_set_acked(struct pfdd_checkpoint *c, const char *name,
                               uint64_t acked);

/* The file's text, allocated; NULL: out of memory. */
char *pfdd_checkpoint_text(const struct pfdd_checkpoint *c);

/* Replaces the previous file. False: the previous file is still there. */
bool pfdd_checkpoint_write(const char *dir, const char *text);

#endif
