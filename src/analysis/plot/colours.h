/* SPDX-License-Identifier: MIT */
/*
 * Colours of numbers, and of what is none. Maps are curves in Oklab, a space in
 * which equal steps look equal: lightness only rises (or falls and rises, where
 * a map has two ends), so that they are read in grey and by the colour-blind,
 * too, as those of what is no number are. (B. Ottosson, "A perceptual color space for image processing", 2020.)
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
    struct pfd_colour empty; /* nothing is there: the paper */
    struct pfd_colour ink;   /* of text and lines */
    struct pfd_colour faint; /* of what helps to read it */
    struct pfd_colour mark;  /* of points and bars */
};

/* NULL: there is no i. */
const char *pfd_colours_name(size_t i);

/* False: no map has this name. NULL: the first. */
bool pfd_colours_init(struct pfd_colours *ret, const char *map, bool dark);

static inline struct pfd_colour pfd_colours_at(const struct pfd_colours *c,
                                               double share)
{
    return c->map[(size_t)(share * (PFD_COLOURS - 1) + 0.5)];
}

/* Lightness and the two of colour, of Oklab: for tests, too. */
void pfd_colour_to_lab(struct pfd_colour colour, double ret[3]);

#endif
