/* SPDX-License-Identifier: MIT */
/*
 * An address space from the inside: what all kinds share, and the hooks that a
 * kind fills in. To add one: NAME.c with a function that opens it (declared in
 * the public header), which makes a struct whose first member is a struct
 * pfd_memory, fills that in, and has a constant table of hooks; what it fails
 * to open it gives to pfd_memory_close(). address_space.c reads through the hooks;
 * whoever reads memory knows no kind.
 */
#ifndef PFD_ADDRESS_SPACE_H
#define PFD_ADDRESS_SPACE_H

#include <printfdecode/memory.h>

#include "core/base/arena.h"
#include "core/base/error.h"

/* What stands at an address: first bytes that are there, then some that are
 * not. */
struct pfd_memory_got {
    size_t n;        /* bytes that were read */
    uint64_t absent; /* bytes behind them that are not there; may be more than
                        were asked for; 0: all were read, or ask again */
    const char *why; /* one sentence, static; when absent */
};

/* Regions, in any order until they are settled; all zero is an empty map. */
struct pfd_memory_map {
    struct pfd_memory_region *at; /* [n] of [room], owned */
    size_t n;
    size_t room;
    struct pfd_arena names;
    bool failed; /* out of memory: asked once, by pfd_memory_map_settle() */
};

/* Adds a region; name [n_name] is copied, 0 bytes: it has none. Regions without
 * bytes are left out, and one that would wrap ends at the last address. */
void pfd_memory_map_add(struct pfd_memory_map *map,
                        const struct pfd_memory_region *region,
                        const char *name, size_t n_name);
/* Puts them in order; PFD_OK or PFD_ERR_NOMEM. Where they overlap, the one that
 * begins first counts, and of the others what is behind it. */
enum pfd_status pfd_memory_map_settle(struct pfd_memory_map *map,
                                      struct pfd_error *err);
void pfd_memory_map_free(struct pfd_memory_map *map);

struct pfd_memory_hooks {
    /* Reads at most [n] bytes at an address; n is not 0, and address + n does
     * not wrap. Either n or absent of *ret is above 0. PFD_OK; PFD_ERR_IO: all
     * of it is gone. */
    enum pfd_status (*read)(struct pfd_memory *memory, uint64_t address,
                            void *bytes, size_t n, struct pfd_memory_got *ret,
                            struct pfd_error *err);
    /*
     * The first stretch of anonymous memory in addresses [from, to) that has
     * pages; false: there is none. What has none is zero, and reading it would
     * make some there. NULL: all is worth reading.
     */
    bool (*populated)(struct pfd_memory *memory, uint64_t from, uint64_t to,
                      struct pfd_range *ret);
    /* NULL: the regions never change. Adds what there is now to `fresh`. */
    enum pfd_status (*refresh)(struct pfd_memory *memory,
                               struct pfd_memory_map *fresh,
                               struct pfd_error *err);
    /* NULL: it is always there, and stays as it is. */
    enum pfd_status (*check)(struct pfd_memory *memory, struct pfd_error *err);
    /* Opens a file by the name that it has in there: a descriptor, or below
     * zero: an errno value, negated. NULL: by its name here. */
    int (*open_file)(struct pfd_memory *memory, const char *path);
    /* Frees what the kind has, and the struct itself. */
    void (*close)(struct pfd_memory *memory);
};

struct pfd_memory {
    const struct pfd_memory_hooks *hooks;
    char name[48];
    uint64_t pid;        /* 0: not known */
    uint64_t pid_inside; /* as the process itself sees it; 0: not known */
    uint64_t started;    /* ticks from the system's start; 0: not known */
    struct pfd_memory_map map;
    uint8_t *auxv; /* [n_auxv]: the auxiliary vector, pairs of 64 bits; owned;
                      NULL: not known */
    size_t n_auxv;
    uint64_t loaded; /* address of the ROCm runtime's r_debug, where the kind
                        knows it; 0: it is to be searched for */
};

/* Reads a word of the auxiliary vector (AT_... of elf.h); false: it has none.
 */
bool pfd_memory_auxv(const struct pfd_memory *memory, uint64_t type,
                     uint64_t *ret);

/* All of [n] bytes, or false: not all are there, or something failed. */
bool pfd_memory_take(struct pfd_memory *memory, uint64_t address, void *bytes,
                     size_t n);

/* As the hook of that name. */
int pfd_memory_open_file(struct pfd_memory *memory, const char *path);

#endif
