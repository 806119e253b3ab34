/* SPDX-License-Identifier: MIT */
#include "ring/source_offsets.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    UNCLAIMED_MAX = 256, /* offsets of producers that may come again */
};

/* The number after a key. The last place counts: the daemon or the library
 * wrote the key once, after the message. */
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

bool pfdd_source_offset_find(const char *line, size_t n,
                             struct pfdd_source_offset *ret)
{
    *ret = (struct pfdd_source_offset){ 0 };
    find_number(line, n, "\"generation\":", &ret->generation);
    return find_number(line, n, "],\"index\":", &ret->index) &&
           find_number(line, n, ",\"offset\":", &ret->offset);
}

void pfdd_source_offsets_deinit(struct pfdd_source_offsets *source_offsets)
{
    for (size_t i = 0; i < source_offsets->n; i++)
        free(source_offsets->items[i].source);
    free(source_offsets->items);
    *source_offsets = (struct pfdd_source_offsets){ 0 };
}

static struct pfdd_source_offsets_item *find(
    const struct pfdd_source_offsets *source_offsets, const char *source)
{
    for (size_t i = 0; i < source_offsets->n; i++) {
        if (!strcmp(source_offsets->items[i].source, source))
            return &source_offsets->items[i];
    }
    return NULL;
}

static struct pfdd_source_offsets_item *add(
    struct pfdd_source_offsets *source_offsets, const char *source)
{
    struct pfdd_source_offsets_item *items =
        realloc(source_offsets->items, (source_offsets->n + 1) * sizeof *items);
    char *copy = strdup(source);
    if (items)
        source_offsets->items = items;
    if (!items || !copy) {
        free(copy);
        return NULL;
    }
    items[source_offsets->n] =
        (struct pfdd_source_offsets_item){ .source = copy };
    return &items[source_offsets->n++];
}

bool pfdd_source_offsets_begin(struct pfdd_source_offsets *source_offsets,
                               const char *source, const char *file,
                               struct pfdd_source_offset *ret, bool *is_news)
{
    struct pfdd_source_offsets_item *item = find(source_offsets, source);
    *is_news = !item || strcmp(item->file, file) != 0;
    if (!*is_news) {
        *ret = item->source_offset;
        return item->is_known;
    }
    item = item ? item : add(source_offsets, source);
    if (item) {
        snprintf(item->file, sizeof item->file, "%s", file);
        item->is_known = false;
    }
    return false;
}

static void remove_item(struct pfdd_source_offsets *o,
                        struct pfdd_source_offsets_item *item)
{
    free(item->source);
    *item = o->items[--o->n];
}

/* Processes that ended while the daemon did not run claim theirs no more. */
static void drop_unclaimed(struct pfdd_source_offsets *o)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n; i++)
        n += !o->items[i].n_users && strchr(o->items[i].source, '@');
    for (size_t i = 0; i < o->n && n > UNCLAIMED_MAX; i++) {
        if (o->items[i].n_users || !strchr(o->items[i].source, '@'))
            continue;
        remove_item(o, &o->items[i--]);
        n--;
    }
}

bool pfdd_source_offsets_claim(struct pfdd_source_offsets *o,
                               const char *source, const char *file,
                               struct pfdd_source_offset *ret, bool *is_news,
                               bool *is_alone)
{
    struct pfdd_source_offsets_item *item = find(o, source);
    *is_alone = !item || !item->n_users || !strcmp(item->file, file);
    if (!*is_alone) {
        item->is_shared = *is_news = true;
        item->is_known = false;
        item->file[0] = '\0';
        item->n_users++;
        return false;
    }
    bool ok = pfdd_source_offsets_begin(o, source, file, ret, is_news);
    item = find(o, source);
    if (item)
        item->n_users++;
    drop_unclaimed(o);
    return ok;
}

void pfdd_source_offsets_release(struct pfdd_source_offsets *o,
                                 const char *source, bool is_kept)
{
    struct pfdd_source_offsets_item *item = find(o, source);
    if (!item || !item->n_users || --item->n_users)
        return;
    if (!is_kept || item->is_shared)
        remove_item(o, item);
}

void pfdd_source_offsets_set(struct pfdd_source_offsets *source_offsets,
                             const char *source,
                             const struct pfdd_source_offset *source_offset)
{
    struct pfdd_source_offsets_item *item = find(source_offsets, source);
    if (!item || item->is_shared)
        return;
    item->source_offset = *source_offset;
    item->is_known = true;
}

void pfdd_source_offsets_advance(struct pfdd_source_offsets *source_offsets,
                                 const char *source,
                                 const struct pfdd_source_offset *to)
{
    const struct pfdd_source_offsets_item *item = find(source_offsets, source);
    const struct pfdd_source_offset *at = item ? &item->source_offset : NULL;
    if (at && item->is_known &&
        (to->generation < at->generation ||
         (to->generation == at->generation && to->index <= at->index)))
        return;
    pfdd_source_offsets_set(source_offsets, source, to);
}

/* Inode numbers are reused; a file's birth time is not. */
void pfdd_file_describe(int fd, char ret[PFDD_FILE_ROOM])
{
    struct statx sx = { 0 };
    if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &sx) != 0)
        sx = (struct statx){ 0 };
    snprintf(ret, PFDD_FILE_ROOM, "%x:%x:%llu:%lld.%09u", sx.stx_dev_major,
             sx.stx_dev_minor, (unsigned long long)sx.stx_ino,
             (long long)sx.stx_btime.tv_sec, sx.stx_btime.tv_nsec);
}
