/* SPDX-License-Identifier: MIT */
/*
 * How far the lines of each source reach: of what is on disk, so that a restart
 * knows what it has already. One thread at a time.
 */
#ifndef PFDD_POSITIONS_H
#define PFDD_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfdd_position {
    uint64_t generation;
    uint64_t index;  /* of the last entry */
    uint64_t offset; /* of it, in the buffer */
};

/* The position that the line of an entry says; false: it says none. */
bool pfdd_position_find(const char *line, size_t n, struct pfdd_position *ret);

/* All zeros: there are none. */
struct pfdd_positions {
    struct pfdd_positions_item {
        char *source;
        struct pfdd_position position;
    } * items; /* [n] */
    size_t n;
};

void pfdd_positions_deinit(struct pfdd_positions *positions);

void pfdd_positions_set(struct pfdd_positions *positions, const char *source,
                        const struct pfdd_position *position);

/* False: the source has none. */
bool pfdd_positions_get(const struct pfdd_positions *positions,
                        const char *source, struct pfdd_position *ret);

#endif
