/* SPDX-License-Identifier: MIT */
#include "plot/png.h"

#include <png.h>
#include <setjmp.h>

static void put(png_structp png, png_bytep bytes, size_t n)
{
    struct pfd_text *out = png_get_io_ptr(png);
    pfd_text_add(out, bytes, n);
    if (out->failed)
        png_error(png, "out of memory");
}

static void flush(png_structp png)
{
    (void)png;
}

/* A whole write failed: there is nothing that could be said but that. */
static void fail(png_structp png, png_const_charp text)
{
    (void)text;
    png_longjmp(png, 1);
}

static void warn(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

bool pfd_png_write(struct pfd_text *out, const struct pfd_raster *raster)
{
    png_infop info = NULL;
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, fail, warn);
    if (!png)
        return false;
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    info = png_create_info_struct(png);
    if (!info)
        png_error(png, "out of memory");
    png_set_write_fn(png, out, put, flush);
    png_set_user_limits(png, PFD_RASTER_MAX, PFD_RASTER_MAX);
    png_set_IHDR(png, info, (png_uint_32)raster->width,
                 (png_uint_32)raster->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (size_t y = 0; y < raster->height; y++) {
        png_write_row(png,
                      (png_const_bytep)(raster->pixels + y * raster->width));
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return !out->failed;
}
