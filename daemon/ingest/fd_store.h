/* SPDX-License-Identifier: MIT */
/*
 * Shared buffers that outlive us: each is left with the service manager as
 * three descriptors: the memory, its doorbell, and a memfd that says what it
 * is (a capture stream with its code objects) and how far its lines were
 * delivered. After a restart all of them are followed on from there, until
 * their producer connects again, or is gone. Without a manager that keeps
 * descriptors all of this does nothing. Loop thread only.
 */
#ifndef PFDD_FD_STORE_H
#define PFDD_FD_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/wire.h>

struct pfdd;
struct pfdd_object;
struct pfdd_producer;
struct pfdd_fd_store;

/* How far the lines of a buffer have come; in memory that outlives us. */
struct pfdd_saved_position {
    char magic[8];
    uint64_t n_noted; /* 0: nothing has come */
    uint64_t generation;
    uint64_t index;  /* of the last entry */
    uint64_t offset; /* of it */
    uint64_t end;    /* behind it */
    uint64_t crc;    /* of the bytes up to there: is it still the same run? */
    int64_t pid;     /* of the producer; 0: not known */
};

void pfdd_saved_position_note(struct pfdd_saved_position *saved_position,
                              int fd, uint64_t generation, uint64_t index,
                              uint64_t offset, uint64_t n_bytes);
/* True: the buffer still has what was delivered last. */
bool pfdd_saved_position_holds(const struct pfdd_saved_position *saved_position,
                               int fd);

struct pfdd_stored_buffer {
    struct pfdd_stored_buffer *next;
    struct pfdd_fd_store *of;
    unsigned number;
    uint64_t device; /* of the memory */
    uint64_t inode;
    struct pfdd_saved_position *saved_position; /* mapped */
    int meta;
    uint64_t end;               /* bytes of meta */
    uint64_t scope;             /* whose shaders are its own */
    bool is_restored;           /* it has what was known before */
    struct pfdd_stream *stream; /* of what was restored; NULL: a producer's */
    void *holder;               /* whose session reads it; the stream's */
};

/* NULL: out of memory. */
struct pfdd_fd_store *pfdd_fd_store_new(struct pfdd *d);
/* Follows what the manager has kept. */
void pfdd_fd_store_restore(struct pfdd_fd_store *fd_store);
/* Ends what was restored; it stays with the manager. */
void pfdd_fd_store_close(struct pfdd_fd_store *fd_store);
/* When the loop has ended. NULL is allowed. */
void pfdd_fd_store_free(struct pfdd_fd_store *fd_store);

/* The slot that has this memory, or NULL. */
struct pfdd_stored_buffer *pfdd_fd_store_find(struct pfdd_fd_store *fd_store,
                                              int memory);

/* Leaves a buffer with the manager. hello, buffer: what to say of it; scope: of
 * its shaders; bell may be -1. NULL: it is not kept. */
struct pfdd_stored_buffer *pfdd_fd_store_put(
    struct pfdd_fd_store *fd_store, int memory, int bell, long long pid,
    const struct pfdd_producer *producer, const struct pfd_wire_frame *hello,
    const struct pfd_wire_frame *buffer);

/* The buffer is done with: the manager lets go of it, unless we are ending. */
void pfdd_fd_store_drop(struct pfdd_stored_buffer *stored_buffer);

/* The stream of what was restored ends: a producer has come for it. */
void pfdd_fd_store_let_go(struct pfdd_stored_buffer *stored_buffer);

/* A code object that a producer sent or named: all buffers may need it, or
 * those of its scope. */
void pfdd_fd_store_object(struct pfdd_fd_store *fd_store,
                          const struct pfdd_object *object);

unsigned pfdd_fd_store_count(const struct pfdd_fd_store *fd_store);

#endif
