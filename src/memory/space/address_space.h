/* SPDX-License-Identifier: MIT */
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
#ifndef PFD_ADDRESS_SPACE_H
#define PFD_ADDRESS_SPACE_H

#include <printfdecode/memory.h>

#include "core/base/arena.h"
#include "core/base/error.h"

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
void pfd_memory_map_free(struct pfd_memory_map *map);

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

#endif
