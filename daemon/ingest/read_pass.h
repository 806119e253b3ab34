/* SPDX-License-Identifier: MIT */
/*
 * The inside of a session (follower.h), and its looks at the buffer, which are
 * jobs of a worker: what the job has is its own while the session is busy.
 */
#ifndef PFDD_READ_PASS_H
#define PFDD_READ_PASS_H

#include <printfdecode/tail.h>

#include "base/job_pool.h"
#include "ingest/buffer_bytes.h"
#include "ingest/chunker.h"
#include "ingest/follower_memory.h"
#include "ingest/follower_options.h"
#include "ingest/follower_stats.h"

enum {
    PFDD_MUCH = 64 * 1024,       /* bytes that wait: a burst */
    PFDD_BETWEEN_LOOKS_US = 800, /* less than a poll: timers come early, too */
};

struct pfdd_follower {
    struct pfdd_job job;
    struct pfdd *d;
    struct pfdd_follower *next;
    struct pfdd_follower_options options;
    struct pfdd_strings *strings;
    struct pfdd_buffer *buffer; /* what its chunks say of it */
    uint32_t source;
    struct pfdd_buffer_bytes buffer_bytes;
    struct pfd_thread_pool *thread_pool; /* of its tail; borrowed; NULL: none */
    uint64_t looked;                     /* ns, uv_hrtime() */
    uint64_t moved; /* likewise: when something moved last */
    uint64_t due;   /* likewise */
    uint64_t time;  /* for lines; 0: now */
    bool busy;
    bool has_piece;      /* the ring has no room for it now */
    bool completing;     /* no more bytes in this generation */
    bool completes_next; /* nor in the one that wants_restart begins */
    bool awaits_strings; /* its own producer's code objects come first */
    bool closing;
    bool abandoned;
    bool wants_restart;
    bool pending;   /* of the last look */
    bool has_holes; /* likewise */
    uint64_t size;  /* likewise: of the buffer, bytes */
    bool io_failed;
    struct pfdd_chunk_batch ready; /* while the next job is on its way */
    struct pfdd_follower_memory memory;
    bool skipping;
    struct pfdd_source_offset skip; /* entries up to here are in the queue */
    /* The job's. */
    struct pfd_tail *tail;
    struct pfdd_strings *old_strings; /* until the tail has let go of them */
    bool new_strings;
    bool linger;
    bool may_be_still; /* nothing is to be done, if nothing has changed */
    bool was_still;    /* likewise, and so it was */
    bool is_gone;      /* its process has ended */
    bool burst;        /* it follows one that has left much */
    bool has_handed;   /* something over */
    bool finish;
    bool finished;
    bool restart;
    int n_quiet;    /* looks in a row that moved nothing */
    uint64_t ahead; /* ns, of the tail's clock */
    enum pfd_status status;
    struct pfd_error err;
    uint64_t n_buffer;
    size_t n_whole; /* bytes of it that may be read at once, at its end */
    struct pfdd_chunker chunker;
    struct pfdd_chunk_batch piece; /* of that, while the loop has it */
    struct pfdd_follower_stats sums;
};

/* The job: one look, or some of a finished buffer. */
void pfdd_read_pass(struct pfdd_job *job);

#endif
