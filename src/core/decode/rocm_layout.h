/* SPDX-License-Identifier: MIT */
/*
 * Shared by ROCm's printf buffers: the header of OpenCL's and HIP's, and the
 * layout of a format string's arguments in HIP and hostcall messages. A helper
 * that formats may use.
 */
#ifndef PFD_ROCM_LAYOUT_H
#define PFD_ROCM_LAYOUT_H

#include "core/base/likelihood.h"
#include "core/decode/format.h"
#include "core/decode/inspect.h"

enum {
    /* A longer format string stored in an entry is cut. */
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
 * At the start of each call of walk(): reads the header, reports a buffer so
 * full that messages may have been dropped (an entry takes n_header bytes and
 * its string's n_payload), and moves the walk behind the header. Once the view
 * is the last, limits the end to the available bytes. PFD_OK; PFD_MORE;
 * PFD_END: too short for a header (reported).
 */
enum pfd_status pfd_rocm_begin(struct pfd_walk *walk, struct pfd_rocm_buffer *b,
                               uint32_t n_header);

/*
 * When too few bytes for an entry are left: reports them (why: the end of the
 * sentence), skips stale bytes, and reports missing ones. PFD_MORE; PFD_END.
 */
enum pfd_status pfd_rocm_finish(struct pfd_walk *walk,
                                struct pfd_rocm_buffer *b, const char *why);

/* Bytes left from `at` on for an entry of n, which are too few: by the header,
 * or, if these would suffice, the available ones. */
uint64_t pfd_rocm_left(const struct pfd_rocm_buffer *b, uint64_t at,
                       uint64_t n);

/* The score of pfd_format.probe by the header alone; 0: impossible. */
int pfd_rocm_probe(const struct pfd_byte_reader *first, uint64_t n_buffer);

/*
 * For pfd_format.find and pfd_format.measure. n: entries in sequence behind the
 * header, up to some dozens, that match known strings; is_whole: the sequence
 * reaches the end, or the limit of the check. is_telling: chance cannot produce
 * even one. is_pages: by the header the buffer has whole pages.
 */
struct pfd_rocm_chain {
    unsigned n;
    unsigned n_kinds; /* different strings among them, up to a limit */
    bool is_whole;
    bool is_telling;
    bool is_weak; /* other data could look so: needs is_whole */
};
typedef struct pfd_rocm_chain (*pfd_rocm_chain_fn)(
    const struct pfd_table *table, struct pfd_byte_reader entries,
    bool is_pages);
size_t pfd_rocm_find(pfd_rocm_chain_fn chain, const struct pfd_field *field,
                     size_t from, size_t to, struct pfd_whole *ret);
bool pfd_rocm_measure(const uint8_t *bytes, size_t n, struct pfd_whole *ret);

/* A word behind the used part, for pfd_format.buffer_word. */
bool pfd_rocm_buffer_word(const struct pfd_walk *walk, uint64_t at,
                          struct pfd_word *ret);

/* The result of laying out arguments, beside slots. */
struct pfd_rocm_arguments {
    size_t n_slots;
    uint32_t n_used;   /* bytes of the payload taken by arguments */
    uint64_t findings; /* bits */
};

/*
 * Lays out the arguments of compiled steps in a payload from `from` on: 8
 * bytes each, strings NUL-terminated and padded to 8. nulls: a bit for each
 * string that is null and takes no bytes; other strings are empty where the
 * payload has ended. slots has room for PFD_ARGUMENTS_MAX; the rest of the
 * payload becomes slots of 8 bytes. True: all arguments together use up the
 * payload exactly.
 */
bool pfd_rocm_lay_out(const struct pfd_step *steps,
                      const struct pfd_byte_reader *payload, uint32_t from,
                      uint64_t nulls, struct pfd_slot *slots,
                      struct pfd_rocm_arguments *ret);

/* is_text: the step takes a string; is_wide: an argument of over 32 bits. */
static inline bool pfd_rocm_is_text(const struct pfd_step *s)
{
    return s->conv == 's' && !(s->flags & PFD_STEP_JOIN);
}
bool pfd_rocm_is_wide(const struct pfd_step *s);

enum {
    PFD_ROCM_NULLS_MAX = 62
};

/* True: certainly no string is null. All arguments have usual values, and only
 * without nulls they use up the payload exactly. */
bool pfd_rocm_is_plain(const struct pfd_step *steps,
                       const struct pfd_byte_reader *payload, uint32_t from);

/*
 * The likeliest combinations of null strings in such a payload, for compilers
 * that store nothing for null; the choice of a way is its nulls. No way: there
 * are fewer arguments than the steps take. False: the search has dropped
 * combinations that may be as likely.
 */
bool pfd_rocm_weigh(const struct pfd_step *steps,
                    const struct pfd_byte_reader *payload, uint32_t from,
                    struct pfd_ways *ret);

/* The format string in the payload at `from`, NUL-terminated and padded to 8;
 * without a NUL it ends with the payload. n_used: with its padding. */
const char *pfd_rocm_text(const struct pfd_byte_reader *payload, uint32_t from,
                          uint32_t *n_text, uint32_t *n_used);

#endif
