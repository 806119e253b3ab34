/* SPDX-License-Identifier: MIT */
/*
 * An address space: the memory of a running process. Bytes are read by their
 * address there; absent ranges are reported one by one, and never replaced.
 * Reading stops and changes nothing.
 *
 * A process goes on while it is read: the beginning of a result is a little
 * older than its end. A caller that needs to know whether it changed reads
 * twice.
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
    PFD_MEMORY_SHARED = 8, /* others that map it see the stores */
};

/* A mapping: addresses [address, address + size). */
struct pfd_memory_region {
    uint64_t address;
    uint64_t size;        /* bytes; never 0, and never beyond 2^64 */
    uint64_t present;     /* bytes from its start that can be present: all of
                             them in a process */
    unsigned permissions; /* enum pfd_memory_permission */
    const char *name; /* of the mapped file, or the system's word, as "[heap]";
                         NULL: it has none. Borrowed until the next
                         pfd_memory_refresh() or until the memory is closed */
    uint64_t offset;  /* of its first byte in that file; 0: no file */
};

/*
 * Opens the memory of a process, which goes on. The memory is that of the
 * program that runs in it now: another program that it executes later, or
 * another process that gets the same id, is not mistaken for it.
 *
 * PFD_OK; PFD_ERR_IO: there is no such process, it has ended and nothing has
 * waited for it (a zombie), it has no memory (a thread of the kernel), or it
 * must not be read: err names the missing permission and the remedy;
 * PFD_ERR_USAGE: 0, or the id of a thread; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_memory_open_process(uint64_t pid,
                                                struct pfd_memory **ret,
                                                struct pfd_error *err);

/* NULL is allowed. */
PFD_API void pfd_memory_close(struct pfd_memory *memory);

/* A description, as "process 1234"; valid until the memory is closed. */
PFD_API const char *pfd_memory_name(const struct pfd_memory *memory);

/* The process' id; 0: unknown. */
PFD_API uint64_t pfd_memory_pid(const struct pfd_memory *memory);

/* Takes an absent range of addresses, and one sentence with the reason; both
 * borrowed until it returns. Ranges come in order; two that touch have
 * different reasons. */
typedef void (*pfd_memory_absent_fn)(void *user, const struct pfd_range *range,
                                     const char *why);

/*
 * Reads addresses [address, address + n) to bytes [n]. Absent bytes are zero
 * there, and their ranges go to absent (may be NULL) with user. *n_there (may
 * be NULL): the number of bytes that are present.
 *
 * PFD_OK, also if none is present; PFD_ERR_IO: the process has ended, or runs
 * another program now, and bytes is worthless; PFD_ERR_USAGE: the range leaves
 * the 64-bit addresses.
 */
PFD_API enum pfd_status pfd_memory_read(struct pfd_memory *memory,
                                        uint64_t address, void *bytes, size_t n,
                                        pfd_memory_absent_fn absent, void *user,
                                        size_t *n_there, struct pfd_error *err);

/* Region i, in order of address, as of the opening or the last
 * pfd_memory_refresh(). PFD_OK; PFD_END: there are no more. */
PFD_API enum pfd_status pfd_memory_region(const struct pfd_memory *memory,
                                          size_t i,
                                          struct pfd_memory_region *ret);

/* The region that holds an address, or the first one behind it. PFD_OK;
 * PFD_END: there is none. */
PFD_API enum pfd_status pfd_memory_find(const struct pfd_memory *memory,
                                        uint64_t address,
                                        struct pfd_memory_region *ret);

/* Reads the regions again, since a process maps and unmaps. PFD_OK; PFD_ERR_IO:
 * the process has ended, and the old regions stay; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_memory_refresh(struct pfd_memory *memory,
                                           struct pfd_error *err);

/* Does the process still run this program? PFD_OK; PFD_ERR_IO: it has ended, or
 * runs another program now. Costs a system call or two. */
PFD_API enum pfd_status pfd_memory_check(struct pfd_memory *memory,
                                         struct pfd_error *err);

/* A copy of a range of addresses: a buffer for pfd_convert_bytes(). */
struct pfd_memory_copy {
    void *bytes; /* [n], owned */
    size_t n;
    struct pfd_range *missing; /* [n_missing] ranges of bytes, in order, that
                                  are unknown, and zero there; owned */
    size_t n_missing;
};

/*
 * Copies addresses [address, address + n). The memory of a running process is
 * copied twice, to detect stores there; the later bytes are kept. Ranges that
 * cannot be read (unreadable) and pages that changed meanwhile (torn) go to
 * finding (may be NULL) with their addresses; source: the copy's name.
 *
 * PFD_OK, also if nothing is present; PFD_ERR_IO, PFD_ERR_USAGE: as
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
