/* SPDX-License-Identifier: MIT */
/* Sixel: bands of six rows, one colour after another. (VT330/VT340 Programmer
 * Reference, chapter 14: a character is 63 and six bits, ! repeats, $ goes
 * back, - goes down, # is a colour, in percent.) */
#include <string.h>

#include "analysis/plot/text_picture.h"

enum {
    PALETTE = 256,
    EVERY = 2, /* every second colour of the map is enough */
};

struct palette {
    struct pfd_colour all[PALETTE]; /* [n] */
    size_t n;
    size_t last;
};

static void make_palette(struct palette *ret, const struct pfd_colours *c)
{
    const struct pfd_colour own[] = { c->empty,    c->ink, c->faint,
                                      c->mark,     c->nan, c->plus_inf,
                                      c->minus_inf };
    *ret = (struct palette){ 0 };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        ret->all[ret->n++] = own[i];
    for (size_t i = 0; i < PFD_COLOURS; i += EVERY)
        ret->all[ret->n++] = c->map[i];
}

static int distance(struct pfd_colour a, struct pfd_colour b)
{
    int r = a.r - b.r;
    int g = a.g - b.g;
    int blue = a.b - b.b;
    return r * r + g * g + blue * blue;
}

static size_t nearest(struct palette *p, struct pfd_colour c)
{
    if (!distance(p->all[p->last], c))
        return p->last;
    p->last = 0;
    for (size_t i = 1; i < p->n; i++) {
        if (distance(p->all[i], c) < distance(p->all[p->last], c))
            p->last = i;
    }
    return p->last;
}

static void put_run(struct pfd_text *out, char c, size_t n)
{
    if (n > 3) {
        pfd_text_printf(out, "!%zu%c", n, c);
        return;
    }
    while (n--)
        pfd_text_add(out, &c, 1);
}

/* Writes one colour of a band; indexes [6][width], of rows that exist. */
static void put_colour(struct pfd_text *out, const uint8_t *indexes,
                       size_t width, size_t rows, size_t colour)
{
    char last = 0;
    size_t n = 0;
    pfd_text_printf(out, "#%zu", colour);
    for (size_t x = 0; x < width; x++) {
        unsigned set = 0;
        for (size_t y = 0; y < rows; y++)
            set |= (unsigned)(indexes[y * width + x] == colour) << y;
        char c = (char)(63 + set);
        if (n && c != last) {
            put_run(out, last, n);
            n = 0;
        }
        last = c;
        n++;
    }
    if (last != 63)
        put_run(out, last, n);
    pfd_text_puts(out, "$");
}

static void put_band(struct pfd_text *out, const uint8_t *indexes, size_t width,
                     size_t rows, size_t n_colours)
{
    bool used[PALETTE] = { false };
    for (size_t i = 0; i < width * rows; i++)
        used[indexes[i]] = true;
    for (size_t i = 0; i < n_colours; i++) {
        if (used[i])
            put_colour(out, indexes, width, rows, i);
    }
    pfd_text_puts(out, "-");
}

static void put_raster(struct pfd_text *out, const struct pfd_raster *raster,
                       struct palette *palette)
{
    struct pfd_text band = { 0 };
    pfd_text_printf(out, "\033Pq\"1;1;%zu;%zu", raster->width, raster->height);
    for (size_t i = 0; i < palette->n; i++) {
        const struct pfd_colour *c = &palette->all[i];
        pfd_text_printf(out, "#%zu;2;%d;%d;%d", i, (c->r * 100 + 127) / 255,
                        (c->g * 100 + 127) / 255, (c->b * 100 + 127) / 255);
    }
    uint8_t *indexes = (uint8_t *)pfd_text_reserve(&band, 6 * raster->width);
    for (size_t y = 0; y < raster->height && indexes; y += 6) {
        size_t rows = raster->height - y < 6 ? raster->height - y : 6;
        for (size_t i = 0; i < rows * raster->width; i++) {
            indexes[i] = (uint8_t)nearest(
                palette, raster->pixels[y * raster->width + i]);
        }
        put_band(out, indexes, raster->width, rows, palette->n);
    }
    pfd_text_puts(out, "\033\\\n");
    out->failed |= band.failed;
    pfd_text_free(&band);
}

static void draw(struct pfd_plot *plot, const struct pfd_plot_screen *screen,
                 struct pfd_text *out)
{
    struct pfd_raster raster;
    struct palette palette;
    make_palette(&palette, &plot->colours);
    if (pfd_plot_screen_pixels(plot, screen, &raster))
        put_raster(out, &raster, &palette);
    pfd_raster_deinit(&raster);
}

const struct pfd_plot_form pfd_plot_form_sixel = {
    .info = { .name = "sixel", .title = "sixel graphics", .is_text = true },
    .draw = draw,
};
