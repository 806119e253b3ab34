/* SPDX-License-Identifier: MIT */
/*
 * Chunks of the ring, made of the entries of a real buffer as often as they are
 * wanted, and of findings.
 */
#ifndef MADE_H
#define MADE_H

#include <stddef.h>
#include <stdint.h>

#include <printfdecode/capture.h>

#include "ring/chunk.h"

struct made {
    struct pfdd_binding *binding;
    struct pfdd_buffer *buffer;
    struct pfd_decoder *decoder;
    struct pfd_chunk_writer *writer;
    struct pfdd_contents contents;
    char *bytes; /* of the buffer */
    size_t n;
    uint64_t index; /* of the next entry */
};

/* A code object and a dump, by their paths; the source's name. False: they
 * cannot be used. */
bool made_init(struct made *m, const char *elf, const char *dump,
               const char *source);
/* Of these strings and a dump of their entries, both of which it takes over. */
bool made_of(struct made *m, struct pfd_strings *set, char *dump, size_t n,
             const char *source);
/* What it made may be there still. */
void made_deinit(struct made *m);

/* The next n entries. */
void made_entries(struct made *m, unsigned n);
/* index: PFD_NO_INDEX: of the buffer. */
void made_finding(struct made *m, enum pfd_finding_kind kind, uint64_t index,
                  const char *text);
void made_gap(struct made *m, uint64_t missed, const char *reason);

/* The chunk of what was made since the last one. */
struct pfdd_chunk *made_chunk(struct made *m);

#endif
