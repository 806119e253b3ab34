/* SPDX-License-Identifier: MIT */
/*
 * What ROCm's printf buffers have in common: the header of OpenCL's and HIP's,
 * and how HIP and hostcall messages lay out the arguments of a format string.
 * Part of the formats' floor; a format may use it or not.
 */
#ifndef PFD_ROCM_LAYOUT_H
#define PFD_ROCM_LAYOUT_H

#include "core/base/likelihood.h"
#include "core/decode/format.h"

enum {
    /* A longer format string that stands in an entry is cut. */
    PFD_ROCM_FORMAT_MAX = 1 << 16,
    /* u32 bytes used, u32 capacity (rocm-device-libs, __printf_alloc). */
    PFD_ROCM_HEADER = 8,
};

struct pfd_rocm_buffer {
    bool opened;
    uint32_t used;
    uint32_t capacity;
    uint64_t end; /* first byte that is no entry's, as the header says */
    bool is_none; /* the header cannot be one, and no entry is behind it */
};

/* The way is lost from byte `from` to byte `to`: is that all there is, behind a
 * header that cannot be one? Then the header's finding says all. */
bool pfd_rocm_is_none(struct pfd_walk *walk, struct pfd_rocm_buffer *b,
                      uint64_t from, uint64_t to);

/*
 * At the start of each call of walk(): reads the header, says whether the
 * buffer was so full that messages may have been dropped (an entry takes
 * n_header bytes and what its string states), and puts the walk behind it; sets
 * the end to what is there, once the view is the last. PFD_OK; PFD_MORE;
 * PFD_END: too short for a header (said).
 */
enum pfd_status pfd_rocm_begin(struct pfd_walk *walk, struct pfd_rocm_buffer *b,
                               uint32_t n_header);

/*
 * When too little for an entry is left: says so (why: the end of the
 * sentence), passes over what is stale, and says what is missing. PFD_MORE;
 * PFD_END.
 */
enum pfd_status pfd_rocm_finish(struct pfd_walk *walk,
                                struct pfd_rocm_buffer *b, const char *why);

/* Bytes that are left from `at` on for an entry of n, which are too few: those
 * that the header speaks of, or, if they would do, those that are here. */
uint64_t pfd_rocm_left(const struct pfd_rocm_buffer *b, uint64_t at,
                       uint64_t n);

/* What pfd_format.probe says of the header alone; 0: cannot be one. */
int pfd_rocm_probe(const struct pfd_byte_reader *first, uint64_t n_buffer);

/*
 * pfd_format.find and pfd_format.measure. count: how many entries lead from one
 * to the next from the header on, some dozens at most, by strings that are
 * known; *is_whole: they lead to the end, or further than was looked. telling:
 * chance cannot make even one. is_pages: by the header it has whole pages.
 */
struct pfd_rocm_chain {
    unsigned n;
    unsigned n_kinds; /* different strings among them, as far as was counted */
    bool is_whole;
    bool is_telling;
    bool is_weak; /* other data could look so: all of them have to lead on */
};
typedef struct pfd_rocm_chain (*pfd_rocm_chain_fn)(
    const struct pfd_table *table, struct pfd_byte_reader entries,
    bool is_pages);
size_t pfd_rocm_find(pfd_rocm_chain_fn chain, const struct pfd_field *field,
                     size_t from, size_t to, struct pfd_whole *ret);
bool pfd_rocm_measure(const uint8_t *bytes, size_t n, struct pfd_whole *ret);

/* What lies behind the used part, as pfd_format.buffer_word says it. */
bool pfd_rocm_buffer_word(const struct pfd_walk *walk, uint64_t at,
                          struct pfd_word *ret);

/* What laying out arguments found out, beside slots. */
struct pfd_rocm_arguments {
    size_t n_slots;
    uint32_t n_used;   /* bytes of the payload that the arguments take */
    uint64_t findings; /* bits */
};

/*
 * Lays out the arguments of compiled steps in a payload from `from` on: 8
 * bytes each, strings NUL-terminated and padded to 8. nulls: a bit for each
 * string that is null and takes no bytes; another one is empty if nothing is
 * there. slots has room for PFD_ARGUMENTS_MAX; what is left over becomes slots
 * of 8 bytes. True: the payload is used up, by all arguments.
 */
bool pfd_rocm_lay_out(const struct pfd_step *steps,
                      const struct pfd_byte_reader *payload, uint32_t from,
                      uint64_t nulls, struct pfd_slot *slots,
                      struct pfd_rocm_arguments *ret);

/* A step that takes a string, or else an argument that has more than 32 bits. */
static inline bool pfd_rocm_is_text(const struct pfd_step *s)
{
    return s->conv == 's' && !(s->flags & PFD_STEP_JOIN);
}
bool pfd_rocm_is_wide(const struct pfd_step *s);

enum {
    PFD_ROCM_NULLS_MAX = 62
};

/* Is none of the strings null, beyond doubt? All arguments are as usual, and
 * only so they use up the payload. */
bool pfd_rocm_is_plain(const struct pfd_step *steps,
                       const struct pfd_byte_reader *payload, uint32_t from);

/*
 * The likeliest ways in which the strings of such a payload can be null, if
 * compilers store nothing for them; the choice of a way is its nulls. None:
 * there are fewer arguments than the steps take. False: not all were looked at
 * that may be as likely.
 */
bool pfd_rocm_weigh(const struct pfd_step *steps,
                    const struct pfd_byte_reader *payload, uint32_t from,
                    struct pfd_ways *ret);

/* The format string that stands in the payload at `from`, NUL-terminated and
 * padded to 8; without a NUL it ends with the payload. n_used: with its
 * padding. */
const char *pfd_rocm_text(const struct pfd_byte_reader *payload, uint32_t from,
                          uint32_t *n_text, uint32_t *n_used);

#endif
