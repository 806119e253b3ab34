/* SPDX-License-Identifier: MIT */
/*
 * Finds printf buffers in a core or in a process that runs, where nobody says
 * at which address they are:
 *
 *   by a dispatch: a packet of ROCm's queues that starts a kernel which is
 *   loaded leads to the kernel's arguments, and they to its buffer;
 *   by its header: header and entries agree so well that chance would hardly
 *   make them so.
 *
 * What is found is tried: how much of it decodes is counted with the strings
 * that are given.
 */
#ifndef PRINTFDECODE_SEARCH_BUFFERS_H
#define PRINTFDECODE_SEARCH_BUFFERS_H

#include <printfdecode/core.h>
#include <printfdecode/printfdecode.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A buffer. Texts live until the result is freed. */
struct pfd_found_buffer {
    const char *format; /* a name of pfd_format_get() */
    uint64_t address;
    uint64_t size; /* bytes of it; fewer than it had where the core ends. In a
                      process, of one whose header says no size: up to the next
                      buffer or the end of what is mapped, 64 MiB at most */
    uint64_t used; /* of those, what the device reserved, header and all */
    /* The header says no size, and what it counts does not decode to its end,
     * or that end is zeros like what lies behind it, or the last entry goes over
     * the border of a page: the buffer may have ended before, and its last entry
     * may have bytes that are not its own. */
    bool is_end_doubtful;

    /* By a packet: its address, the kernel that it starts, and where AMD's note
     * has the queue that it stands in, that queue. */
    bool by_dispatch;
    uint64_t packet;
    const char *kernel; /* any bytes, NUL-terminated; NULL: by its header */
    bool has_queue;
    uint32_t queue_id;
    uint32_t gpu_id;

    const char *why; /* it is believed, in a few words, static; by a packet:
                        NULL */

    /* How much of it decodes. */
    struct pfd_summary summary;
    /* The same bytes, or the first of them, stand at so many other addresses,
     * and are not found once more. */
    uint64_t n_copies;
};

/* All of them, the most believable first. */
struct pfd_found_buffers {
    struct pfd_found_buffer *at; /* [n] */
    size_t n;
    bool is_more; /* than are listed: they were too many to be tried */
    /* Entries in runs without a header, which no buffer was found for. */
    uint64_t n_stray_runs;
    uint64_t n_stray_entries;
    uint64_t n_searched; /* bytes that were looked at; holes are not */
};

/* All borrowed for the call. */
struct pfd_buffer_search {
    const struct pfd_core *core;
    /* Or, where core is NULL, a process, which goes on meanwhile: what is found
     * may be others' by then. It belongs to this thread, and its regions are
     * asked for anew. */
    struct pfd_memory *memory;
    const struct pfd_strings *strings;
    /* Bytes of a process that are copied at a time; 0: 384 MiB; at least 24 MiB.
     * A buffer that is larger than a third of it is judged by what comes first.
     */
    uint64_t n_copied_max;
    unsigned threads; /* 0: as many as there are processors */
    /* Told now and then: bytes of n_all were looked at; false: stop. Or NULL. */
    bool (*progress)(void *user, uint64_t n_done, uint64_t n_all);
    void *user;
};

/*
 * Looks at all memory that is in the core, or all of a process' that can be
 * read and is no device, once. Any thread, for a core.
 *
 * PFD_OK; PFD_ERR_STOPPED: progress said so; PFD_ERR_IO: the process has ended,
 * or runs another program now; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_search_buffers(
    const struct pfd_buffer_search *buffer_search,
    struct pfd_found_buffers **ret, struct pfd_error *err);

/* NULL is allowed. */
PFD_API void pfd_found_buffers_free(struct pfd_found_buffers *list);

#ifdef __cplusplus
}
#endif

#endif
