/* SPDX-License-Identifier: MIT */
/*
 * What the texts of a module may cost. Each message has a copy of its text, and
 * any number of messages may name one text, so a small module can ask for any
 * amount of memory.
 */
#ifndef PFD_MODULE_TEXTS_H
#define PFD_MODULE_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

enum {
    PFD_MODULE_TEXTS_MAX = 64 << 20, /* bytes; far more than compilers write */
};

/* Takes n bytes of the budget. False: it has fewer, and keeps them. */
bool pfd_module_texts_take(uint64_t *left, uint64_t n);

/* Of a format that has read a module's messages: PFD_END means that the texts
 * were more than PFD_MODULE_TEXTS_MAX, which is reported, and then PFD_OK.
 * messages: the format's word for them. */
enum pfd_status pfd_module_texts_end(enum pfd_status status,
                                     const char *messages,
                                     struct pfd_report *report);

#endif
