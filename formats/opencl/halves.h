/* SPDX-License-Identifier: MIT */
/*
 * Scalars of 16 bits that compilers stored as dwords without converting them to
 * floats (README.md): what is known of one string's, and how an entry of it is
 * read.
 */
#ifndef OPENCL_HALVES_H
#define OPENCL_HALVES_H

#include "opencl.h"

enum {
    /* Strings that are remembered. */
    OPENCL_HALVES = 256,
};

/* What a column of arguments is. */
struct opencl_column {
    uint8_t mark : 2; /* enum opencl_mark: the likeliest */
    bool may_be_half : 1;
    bool may_be_bfloat : 1;
    bool is_sure : 1; /* the mark is */
    bool is_weighed : 1;
};

/* Scalar floats of one string: as many as a layout can mark. */
struct opencl_halves {
    const struct pfd_string *string; /* NULL: free */
    uint64_t layout;                 /* by which the places below are */
    uint32_t at[OPENCL_MARKS_MAX];   /* [n], bytes of a payload */
    struct opencl_column column[OPENCL_MARKS_MAX]; /* [n] */
    uint8_t n_floats[OPENCL_MARKS_MAX]; /* [n] entries: not of 16 bits */
    uint8_t n;      /* 0: none, or they are floats beyond doubt */
    bool has_more;  /* scalar floats of which nothing is known */
    bool is_marked; /* some column is */
};

struct opencl_halves_table {
    size_t n;
    struct opencl_halves place[OPENCL_HALVES];
};

/* Those of a string, with its %s laid out as the layout says; `lone` is filled
 * and returned where there is no room for more. */
struct opencl_halves *opencl_halves_of(struct opencl_halves_table *table,
                                       const struct pfd_string *string,
                                       uint64_t layout,
                                       struct opencl_halves *lone);

/* False: it is known that nothing is to be looked at. */
static inline bool opencl_may_have_halves(const struct opencl_halves_table *t,
                                          const struct pfd_string *string,
                                          uint64_t layout)
{
    const struct opencl_halves *h = &t->place[string->index % OPENCL_HALVES];
    return h->n || h->string != string || h->layout != layout;
}

enum opencl_seen {
    OPENCL_SEEN_NOTHING, /* that is not as the sizes say */
    OPENCL_SEEN_ANY,
    OPENCL_SEEN_FIRST, /* of a column: entries from here on are to be weighed */
};

/* Takes an entry's payload into account. */
enum opencl_seen opencl_see_halves(struct opencl_halves *h,
                                   const struct pfd_byte_reader *payload);

/* Drops the last one of two samples and more if its columns are those of the
 * one before. */
void opencl_drop_equal(const struct opencl_halves *h,
                       struct opencl_samples *samples);

/* Decides on the columns of which the samples tell something for the first
 * time. */
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
    bool is_told;     /* some are taken for 16 bits for sure */
    bool is_left_out; /* some that have no mark may be so as well */
};

void opencl_half_ways(const struct opencl_halves *h,
                      const struct pfd_byte_reader *payload,
                      struct opencl_half_ways *ret);

#endif
