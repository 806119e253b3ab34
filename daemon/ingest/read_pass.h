/* SPDX-License-Identifier: MIT */
/*
 * The members of a follower (follower.h), and its read passes, which are jobs
 * of a worker. The pass belongs to the job while the follower is busy.
 */
#ifndef PFDD_READ_PASS_H
#define PFDD_READ_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/printfdecode.h>
#include <printfdecode/tail.h>
#include <printfdecode/wire.h>

#include "base/change_probe.h"
#include "base/job_pool.h"
#include "ingest/chunker.h"
#include "ingest/follower_memory.h"
#include "ingest/follower_stats.h"
#include "ring/source_offsets.h"

/*
 * The bytes of one buffer that a follower reads: a file, whose changes the loop
 * can see (change_probe.h), or memory of a process. Only a worker reads a
 * process' memory, because a read takes as long as that process likes. One
 * thread at a time.
 */

struct pfdd_buffer_bytes {
    struct pfd_source *source;
    int fd;         /* borrowed; -1: memory of a process */
    uint64_t n;     /* bytes of a process' memory */
    bool must_look; /* likewise: read even if its header is the same */
    struct pfdd_change_probe change_probe;
};

/* Opens a file (fd), or memory: a borrowed source of n bytes. False: out of
 * memory, or not a regular file. */
bool pfdd_buffer_bytes_init(struct pfdd_buffer_bytes *b, int fd,
                            struct pfd_source *memory, uint64_t n);

void pfdd_buffer_bytes_deinit(struct pfdd_buffer_bytes *b);

bool pfdd_buffer_bytes_are_of_process(const struct pfdd_buffer_bytes *b);

/* Describes the file or process, for a source offset (source_offsets.h). */
void pfdd_buffer_bytes_describe(const struct pfdd_buffer_bytes *b,
                                char ret[PFDD_FILE_ROOM]);

/* On the loop: the size in bytes (SIZE_MAX: unknown); whether the bytes may
 * have changed (always true of a process); and a mark that they have. */
size_t pfdd_buffer_bytes_size(const struct pfdd_buffer_bytes *b);

bool pfdd_buffer_bytes_may_have_changed(struct pfdd_buffer_bytes *b);

void pfdd_buffer_bytes_forget(struct pfdd_buffer_bytes *b);

/* Which buffer a follower (follower.h) follows, and how. */

struct pfd_source;
struct pfdd_resource_account;
struct pfdd_saved_position;
struct pfdd_producer;
struct pfdd_buffer_stats;

struct pfdd_follower_options {
    const char *name;   /* of the source (name.h); copied */
    const char *format; /* NULL: chosen; copied */
    struct pfd_options options;
    const struct pfd_wire_frame *origin; /* copied; NULL: unknown */
    struct pfdd_producer *producer;      /* of its shaders; a reference is
                                            taken; may be NULL */
    int fd;                              /* taken over */
    struct pfd_source *memory; /* of a process, instead of fd; borrowed until
                                  ended. When the process ends, the follower
                                  ends with a gap. May be NULL */
    uint64_t n_memory;         /* bytes of it */
    struct pfdd_resource_account
        *account; /* charged with its memory; borrowed until ended; NULL:
                     none */
    uint64_t settle_ms;
    bool arrives;  /* bytes come by pfdd_follower_write(), in order */
    bool is_trial; /* emits nothing, only counts */
    struct pfdd_buffer_stats
        *buffer_stats;   /* filled in at the end; may be NULL */
    bool complete;       /* it is not written any more */
    uint64_t generation; /* of the first entries */
    bool resume;         /* skip entries that the spool already has */
    struct pfdd_saved_position
        *saved_position;       /* resume after it, keep it up to date; borrowed
                                  until ended; may be NULL */
    void (*ended)(void *user); /* the follower is gone; may be NULL */
    void *user;
};

enum {
    PFDD_MUCH = 64 * 1024,       /* pending bytes that make a burst */
    PFDD_BETWEEN_LOOKS_US = 800, /* less than the polling interval: timers may
                                    fire early */
};

/* What a read pass works with, and its result. */
struct pfdd_pass {
    struct pfd_tail *tail;
    struct pfdd_strings *old_strings; /* until the tail has released them */
    bool new_strings;
    bool linger;
    bool may_be_still; /* the pass has nothing to do if the bytes are the
                          same */
    bool was_still;    /* they were the same */
    bool is_gone;      /* its process has ended */
    bool burst;        /* it follows a pass that left many bytes pending */
    bool has_handed;   /* it handed a batch to the loop */
    bool finish;
    bool finished;
    bool restart;
    bool is_ring;   /* of positions: set before anything is handed over */
    int n_quiet;    /* passes in a row without progress */
    uint64_t ahead; /* ns, by which the tail's clock is ahead */
    enum pfd_status status;
    struct pfd_error err;
    uint64_t n_buffer;
    size_t n_whole; /* bytes of the buffer that may be read at once, at its
                       end */
    struct pfdd_chunker chunker;
    struct pfdd_chunk_batch handed; /* the batch handed over, while the loop has
                                      it */
    struct pfdd_follower_stats stats;
};

/* ns, uv_hrtime(). */
struct pfdd_follower_times {
    uint64_t looked; /* of the last read pass */
    uint64_t moved;  /* of the last change */
    uint64_t due;    /* of the next poll */
};

/* Where it goes on after a restart. */
struct pfdd_resume_point {
    struct pfdd_source_offset
        at; /* entries up to here were delivered, or are in
                                     the spool */
    bool is_known;
    bool is_changed; /* it is of other bytes */
    bool skipping;   /* entries up to there */
};

struct pfdd_follower {
    struct pfdd_job job;
    struct pfdd_ingest *ingest;
    struct pfdd_follower *next;
    struct pfdd_follower_options options;
    struct pfdd_strings *strings;
    struct pfdd_buffer *buffer; /* the buffer record of its chunks */
    uint32_t source;
    struct pfdd_buffer_bytes buffer_bytes;
    struct pfd_walk_pool *walk_pool; /* of its tail; borrowed; NULL: none */
    struct pfdd_follower_times times;
    uint64_t time; /* of entries; 0: now */
    bool busy;
    bool waits_for_ring; /* a batch was handed over that the ring cannot take
                            yet */
    bool completing;     /* no more bytes in this generation */
    bool completes_next; /* nor in the one that wants_restart begins */
    bool awaits_strings; /* waits for code objects that are being read */
    bool closing;
    bool abandoned;
    bool wants_restart;
    bool pending;   /* bytes were pending after the last read pass */
    bool has_holes; /* likewise: entries reserved but not written */
    uint64_t size;  /* likewise: bytes of the buffer */
    bool io_failed;
    struct pfdd_chunk_batch ready; /* chunks of the last job, while the next one
                                      runs */
    struct pfdd_follower_memory memory;
    struct pfdd_resume_point resume;
    struct pfdd_pass pass; /* owned by the job while it runs */
};

/* The job: one read pass, or several of a finished buffer. */
void pfdd_read_pass(struct pfdd_job *job);

#endif
