/* SPDX-License-Identifier: MIT */
#ifndef RUSTICL_FIND_H
#define RUSTICL_FIND_H

#include "core/decode/id_buffer.h"

/* Member of pfd_format_rusticl. */
size_t rusticl_find(const struct pfd_field *field, size_t from, size_t to,
                    struct pfd_whole *ret);

#endif
