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
#ifndef PFD_ADDRESS_SPACE_H
#define PFD_ADDRESS_SPACE_H

#include <printfdecode/common.h>

#include "core/base/arena.h"
#include "core/base/error.h"

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
enum pfd_status pfd_memory_open_process(uint64_t pid, struct pfd_memory **ret,
                                        struct pfd_error *err);

/* NULL is allowed. */
void pfd_memory_close(struct pfd_memory *memory);

/* A description, as "process 1234"; valid until the memory is closed. */
const char *pfd_memory_name(const struct pfd_memory *memory);

/* The process' id; 0: unknown. */
uint64_t pfd_memory_pid(const struct pfd_memory *memory);

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
enum pfd_status pfd_memory_read(struct pfd_memory *memory, uint64_t address,
                                void *bytes, size_t n,
                                pfd_memory_absent_fn absent, void *user,
                                size_t *n_there, struct pfd_error *err);

/* Region i, in order of address, as of the opening or the last
 * pfd_memory_refresh(). PFD_OK; PFD_END: there are no more. */
enum pfd_status pfd_memory_region(const struct pfd_memory *memory, size_t i,
                                  struct pfd_memory_region *ret);

/* The region that holds an address, or the first one behind it. PFD_OK;
 * PFD_END: there is none. */
enum pfd_status pfd_memory_find(const struct pfd_memory *memory,
                                uint64_t address,
                                struct pfd_memory_region *ret);

/* Reads the regions again, since a process maps and unmaps. PFD_OK; PFD_ERR_IO:
 * the process has ended, and the old regions stay; PFD_ERR_NOMEM. */
enum pfd_status pfd_memory_refresh(struct pfd_memory *memory,
                                   struct pfd_error *err);

/* Does the process still run this program? PFD_OK; PFD_ERR_IO: it has ended, or
 * runs another program now. Costs a system call or two. */
enum pfd_status pfd_memory_check(struct pfd_memory *memory,
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
enum pfd_status pfd_memory_copy(struct pfd_memory *memory, uint64_t address,
                                size_t n, const char *source,
                                pfd_finding_fn finding, void *user,
                                struct pfd_memory_copy *ret,
                                struct pfd_error *err);

/* All zero is allowed. */
void pfd_memory_copy_free(struct pfd_memory_copy *copy);

/*
 * Internals of an address space: the state that all kinds share, and the hooks
 * that a kind implements.
 *
 * To add a kind: NAME.c with a function that opens it (declared in the public
 * header). It allocates a struct whose first member is a struct pfd_memory,
 * fills that in, and points it to a constant table of hooks. If opening fails,
 * it calls pfd_memory_close(). address_space.c reads through the hooks; readers
 * of memory know no kind.
 */

/* Bytes at an address: first the present ones, then absent ones. */
struct pfd_memory_got {
    size_t n;        /* bytes that were read */
    uint64_t absent; /* absent bytes behind them; may be more than were asked
                        for; 0: all were read, or ask again */
    const char *why; /* one sentence, static; set if absent */
};

/* Regions, in any order until they are settled; all zero is an empty map. */
struct pfd_memory_map {
    struct pfd_memory_region *at; /* [n] of [room], owned */
    size_t n;
    size_t room;
    struct pfd_arena names;
    bool failed; /* out of memory; pfd_memory_map_settle() returns it */
};

/* Adds a region; name [n_name] is copied, 0 bytes: none. Empty regions are left
 * out; one that would wrap ends at the last address. */
void pfd_memory_map_add(struct pfd_memory_map *map,
                        const struct pfd_memory_region *region,
                        const char *name, size_t n_name);
/* Sorts the regions; PFD_OK or PFD_ERR_NOMEM. Where they overlap, the one that
 * begins first counts, and the others begin behind it. */
enum pfd_status pfd_memory_map_settle(struct pfd_memory_map *map,
                                      struct pfd_error *err);

struct pfd_memory_hooks {
    /* Reads at most [n] bytes at an address; n is not 0, and address + n does
     * not wrap. Either n or absent of *ret is above 0. PFD_OK; PFD_ERR_IO: the
     * whole memory is gone. */
    enum pfd_status (*read)(struct pfd_memory *memory, uint64_t address,
                            void *bytes, size_t n, struct pfd_memory_got *ret,
                            struct pfd_error *err);
    /*
     * The first range of anonymous memory in addresses [from, to) that has
     * pages; false: there is none. Memory without pages is zero, and reading it
     * would create pages. NULL: all memory is worth reading.
     */
    bool (*populated)(struct pfd_memory *memory, uint64_t from, uint64_t to,
                      struct pfd_range *ret);
    /* NULL: the regions never change. Adds the present regions to `fresh`. */
    enum pfd_status (*refresh)(struct pfd_memory *memory,
                               struct pfd_memory_map *fresh,
                               struct pfd_error *err);
    /* NULL: the memory never ends and never changes. */
    enum pfd_status (*check)(struct pfd_memory *memory, struct pfd_error *err);
    /* Opens a file by the name that it has inside the process: returns a
     * descriptor, or a negated errno value. NULL: the name is valid here. */
    int (*open_file)(struct pfd_memory *memory, const char *path);
    /* Frees the kind's members, and the struct itself. */
    void (*close)(struct pfd_memory *memory);
};

struct pfd_memory {
    const struct pfd_memory_hooks *hooks;
    char name[48];
    uint64_t pid;        /* 0: unknown */
    uint64_t pid_inside; /* as the process itself sees it; 0: unknown */
    uint64_t started;    /* ticks from the system's start; 0: unknown */
    struct pfd_memory_map map;
    uint8_t *auxv; /* [n_auxv]: the auxiliary vector, pairs of 64 bits; owned;
                      NULL: unknown */
    size_t n_auxv;
    uint64_t loaded; /* address of the ROCm runtime's r_debug, if the kind knows
                        it; 0: it has to be searched */
};

/* Reads a word of the auxiliary vector (AT_... of elf.h); false: it has none of
 * this type. */
bool pfd_memory_auxv(const struct pfd_memory *memory, uint64_t type,
                     uint64_t *ret);

/* Reads exactly [n] bytes; false: some are absent, or reading failed. */
bool pfd_memory_take(struct pfd_memory *memory, uint64_t address, void *bytes,
                     size_t n);

/* Calls the hook open_file. */
int pfd_memory_open_file(struct pfd_memory *memory, const char *path);

/* Decides which memory is worth searching. */

/* Can the region be read, without effects? */
bool pfd_memory_is_wanted(const struct pfd_memory_region *region);

/*
 * The first range of a region at addresses [from, to) that may have bytes other
 * than zeros; false: there is none. In memory without a file only pages that
 * exist count: the rest may be terabytes, and reading it would create pages.
 */
bool pfd_memory_mapped_range(struct pfd_memory *memory,
                             const struct pfd_memory_region *region,
                             uint64_t from, uint64_t to, struct pfd_range *ret);

#endif
