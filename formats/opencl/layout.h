/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of ROCm's OpenCL printf. Only files of this folder
 * include it.
 */
#ifndef OPENCL_LAYOUT_H
#define OPENCL_LAYOUT_H

#include "core/base/likelihood.h"
#include "core/decode/format.h"

/* Sizes of arguments are packed two to a layout word. */
enum {
    OPENCL_SIZES_MAX = 2 * PFD_LAYOUT_MAX
};

static inline uint32_t opencl_size(const struct pfd_string *s, size_t i)
{
    return (uint32_t)(pfd_string_layout(s)[i / 2] >> (32 * (i % 2)));
}

/*
 * Reads the rows `ID:N:S0:...:format` of an HSA code object into self's table.
 * key: ID; layout: the sizes; escapes of the format are undone.
 */
enum pfd_status opencl_load(const struct pfd_format *self,
                            const struct pfd_image *image,
                            struct pfd_strings *strings,
                            struct pfd_report *report, size_t *n_rows,
                            struct pfd_error *err);

/* ---- layout.c: where arguments lie in an entry ---- */

/*
 * A record's layout if the string has %s: how compilers of two ages store them
 * (README.md). Bit OPENCL_FIRST_SHIFT + i: string i, counting only strings that
 * may be shorter, is one dword shorter than its size; for strings beyond the
 * last bit, the entry itself decides. From the highest bits down, two bits for
 * each scalar float of a dword, as far as strings leave room: enum opencl_mark.
 */
enum {
    OPENCL_LAYOUT_STRINGS = 1,
    OPENCL_LAYOUT_NEW = 2, /* no string is shorter */
    OPENCL_FIRST_SHIFT = 2,
    OPENCL_SHIFTS_MAX = 62,
    OPENCL_LAYOUT_MARKS = 16, /* marks are in the bits from here up */
    OPENCL_DWORD = 4,
    OPENCL_ENTRY_HEADER = 4, /* u32 ID */
};

/* Iterates over the arguments of a string, by its sizes. */
struct opencl_arguments {
    const struct pfd_string *string;
    const struct pfd_step *step;
    size_t next;
};

struct opencl_argument {
    const struct pfd_step *step; /* NULL: no conversion takes it */
    uint32_t size;               /* bytes */
    uint32_t n;                  /* components */
    bool is_text;                /* of a %s */
};

struct opencl_arguments opencl_arguments(const struct pfd_string *string);

/* False: there are no more, or the next conversion has none. */
bool opencl_next_argument(struct opencl_arguments *arguments,
                          struct opencl_argument *ret);

/* The contents of a scalar float's dword. */
enum opencl_mark {
    OPENCL_MARK_FLOAT,
    OPENCL_MARK_HALF, /* the bits of a half, sign-extended */
    OPENCL_MARK_BFLOAT,
};

enum {
    OPENCL_MARKS_MAX = 24,
    OPENCL_MARK_BITS = 2,       /* of a layout */
    OPENCL_MARK_SHIFT_MAX = 62, /* of the first mark; others are below */
};

/* The number of scalars that a layout of this string can mark. */
unsigned opencl_marks_max(const struct pfd_string *string);

/* Has it a mark: a scalar float of one dword? */
bool opencl_may_be_half(const struct opencl_argument *a);

/* The mark of a, the string's next argument. *next: its index among arguments
 * with a mark; advanced. */
enum opencl_mark opencl_mark(uint64_t layout, const struct opencl_argument *a,
                             unsigned *next, unsigned n_marks);

/* Bytes of each component; 0: the size does not fit the number of
 * components. */
uint32_t opencl_element(const struct opencl_argument *a);

/* Can the argument be one dword shorter than its size? */
static inline bool opencl_can_shift(const struct opencl_argument *a)
{
    return a->is_text && a->size > OPENCL_DWORD && a->size % OPENCL_DWORD == 0;
}

/* Facts about a string's bytes [n]. */
struct opencl_text {
    size_t n;     /* length up to the NUL */
    bool ended;   /* has a NUL, and only zeros after it */
    bool is_full; /* has no NUL */
};

struct opencl_text opencl_look_at_text(const uint8_t *bytes, uint32_t n);

