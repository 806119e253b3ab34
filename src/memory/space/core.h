/* SPDX-License-Identifier: MIT */
/*
 * Internals of a core file: its parts. core.c maps the file and its memory,
 * core_notes.c reads its notes, core_store.c inflates a compressed file,
 * core_memory.c is the address space.
 */
#ifndef PFD_MEMORY_CORE_H
#define PFD_MEMORY_CORE_H

#include <printfdecode/core.h>

#include "core/base/byte_reader.h"
#include "core/base/error.h"

struct pfd_core {
    struct pfd_core_info info;
    int fd;               /* of the file, or of the inflated copy */
    const uint8_t *bytes; /* [n], mapped */
    uint64_t n;
    bool is_sparse;
    struct pfd_core_segment *segments; /* [info.n_segments], disjoint, in
                                          order */
    size_t *present; /* [info.n_segments + 1]: the next segment, from each on,
                        that has bytes in the core */
    struct pfd_core_file *files;      /* [info.n_files], in order */
    char *names;                      /* of files, one behind another */
    struct pfd_core_agent *agents;    /* [info.n_agents] */
    struct pfd_core_queue *queues;    /* [info.n_queues] */
    struct pfd_byte_reader auxiliary; /* pairs of u64 */
    uint64_t *wide; /* the pairs of a process of 32 bits, owned; or NULL */
    char command[17];
};

/* Reads a number as wide as the process' addresses. */
static inline uint64_t pfd_core_word(const struct pfd_core *core,
                                     struct pfd_byte_reader *c)
{
    return core->info.is_32 ? pfd_byte_reader_u32(c) : pfd_byte_reader_u64(c);
}

/* Reads one segment of notes. False: out of memory. */
bool pfd_core_read_notes(struct pfd_core *core, uint64_t offset,
                         struct pfd_byte_reader notes,
                         struct pfd_report *report);

/* Reads the waves that the notes point to; memory must be readable. */
void pfd_core_read_waves(struct pfd_core *core);

/*
 * Inflates bytes [n] into a file without a name; the caller closes *fd. Damage
 * is a finding, and the bytes before it are kept. PFD_OK; PFD_ERR_IO: such a
 * file cannot be made or written; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_core_store(const void *bytes, size_t n, uint64_t n_max,
                               struct pfd_report *report, int *fd,
                               struct pfd_error *err);

#endif
