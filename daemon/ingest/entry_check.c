/* SPDX-License-Identifier: MIT */
#include "ingest/entry_check.h"

#include <unistd.h>

#include "core/base/crc32c.h"

enum {
    SAMPLE = 4096, /* bytes, at most */
    HEAD = 64,     /* bytes of any format's header, which changes, at most */
};

static uint64_t checksum(int fd, uint64_t from, uint64_t n)
{
    char bytes[SAMPLE];
    ssize_t got =
        pread(fd, bytes, n < SAMPLE ? (size_t)n : SAMPLE, (off_t)from);
    return got > 0 ? pfd_crc32c(0, bytes, (size_t)got) : 0;
}

uint64_t pfdd_entry_check(int fd, uint64_t offset, uint64_t n_bytes,
                          bool is_ring)
{
    uint64_t end = offset + n_bytes;
    uint64_t start = end > SAMPLE + HEAD ? end - SAMPLE : HEAD;
    if (is_ring || offset < start)
        start = offset;
    return checksum(fd, start, end - start);
}

bool pfdd_entry_check_holds(uint64_t check, int fd, uint64_t offset,
                            uint64_t n_bytes)
{
    return !check || check == pfdd_entry_check(fd, offset, n_bytes, false) ||
           check == pfdd_entry_check(fd, offset, n_bytes, true);
}
