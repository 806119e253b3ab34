/* SPDX-License-Identifier: MIT */
#include "delivery/segments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <printfdecode/wire.h>

enum {
    VERSION = 1,
};

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

void pfdd_sync_dir(const char *dir, const char *under)
{
    char path[PFDD_PATH];
    snprintf(path, sizeof path, "%.400s%s", dir, under);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

bool pfdd_write_at(int fd, const char *bytes, size_t n, uint64_t at)
{
    while (n) {
        ssize_t done = pwrite(fd, bytes, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes += done;
        at += (uint64_t)done;
        n -= (size_t)done;
    }
    return true;
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

/* ---- records ---- */

static uint32_t record_crc(uint64_t seq, const char *line, size_t n)
{
    uint32_t crc = pfd_crc32c(0, &seq, sizeof seq);
    return pfd_crc32c(crc, line, n);
}

/* Reads the record at `at`; its line into line (room PFDD_QUEUE_LINE_MAX); 0:
 * there is none that is whole. */
static size_t read_record(int fd, uint64_t at, uint64_t *seq, char *line)
{
    struct {
        uint32_t n;
        uint32_t crc;
        uint64_t seq;
    } head;
    if (pread(fd, &head, sizeof head, (off_t)at) != (ssize_t)sizeof head ||
        head.n == 0 || head.n > PFDD_QUEUE_LINE_MAX ||
        pread(fd, line, head.n, (off_t)at + PFDD_RECORD_HEADER) !=
            (ssize_t)head.n ||
        record_crc(head.seq, line, head.n) != head.crc)
        return 0;
    *seq = head.seq;
    return head.n;
}

/* ---- the start ---- */

uint64_t pfdd_segment_scan(const char *dir, uint64_t first,
                           struct pfdd_segment_scan *scan)
{
    char header[PFDD_SEGMENT_HEADER];
    uint64_t at = PFDD_SEGMENT_HEADER;
    uint64_t seq = 0;
    size_t n = 0;
    scan->last = scan->cut = 0;
    int fd = open_segment(dir, first, O_RDONLY);
    if (fd < 0)
        return 0;
    if (pread(fd, header, sizeof header, 0) != sizeof header ||
        memcmp(header, magic, sizeof magic) != 0) {
        close(fd);
        return 0;
    }
    while ((n = read_record(fd, at, &seq, scan->line)) > 0 &&
           seq > scan->last) {
        at += PFDD_RECORD_HEADER + n;
        scan->last = seq;
        scan->hear(scan->user, scan->line, n);
    }
    /* Zeros are what was never written; anything else is cut off. */
    uint32_t rest = 0;
    if (pread(fd, &rest, sizeof rest, (off_t)at) == (ssize_t)sizeof rest &&
        rest)
        scan->cut = (uint64_t)lseek(fd, 0, SEEK_END) - at;
    close(fd);
    return at;
}

/* ---- which there are ---- */

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

void pfdd_segments_add(struct pfdd_segments *segments, uint64_t first,
                       uint64_t end)
{
    segments->items[segments->n++] = (struct pfdd_segment){ first, end };
}

void pfdd_segments_drop(struct pfdd_segments *segments, size_t n)
{
    if (n == 0) /* of none, perhaps */
        return;
    segments->n -= n;
    memmove(segments->items, segments->items + n,
            segments->n * sizeof *segments->items);
}

/* The last one that begins at or before a line, or the first of all. */
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
    /* The segment that has the line behind the last one read, or, if that is
     * lost, the first one behind it. */
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

size_t pfdd_batch_bytes(const struct pfdd_batch *batch)
{
    return batch->n + batch->n_lines * PFDD_RECORD_HEADER;
}

/* A new one of n bytes, for lines from `first` on. -1: errno says why. */
static int begin_segment(const char *dir, uint64_t first, uint64_t n)
{
    char header[PFDD_SEGMENT_HEADER];
    uint32_t version = VERSION;
    memcpy(header, magic, sizeof magic);
    memcpy(header + 4, &version, sizeof version);
    memcpy(header + 8, &first, sizeof first);
    int fd = open_segment(dir, first, O_RDWR | O_CREAT | O_TRUNC);
    if (fd < 0)
        return -1;
    /* Where it cannot be had, the file grows as it is written. */
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

static void put_records(const struct pfdd_batch *batch, char *ret)
{
    const char *line = batch->bytes;
    for (size_t i = 0; i < batch->n_lines; i++) {
        const char *end = batch->bytes + batch->n;
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        uint64_t seq = batch->first + i;
        uint32_t n = (uint32_t)(newline + 1 - line);
        uint32_t crc = record_crc(seq, line, n);
        memcpy(ret, &n, 4);
        memcpy(ret + 4, &crc, 4);
        memcpy(ret + 8, &seq, 8);
        memcpy(ret + PFDD_RECORD_HEADER, line, n);
        ret += PFDD_RECORD_HEADER + n;
        line += n;
    }
}

static bool write_batch(struct pfdd_segment_writer *w, const char *dir,
                        const struct pfdd_batch *batch)
{
    size_t n = pfdd_batch_bytes(batch);
    if (n > w->size) {
        errno = ENOMEM;
        return false;
    }
    if (batch->n_new) {
        if (w->fd >= 0)
            close(w->fd);
        w->fd = begin_segment(dir, batch->segment, batch->n_new);
        if (w->fd < 0)
            return false;
    }
    put_records(batch, w->records);
    return pfdd_write_at(w->fd, w->records, n, batch->at) &&
           fdatasync(w->fd) == 0;
}

int pfdd_segment_write(struct pfdd_segment_writer *w, const char *dir,
                       const struct pfdd_batch *batch)
{
    errno = 0;
    return write_batch(w, dir, batch) ? 0 : errno ? errno : EIO;
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
    r->fd = -1;
}

static void pass_over(struct pfdd_segment_reader *r,
                      const struct pfdd_segment *segment)
{
    r->lost += segment->end - r->at;
    r->at = segment->end;
}

static bool enter(struct pfdd_segment_reader *r, const char *dir,
                  const struct pfdd_segment *segment)
{
    r->error = 0;
    if (r->segment != segment->first) {
        pfdd_segment_reader_deinit(r);
        r->segment = segment->first;
        r->at = PFDD_SEGMENT_HEADER;
    }
    if (r->fd < 0)
        r->fd = open_segment(dir, segment->first, O_RDONLY);
    if (r->fd < 0 && errno == ENOENT) {
        pass_over(r, segment); /* somebody has removed it */
    } else if (r->fd < 0) {
        r->error = errno;
    }
    return r->fd >= 0;
}

size_t pfdd_segment_read(struct pfdd_segment_reader *r, const char *dir,
                         const struct pfdd_segment *segment, char *ret,
                         size_t size)
{
    size_t total = 0;
    bool is_open = enter(r, dir, segment);
    while (is_open && total < size && r->at < segment->end) {
        uint64_t seq = 0;
        size_t n = read_record(r->fd, r->at, &seq, ret + total);
        if (n == 0) {
            pass_over(r, segment); /* all that follows in it */
            break;
        }
        r->at += PFDD_RECORD_HEADER + n;
        if (seq > r->seq) {
            r->seq = seq;
            total += n;
        }
    }
    return total;
}
