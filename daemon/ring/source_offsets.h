/* SPDX-License-Identifier: MIT */
/*
 * Offsets of sources that resume after a restart: how far their lines are on
 * disk, so that the restart does not repeat them. An offset belongs to one
 * file, not to a later one of the same name. One thread at a time.
 */
#ifndef PFDD_SOURCE_OFFSETS_H
#define PFDD_SOURCE_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfdd_source_offset {
    uint64_t generation;
    uint64_t index;   /* of the last entry */
    uint64_t offset;  /* of the last entry, in the buffer */
    uint64_t n_bytes; /* of the last entry, and */
    uint64_t check;   /* a checksum of bytes up to its end; 0: not known */
};

/* Parses the offset in the line of an entry; false: it has none. */
bool pfdd_source_offset_find(const char *line, size_t n,
                             struct pfdd_source_offset *ret);

enum {
    PFDD_FILE_ROOM = 80
};

/* Identifies an open file independent of its name: device, inode, birth. */
void pfdd_file_describe(int fd, char ret[PFDD_FILE_ROOM]);

/* All zeros: there are none. */
struct pfdd_source_offsets {
    struct pfdd_source_offsets_item {
        char *source;
        char file[PFDD_FILE_ROOM];
        bool is_known;    /* its offset is known */
        unsigned n_users; /* that have claimed it */
        bool is_shared;   /* two had other files at the same time: no offset */
        struct pfdd_source_offset source_offset;
    } * items; /* [n] */
    size_t n;
};

void pfdd_source_offsets_deinit(struct pfdd_source_offsets *source_offsets);

/*
 * From now on, lines of this source are of this file. True: *ret is how far its
 * lines are on disk. *is_news: this assignment has to be on disk before the
 * lines, or a restart could apply an offset to another file.
 */
bool pfdd_source_offsets_begin(struct pfdd_source_offsets *source_offsets,
                               const char *source, const char *file,
                               struct pfdd_source_offset *ret, bool *is_news);

/* Likewise, for a holder that releases it later. False with *is_alone: another one
 * has it, with another file: neither has an offset. */
bool pfdd_source_offsets_claim(struct pfdd_source_offsets *source_offsets,
                               const char *source, const char *file,
                               struct pfdd_source_offset *ret, bool *is_news,
                               bool *is_alone);
/* is_kept: the offset stays for a later claim. */
void pfdd_source_offsets_release(struct pfdd_source_offsets *source_offsets,
                                 const char *source, bool is_kept);

/* Sets the offset of a source that has begun. Other sources are ignored. */
void pfdd_source_offsets_set(struct pfdd_source_offsets *source_offsets,
                             const char *source,
                             const struct pfdd_source_offset *source_offset);

/* Likewise, unless it is known to be further on. */
void pfdd_source_offsets_advance(
    struct pfdd_source_offsets *source_offsets, const char *source,
    const struct pfdd_source_offset *source_offset);

#endif
