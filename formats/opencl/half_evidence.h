/* SPDX-License-Identifier: MIT */
/*
 * Scalars of 16 bits that compilers stored as dwords without converting them to
 * floats (README.md): the evidence for one string, and how an entry of it is
 * read.
 */
#ifndef OPENCL_HALVES_H
#define OPENCL_HALVES_H

#include "layout.h"

enum {
    /* Strings that are remembered. */
    OPENCL_HALVES = 256,
};

/* The type of a column of arguments. */
struct opencl_column {
    uint8_t mark : 2; /* enum opencl_mark: the likeliest */
    bool may_be_half : 1;
    bool may_be_bfloat : 1;
    bool is_sure : 1; /* the mark is */
    bool is_weighed : 1;
};

/* Scalar floats of one string; as many as a layout can mark. */
struct opencl_halves {
    const struct pfd_string *string; /* NULL: free */
    uint64_t layout;                 /* the layout that the offsets below belong
                                        to */
    uint32_t at[OPENCL_MARKS_MAX];   /* [n], offsets in a payload */
    struct opencl_column column[OPENCL_MARKS_MAX]; /* [n] */
    uint8_t n_floats[OPENCL_MARKS_MAX]; /* [n], entries with a value that is no
                                           float of 16 bits */
    uint8_t n;      /* 0: none, or all are floats beyond doubt */
    bool has_more;  /* more scalar floats exist, which are not examined */
    bool is_marked; /* a column is marked */
};

struct opencl_halves_table {
    size_t n;
    struct opencl_halves place[OPENCL_HALVES];
};

/* The evidence for a string, with its %s placed by the layout. If the table is
 * full, `lone` is filled and returned. */
struct opencl_halves *opencl_halves_of(struct opencl_halves_table *table,
                                       const struct pfd_string *string,
                                       uint64_t layout,
                                       struct opencl_halves *lone);

/* False: no column of the string needs examination. */
static inline bool opencl_may_have_halves(const struct opencl_halves_table *t,
                                          const struct pfd_string *string,
                                          uint64_t layout)
{
    const struct opencl_halves *h = &t->place[string->index % OPENCL_HALVES];
    return h->n || h->string != string || h->layout != layout;
}

enum opencl_seen {
    OPENCL_SEEN_NOTHING, /* no value suggests 16 bits */
    OPENCL_SEEN_ANY,
    OPENCL_SEEN_FIRST, /* the first such value of a column: entries from here on
                          are to be weighed */
};

/* Counts an entry's payload as evidence. */
enum opencl_seen opencl_see_halves(struct opencl_halves *h,
                                   const struct pfd_byte_reader *payload);

/* Removes the last of several samples if its columns equal those of the one
 * before. */
void opencl_drop_equal(const struct opencl_halves *h,
                       struct opencl_samples *samples);

/* Decides on columns for which the samples are the first evidence. */
void opencl_weigh_halves(struct opencl_halves *h,
                         const struct opencl_samples *samples);

enum {
    OPENCL_HALF_WAYS = 2
};

/* How an entry's columns are read, as marks of a layout. */
struct opencl_half_ways {
    uint64_t marks;
    uint64_t other[OPENCL_HALF_WAYS]; /* [n_others], likely as well */
    unsigned n_others;
    bool is_told;     /* some columns are 16 bits wide for sure */
    bool is_left_out; /* some columns without a mark may be 16 bits wide, too */
};

void opencl_half_ways(const struct opencl_halves *h,
                      const struct pfd_byte_reader *payload,
                      struct opencl_half_ways *ret);

#endif
