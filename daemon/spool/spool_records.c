/* SPDX-License-Identifier: MIT */
#include "spool/spool_records.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/wire.h>

#include "core/base/crc32c.h"

static const char magic[4] = { 'P', 'F', 'D', 'Q' };

/* ---- files ---- */

void pfdd_segment_path(const char *dir, uint64_t first, char ret[PFDD_PATH])
{
    snprintf(ret, PFDD_PATH, "%.400s/queue/%020" PRIu64 ".seg", dir, first);
}

static int open_segment(const char *dir, uint64_t first, int flags)
{
    char path[PFDD_PATH];
    pfdd_segment_path(dir, first, path);
    return open(path, flags | O_CLOEXEC, 0640);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return (*x > *y) - (*x < *y);
}

uint64_t *pfdd_segments_find(const char *dir, size_t *n)
{
    char path[PFDD_PATH];
    uint64_t *firsts = NULL;
    *n = 0;
    snprintf(path, sizeof path, "%.400s/queue", dir);
    DIR *folder = opendir(path);
    for (struct dirent *e = folder ? readdir(folder) : NULL; e;
         e = readdir(folder)) {
        char *end = NULL;
        uint64_t first = strtoull(e->d_name, &end, 10);
        if (end == e->d_name || strcmp(end, ".seg") != 0)
            continue;
        uint64_t *more = realloc(firsts, (*n + 1) * sizeof *firsts);
        if (!more)
            break;
        firsts = more;
        firsts[(*n)++] = first;
    }
    if (folder)
        closedir(folder);
    if (*n)
        qsort(firsts, *n, sizeof *firsts, by_number);
    return firsts;
}

/* ---- the list of segments ---- */

void pfdd_segments_deinit(struct pfdd_segments *segments)
{
    free(segments->items);
    *segments = (struct pfdd_segments){ 0 };
}

bool pfdd_segments_reserve(struct pfdd_segments *segments)
{
    if (segments->n < segments->size)
        return true;
    size_t size = segments->size ? 2 * segments->size : 16;
    void *items = realloc(segments->items, size * sizeof *segments->items);
    if (!items)
        return false;
    segments->items = items;
    segments->size = size;
    return true;
}

bool pfdd_segments_add(struct pfdd_segments *segments, uint64_t first,
                       uint64_t end)
{
    if (!pfdd_segments_reserve(segments))
        return false;
    segments->items[segments->n++] = (struct pfdd_segment){ first, end };
    return true;
}

void pfdd_segments_drop(struct pfdd_segments *segments, size_t n)
{
    if (n == 0) /* items may be NULL */
        return;
    segments->n -= n;
    memmove(segments->items, segments->items + n,
            segments->n * sizeof *segments->items);
}

/* The last segment that begins at or before an item; otherwise the first
 * one. */
