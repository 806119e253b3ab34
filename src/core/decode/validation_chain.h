/* SPDX-License-Identifier: MIT */
/*
 * Buffers of the Vulkan validation layer, as far as they are alike: a count of
 * the dwords that shaders wanted to write, then records that begin with their
 * size in dwords. What is lost, skipped or left over is accounted here, so that
 * every byte that the count claims is in an entry, skipped or lost. The count
 * is a word like others, and can be wrong. Part of the formats' floor; knows no
 * record.
 */
#ifndef PFD_VALIDATION_CHAIN_H
#define PFD_VALIDATION_CHAIN_H

#include "core/decode/format.h"

enum {
    PFD_VALIDATION_CHAIN_DWORD = 4
};

/* Why no record is where one should be. */
enum pfd_validation_chain_break {
    PFD_VALIDATION_CHAIN_ZERO,     /* a size of 0 */
    PFD_VALIDATION_CHAIN_BAD_SIZE, /* that no record has */
    PFD_VALIDATION_CHAIN_PAST_END,
    PFD_VALIDATION_CHAIN_CUT,    /* the buffer ends in it */
    PFD_VALIDATION_CHAIN_HIDING, /* other records are in it */
    PFD_VALIDATION_CHAIN_STRAY, /* it makes no sense, and nothing is behind it */
};

/* Part of a format's state. */
struct pfd_validation_chain {
    uint32_t data;     /* dwords before the first record */
    uint32_t wanted;   /* dwords of records, as the count has it */
    uint32_t header;   /* dwords that every record has */
    const char *flags; /* what the word before the count is, or NULL */
    bool is_printf;    /* the layer's settings say how large it is */
    const char *sizes; /* that records have, in words; NULL: header or more */
    /* Dwords of the record beyond doubt at `at`, of which the header is in
     * view; 0: there is none. */
    uint32_t (*record_at)(struct pfd_walk *walk, uint64_t at);

    bool has_ended;
    bool is_lost; /* pfd_validation_chain_find() is next */
    enum pfd_validation_chain_break why;
    uint32_t bad;         /* the size word that led nowhere */
    uint64_t from;        /* where the way was lost */
    uint64_t next;        /* next place to try */
    bool saw_data;        /* on the way there, in what the count claims */
    uint64_t n_left_over; /* dwords behind that, which are not zero */
    uint64_t end_of_last; /* record, or skipped place */
    uint32_t same_size;   /* of all records so far; 0: they differ */
    uint32_t largest;     /* of them */
    bool any;
};

/* Puts the walk before the first record; data, wanted, header, sizes and
 * record_at are set. */
void pfd_validation_chain_open(struct pfd_validation_chain *validation_chain,
                               struct pfd_walk *walk);

/* The first byte that the count does not claim. */
uint64_t pfd_validation_chain_limit(
    const struct pfd_validation_chain *validation_chain);

/* Can the count be one, whatever is here? Above that, records have to show. */
bool pfd_validation_chain_is_likely(
    const struct pfd_validation_chain *validation_chain);

/* Is there room for a count, with flags before it or a record behind it? False:
 * no, which is said, and the walk is at the view's end. */
bool pfd_validation_chain_has_header(struct pfd_walk *walk);

/* Passes a record at walk->at, of which n_bytes are there. */
void pfd_validation_chain_pass(struct pfd_validation_chain *validation_chain,
                               struct pfd_walk *walk, uint32_t size,
                               uint64_t n_bytes);

/* There is no record at walk->at, but this size word. PFD_OK. */
enum pfd_status pfd_validation_chain_lose(
    struct pfd_validation_chain *validation_chain, const struct pfd_walk *walk,
    uint32_t size, enum pfd_validation_chain_break why);

/* Looks for the next record beyond doubt, up to the end of the buffer. PFD_OK:
 * the walk is there, or at the end; PFD_MORE. */
enum pfd_status pfd_validation_chain_find(
    struct pfd_validation_chain *validation_chain, struct pfd_walk *walk);

/*
 * Fewer bytes than a header's are left at walk->at. PFD_MORE; PFD_OK: the way
 * is lost; PFD_END: the buffer has ended, and what was lost has been said.
 */
enum pfd_status pfd_validation_chain_end(
    struct pfd_validation_chain *validation_chain, struct pfd_walk *walk);

/* The format's buffer_word(). */
bool pfd_validation_chain_word(
    const struct pfd_validation_chain *validation_chain, uint64_t at,
    struct pfd_word *ret);

#endif
