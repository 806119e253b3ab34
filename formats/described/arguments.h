/* SPDX-License-Identifier: MIT */
/* How the arguments of an entry lie in its payload. */
#ifndef DESCRIBED_ARGUMENTS_H
#define DESCRIBED_ARGUMENTS_H

#include "layout.h"

/* The places of one entry's arguments, or of a message's, whose payload is NULL
 * and where texts take no bytes. */
struct arguments {
    const uint8_t *payload; /* [n_carried], n_payload of them in the buffer;
                               behind these, the texts that a record carries */
    uint32_t n_payload;
    uint32_t carried; /* where the next of these texts is */
    uint32_t n_carried;
    uint32_t n_header; /* bytes of the entry before the payload */
    uint32_t align;    /* of each argument; 0: its size */
    uint32_t at;       /* behind the arguments so far */
    uint32_t end;      /* behind the texts at offsets so far */
    uint32_t
        solid_from;    /* bytes of the payload that are known not to be zero, */
    uint32_t solid_to; /* up to a zero byte, or to its end */
    struct pfd_slot *slots; /* [n_slots] of [PFD_ARGUMENTS_MAX]; or NULL */
    size_t n_slots;
    /* Called with each value whose text stands elsewhere. May be NULL. */
    void (*on_text)(void *user, const struct described_type *t, uint64_t value);
    void *user;
};

/* The types of one entry that states them: layout words. */
struct described_tags {
    uint64_t words[TYPES_MAX];
    size_t n;
    uint32_t n_text;   /* bytes of the message's text before the arguments */
    uint64_t findings; /* about values that are not among them */
};

/* Lays out the arguments of a message by its types or its text, and as the tags
 * of an entry say. False: the payload has not all of them. */
bool arguments_lay_out(struct arguments *a, const struct pfd_string *s);
bool tags_lay_out(struct arguments *a, const struct pfd_string *ring,
                  struct described_tags *ret);

/* Bytes of one component. */
uint32_t arguments_size(const struct described_type *t);

/* Adds one argument. False: the payload has not all of it. */
bool arguments_add(struct arguments *a, const struct described_type *t);

/* Lays out the arguments of an entry in the way that it needs. s: its message;
 * NULL: unknown, or its text is in the entry. tags: filled where there are some;
 * may be NULL. */
bool described_lay_out(struct arguments *a, const struct pfd_table *table,
                       const struct pfd_string *s, struct described_tags *tags);

/* Those of a record, not laid out yet. */
struct arguments arguments_of(const struct pfd_record_view *record_view,
                              struct pfd_slot *slots);

/* Bytes that they take, texts at offsets included. */
uint32_t arguments_end(const struct arguments *a);

/* Have its entries values whose text stands elsewhere? s: NULL: the text is in
 * the entry. */
bool described_has_texts(const struct pfd_table *table,
                         const struct pfd_string *s);

#endif
