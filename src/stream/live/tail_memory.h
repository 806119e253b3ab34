/* SPDX-License-Identifier: MIT */
/*
 * What a tail remembers of its buffer: the bytes that came out, the holes that
 * were given up, and when which part was reserved. Positions are bytes from
 * the buffer's start. Knows no formats.
 */
#ifndef PFD_TAIL_MEMORY_H
#define PFD_TAIL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When the buffer's used part first reached so far. */
struct pfd_tail_mark {
    uint64_t used;
    uint64_t time_ns;
};

enum {
    PFD_TAIL_MARKS = 160, /* of a 32nd of the settling time each */
    PFD_TAIL_HOLES = 65536,
};

struct pfd_tail_marks {
    struct pfd_tail_mark mark[PFD_TAIL_MARKS]; /* [n], oldest first */
    size_t n;
};

void pfd_tail_marks_add(struct pfd_tail_marks *marks, uint64_t used,
                        uint64_t now_ns, uint64_t settle_ns);

/* How far the buffer was used at least age_ns ago; 0: nothing was. */
uint64_t pfd_tail_marks_older(const struct pfd_tail_marks *marks,
                              uint64_t now_ns, uint64_t age_ns);

/* A part that is not believed for good: nothing in it came out, or what came
 * out was perhaps left there by an earlier generation. */
struct pfd_tail_hole {
    uint64_t from;
    uint64_t to;
    uint32_t crc;  /* of its bytes when they were looked at last */
    bool is_fresh; /* they have changed since it was given up */
};

struct pfd_tail_holes {
    struct pfd_tail_hole *hole; /* [n] of [room], by position; owned */
    size_t n;
    size_t room;
    uint64_t n_forgotten; /* there were too many */
};

/* The hole that ends at `at`, or NULL. */
struct pfd_tail_hole *pfd_tail_holes_ending(struct pfd_tail_holes *holes,
                                            uint64_t at);

/* What is left of the hole that ends at `at` and the hole behind it, if it
 * begins there, may have an entry of both: they become one, or the second one
 * begins earlier, so that none is longer than `max`. */
void pfd_tail_holes_join(struct pfd_tail_holes *holes, uint64_t at,
                         uint64_t max);

/* False when out of memory. */
bool pfd_tail_holes_add(struct pfd_tail_holes *holes,
                        const struct pfd_tail_hole *hole);
void pfd_tail_holes_remove(struct pfd_tail_holes *holes, size_t i);
/* The first hole that ends behind `at`, or NULL. */
const struct pfd_tail_hole *pfd_tail_holes_find(
    const struct pfd_tail_holes *holes, uint64_t at);

/*
 * The buffer's bytes as they were last known, from its start, up to a limit:
 * before the tail's position what came out, behind it what an earlier
 * generation left.
 */
struct pfd_tail_image {
    uint8_t *bytes; /* [n] of [room]; owned */
    uint8_t *out;   /* [room / 32], a bit for each dword: an entry that begins
                       there has come out; owned */
    size_t n;
    size_t room;
    size_t max;
};

void pfd_tail_image_free(struct pfd_tail_image *image);

/* An entry has come out whose bytes were put at `at`. */
static inline void pfd_tail_image_mark(struct pfd_tail_image *image,
                                       uint64_t at)
{
    if (at < image->n)
        image->out[at / 32] |= (uint8_t)(1 << at / 4 % 8);
}

/* An entry of those bytes [n] has come out: pfd_tail_image_put() and a mark.
 * False when out of memory. */
bool pfd_tail_image_put_entry(struct pfd_tail_image *image, uint64_t at,
                              const void *bytes, size_t n);

/* True when an entry at `at` has come out (in this generation). */
bool pfd_tail_image_has_entry(const struct pfd_tail_image *image, uint64_t at);

/* Another generation begins: none has come out. */
void pfd_tail_image_forget_entries(struct pfd_tail_image *image);

/* Puts bytes [n] at `at`; what the limit cuts is left out. False when out of
 * memory. */
bool pfd_tail_image_put(struct pfd_tail_image *image, uint64_t at,
                        const void *bytes, size_t n);

/* True when all of it is known and the same. */
bool pfd_tail_image_is(const struct pfd_tail_image *image, uint64_t at,
                       const void *bytes, size_t n);

/* True when there is something else now in most places of bytes [n] at `at`:
 * more than what comes late can do. Holes do not count, when given. */
bool pfd_tail_image_is_replaced(const struct pfd_tail_image *image,
                                const struct pfd_tail_holes *holes, uint64_t at,
                                const uint8_t *bytes, size_t n);

/* Bytes [n] at `at` are known now, but for those of holes. */
void pfd_tail_image_renew(struct pfd_tail_image *image,
                          const struct pfd_tail_holes *holes, uint64_t at,
                          const uint8_t *bytes, size_t n);

enum pfd_tail_change {
    PFD_TAIL_SAME,
    PFD_TAIL_FILLED, /* only what was zero has changed */
    PFD_TAIL_OTHER,  /* something was written over */
};

/*
 * How bytes [n] at `at` (both multiples of 4) differ from the image; holes are
 * not looked at. What was filled becomes part of the image; *where: the first
 * difference.
 */
enum pfd_tail_change pfd_tail_image_check(struct pfd_tail_image *image,
                                          const struct pfd_tail_holes *holes,
                                          uint64_t at, const uint8_t *bytes,
                                          size_t n, uint64_t *where);

#endif
