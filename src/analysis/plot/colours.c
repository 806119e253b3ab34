/* SPDX-License-Identifier: MIT */
#include "analysis/plot/colours.h"

#include <math.h>
#include <string.h>

enum {
    FINE = 2048, /* points of a curve that are measured */
    STOPS = 3
};

/* Lightness, chroma and hue in degrees, at equal distances. */
struct stop {
    double lightness;
    double chroma;
    double hue;
};

static const struct {
    const char *name;
    struct stop stops[STOPS];
} maps[] = {
    { "tide",
      { { 0.25, 0.13, 280 }, { 0.58, 0.11, 200 }, { 0.93, 0.16, 105 } } },
    { "ember",
      { { 0.22, 0.12, 300 }, { 0.57, 0.18, 375 }, { 0.93, 0.13, 460 } } },
    { "grey", { { 0.22, 0, 0 }, { 0.57, 0, 0 }, { 0.93, 0, 0 } } },
    { "balance",
      { { 0.35, 0.13, 255 }, { 0.93, 0.0, 255 }, { 0.35, 0.13, 400 } } },
};

const char *pfd_colours_name(size_t i)
{
    return i < sizeof maps / sizeof *maps ? maps[i].name : NULL;
}

/* ---- Oklab ---- */

static double to_light(uint8_t c)
{
    double v = c / 255.0;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double from_light(double v)
{
    return v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

void pfd_colour_to_lab(struct pfd_colour colour, double ret[3])
{
    double r = to_light(colour.r);
    double g = to_light(colour.g);
    double b = to_light(colour.b);
    double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    double m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    ret[0] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
    ret[1] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s;
    ret[2] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s;
}

/* Converts to linear light. False: outside of a screen's colours. */
static bool to_screen(const double lab[3], double rgb[3])
{
    double l = lab[0] + 0.3963377774 * lab[1] + 0.2158037573 * lab[2];
    double m = lab[0] - 0.1055613458 * lab[1] - 0.0638541728 * lab[2];
    double s = lab[0] - 0.0894841775 * lab[1] - 1.2914855480 * lab[2];
    bool is_inside = true;
    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    rgb[0] = +4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
    rgb[1] = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
    rgb[2] = -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s;
    for (int i = 0; i < 3; i++)
        is_inside &= rgb[i] >= -1e-4 && rgb[i] <= 1 + 1e-4;
    return is_inside;
}

/* Of a colour inside of a screen's. */
static struct pfd_colour from_lab(const double lab[3])
{
    double rgb[3];
    uint8_t out[3];
    to_screen(lab, rgb);
    for (int i = 0; i < 3; i++) {
        double v = 255 * from_light(rgb[i] < 0 ? 0 : rgb[i]);
        out[i] = (uint8_t)(v < 255 ? v + 0.5 : 255);
    }
    return (struct pfd_colour){ out[0], out[1], out[2] };
}

/* ---- maps ---- */

static double between(double a, double b, double c, double t)
{
    return t < 0.5 ? a + (b - a) * 2 * t : b + (c - b) * (2 * t - 1);
}

/* Sets lightness, chroma and hue. False: outside of a screen's colours. */
static bool set_place(double lightness, double chroma,
                      const double direction[2], double lab[3])
{
    double unused[3];
    lab[0] = lightness;
    lab[1] = chroma * direction[0];
    lab[2] = chroma * direction[1];
    return to_screen(lab, unused);
}

/* A place of the curve, with the highest chroma up to the curve's that a screen
 * has. */
static void place(const struct stop *s, double t, double lab[3])
{
    const double radian = 3.14159265358979323846 / 180;
    double chroma = between(s[0].chroma, s[1].chroma, s[2].chroma, t);
    double hue = radian * between(s[0].hue, s[1].hue, s[2].hue, t);
    double light = between(s[0].lightness, s[1].lightness, s[2].lightness, t);
    const double direction[2] = { cos(hue), sin(hue) };
    double least = 0;
    double most = 1;
    if (set_place(light, chroma, direction, lab))
        return;
    for (int i = 0; i < 24; i++) {
        double middle = (least + most) / 2;
        bool fits = set_place(light, chroma * middle, direction, lab);
        least = fits ? middle : least;
        most = fits ? most : middle;
    }
    set_place(light, chroma * least, direction, lab);
}

/* Fills the map in equal steps along the curve. */
static void make_map(struct pfd_colour *ret, const struct stop *stops)
{
    double far[FINE] = { 0 };
    double last[3] = { 0 };
    double lab[3];
    size_t at = 0;
    for (int i = 0; i < FINE; i++) {
        place(stops, i / (double)(FINE - 1), lab);
        double step = i ? hypot(hypot(lab[0] - last[0], lab[1] - last[1]),
                                lab[2] - last[2])
                        : 0;
        far[i] = (i ? far[i - 1] : 0) + step;
        memcpy(last, lab, sizeof last);
    }
    for (int i = 0; i < PFD_COLOURS; i++) {
        double wanted = far[FINE - 1] * i / (PFD_COLOURS - 1);
        while (at < FINE - 1 && far[at] < wanted)
            at++;
        place(stops, (double)at / (FINE - 1), lab);
        ret[i] = from_lab(lab);
    }
}

bool pfd_colours_init(struct pfd_colours *ret, const char *map, bool dark)
{
    size_t i = 0;
    while (map && pfd_colours_name(i) && strcmp(map, pfd_colours_name(i)) != 0)
        i++;
    if (!pfd_colours_name(i))
        return false;
    *ret = (struct pfd_colours){
        .nan = { 255, 0, 255 },
        .plus_inf = { 255, 40, 0 },
        .minus_inf = { 80, 0, 255 },
        .empty = { 255, 255, 255 },
        .ink = { 26, 26, 26 },
        .faint = { 200, 200, 200 },
        .mark = { 0, 90, 160 },
    };
    if (dark) {
        ret->empty = (struct pfd_colour){ 0, 0, 0 };
        ret->ink = (struct pfd_colour){ 230, 230, 230 };
        ret->faint = (struct pfd_colour){ 70, 70, 70 };
        ret->mark = (struct pfd_colour){ 110, 180, 255 };
    }
    make_map(ret->map, maps[i].stops);
    return true;
}
