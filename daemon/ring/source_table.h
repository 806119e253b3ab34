/* SPDX-License-Identifier: MIT */
/*
 * Sources of lines, by name and host: machines have buffers of one name. A source has a number as long as it is held or the
 * ring has lines of it; then the number is reused. To keep the page of metrics
 * short, a limited number of sources is listed, which means counted one by one:
 * sources that are held, then the ones released last. All others are counted
 * together. Loop thread only.
 */
#ifndef PFDD_SOURCE_TABLE_H
#define PFDD_SOURCE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PFDD_SOURCE_TABLE_MAX = 65536,   /* numbers; further sources share
                                        PFDD_SOURCE_OTHER */
    PFDD_SOURCE_TABLE_LISTED = 4096, /* sources that are counted one by one */
    PFDD_SOURCE_OTHER = 0,           /* "\other", which is no valid name */
    PFDD_SOURCE_IDS = 8,             /* unknown ids that are remembered */
};

struct pfdd_source_counts {
    uint64_t lines; /* entries */
    uint64_t gaps;
};

/* Problems in its buffers. */
struct pfdd_source_troubles {
    uint64_t findings; /* without notes */
    uint64_t unknown;  /* entries */
    uint64_t lost_bytes;
    uint64_t skipped_bytes;
    uint64_t ids[PFDD_SOURCE_IDS]; /* [n_ids], of unknown entries */
    size_t n_ids;
    /* Of the buffer, used once, that lost the most bytes. */
    struct pfdd_source_overflow {
        uint64_t lost_bytes;
        uint64_t size;    /* bytes */
        uint64_t entries; /* that the buffer held */
    } overflow;
};

struct pfdd_source {
    char *name;       /* NULL: the number is free */
    const char *host; /* behind its name; "": this machine, or not known */
    uint32_t next;    /* in the list of its hash, or of free numbers; 0: the
                        end */
    unsigned refs;    /* number of holders */
    bool is_resumed;  /* a holder resumes it after a restart */
    uint64_t n_held;  /* lines in the ring */
    uint64_t n_lines; /* lines that it ever had, of all kinds */
    uint64_t born;    /* clock when it was added: unique */
    uint64_t gone;    /* clock when refs became 0 */
    bool is_listed;
    struct pfdd_source_counts counts;     /* since it was listed */
    struct pfdd_source_troubles troubles; /* likewise */
};

struct pfdd_source_table {
    struct pfdd_source *items; /* [n], by number */
    uint32_t n;
    uint32_t size;
    uint32_t free;       /* a list of free numbers */
    uint32_t lists[512]; /* by hash */
    uint32_t n_listed;
    size_t n_listed_bytes; /* of the page of metrics, for listed sources */
    size_t n_listed_max;   /* their limit; 0: none */
    uint64_t clock;
    size_t n_bytes;                   /* bytes of memory */
    struct pfdd_source_counts others; /* of all that are not listed */
};

/* False: out of memory. */
bool pfdd_source_table_init(struct pfdd_source_table *s);
void pfdd_source_table_deinit(struct pfdd_source_table *s);

/* The number of a name on a host (chunk.h). It is valid until the loop continues, or as long as the
 * source is held or the ring has lines of it. */
uint32_t pfdd_source_table_find(struct pfdd_source_table *s, const char *name,
                                const char *host);

void pfdd_source_table_hold(struct pfdd_source_table *s, uint32_t source,
                            bool is_resumed);
void pfdd_source_table_release(struct pfdd_source_table *s, uint32_t source);

/* The ring has gained (change > 0) or lost lines of a source. sources: a struct
 * pfdd_source_table. */
void pfdd_source_table_note(void *sources, uint32_t source, int change);

void pfdd_source_table_count(struct pfdd_source_table *s, uint32_t source,
                             uint64_t n_lines, uint64_t n_gaps);

/* Adds new problems. */
void pfdd_source_table_trouble(struct pfdd_source_table *s, uint32_t source,
                               const struct pfdd_source_troubles *more);

/* True: the id is remembered, or has been added. */
bool pfdd_troubles_note_id(struct pfdd_source_troubles *troubles, uint64_t id);

/* True: a holder, present or past, resumes the source after a restart. */
bool pfdd_source_table_is_resumed(const struct pfdd_source_table *s,
                                  uint32_t source);

#endif
