/* SPDX-License-Identifier: MIT */
/*
 * How far a worker is in what edges send it: what of each is written by all
 * outputs that must have it, which a file in the state folder says after a
 * restart, and what is on its way there. Loop thread only, but for
 * pfdd_ledger_write().
 */
#ifndef PFDD_LEDGER_H
#define PFDD_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PFDD_LEDGER_ID = 33, /* 32 hexadecimal digits and a NUL */
    PFDD_LEDGER_MAX = 65536,
};

struct pfdd_ledger_edge {
    char id[PFDD_LEDGER_ID];
    uint64_t
        acked; /* sequence number, the edge's: all up to there is written */
    uint64_t saved;  /* likewise: the file says so, */
    uint64_t saving; /* and so will the one that is being written */
    uint64_t taken;  /* likewise: it is in the ring */
    uint64_t epoch;  /* the last one in which it was asked to send again */
    bool is_news;    /* it has not been told `saved` */
};

/* All zeros: empty. */
struct pfdd_ledger {
    struct pfdd_ledger_edge *edges; /* [n], by id */
    size_t n;
    size_t size;
};

void pfdd_ledger_deinit(struct pfdd_ledger *ledger);

/* The edge of an id, which is added if need be. Borrowed until another one is
 * asked for. NULL: there is no memory, or there are too many. */
struct pfdd_ledger_edge *pfdd_ledger_find(struct pfdd_ledger *ledger,
                                          const char *id);

/* What a file's text [n] says. False: it is no such file, or not whole: what came
 * before that is there. */
bool pfdd_ledger_parse(const char *text, size_t n, struct pfdd_ledger *ret);
/* What the file of a folder says; what cannot be read is said in the log. */
void pfdd_ledger_read(const char *dir, struct pfdd_ledger *ret);
/* Its text, allocated; NULL: out of memory. */
char *pfdd_ledger_text(const struct pfdd_ledger *ledger);
/* In the place of the one before, and safe. False: that one is still there. */
bool pfdd_ledger_write(const char *dir, const char *text);

#endif
