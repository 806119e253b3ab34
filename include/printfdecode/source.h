/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a live buffer: a file that others map or write (a memfd as
 * well), or a range of a process' memory. A source is read at any offset; it
 * knows its size, whether it may have changed, and whether it is the same as
 * another one. Code that follows buffers (tail.h) need not know which kind it
 * is. Also the interval between polls, since stores into memory wake no reader.
 *
 * Thread rule: a source belongs to one thread at a time.
 */
#ifndef PRINTFDECODE_SOURCE_H
#define PRINTFDECODE_SOURCE_H

#include <printfdecode/memory.h>
#include <printfdecode/thread_pool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_source;

/* A file, by its descriptor, which is borrowed until the source is closed. It
 * is read and not mapped, so that cutting it does no harm. PFD_OK; PFD_ERR_IO:
 * it is not a regular file; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_source_open_file(int fd, struct pfd_source **ret,
                                             struct pfd_error *err);

/*
 * Addresses [address, address + n) of a memory, which is borrowed until the
 * source is closed. PFD_OK; PFD_ERR_USAGE: the range leaves the 64-bit
 * addresses; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_source_open_memory(struct pfd_memory *memory,
                                               uint64_t address, uint64_t n,
                                               struct pfd_source **ret,
                                               struct pfd_error *err);

/* For a file: threads that help to read large parts of it, borrowed until the
 * source is closed; NULL: none, the default. */
PFD_API void pfd_source_set_thread_pool(struct pfd_source *source,
                                        struct pfd_thread_pool *thread_pool);

/* NULL is allowed. */
PFD_API void pfd_source_close(struct pfd_source *source);

/*
 * A pfd_read_at_fn; source is a struct pfd_source. Reads up to n bytes at
 * offset. Returns their number, or a negated errno value. ESRCH: the process
 * has ended or runs another program now; EFAULT: nothing is mapped there any
 * more.
 */
PFD_API long pfd_source_read(void *source, uint64_t offset, void *bytes,
                             size_t n);

/* Its size now, bytes; a memory's is always the size that it was opened with.
 * PFD_OK; PFD_ERR_IO: it is gone, err says how. */
PFD_API enum pfd_status pfd_source_size(struct pfd_source *source,
                                        uint64_t *ret, struct pfd_error *err);

/* Have the size or the first 64 bytes, which hold the header in every format,
 * changed since the last call? True also for the first call, and when they
 * cannot be read. */
PFD_API bool pfd_source_changed(struct pfd_source *source);

/* Two sources with the same identity are the same bytes. */
struct pfd_source_identity {
    uint64_t kind;   /* 0: a file; 1: memory */
    uint64_t place;  /* st_dev of a file; id of a process */
    uint64_t number; /* st_ino; ticks from the system's start to the process' */
    uint64_t offset; /* 0; address */
};

/* PFD_OK; PFD_ERR_IO: the system does not tell. */
PFD_API enum pfd_status pfd_source_identify(const struct pfd_source *source,
                                            struct pfd_source_identity *ret,
                                            struct pfd_error *err);

/* Nanoseconds to wait before the next poll, after idle_ns without a change: 1
 * ms at first, 50 ms after ten seconds. Any thread. */
PFD_API uint64_t pfd_source_pause(uint64_t idle_ns);

#ifdef __cplusplus
}
#endif

#endif
