/* SPDX-License-Identifier: MIT */
/*
 * Where lines come from, by name. A source has a number for as long as somebody
 * holds it or the ring has lines of it; then the number is another one's. So
 * that a page of metrics stays short, a number of sources is counted one by
 * one, those that are held first and then those that went last; all others are
 * counted together. Loop thread only.
 */
#ifndef PFDD_SOURCE_TABLE_H
#define PFDD_SOURCE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PFDD_SOURCE_TABLE_MAX = 65536,   /* numbers; beyond them a line has that of
                                   PFDD_SOURCE_OTHER */
    PFDD_SOURCE_TABLE_LISTED = 4096, /* counted one by one */
    PFDD_SOURCE_OTHER = 0,           /* called so as no name is: "\other" */
    PFDD_SOURCE_IDS = 8,             /* unknown ones that are remembered */
};

struct pfdd_source_counts {
    uint64_t lines; /* entries */
    uint64_t gaps;
};

/* What went wrong in its buffers. */
struct pfdd_source_troubles {
    uint64_t findings; /* but for notes */
    uint64_t unknown;  /* entries */
    uint64_t lost_bytes;
    uint64_t skipped_bytes;
    uint64_t ids[PFDD_SOURCE_IDS]; /* [n_ids], of unknown entries */
    size_t n_ids;
    /* Of the buffer, used once, that lost the most. */
    struct pfdd_source_overflow {
        uint64_t lost_bytes;
        uint64_t size;    /* bytes */
        uint64_t entries; /* that it held */
    } overflow;
};

struct pfdd_source {
    char *name;      /* NULL: the number is free */
    uint32_t next;   /* of a list of its hash, or of free numbers; 0: the end */
    unsigned refs;   /* of those that hold it */
    bool is_resumed; /* one of them goes on where it was after a restart */
    uint64_t n_held; /* lines in the ring */
    uint64_t n_lines; /* that it has ever had, of all kinds */
    uint64_t born;    /* there is no other one with this */
    uint64_t gone;    /* when refs came to 0: later ones have larger numbers */
    bool is_listed;
    struct pfdd_source_counts counts;     /* since it is listed */
    struct pfdd_source_troubles troubles; /* likewise */
};

struct pfdd_source_table {
    struct pfdd_source *items; /* [n], by number */
    uint32_t n;
    uint32_t size;
    uint32_t free;       /* a list */
    uint32_t lists[512]; /* by hash */
    uint32_t n_listed;
    size_t n_listed_bytes; /* that a page takes with these, */
    size_t n_listed_max;   /* and may; 0: no bound */
    uint64_t clock;
    size_t n_bytes;                   /* of memory */
    struct pfdd_source_counts others; /* of all that are not listed */
};

/* False: out of memory. */
bool pfdd_source_table_init(struct pfdd_source_table *s);
void pfdd_source_table_deinit(struct pfdd_source_table *s);

/* The number of a name, good until the loop goes on, or as long as it is held
 * or the ring has lines of it. */
uint32_t pfdd_source_table_find(struct pfdd_source_table *s, const char *name);

void pfdd_source_table_hold(struct pfdd_source_table *s, uint32_t source,
                            bool is_resumed);
void pfdd_source_table_release(struct pfdd_source_table *s, uint32_t source);

/* The ring has so many lines more, or fewer. */
void pfdd_source_table_note(void *sources, uint32_t source, int change);

void pfdd_source_table_count(struct pfdd_source_table *s, uint32_t source,
                             uint64_t n_lines, uint64_t n_gaps);

/* Adds what has gone wrong lately. */
void pfdd_source_table_trouble(struct pfdd_source_table *s, uint32_t source,
                               const struct pfdd_source_troubles *more);

/* True: the id is among them, or has been added. */
bool pfdd_troubles_note_id(struct pfdd_source_troubles *troubles, uint64_t id);

/* True: somebody who holds it, or has, wants to know how far it came. */
bool pfdd_source_table_is_resumed(const struct pfdd_source_table *s,
                                  uint32_t source);

/* NULL: there is none of that number. */
const char *pfdd_source_table_name(const struct pfdd_source_table *s,
                                   uint32_t source);

#endif
