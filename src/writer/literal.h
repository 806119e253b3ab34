/* SPDX-License-Identifier: MIT */
/* String literals of shader source, as the bytes that they stand for. */
#ifndef PFD_LITERAL_H
#define PFD_LITERAL_H

#include "core/base/text.h"
#include "writer/token.h"

/* Adds what the literal stands for to ret. PFD_OK; PFD_ERR_CORRUPT: an escape
 * sequence that is none, or one that makes a byte 0. */
enum pfd_status pfd_literal_read(const struct pfd_lexer *lexer,
                                 const struct pfd_token *token,
                                 struct pfd_text *ret);

#endif
