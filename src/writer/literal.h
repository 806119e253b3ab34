/* SPDX-License-Identifier: MIT */
/* String literals of shader source, converted to bytes. */
#ifndef PFD_LITERAL_H
#define PFD_LITERAL_H

#include "core/base/text.h"
#include "writer/token.h"

/* Adds the bytes of the literal to ret. PFD_OK; PFD_ERR_CORRUPT: an invalid
 * escape sequence, or one for a byte 0. */
enum pfd_status pfd_literal_read(const struct pfd_lexer *lexer,
                                 const struct pfd_token *token,
                                 struct pfd_text *ret);

#endif
