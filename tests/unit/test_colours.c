/* SPDX-License-Identifier: MIT */
/*
 * Colour maps as people see them, those with one kind of cone missing as well:
 * by another measure than the one that they are made by, CIELAB.
 */
#include <math.h>
#include <string.h>

#include "analysis/plot/colours.h"
#include "suite.h"

enum {
    APART = 16, /* places of a map: a sixteenth of it */
};

/* What is seen, of linear red, green and blue. Those of the colour-blind are of
 * G. Machado, M. Oliveira and L. Fernandes, "A Physiologically-based Model for
 * Simulation of Color Vision Deficiency", 2009, at full severity. */
static const struct {
    const char *name;
    double matrix[9];
} eyes[] = {
    { "all cones", { 1, 0, 0, 0, 1, 0, 0, 0, 1 } },
    { "protanopia",
      { 0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882,
        -0.048116, 1.051998 } },
    { "deuteranopia",
      { 0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820,
        0.042940, 0.968881 } },
    { "tritanopia",
      { 1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733,
        0.691367, 0.303900 } },
};

enum {
    N_EYES = sizeof eyes / sizeof *eyes
};

static double linear(uint8_t c)
{
    double v = c / 255.0;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double root(double t)
{
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

/* L*, a* and b*, under D65. */
static void see(size_t eye, struct pfd_colour c, double ret[3])
{
    static const double xyz[9] = { 0.4124564, 0.3575761, 0.1804375,
                                   0.2126729, 0.7151522, 0.0721750,
                                   0.0193339, 0.1191920, 0.9503041 };
    static const double white[3] = { 0.95047, 1, 1.08883 };
    const double rgb[3] = { linear(c.r), linear(c.g), linear(c.b) };
    const double *m = eyes[eye].matrix;
    double seen[3];
    double f[3];
    for (int i = 0; i < 3; i++) {
        double v =
            m[3 * i] * rgb[0] + m[3 * i + 1] * rgb[1] + m[3 * i + 2] * rgb[2];
        seen[i] = v < 0 ? 0 : v > 1 ? 1 : v;
    }
    for (int i = 0; i < 3; i++) {
        f[i] = root((xyz[3 * i] * seen[0] + xyz[3 * i + 1] * seen[1] +
                     xyz[3 * i + 2] * seen[2]) /
                    white[i]);
    }
    ret[0] = 116 * f[1] - 16;
    ret[1] = 500 * (f[0] - f[1]);
    ret[2] = 200 * (f[1] - f[2]);
}

/* 2.3 is what can just be told apart. */
static double apart(size_t eye, struct pfd_colour a, struct pfd_colour b)
{
    double x[3];
    double y[3];
    see(eye, a, x);
    see(eye, b, y);
    return hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]);
}

static double lighter(size_t eye, struct pfd_colour a, struct pfd_colour b)
{
    double x[3];
    double y[3];
    see(eye, a, x);
    see(eye, b, y);
    return y[0] - x[0];
}

static bool has_two_ends(const char *map)
{
    return !strcmp(map, "balance");
}

/* Up to the end, and no sixteenth rises half as much again as another; to the
 * colour-blind, little more than twice as much. */
START_TEST(lightness_rises_evenly)
{
    const char *name;
    for (size_t i = 0; (name = pfd_colours_name(i)); i++) {
        struct pfd_colours c;
        ck_assert(pfd_colours_init(&c, name, false));
        for (size_t eye = 0; eye < N_EYES && !has_two_ends(name); eye++) {
            double least = 100;
            double most = 0;
            for (size_t k = 0; k + APART < PFD_COLOURS; k++) {
                double step = lighter(eye, c.map[k], c.map[k + APART]);
                least = step < least ? step : least;
                most = step > most ? step : most;
            }
            ck_assert_msg(least > 2.5, "%s, %s: a step of %g", name,
                          eyes[eye].name, least);
            ck_assert_msg(most < (eye ? 2.2 : 1.5) * least,
                          "%s, %s: steps of %g and %g", name, eyes[eye].name,
                          least, most);
        }
    }
}
END_TEST

/* Numbers a sixteenth apart look different to everybody. */
START_TEST(numbers_are_told_apart)
{
    const char *name;
    for (size_t i = 0; (name = pfd_colours_name(i)); i++) {
        struct pfd_colours c;
        ck_assert(pfd_colours_init(&c, name, false));
        for (size_t eye = 0; eye < N_EYES && !has_two_ends(name); eye++) {
            for (size_t k = 0; k + APART < PFD_COLOURS; k++) {
                double d = apart(eye, c.map[k], c.map[k + APART]);
                ck_assert_msg(d > 3.5, "%s, %s: %zu: %g", name, eyes[eye].name,
                              k, d);
            }
        }
    }
}
END_TEST

/* Of a map with two ends: both go down from the middle, and from half of the way
 * on they are not each other. */
START_TEST(ends_are_told_apart)
{
    struct pfd_colours c;
    ck_assert(pfd_colours_init(&c, "balance", false));
    for (size_t eye = 0; eye < N_EYES; eye++) {
        for (size_t k = 0; k + APART < PFD_COLOURS / 2; k++) {
            size_t other = PFD_COLOURS - 1 - k;
            ck_assert_double_gt(lighter(eye, c.map[k], c.map[k + APART]), 2.5);
            ck_assert_double_gt(
                lighter(eye, c.map[other], c.map[other - APART]), 2.5);
            ck_assert_msg(k >= PFD_COLOURS / 4 ||
                              apart(eye, c.map[k], c.map[other]) > 5,
                          "%s: %zu", eyes[eye].name, k);
        }
    }
}
END_TEST

/* What is no number looks like none, and like nothing else. */
START_TEST(specials_are_told_apart)
{
    const char *name;
    for (size_t i = 0; (name = pfd_colours_name(i)); i++) {
        for (int dark = 0; dark < 2; dark++) {
            struct pfd_colours c;
            ck_assert(pfd_colours_init(&c, name, dark));
            const struct pfd_colour others[] = { c.nan, c.plus_inf, c.minus_inf,
                                                 c.empty };
            for (size_t eye = 0; eye < N_EYES; eye++) {
                for (size_t k = 0; k < 4; k++) {
                    for (size_t m = 0; m < PFD_COLOURS; m++) {
                        double d = apart(eye, others[k], c.map[m]);
                        ck_assert_msg(d > 7.5, "%s, %s: special %zu, %zu: %g",
                                      name, eyes[eye].name, k, m, d);
                    }
                    for (size_t m = 0; m < k; m++) {
                        ck_assert_msg(apart(eye, others[k], others[m]) > 20,
                                      "%s: specials %zu and %zu",
                                      eyes[eye].name, k, m);
                    }
                }
            }
        }
    }
}
END_TEST

int main(void)
{
    return suite_run("colours",
                     TESTS(lightness_rises_evenly, numbers_are_told_apart,
                           ends_are_told_apart, specials_are_told_apart),
                     240);
}
