/* SPDX-License-Identifier: MIT */
/*
 * The description of an input's rings (key `describe`): read when the input
 * opens, and given to producers (string_store.h), whose buffers alone are read by
 * it. Loop thread only.
 */
#ifndef PFDD_DESCRIPTION_H
#define PFDD_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>

/* All zeros: there is none. */
struct pfdd_description {
    const char *path; /* borrowed */
    void *bytes;      /* [n] */
    size_t n;
};

/* Reads a file of at most n_max bytes. path: NULL: there is none; borrowed. False:
 * see err. */
bool pfdd_description_read(struct pfdd_description *ret, const char *path,
                           size_t n_max, char *err, size_t n_err);

/* True: the file has what was read of it, or there is none. */
bool pfdd_description_is_same(const struct pfdd_description *description);

void pfdd_description_deinit(struct pfdd_description *description);

#endif
