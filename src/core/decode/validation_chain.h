/* SPDX-License-Identifier: MIT */
/*
 * Shared by buffers of the Vulkan validation layer: a count of the dwords that
 * shaders wanted to write, then records that begin with their size in dwords.
 * This file accounts for lost, skipped and left-over bytes, so that every byte
 * that the count claims is in an entry, skipped or lost. The count is a word
 * like any other, and can be wrong. A helper that formats may use; does not
 * know the records' content.
 */
#ifndef PFD_VALIDATION_CHAIN_H
#define PFD_VALIDATION_CHAIN_H

#include "core/decode/format.h"
#include "core/decode/inspect.h"

enum {
    PFD_VALIDATION_CHAIN_DWORD = 4
};

/* Why there is no record at an offset. */
enum pfd_validation_chain_break {
    PFD_VALIDATION_CHAIN_ZERO,     /* a size of 0 */
    PFD_VALIDATION_CHAIN_BAD_SIZE, /* a size that no record has */
    PFD_VALIDATION_CHAIN_PAST_END,
    PFD_VALIDATION_CHAIN_CUT,    /* the buffer ends in it */
    PFD_VALIDATION_CHAIN_HIDING, /* other records are inside of it */
    PFD_VALIDATION_CHAIN_STRAY,  /* implausible, with no record behind it */
};

/* Part of a format's state. */
struct pfd_validation_chain {
    uint32_t data;     /* dwords before the first record */
    uint32_t wanted;   /* dwords of records, by the count */
    uint32_t header;   /* dwords that every record has */
    const char *flags; /* name of the word before the count, or NULL */
    bool is_printf;    /* a setting of the layer has its size */
    const char *sizes; /* of records, as text; NULL: header or more */
    /* Dwords of the record that is certainly at `at`, with its header in view;
     * 0: there is none. */
    uint32_t (*record_at)(struct pfd_walk *walk, uint64_t at);

    bool has_ended;
    bool is_lost; /* pfd_validation_chain_find() is next */
    enum pfd_validation_chain_break why;
    uint32_t bad;         /* the size word without a record */
    uint64_t from;        /* where the last record ended */
    uint64_t next;        /* next place to try */
    bool saw_data;        /* nonzero, between from and the count's end */
    uint64_t n_left_over; /* nonzero dwords behind the count's end */
    uint64_t end_of_last; /* end of the last record or skipped bytes */
    uint32_t same_size;   /* of all records so far; 0: they differ */
    uint32_t largest;     /* of them */
    bool any;
};

/* Moves the walk to the first record; the caller has set data, wanted, header,
 * sizes and record_at. */
void pfd_validation_chain_open(struct pfd_validation_chain *c,
                               struct pfd_walk *walk);

/* The first byte that the count does not claim. */
uint64_t pfd_validation_chain_limit(const struct pfd_validation_chain *c);

/* Can the count be one, whatever is here? Above that, records have to show. */
bool pfd_validation_chain_is_likely(
    const struct pfd_validation_chain *validation_chain);

/* Is there room for a count, with flags before it or a record behind it? False:
 * no, which is reported, and the walk is at the view's end. */
bool pfd_validation_chain_has_header(struct pfd_walk *walk);

/* Passes a record at walk->at, of which n_bytes are there. */
void pfd_validation_chain_pass(struct pfd_validation_chain *c,
                               struct pfd_walk *walk, uint32_t size,
                               uint64_t n_bytes);

/* Reports that this size word at walk->at begins no record. PFD_OK. */
enum pfd_status pfd_validation_chain_lose(struct pfd_validation_chain *c,
                                          const struct pfd_walk *walk,
                                          uint32_t size,
                                          enum pfd_validation_chain_break why);

/* Searches the next certain record, up to the end of the buffer. PFD_OK: the
 * walk is there, or at the end; PFD_MORE. */
enum pfd_status pfd_validation_chain_find(struct pfd_validation_chain *c,
                                          struct pfd_walk *walk);

/*
 * Fewer bytes than a header's are left at walk->at. PFD_MORE; PFD_OK: search
 * for the next record; PFD_END: the buffer has ended, and losses are reported.
 */
enum pfd_status pfd_validation_chain_end(struct pfd_validation_chain *c,
                                         struct pfd_walk *walk);

/* The format's buffer_word(). */
bool pfd_validation_chain_word(
    const struct pfd_validation_chain *validation_chain, uint64_t at,
    struct pfd_word *ret);

#endif
