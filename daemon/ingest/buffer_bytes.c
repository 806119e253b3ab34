/* SPDX-License-Identifier: MIT */
#include "ingest/buffer_bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "stream/live/live_source.h"

bool pfdd_buffer_bytes_init(struct pfdd_buffer_bytes *b, int fd,
                            struct pfd_source *memory, uint64_t n)
{
    *b = (struct pfdd_buffer_bytes){ .source = memory,
                                     .fd = memory ? -1 : fd,
                                     .n = n };
    if (memory)
        return true;
    if (pfd_source_open_file(fd, &b->source, NULL) != PFD_OK)
        return false;
    pfdd_change_probe_init(&b->change_probe, fd);
    return true;
}

bool pfdd_buffer_bytes_are_of_process(const struct pfdd_buffer_bytes *b)
{
    return b->fd < 0;
}

void pfdd_buffer_bytes_deinit(struct pfdd_buffer_bytes *b)
{
    if (pfdd_buffer_bytes_are_of_process(b))
        return;
    pfdd_change_probe_deinit(&b->change_probe);
    pfd_source_close(b->source);
}

void pfdd_buffer_bytes_describe(const struct pfdd_buffer_bytes *b,
                                char ret[PFDD_FILE_ROOM])
{
    struct pfd_source_identity is = { 0 };
    if (!pfdd_buffer_bytes_are_of_process(b)) {
        pfdd_file_describe(b->fd, ret);
        return;
    }
    pfd_source_identify(b->source, &is, NULL);
    snprintf(ret, PFDD_FILE_ROOM,
             "process %" PRIu64 " of %" PRIu64 " at %" PRIx64, is.place,
             is.number, is.offset);
}

size_t pfdd_buffer_bytes_size(const struct pfdd_buffer_bytes *b)
{
    struct stat st;
    if (pfdd_buffer_bytes_are_of_process(b))
        return (size_t)b->n;
    return fstat(b->fd, &st) == 0 ? (size_t)st.st_size : SIZE_MAX;
}

bool pfdd_buffer_bytes_may_have_changed(struct pfdd_buffer_bytes *b)
{
    return pfdd_buffer_bytes_are_of_process(b) ||
           pfdd_change_probe_has_changed(&b->change_probe);
}

void pfdd_buffer_bytes_forget(struct pfdd_buffer_bytes *b)
{
    b->must_look = true;
    if (!pfdd_buffer_bytes_are_of_process(b))
        pfdd_change_probe_forget(&b->change_probe);
}

bool pfdd_buffer_bytes_are_still(struct pfdd_buffer_bytes *b)
{
    if (!pfdd_buffer_bytes_are_of_process(b))
        return false;
    bool changed = pfd_source_changed(b->source);
    bool must_look = b->must_look;
    b->must_look = false;
    return !changed && !must_look;
}
