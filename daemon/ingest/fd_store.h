/* SPDX-License-Identifier: MIT */
/*
 * Shared buffers that outlive the daemon. Each is stored with the service
 * manager as three descriptors: the memory, its doorbell, and a memfd with a
 * description (a capture stream with its code objects) and the position up to
 * which its entries were delivered. After a restart all are followed from there
 * on, until their producer connects again or is gone. Without a manager that
 * stores descriptors, this does nothing. Loop thread only.
 */
#ifndef PFDD_FD_STORE_H
#define PFDD_FD_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include <printfdecode/wire.h>

#include "ring/source_offsets.h"

enum {
    PFDD_META_HEAD = 4096,    /* of meta: struct pfdd_saved_position; frames
                                 follow */
    PFDD_META_MAX = 64 << 20, /* bytes of meta */
};

#define PFDD_META_MAGIC "PFDKEPT1"

struct pfdd_ingest;
struct pfdd_object;
struct pfdd_producer;
struct pfdd_fd_store;

/* How far the entries of a buffer were delivered; in memory that outlives the
 * daemon. */
struct pfdd_saved_position {
    char magic[8];
    uint64_t n_noted; /* 0: no entry yet */
    uint64_t generation;
    uint64_t index;  /* of the last entry */
    uint64_t offset; /* of it */
    uint64_t end;    /* end of it */
    uint64_t crc;    /* entry_check.h: is it still the same run? */
    int64_t pid;     /* of the producer; 0: unknown */
};

void pfdd_saved_position_note(struct pfdd_saved_position *saved_position,
                              int fd, uint64_t generation, uint64_t index,
                              uint64_t offset, uint64_t n_bytes, bool is_ring);
/* The last entry that was delivered; false: none was. */
bool pfdd_saved_position_find(const struct pfdd_saved_position *saved_position,
                              struct pfdd_source_offset *ret);

struct pfdd_stored_buffer {
    struct pfdd_stored_buffer *next;
    struct pfdd_fd_store *of;
    unsigned number;
    uint64_t device; /* of the memory */
    uint64_t inode;
    struct pfdd_saved_position *saved_position; /* mapped */
    int meta;
    uint64_t end;               /* bytes of meta */
    uint64_t scope;             /* number of the producer whose shaders it
                                   has */
    bool is_restored;           /* from before a restart; meta has its code
                                   objects */
    struct pfdd_stream *stream; /* of a restored buffer; NULL: its producer's */
    void (*end_stream)(struct pfdd_stream *stream); /* of that */
    void *holder; /* the stream's buffer whose follower reads
                                   it */
};

struct pfdd_fd_store {
    struct pfdd_ingest *ingest;
    struct pfdd_stored_buffer *stored_buffers;
    unsigned n_slots;
    unsigned next_number;
    uv_timer_t timer;
    bool ticking;
};

/* NULL: out of memory. */
struct pfdd_fd_store *pfdd_fd_store_new(struct pfdd_ingest *ingest);
/* Ends restored buffers, which stay with the manager. */
void pfdd_fd_store_close(struct pfdd_fd_store *fd_store);
/* When the loop has ended. NULL is allowed. */
void pfdd_fd_store_free(struct pfdd_fd_store *fd_store);

/* For fd_restore.c: a stored buffer of these descriptors, of which meta is taken
 * over; NULL: they cannot be used. The manager releases this number. */
struct pfdd_stored_buffer *pfdd_fd_store_take(struct pfdd_fd_store *fd_store,
                                              unsigned number, int memory,
                                              int meta);
void pfdd_fd_store_forget(unsigned number);

/* The stored buffer with this memory, or NULL. */
struct pfdd_stored_buffer *pfdd_fd_store_find(struct pfdd_fd_store *fd_store,
                                              int memory);

/* Stores a buffer with the manager. hello, buffer: its description; producer:
 * of its shaders; bell may be -1. NULL: it is not stored. */
struct pfdd_stored_buffer *pfdd_fd_store_put(
    struct pfdd_fd_store *fd_store, int memory, int bell, long long pid,
    const struct pfdd_producer *producer, const struct pfd_wire_frame *hello,
    const struct pfd_wire_frame *buffer);

/* The buffer has ended: the manager releases it, unless the daemon is
 * stopping. */
void pfdd_fd_store_drop(struct pfdd_stored_buffer *stored_buffer);

/* Ends the stream of a restored buffer, whose producer has connected again or
 * is gone. */
void pfdd_fd_store_end_stream(struct pfdd_stored_buffer *stored_buffer);

/* Stores a code object that a producer sent or named, for all buffers or for
 * those of its own producer. */
void pfdd_fd_store_object(struct pfdd_fd_store *fd_store,
                          const struct pfdd_object *object);

unsigned pfdd_fd_store_count(const struct pfdd_fd_store *fd_store);

#endif
