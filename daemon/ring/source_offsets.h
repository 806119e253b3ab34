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

struct pfdd_source_offset {
    uint64_t generation;
    uint64_t index;  /* of the last entry */
    uint64_t offset; /* of it, in the buffer */
};

/* The position that the line of an entry says; false: it says none. */
bool pfdd_source_offset_find(const char *line, size_t n,
                             struct pfdd_source_offset *ret);

enum {
    PFDD_FILE_ROOM = 80
};

/* What an open file is, whatever it is called: device, inode, birth. */
void pfdd_file_describe(int fd, char ret[PFDD_FILE_ROOM]);

/* All zeros: there are none. */
struct pfdd_source_offsets {
    struct pfdd_source_offsets_item {
        char *source;
        char file[PFDD_FILE_ROOM];
        bool is_known; /* how far it came */
        struct pfdd_source_offset source_offset;
    } * items; /* [n] */
    size_t n;
};

void pfdd_source_offsets_deinit(struct pfdd_source_offsets *source_offsets);

/*
 * Lines of this source are of this file from now on. True: ret is how far those
 * came that are there. *is_news: this has to be on disk before they are, so that
 * nobody takes a position for that of another file.
 */
bool pfdd_source_offsets_begin(struct pfdd_source_offsets *source_offsets,
                               const char *source, const char *file,
                               struct pfdd_source_offset *ret, bool *is_news);

/* Of a source that has begun; those of others nobody asks for. */
void pfdd_source_offsets_set(struct pfdd_source_offsets *source_offsets,
                             const char *source,
                             const struct pfdd_source_offset *source_offset);

#endif
