/* SPDX-License-Identifier: MIT */
/*
 * An address space: the memory of a running process. Bytes are read by their
 * address there; what is not there is said range by range, and nothing is put
 * in its place. Nothing in it is stopped or changed.
 *
 * A process goes on while it is read: what one call gives is a little older at
 * its beginning than at its end. Whoever needs to know reads twice.
 *
 * Thread rule: an address space belongs to one thread at a time.
 */
#ifndef PRINTFDECODE_MEMORY_H
#define PRINTFDECODE_MEMORY_H

#include <printfdecode/common.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_memory;

/* Bits of a region's permissions. */
enum pfd_memory_permission {
    PFD_MEMORY_EXECUTE = 1,
    PFD_MEMORY_WRITE = 2,
    PFD_MEMORY_READ = 4,
    PFD_MEMORY_SHARED = 8, /* stores are seen by others that map it */
};

/* A mapping: addresses [address, address + size). */
struct pfd_memory_region {
    uint64_t address;
    uint64_t size;        /* bytes; never 0, and never beyond 2^64 */
    uint64_t present;     /* bytes from its start that can be there: all of them
                             in a process */
    unsigned permissions; /* enum pfd_memory_permission */
    const char *name; /* of the file that is mapped, or what the system calls
                             it, as "[heap]"; NULL: it has none. Borrowed until
                             the regions are asked for anew or it is closed */
    uint64_t offset;  /* of its first byte in that file; 0: none */
};

/*
 * Opens the memory of a process, which goes on. What is opened is the program
 * that runs in it now: another one that it executes later, or another process
 * that gets the same id, is not taken for it.
 *
 * PFD_OK; PFD_ERR_IO: there is no such process, it has ended and is only not
 * waited for (a zombie), it has no memory (a thread of the kernel), or we must
 * not read it: err says which permission is missing and what to do;
 * PFD_ERR_USAGE: 0, or the id of a thread; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_memory_open_process(uint64_t pid,
                                                struct pfd_memory **ret,
                                                struct pfd_error *err);

/* NULL is allowed. */
PFD_API void pfd_memory_close(struct pfd_memory *memory);

/* What it is in a sentence, as "process 1234"; until it is closed. */
PFD_API const char *pfd_memory_name(const struct pfd_memory *memory);

/* The process' id; 0: it is not known. */
PFD_API uint64_t pfd_memory_pid(const struct pfd_memory *memory);

/* Takes a range of addresses that is not there, and one sentence why; borrowed
 * until it returns. Ranges come in order, and do not touch where the reason is
 * the same. */
typedef void (*pfd_memory_absent_fn)(void *user, const struct pfd_range *range,
                                     const char *why);

/*
 * Reads addresses [address, address + n) to bytes [n]. What is not there
 * is zero in bytes, and told to absent (may be NULL) with user. *n_there (may
 * be NULL): bytes that are there.
 *
 * PFD_OK, also when nothing is there; PFD_ERR_IO: the process has ended, or
 * runs another program now: what bytes has is worth nothing;
 * PFD_ERR_USAGE: the range leaves the 64-bit addresses.
 */
PFD_API enum pfd_status pfd_memory_read(struct pfd_memory *memory,
                                        uint64_t address, void *bytes, size_t n,
                                        pfd_memory_absent_fn absent, void *user,
                                        size_t *n_there, struct pfd_error *err);

/* Region number i, in order of address; they were asked for when the memory
 * was opened, or by pfd_memory_refresh(). PFD_OK; PFD_END: there are no
 * more. */
PFD_API enum pfd_status pfd_memory_region(const struct pfd_memory *memory,
                                          size_t i,
                                          struct pfd_memory_region *ret);

/* The region that holds an address, or the first one behind it. PFD_OK;
 * PFD_END: there is none. */
PFD_API enum pfd_status pfd_memory_find(const struct pfd_memory *memory,
                                        uint64_t address,
                                        struct pfd_memory_region *ret);

/* Asks for the regions anew: a process maps and unmaps. PFD_OK; PFD_ERR_IO:
 * the process has ended, and the old ones stay; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_memory_refresh(struct pfd_memory *memory,
                                           struct pfd_error *err);

/* Is it still there? PFD_OK; PFD_ERR_IO: the process has ended, or runs another
 * program now. Costs a system call or two. */
PFD_API enum pfd_status pfd_memory_check(struct pfd_memory *memory,
                                         struct pfd_error *err);

/* What stood at some addresses: a buffer, as pfd_convert_bytes() takes it. */
struct pfd_memory_copy {
    void *bytes; /* [n], owned */
    size_t n;
    struct pfd_range *missing; /* [n_missing] of bytes, in order: not known, and
                                  zero there; owned */
    size_t n_missing;
};

/*
 * Copies addresses [address, address + n), twice where the memory is a process
 * that goes on, to see whether it writes there: the later bytes are kept. What
 * cannot be read (unreadable) and what changed meanwhile (torn), in pages, is
 * told to finding (may be NULL) with its addresses; source: the copy's name.
 *
 * PFD_OK, also when nothing is there; PFD_ERR_IO, PFD_ERR_USAGE: as
 * pfd_memory_read(), and for more than 16 GiB; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_memory_copy(struct pfd_memory *memory,
                                        uint64_t address, size_t n,
                                        const char *source,
                                        pfd_finding_fn finding, void *user,
                                        struct pfd_memory_copy *ret,
                                        struct pfd_error *err);

/* All zero is allowed. */
PFD_API void pfd_memory_copy_free(struct pfd_memory_copy *copy);

#ifdef __cplusplus
}
#endif

#endif
