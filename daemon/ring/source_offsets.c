/* SPDX-License-Identifier: MIT */
#include "ring/source_offsets.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The number behind a key that stands once in what the daemon added or the
 * library wrote behind the message. */
static bool find_number(const char *line, size_t n, const char *key,
                        uint64_t *ret)
{
    size_t n_key = strlen(key);
    for (const char *at = line + n - n_key; n > n_key && at > line; at--) {
        if (!memcmp(at, key, n_key)) {
            *ret = strtoull(at + n_key, NULL, 10);
            return true;
        }
    }
    return false;
}

bool pfdd_position_find(const char *line, size_t n, struct pfdd_position *ret)
{
    *ret = (struct pfdd_position){ 0 };
    find_number(line, n, "\"generation\":", &ret->generation);
    return find_number(line, n, "],\"index\":", &ret->index) &&
           find_number(line, n, ",\"offset\":", &ret->offset);
}

void pfdd_positions_deinit(struct pfdd_positions *positions)
{
    for (size_t i = 0; i < positions->n; i++)
        free(positions->items[i].source);
    free(positions->items);
    *positions = (struct pfdd_positions){ 0 };
}

static struct pfdd_positions_item *find(const struct pfdd_positions *positions,
                                        const char *source)
{
    for (size_t i = 0; i < positions->n; i++) {
        if (!strcmp(positions->items[i].source, source))
            return &positions->items[i];
    }
    return NULL;
}

static struct pfdd_positions_item *add(struct pfdd_positions *positions,
                                       const char *source)
{
    struct pfdd_positions_item *items =
        realloc(positions->items, (positions->n + 1) * sizeof *items);
    char *copy = strdup(source);
    if (items)
        positions->items = items;
    if (!items || !copy) {
        free(copy);
        return NULL;
    }
    items[positions->n] = (struct pfdd_positions_item){ .source = copy };
    return &items[positions->n++];
}

bool pfdd_positions_begin(struct pfdd_positions *positions, const char *source,
                          const char *file, struct pfdd_position *ret,
                          bool *is_news)
{
    struct pfdd_positions_item *item = find(positions, source);
    *is_news = !item || strcmp(item->file, file) != 0;
    if (!*is_news) {
        *ret = item->position;
        return item->is_known;
    }
    item = item ? item : add(positions, source);
    if (item) {
        snprintf(item->file, sizeof item->file, "%s", file);
        item->is_known = false;
    }
    return false;
}

void pfdd_positions_set(struct pfdd_positions *positions, const char *source,
                        const struct pfdd_position *position)
{
    struct pfdd_positions_item *item = find(positions, source);
    if (!item)
        return;
    item->position = *position;
    item->is_known = true;
}

/* Inodes are used again; not so the moment of a file's birth. */
void pfdd_file_describe(int fd, char ret[PFDD_FILE_ROOM])
{
    struct statx sx = { 0 };
    if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &sx) != 0)
        sx = (struct statx){ 0 };
    snprintf(ret, PFDD_FILE_ROOM, "%x:%x:%llu:%lld.%09u", sx.stx_dev_major,
             sx.stx_dev_minor, (unsigned long long)sx.stx_ino,
             (long long)sx.stx_btime.tv_sec, sx.stx_btime.tv_nsec);
}
