/* SPDX-License-Identifier: MIT */
/*
 * How far a worker is in what edges send it: what of each is written by all
 * outputs that must have it, which a file in the state folder says after a
 * restart, and what is on its way there. Loop thread only, but for
 * pfdd_acks_write().
 */
#ifndef PFDD_ACKS_H
#define PFDD_ACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PFDD_ACKS_ID = 33,     /* 32 hexadecimal digits and a NUL */
    PFDD_ACKS_MAX = 65536, /* edges that have proved to be some, */
    PFDD_ACKS_NEW = 8192,  /* and others */
};

struct pfdd_acks_edge {
    char id[PFDD_ACKS_ID];
    uint64_t
        acked; /* sequence number, the edge's: all up to there is written */
    uint64_t saved;     /* likewise: the file says so, */
    uint64_t saving;    /* and so will the one that is being written */
    uint64_t taken;     /* likewise: it is in the ring */
    uint64_t epoch;     /* the last one in which it was asked to send again */
    bool is_news;       /* it has not been told `saved` */
    bool is_proved;     /* something of it was entries, and is written */
    unsigned n_waiting; /* chunks in the ring, or beyond: the owner counts */
    uint64_t heard;     /* when it was asked for last, in such */
};

/* All zeros: empty. */
struct pfdd_acks {
    struct pfdd_acks_edge *edges; /* [n], by id */
    size_t n;
    size_t size;
    size_t n_proved; /* of these */
    uint64_t clock;  /* times that one was asked for */
};

void pfdd_acks_deinit(struct pfdd_acks *acks);

/* The edge of an id, which is added if need be. Borrowed until another one is
 * asked for, or proved. Where there are too many that have proved nothing, all of
 * these make way of which nothing is waited for. NULL: there is no memory, or
 * there are still too many. */
struct pfdd_acks_edge *pfdd_acks_find(struct pfdd_acks *acks, const char *id);

/* The same of one that is there; NULL: it is not. */
struct pfdd_acks_edge *pfdd_acks_seek(const struct pfdd_acks *acks,
                                      const char *id);

/* An edge has given entries, which are written: it has a place in the file. Where
 * there are too many, those make way that were heard of the longest ago: GPUACK
 * has what they are told. */
void pfdd_acks_prove(struct pfdd_acks *acks, struct pfdd_acks_edge *edge);

/* What a file's text [n] says. False: it is no such file, or not whole: what came
 * before that is there. */
bool pfdd_acks_parse(const char *text, size_t n, struct pfdd_acks *ret);
/* What the file of a folder says; what cannot be read is said in the log. */
void pfdd_acks_read(const char *dir, struct pfdd_acks *ret);
/* Its text, allocated; NULL: out of memory. */
char *pfdd_acks_text(const struct pfdd_acks *acks);
/* In the place of the one before, and safe. False: that one is still there. */
bool pfdd_acks_write(const char *dir, const char *text);

#endif
