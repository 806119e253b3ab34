/* SPDX-License-Identifier: MIT */
/* Pictures as PNG files, by libpng. */
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>

#include "analysis/plot/plot_form.h"
#include "core/base/dynamic_library.h"

#define CALLS(X)            \
    X(create_info_struct)   \
    X(create_write_struct)  \
    X(destroy_write_struct) \
    X(error)                \
    X(get_io_ptr)           \
    X(longjmp)              \
    X(set_IHDR)             \
    X(set_PLTE)             \
    X(set_longjmp_fn)       \
    X(set_user_limits)      \
    X(set_write_fn)         \
    X(write_end)            \
    X(write_info)           \
    X(write_row)
#define POINTER(name) __typeof__(png_##name) *(name);
#define NAME(name)    "png_" #name "\0"

static struct {
    CALLS(POINTER)
} png;

PFD_DYNAMIC_LIBRARY(png, "libpng16.so.16", CALLS(NAME), &png,
                    "pictures as PNG");

static void put(png_structp file, png_bytep bytes, size_t n)
{
    struct pfd_text *out = png.get_io_ptr(file);
    pfd_text_add(out, bytes, n);
    if (out->failed)
        png.error(file, "out of memory");
}

static void flush(png_structp file)
{
    (void)file;
}

/* The caller reports only that writing failed: the text is not used. */
static void fail(png_structp file, png_const_charp text)
{
    (void)text;
    png.longjmp(file, 1);
}

static void warn(png_structp file, png_const_charp text)
{
    (void)file;
    (void)text;
}

/* ---- colours ---- */

enum {
    COLOURS_MAX = 256,
    SLOT_BITS = 10,
    SLOTS = 1 << SLOT_BITS
};

/* The colours of a picture with few of them: a pixel is one byte then, which is
 * compressed several times as fast, into fewer bytes. */
struct palette {
    png_color all[COLOURS_MAX];
    size_t n;
    uint16_t slots[SLOTS]; /* hashed by colour: its number and 1 more; 0:
                              free */
};

static bool is_colour(png_color a, struct pfd_colour b)
{
    return a.red == b.r && a.green == b.g && a.blue == b.b;
}

/* The slot of a colour, or the one for it. */
static uint16_t *slot_of(struct palette *palette, struct pfd_colour c)
{
    uint32_t bits = c.r | (uint32_t)c.g << 8 | (uint32_t)c.b << 16;
    size_t at = bits * UINT32_C(2654435769) >> (32 - SLOT_BITS);
    while (palette->slots[at] &&
           !is_colour(palette->all[palette->slots[at] - 1], c))
        at = (at + 1) % SLOTS;
    return &palette->slots[at];
}

/* False: there are too many. */
static bool find_colours(struct palette *ret, const struct pfd_raster *raster)
{
    size_t n = raster->width * raster->height;
    *ret = (struct palette){ .n = 0 };
    for (size_t i = 0; i < n; i++) {
        struct pfd_colour c = raster->pixels[i];
        uint16_t *slot = slot_of(ret, c);
        if (*slot)
            continue;
        if (ret->n == COLOURS_MAX)
            return false;
        ret->all[ret->n] = (png_color){ c.r, c.g, c.b };
        *slot = (uint16_t)++ret->n;
    }
    return true;
}

/* ---- files ---- */

struct writer {
    png_structp png;
    png_infop info;
    const struct pfd_raster *raster;
    struct palette palette;
    bool has_palette;
    uint8_t *row; /* [width] */
};

static void write_rows(struct writer *w)
{
    const struct pfd_raster *raster = w->raster;
    for (size_t y = 0; y < raster->height; y++) {
        const struct pfd_colour *pixels = raster->pixels + y * raster->width;
        for (size_t x = 0; x < raster->width && w->has_palette; x++)
            w->row[x] = (uint8_t)(*slot_of(&w->palette, pixels[x]) - 1);
        png.write_row(w->png,
                      w->has_palette ? w->row : (png_const_bytep)pixels);
    }
}

static bool write_png(struct writer *w, struct pfd_text *out)
{
    if (setjmp(*png.set_longjmp_fn(w->png, longjmp, sizeof(jmp_buf))))
        return false;
    w->info = png.create_info_struct(w->png);
    if (!w->info)
        png.error(w->png, "out of memory");
    png.set_write_fn(w->png, out, put, flush);
    png.set_user_limits(w->png, PFD_RASTER_MAX, PFD_RASTER_MAX);
    png.set_IHDR(w->png, w->info, (png_uint_32)w->raster->width,
                 (png_uint_32)w->raster->height, 8,
                 w->has_palette ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (w->has_palette)
        png.set_PLTE(w->png, w->info, w->palette.all, (int)w->palette.n);
    png.write_info(w->png, w->info);
    write_rows(w);
    png.write_end(w->png, w->info);
    return true;
}

enum pfd_status pfd_png_write(struct pfd_text *out,
                              const struct pfd_raster *raster,
                              struct pfd_error *err)
{
    struct writer w = { .raster = raster };
    enum pfd_status status = pfd_dynamic_library_load(&pfd_library_png, err);
    if (status != PFD_OK)
        return status;
    w.png = png.create_write_struct(PNG_LIBPNG_VER_STRING, NULL, fail, warn);
    w.row = malloc(raster->width ? raster->width : 1);
    w.has_palette = find_colours(&w.palette, raster);
    bool ok = w.png && w.row && write_png(&w, out);
    png.destroy_write_struct(&w.png, &w.info);
    free(w.row);
    return ok && !out->failed
               ? PFD_OK
               : pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

static void draw(struct pfd_plot *plot, const struct pfd_plot_screen *screen,
                 struct pfd_text *out)
{
    struct pfd_picture picture;
    struct pfd_raster raster = { 0 };
    const struct pfd_picture_size size = {
        .pixel = plot->spec.pixel ? plot->spec.pixel : plot->spec.bare,
    };
    struct pfd_error err;
    (void)screen;
    if (pfd_picture_init(&picture, plot, plot->grids, &size) &&
        pfd_plot_pixels(plot, &picture, &raster) &&
        pfd_png_write(out, &raster, &err) != PFD_OK)
        pfd_plot_fail(plot, err.code, err.text);
    pfd_raster_deinit(&raster);
    pfd_picture_deinit(&picture);
}

const struct pfd_plot_form pfd_plot_form_png = {
    .info = { .name = "png", .title = "PNG", .suffix = ".png" },
    .draw = draw,
};
