/* SPDX-License-Identifier: MIT */
/*
 * Colours of numbers, and of cells without one. Maps are curves in Oklab, a
 * space in which equal steps look equal. Lightness only rises (or falls and
 * rises, in a map with two ends), so a map is readable in grey and for the
 * colour-blind; so are the colours of cells without a number. (B. Ottosson, "A
 * perceptual color space for image processing", 2020.)
 */
#ifndef PFD_COLOURS_H
#define PFD_COLOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfd_colour {
    uint8_t r;
    uint8_t g;
    uint8_t b;
};

enum {
    PFD_COLOURS = 256 /* of a map */
};

struct pfd_colours {
    struct pfd_colour map[PFD_COLOURS];
    struct pfd_colour nan;
    struct pfd_colour plus_inf;
    struct pfd_colour minus_inf;
    struct pfd_colour empty; /* of empty cells: the paper */
    struct pfd_colour ink;   /* of text and lines */
    struct pfd_colour faint; /* of grid lines and the like */
    struct pfd_colour mark;  /* of points and bars */
};

/* The name of map i; NULL: there is no i. */
const char *pfd_colours_name(size_t i);

/* Finds a map by name; NULL: the first one. False: no map has this name. */
bool pfd_colours_init(struct pfd_colours *ret, const char *map, bool dark);

static inline struct pfd_colour pfd_colours_at(const struct pfd_colours *c,
                                               double share)
{
    return c->map[(size_t)(share * (PFD_COLOURS - 1) + 0.5)];
}

/* Lightness and the two colour axes of Oklab; also for tests. */
void pfd_colour_to_lab(struct pfd_colour colour, double ret[3]);

#endif
