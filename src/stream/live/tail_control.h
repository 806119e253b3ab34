/* SPDX-License-Identifier: MIT */
/* A tail for programs that know their memory and have threads. */
#ifndef PFD_TAIL_CONTROL_H
#define PFD_TAIL_CONTROL_H

#include <printfdecode/tail.h>

#include "stream/live/walk_pool.h"

struct pfd_entry_run;

/* Takes several entries: all of one generation, with consecutive indices. */
typedef void (*pfd_tail_run_fn)(void *user,
                                const struct pfd_entry_run *entry_run,
                                uint64_t generation);

/*
 * Takes several runs, each behind the one before, with the help of threads: it
 * may call pfd_tail_share().
 */
typedef void (*pfd_tail_runs_fn)(void *user,
                                 const struct pfd_entry_run *const *entry_runs,
                                 size_t n, uint64_t generation);

/* How entries are taken that come in runs. */
struct pfd_tail_runs {
    pfd_tail_run_fn run;   /* NULL: entries come one by one, as items */
    pfd_tail_runs_fn runs; /* NULL: runs come one by one, too */
    /* Threads that walk over slices of the bytes that a poll has read; borrowed
     * for the tail's life. NULL: none. */
    struct pfd_walk_pool *walk_pool;
};

/* Call it before the first poll. The user of both functions is item_user. */
void pfd_tail_take_runs(struct pfd_tail *tail,
                        const struct pfd_tail_runs *runs);

/* Reads the counter of a buffer that has it in a file of its own, as `read` of
 * pfd_tail_options does the buffer; without it such a buffer is read as a whole
 * when it ends. Call it before the first poll. */
void pfd_tail_set_counter(struct pfd_tail *tail, pfd_read_at_fn read,
                          void *user);

/* Is it a ring with positions, which begins anew at its end? Offsets of its
 * entries count on over that end where positions grow. */
bool pfd_tail_is_ring(const struct pfd_tail *tail);

/* The last entry that came out of a buffer before the tail was made. */
struct pfd_tail_resume {
    uint64_t offset;
    uint64_t n_bytes;
    uint64_t index;
    bool
        is_changed; /* other bytes are there now: positions that do not grow say
                        nothing any more */
};

/* Goes on behind this entry, with the next index; of a ring only. What was
 * written over meanwhile is lost, and told. Call it before the first poll. */
void pfd_tail_resume(struct pfd_tail *tail,
                     const struct pfd_tail_resume *resume);

/* A pfd_share_fn; tail is a struct pfd_tail. Only in a pfd_tail_runs_fn: calls
 * piece() here and on the threads of the tail's pool, all of which may read the
 * runs. */
void pfd_tail_share(void *tail, size_t n, void (*piece)(void *of, size_t i),
                    void *of);

/* False: no bytes that can be followed have arrived so far. If the buffer ends
 * like this, it is read as a whole, into at most n bytes of memory, if
 * pfd_tail_give_whole() was called (0: no limit). A larger buffer is a finding,
 * too_large. */
bool pfd_tail_is_followed(const struct pfd_tail *tail);
void pfd_tail_give_whole(struct pfd_tail *tail, size_t n);

/* Holes: places that were given up and are watched; a poll still emits an entry
 * that is written there later. */
uint64_t pfd_tail_holes(const struct pfd_tail *tail);

/* Bytes of memory that it holds: `memory` and a 32nd of it, the bytes that
 * three polls read, and some KiB. */
size_t pfd_tail_memory(const struct pfd_tail *tail);

/* Frees the bytes that polls have read: bytes that were not emitted have to be
 * seen twice again. */
void pfd_tail_trim(struct pfd_tail *tail);

/* How often the buffer began anew. */
uint64_t pfd_tail_generation(const struct pfd_tail *tail);

#endif
