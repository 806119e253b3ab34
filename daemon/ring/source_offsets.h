/* SPDX-License-Identifier: MIT */
/*
 * How far the lines of sources that go on after a restart reach: of what is on
 * disk, so that the restart knows what it has already. A position is of one
 * file, and of no other that has its name later. One thread at a time.
 */
#ifndef PFDD_SOURCE_OFFSETS_H
#define PFDD_SOURCE_OFFSETS_H

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

enum {
    PFDD_FILE_ROOM = 80
};

/* What an open file is, whatever it is called: device, inode, birth. */
void pfdd_file_describe(int fd, char ret[PFDD_FILE_ROOM]);

/* All zeros: there are none. */
struct pfdd_positions {
    struct pfdd_positions_item {
        char *source;
        char file[PFDD_FILE_ROOM];
        bool is_known; /* how far it came */
        struct pfdd_position position;
    } * items; /* [n] */
    size_t n;
};

void pfdd_positions_deinit(struct pfdd_positions *positions);

/*
 * Lines of this source are of this file from now on. True: ret is how far those
 * came that are there. *is_news: this has to be on disk before they are, so that
 * nobody takes a position for that of another file.
 */
bool pfdd_positions_begin(struct pfdd_positions *positions, const char *source,
                          const char *file, struct pfdd_position *ret,
                          bool *is_news);

/* Of a source that has begun; those of others nobody asks for. */
void pfdd_positions_set(struct pfdd_positions *positions, const char *source,
                        const struct pfdd_position *position);

#endif
