/* SPDX-License-Identifier: MIT */
/* Reads of an open core. */
#include "memory/space/core.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

const struct pfd_core_info *pfd_core_info(const struct pfd_core *core)
{
    return &core->info;
}

enum pfd_status pfd_core_segment(const struct pfd_core *core, size_t i,
                                 struct pfd_core_segment *ret)
{
    if (i >= core->info.n_segments)
        return PFD_END;
    *ret = core->segments[i];
    return PFD_OK;
}

enum pfd_status pfd_core_file(const struct pfd_core *core, size_t i,
                              struct pfd_core_file *ret)
{
    if (i >= core->info.n_files)
        return PFD_END;
    *ret = core->files[i];
    return PFD_OK;
}

enum pfd_status pfd_core_agent(const struct pfd_core *core, size_t i,
                               struct pfd_core_agent *ret)
{
    if (i >= core->info.n_agents)
        return PFD_END;
    *ret = core->agents[i];
    return PFD_OK;
}

enum pfd_status pfd_core_queue(const struct pfd_core *core, size_t i,
                               struct pfd_core_queue *ret)
{
    if (i >= core->info.n_queues)
        return PFD_END;
    *ret = core->queues[i];
    return PFD_OK;
}

/* The first segment that ends behind an address; n_segments: none does. */
static size_t find_segment(const struct pfd_core *core, uint64_t address)
{
    size_t low = 0;
    size_t high = core->info.n_segments;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct pfd_core_segment *s = &core->segments[middle];
        if (s->address + s->n_memory > address) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

const void *pfd_core_bytes(const struct pfd_core *core, uint64_t address,
                           uint64_t *n)
{
    size_t i = find_segment(core, address);
    const struct pfd_core_segment *s = &core->segments[i];
    if (i < core->info.n_segments && address >= s->address &&
        address - s->address < s->n_file) {
        *n = s->n_file - (address - s->address);
        return core->bytes + s->offset + (address - s->address);
    }
    /* The address may be in the part of a segment that is not in the core. */
    i += i < core->info.n_segments && address >= s->address;
    i = core->present[i];
    *n = i < core->info.n_segments ? core->segments[i].address - address
                                   : UINT64_MAX;
    return NULL;
}

size_t pfd_core_read(const struct pfd_core *core, uint64_t address, void *ret,
                     size_t n)
{
    size_t done = 0;
    while (done < n && done <= UINT64_MAX - address) {
        uint64_t left = 0;
        const void *bytes = pfd_core_bytes(core, address + done, &left);
        if (!bytes)
            break;
        size_t k = left < n - done ? (size_t)left : n - done;
        memcpy((char *)ret + done, bytes, k);
        done += k;
    }
    return done;
}

/* The first range of data in bytes [*from, end) of the file; *from is moved to
 * its beginning. False: there is none. */
static bool find_data(const struct pfd_core *core, uint64_t *from, uint64_t end,
                      uint64_t *to)
{
    *to = end;
    if (!core->is_sparse)
        return *from < end;
    off_t data = lseek(core->fd, (off_t)*from, SEEK_DATA);
    if (data < 0) /* no more data up to the file's end, or unknown */
        return errno != ENXIO && *from < end;
    *from = (uint64_t)data;
    off_t hole = *from < end ? lseek(core->fd, data, SEEK_HOLE) : -1;
    if (hole >= 0 && (uint64_t)hole < end)
        *to = (uint64_t)hole;
    return *from < end;
}

void pfd_core_data(const struct pfd_core *core, uint64_t address, uint64_t n,
                   bool (*fn)(void *user, uint64_t from, uint64_t to),
                   void *user)
{
    uint64_t last = n <= UINT64_MAX - address ? address + n : UINT64_MAX;
    uint64_t left = 0;
    for (uint64_t at = address; at < last; at += left) {
        const uint8_t *bytes = pfd_core_bytes(core, at, &left);
        left = left < last - at ? left : last - at;
        if (!bytes)
            continue;
        uint64_t start = (uint64_t)(bytes - core->bytes);
        uint64_t to = 0;
        for (uint64_t from = start; find_data(core, &from, start + left, &to);
             from = to) {
            if (!fn(user, at + (from - start), at + (to - start)))
                return;
        }
    }
}