static size_t find_segment(const struct pfdd_segments *segments, size_t from,
                           uint64_t seq)
{
    size_t low = from;
    size_t high = segments->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (segments->items[middle].first <= seq) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

bool pfdd_segments_next(const struct pfdd_segments *segments, size_t n_going,
                        const struct pfdd_segment_reader *r,
                        struct pfdd_segment *ret)
{
    if (segments->n == n_going)
        return false;
    /* The segment that has the item after the last one read, or, if that item
     * is lost, the next segment. */
    size_t i = find_segment(segments, n_going,
                            r->segment > r->seq ? r->segment : r->seq + 1);
    if (segments->items[i].first == r->segment &&
        segments->items[i].end <= r->at)
        i++;
    if (i == segments->n)
        return false;
    *ret = segments->items[i];
    return true;
}

/* ---- writing ---- */

struct record_head {
    uint32_t n;
    uint32_t crc;
    uint64_t number;
};

void pfdd_segment_writer_deinit(struct pfdd_segment_writer *w)
{
    if (w->fd >= 0)
        close(w->fd);
    free(w->room);
    *w = (struct pfdd_segment_writer){ .fd = -1 };
}

static bool make_room(char **room, size_t *size, size_t n)
{
    if (n <= *size)
        return true;
    size_t more = n + n / 4;
    char *at = realloc(*room, more);
    if (!at)
        return false;
    *room = at;
    *size = more;
    return true;
}

bool pfdd_segment_put(struct pfdd_segment_writer *w, uint64_t number,
                      const void *head, size_t n_head, const void *bytes,
                      size_t n)
{
    struct record_head record = { .n = (uint32_t)(n_head + n),
                                  .number = number };
    size_t n_all = sizeof record + n_head + n;
    if (!make_room(&w->room, &w->size, w->n + n_all))
        return false;
    record.crc = pfd_crc32c(0, &number, sizeof number);
    record.crc = pfd_crc32c(record.crc, head, n_head);
    record.crc = pfd_crc32c(record.crc, bytes, n);
    char *at = w->room + w->n;
    memcpy(at, &record, sizeof record);
    memcpy(at + sizeof record, head, n_head);
    memcpy(at + sizeof record + n_head, bytes, n);
    w->n += n_all;
    return true;
}

/* Makes a segment of n bytes, beginning with item `first`. -1: errno says
 * why. */
static int begin_segment(const char *dir, uint64_t first, uint64_t n)
{
    char header[PFDD_SEGMENT_HEADER];
    uint32_t version = PFDD_SEGMENT_VERSION;
    memcpy(header, magic, sizeof magic);
    memcpy(header + 4, &version, sizeof version);
    memcpy(header + 8, &first, sizeof first);
    int fd = open_segment(dir, first, O_RDWR | O_CREAT | O_TRUNC);
    if (fd < 0)
        return -1;
    /* Without support for preallocation the file grows as it is written. */
    bool has_room = fallocate(fd, 0, 0, (off_t)n) == 0 || errno != ENOSPC;
    if (!has_room || !pfdd_write_at(fd, header, sizeof header, 0) ||
        fsync(fd) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    pfdd_sync_dir(dir, "/queue");
    return fd;
}

int pfdd_segment_write(struct pfdd_segment_writer *w, const char *dir,
                       const struct pfdd_segment_place *place)
{
    errno = 0;
    if (place->n_new) {
        if (w->fd >= 0)
            close(w->fd);
        w->fd = begin_segment(dir, place->segment, place->n_new);
    }
    bool ok = w->fd >= 0 && pfdd_write_at(w->fd, w->room, w->n, place->at) &&
              fdatasync(w->fd) == 0;
    return ok ? 0 : errno ? errno : EIO;
}

/* ---- reading ---- */

void pfdd_segment_reader_init(struct pfdd_segment_reader *r, uint64_t seq)
{
    *r = (struct pfdd_segment_reader){ .fd = -1,
                                       .at = PFDD_SEGMENT_HEADER,
                                       .seq = seq };
}

void pfdd_segment_reader_deinit(struct pfdd_segment_reader *r)
{
    if (r->fd >= 0)
        close(r->fd);
    free(r->bytes);
    r->fd = -1;
    r->bytes = NULL;
    r->n = r->size = 0;
}

static void pass_over(struct pfdd_segment_reader *r,
                      const struct pfdd_segment *segment)
{
    r->lost += segment->end - r->at;
    r->at = segment->end;
}

static bool read_version(struct pfdd_segment_reader *r)
{
    char header[PFDD_SEGMENT_HEADER];
    r->version = 0;
    if (pread(r->fd, header, sizeof header, 0) != sizeof header ||
        memcmp(header, magic, sizeof magic) != 0)
        return false;
    memcpy(&r->version, header + 4, sizeof r->version);
    return r->version == PFDD_SEGMENT_LINES ||
           r->version == PFDD_SEGMENT_VERSION;
}

bool pfdd_segment_enter(struct pfdd_segment_reader *r, const char *dir,
                        const struct pfdd_segment *segment)
{
    r->error = 0;
    if (r->segment != segment->first) {
        if (r->fd >= 0)
            close(r->fd);
        r->fd = -1;
        r->segment = segment->first;
        r->at = PFDD_SEGMENT_HEADER;
    }
    if (r->fd >= 0)
        return true;
    r->fd = open_segment(dir, segment->first, O_RDONLY);
    if (r->fd < 0 && errno != ENOENT) {
        r->error = errno;
        return false;
    }
    /* The file was removed or replaced. */
    if (r->fd < 0 || !read_version(r)) {
        pass_over(r, segment);
        return false;
    }
    return true;
}

static bool is_whole(const struct pfdd_segment_reader *r,
                     const struct record_head *head)
{
    uint32_t crc = pfd_crc32c(0, &head->number, sizeof head->number);
    return pfd_crc32c(crc, r->bytes, head->n) == head->crc;
}

/* False: no whole record before `end`, or r->error. */
static bool read_record(struct pfdd_segment_reader *r, uint64_t end)
{
    struct record_head head;
    if (end < r->at + sizeof head ||
        pread(r->fd, &head, sizeof head, (off_t)r->at) != sizeof head ||
        head.n == 0 || head.n > PFDD_SPOOL_RECORD_MAX ||
        head.n > end - r->at - sizeof head)
        return false;
    if (!make_room(&r->bytes, &r->size, head.n)) {
        r->error = ENOMEM;
        return false;
    }
    if (pread(r->fd, r->bytes, head.n, (off_t)(r->at + sizeof head)) !=
            (ssize_t)head.n ||
        !is_whole(r, &head))
        return false;
    r->number = head.number;
    r->n = head.n;
    return true;
}

bool pfdd_segment_peek(struct pfdd_segment_reader *r,
                       const struct pfdd_segment *segment)
{
    if (r->at >= segment->end)
        return false;
    if (read_record(r, segment->end))
        return true;
    if (!r->error)
        pass_over(r, segment); /* with all that follows in it */
    return false;
}

void pfdd_segment_step(struct pfdd_segment_reader *r)
{
    r->at += PFDD_SPOOL_RECORD_HEADER + r->n;
}

void pfdd_segment_lose(struct pfdd_segment_reader *r)
{
    r->lost += PFDD_SPOOL_RECORD_HEADER + r->n;
    pfdd_segment_step(r);
}
