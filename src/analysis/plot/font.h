/* SPDX-License-Identifier: MIT */
/* Letters of five by eight pixels, for pictures of pixels. */
#ifndef PFD_FONT_H
#define PFD_FONT_H

#include <stdint.h>

/* Five columns from left to right, the lowest bit is the top. */
const uint8_t *pfd_font_glyph(char c);

#endif
