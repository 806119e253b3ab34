/* SPDX-License-Identifier: MIT */
/*
 * The inside of a core file: its parts as they were found. core.c has the file
 * and its memory, core_notes.c what its notes say, core_store.c a compressed
 * one's bytes, core_memory.c the address space.
 */
#ifndef PFD_MEMORY_CORE_H
#define PFD_MEMORY_CORE_H

#include <printfdecode/core.h>

#include "core/base/byte_reader.h"
#include "core/base/error.h"

struct pfd_core {
    struct pfd_core_info info;
    int fd;               /* of the file, or of what it inflates to */
    const uint8_t *bytes; /* [n], mapped */
    uint64_t n;
    bool is_sparse;
    struct pfd_core_segment *segments; /* [info.n_segments], apart, in order */
    size_t *present; /* [info.n_segments + 1]: the next one, from each on, that
                        has bytes in the core */
    struct pfd_core_file *files;      /* [info.n_files], in order */
    char *names;                      /* of files, one after another */
    struct pfd_core_agent *agents;    /* [info.n_agents] */
    struct pfd_core_queue *queues;    /* [info.n_queues] */
    struct pfd_byte_reader auxiliary; /* pairs of u64 */
    uint64_t *wide; /* those of a process of 32 bits, owned; or NULL */
    char command[17];
};

/* The next number that is as wide as an address of the process. */
static inline uint64_t pfd_core_word(const struct pfd_core *core,
                                     struct pfd_byte_reader *c)
{
    return core->info.is_32 ? pfd_byte_reader_u32(c) : pfd_byte_reader_u64(c);
}

/* Reads one stretch of notes. False: out of memory. */
bool pfd_core_read_notes(struct pfd_core *core, uint64_t offset,
                         struct pfd_byte_reader notes,
                         struct pfd_report *report);

/* Once memory can be read: what the notes point to. */
void pfd_core_look_at_waves(struct pfd_core *core);

/*
 * Inflates bytes [n] into a file without a name; *fd is the caller's to close.
 * Damage is a finding, and what came before it is there. PFD_OK; PFD_ERR_IO: no
 * such file could be made or written; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_core_store(const void *bytes, size_t n, uint64_t n_max,
                               struct pfd_report *report, int *fd,
                               struct pfd_error *err);

#endif
