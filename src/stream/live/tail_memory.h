/* SPDX-License-Identifier: MIT */
/*
 * A tail's memory of its buffer: the emitted bytes, the holes, and when each
 * part was reserved. Offsets are bytes from the buffer's start. Knows no
 * formats.
 */
#ifndef PFD_TAIL_MEMORY_H
#define PFD_TAIL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The time when the buffer's used part first reached `used`. */
struct pfd_tail_mark {
    uint64_t used;
    uint64_t time_ns;
};

enum {
    PFD_TAIL_MARKS = 160, /* each covers a 32nd of the settling time */
    PFD_TAIL_HOLES = 65536,
};

struct pfd_tail_marks {
    struct pfd_tail_mark mark[PFD_TAIL_MARKS]; /* [n], oldest first */
    size_t n;
};

void pfd_tail_marks_add(struct pfd_tail_marks *marks, uint64_t used,
                        uint64_t now_ns, uint64_t settle_ns);

/* The end of the used part at least age_ns ago; 0: nothing was used. */
uint64_t pfd_tail_marks_older(const struct pfd_tail_marks *marks,
                              uint64_t now_ns, uint64_t age_ns);

/* A range that is not settled for good: nothing in it was emitted, or the
 * emitted entries may be leftovers of an earlier generation. */
struct pfd_tail_hole {
    uint64_t from;
    uint64_t to;
    uint32_t crc;  /* of its bytes at the last check */
    bool is_fresh; /* they have changed since it was given up */
};

struct pfd_tail_holes {
    struct pfd_tail_hole *hole; /* [n] of [room], by position; owned */
    size_t n;
    size_t room;
    uint64_t n_forgotten; /* dropped, as there were too many */
};

/* The hole that ends at `at`, or NULL. */
struct pfd_tail_hole *pfd_tail_holes_ending(struct pfd_tail_holes *holes,
                                            uint64_t at);

/* Joins the hole that ends at `at` and a hole that begins there, since an entry
 * may span both: they become one, or, so that none is longer than `max`, the
 * border between them moves. */
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
 * emitted bytes before the tail's position, leftovers of an earlier generation
 * behind it.
 */
struct pfd_tail_image {
    uint8_t *bytes; /* [n] of [room]; owned */
    uint8_t *out;   /* [room / 32], a bit for each dword: an entry that begins
                       there was emitted; owned */
    size_t n;
    size_t room;
    size_t max;
};

void pfd_tail_image_free(struct pfd_tail_image *image);

/* Marks the entry at `at` as emitted; its bytes have been put there. */
static inline void pfd_tail_image_mark(struct pfd_tail_image *image,
                                       uint64_t at)
{
    if (at < image->n)
        image->out[at / 32] |= (uint8_t)(1 << at / 4 % 8);
}

/* Puts an emitted entry of bytes [n]: pfd_tail_image_put() and a mark. False
 * when out of memory. */
bool pfd_tail_image_put_entry(struct pfd_tail_image *image, uint64_t at,
                              const void *bytes, size_t n);

/* True when an entry at `at` was emitted (in this generation). */
bool pfd_tail_image_has_entry(const struct pfd_tail_image *image, uint64_t at);

/* Another generation begins: no entry of it was emitted. */
void pfd_tail_image_forget_entries(struct pfd_tail_image *image);

/* Puts bytes [n] at `at`; bytes beyond the limit are left out. False when out
 * of memory. */
bool pfd_tail_image_put(struct pfd_tail_image *image, uint64_t at,
                        const void *bytes, size_t n);

/* True when all of the bytes are known and the same. */
bool pfd_tail_image_is(const struct pfd_tail_image *image, uint64_t at,
                       const void *bytes, size_t n);

/* True when bytes [n] at `at` differ in most places: more than late entries can
 * explain. Holes, if given, do not count. */
bool pfd_tail_image_is_replaced(const struct pfd_tail_image *image,
                                const struct pfd_tail_holes *holes, uint64_t at,
                                const uint8_t *bytes, size_t n);

/* Replaces the known bytes [n] at `at`, except in holes. */
void pfd_tail_image_renew(struct pfd_tail_image *image,
                          const struct pfd_tail_holes *holes, uint64_t at,
                          const uint8_t *bytes, size_t n);

enum pfd_tail_change {
    PFD_TAIL_SAME,
    PFD_TAIL_FILLED, /* only zeros have changed */
    PFD_TAIL_OTHER,  /* other bytes were written over */
};

/*
 * How bytes [n] at `at` (both multiples of 4) differ from the image, outside of
 * holes. Filled bytes become part of the image; *where: the first difference.
 */
enum pfd_tail_change pfd_tail_image_check(struct pfd_tail_image *image,
                                          const struct pfd_tail_holes *holes,
                                          uint64_t at, const uint8_t *bytes,
                                          size_t n, uint64_t *where);

#endif
