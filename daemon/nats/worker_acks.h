/* SPDX-License-Identifier: MIT */
/*
 * A worker's acknowledgements: for each edge, the sequence number up to which
 * all required outputs have written its entries, and the entries that are on
 * their way there. A file in the state folder keeps them across restarts. Loop
 * thread only, except pfdd_acks_write().
 */
#ifndef PFDD_WORKER_ACKS_H
#define PFDD_WORKER_ACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PFDD_ACKS_ID = 33,     /* 32 hexadecimal digits and a NUL */
    PFDD_ACKS_MAX = 65536, /* edges in the file, */
    PFDD_ACKS_NEW = 8192,  /* and others in memory */
};

struct pfdd_acks_edge {
    char id[PFDD_ACKS_ID];
    uint64_t acked;  /* the edge's sequence number: written up to there */
    uint64_t saved;  /* likewise, as of the file */
    uint64_t saving; /* likewise, as of the file that is being written */
    uint64_t taken;  /* likewise: in the ring up to there */
    /* the epoch in which it was asked last to send again */
    uint64_t epoch;
    bool is_news;       /* `saved` was not sent to it yet */
    bool is_proved;     /* entries of it were written */
    unsigned n_waiting; /* chunks not written yet, counted by the owner */
    uint64_t heard;     /* `clock` when it was asked for last */
};

/* All zeros: empty. */
struct pfdd_acks {
    struct pfdd_acks_edge *edges; /* [n], by id */
    size_t n;
    size_t size;
    size_t n_proved; /* edges that are proved */
    uint64_t clock;  /* calls of pfdd_acks_find() */
};

void pfdd_acks_deinit(struct pfdd_acks *acks);

/* The edge with this id, which is added if it is missing. Borrowed until the
 * next call of this function or of pfdd_acks_prove(). If there are too many
 * edges without written entries, evicts all of them that nothing waits for.
 * NULL: out of memory, or still too many. */
struct pfdd_acks_edge *pfdd_acks_find(struct pfdd_acks *acks, const char *id);

/* Likewise, without adding it. NULL: it is missing. */
struct pfdd_acks_edge *pfdd_acks_seek(const struct pfdd_acks *acks,
                                      const char *id);

/* Entries of the edge were written: it gets a place in the file. If there are
 * too many, evicts edges that were last asked for the longest ago; GPUACK has
 * their acknowledgements. */
void pfdd_acks_prove(struct pfdd_acks *acks, struct pfdd_acks_edge *edge);

/* Parses the text [n] of a file. False: malformed or incomplete; *ret has the
 * edges before the error. */
bool pfdd_acks_parse(const char *text, size_t n, struct pfdd_acks *ret);
/* Reads the file of a state folder. An error is logged. */
void pfdd_acks_read(const char *dir, struct pfdd_acks *ret);
/* The text of a file, allocated. NULL: out of memory. */
char *pfdd_acks_text(const struct pfdd_acks *acks);
/* Replaces the file, synced. False: the previous file is still there. */
bool pfdd_acks_write(const char *dir, const char *text);

#endif
