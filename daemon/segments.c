/* SPDX-License-Identifier: MIT */
#include "segments.h"

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

int pfdd_segment_open(const char *dir, uint64_t first, int flags)
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

size_t pfdd_record_read(int fd, uint64_t at, uint64_t *seq, char *line)
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

size_t pfdd_records_bytes(const struct pfdd_chunk *chunk, size_t first,
                          size_t n_lines)
{
    size_t n = 0;
    for (size_t i = first; i < first + n_lines; i++)
        n += PFDD_RECORD_HEADER + chunk->lines[i].n;
    return n;
}

size_t pfdd_records_put(const struct pfdd_chunk *chunk, size_t first,
                        size_t n_lines, char *ret)
{
    size_t at = 0;
    for (size_t i = first; i < first + n_lines; i++) {
        const struct pfdd_line *l = &chunk->lines[i];
        uint64_t seq = chunk->first_seq + i;
        const char *line = chunk->data + l->at;
        uint32_t crc = record_crc(seq, line, l->n);
        memcpy(ret + at, &l->n, 4);
        memcpy(ret + at + 4, &crc, 4);
        memcpy(ret + at + 8, &seq, 8);
        memcpy(ret + at + PFDD_RECORD_HEADER, line, l->n);
        at += PFDD_RECORD_HEADER + l->n;
    }
    return at;
}

/* ---- segments ---- */

uint64_t pfdd_segment_scan(const char *dir, uint64_t first,
                           struct pfdd_segment_scan *scan)
{
    char header[PFDD_SEGMENT_HEADER];
    uint64_t at = PFDD_SEGMENT_HEADER;
    uint64_t seq = 0;
    size_t n = 0;
    scan->last = scan->cut = 0;
    int fd = pfdd_segment_open(dir, first, O_RDONLY);
    if (fd < 0)
        return 0;
    if (pread(fd, header, sizeof header, 0) != sizeof header ||
        memcmp(header, magic, sizeof magic) != 0) {
        close(fd);
        return 0;
    }
    while ((n = pfdd_record_read(fd, at, &seq, scan->line)) > 0 &&
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

int pfdd_segment_begin(const char *dir, uint64_t first, uint64_t n)
{
    char header[PFDD_SEGMENT_HEADER];
    uint32_t version = VERSION;
    memcpy(header, magic, sizeof magic);
    memcpy(header + 4, &version, sizeof version);
    memcpy(header + 8, &first, sizeof first);
    int fd = pfdd_segment_open(dir, first, O_RDWR | O_CREAT | O_TRUNC);
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
