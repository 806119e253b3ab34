/* SPDX-License-Identifier: MIT */
/*
 * Random format strings and LLPC buffers of them, sound or damaged, the same
 * for the same seed; and what a decoder says about one, as text.
 */
#ifndef DUMP_H
#define DUMP_H

#include <printfdecode/convert.h>

#include "build.h"

struct dump {
    uint64_t rng;
    struct pfd_strings *strings;
    uint64_t ids[24];     /* of the strings, in load order */
    uint32_t n_words[24]; /* of their payloads */
    struct build bytes;
};

/* splitmix64: the next number, or one below n. */
uint64_t dump_random(uint64_t *state);
uint32_t dump_below(uint64_t *state, uint32_t n);

/* A buffer of n_entries entries; strings of all kinds. */
void dump_init(struct dump *dump, uint64_t seed, size_t n_entries);
void dump_deinit(struct dump *dump);

/* Changes bytes, cuts, pads, or changes the header. */
void dump_damage(struct dump *dump);

/* Adds a string by hand; widths: '4' and '8'. Ends the test when refused. */
void dump_add_string(struct pfd_strings *strings, uint64_t id, const char *text,
                     const char *widths);

/* One of n dwords, 64 at most, each printed by this conversion, such as "%x ". */
void dump_add_words(struct pfd_strings *strings, uint64_t id,
                    const char *conversion, size_t n);

/* An entry, and the buffer's header in front (used: dwords). */
void dump_entry(struct build *b, uint64_t id, uint32_t size,
                const uint32_t *payload, size_t n_payload);
void dump_header(struct build *b, uint64_t used);

/* Adds what one item says: everything that is public about it. */
void dump_describe(struct build *out, struct pfd_item *item);
void dump_describe_summary(struct build *out,
                           const struct pfd_summary *summary);

#endif