/* pfd_string_kind.layout, and pfd_format.is_record, .slots, .layout_text and
 * .make. */
void opencl_layout(const struct pfd_string *s,
                   const struct pfd_program_facts *facts,
                   struct pfd_layout *ret);
bool opencl_is_record(const struct pfd_record_view *record_view);
size_t opencl_slots(const struct pfd_record_view *record_view,
                    struct pfd_slot *ret, uint64_t *findings);
const char *opencl_layout_text(uint64_t layout);
void opencl_make(const struct pfd_record_view *record_view,
                 struct pfd_synthesized *ret);

/* ---- detect.c: how the strings of an entry are stored ---- */

enum {
    OPENCL_SAMPLES_MAX = 32
};

/* Payloads of several entries of one string; borrowed. */
struct opencl_samples {
    struct pfd_byte_reader payload[OPENCL_SAMPLES_MAX];
    size_t n;
};

/*
 * The bits of the ways in which the %s of a string can lie in its samples (at
 * least one), for compilers of both ages. For the newer age, no string is
 * shorter. The choice of a way holds the shift bits of its layout.
 */
struct opencl_weights {
    struct pfd_ways old;
    uint32_t new_bits;
    bool all; /* false: strings beyond OPENCL_SHIFTS_MAX were not weighed */
};

/* Dwords of a buffer that are stale beyond doubt. */
struct opencl_stale {
    uint32_t dword;
    unsigned n;   /* their number, at most OPENCL_STALE_MAX */
    bool differs; /* they are not all the same */
};

enum {
    OPENCL_STALE_MAX = 1000
};

void opencl_weigh(const struct pfd_string *string,
                  const struct opencl_samples *samples,
                  const struct opencl_stale *stale, struct opencl_weights *ret);

/* Bits of a dword of unknown type. */
unsigned opencl_any_bits(uint32_t dword);

/* One entry by itself. */
struct opencl_alone {
    const struct pfd_string *string;
    struct pfd_byte_reader payload;
    /* Bits of the payload's dwords with unknown types, summed from each `unit`
     * bytes on to a common end. */
    const uint32_t *any;
    uint32_t unit;
    enum pfd_opencl_strings age;
};

/* The entry's bits beyond those of its dwords with unknown types. work: the
 * remaining limit of dwords to examine; reduced. */
int32_t opencl_weigh_alone(const struct opencl_alone *alone, uint32_t *work);

/* Adds the stale dwords after the last argument, if these strings are
 * shorter. */
void opencl_see_stale(const struct pfd_string *string,
                      const struct opencl_samples *samples, uint64_t shifts,
                      struct opencl_stale *to);

/*
 * The ways that are possible, by their bits. newer: bits of evidence for the
 * newer age, from other strings of the same compiler. is_new: a way without
 * shorter strings is of the newer age.
 */
void opencl_decide(const struct opencl_weights *weights, int64_t newer,
                   enum pfd_opencl_strings age, struct pfd_ways *ret,
                   bool *is_new);

/* The texts of a string: the same in every entry, unless linked programs have
 * similar strings. Limits: texts and bytes of an entry that are examined. */
enum {
    OPENCL_RANGES_MAX = 3,
    OPENCL_LITERALS_MAX = 2,
    OPENCL_LITERAL_SEEN = 64,
};

struct opencl_literals {
    uint64_t hash[OPENCL_LITERALS_MAX]; /* [n_hashes] */
    struct {
        uint32_t at;
        uint32_t n;
    } range[OPENCL_RANGES_MAX]; /* [n_ranges], in a payload */
    uint8_t n_hashes;
    uint8_t n_ranges;
};

/* False: no sample has valid texts in this layout. */
bool opencl_find_literals(const struct pfd_string *string,
                          const struct opencl_samples *samples, uint64_t layout,
                          struct opencl_literals *ret);

/* The hash of the texts in an entry's payload. */
uint64_t opencl_hash(const struct opencl_literals *literals,
                     const struct pfd_byte_reader *payload);

static inline bool opencl_is_literal(const struct opencl_literals *literals,
                                     uint64_t hash)
{
    bool is_one = false;
    for (unsigned i = 0; i < literals->n_hashes; i++)
        is_one |= literals->hash[i] == hash;
    return is_one;
}

#endif
