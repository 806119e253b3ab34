/* SPDX-License-Identifier: MIT */
/*
 * Entries as points: the few values of each entry that a plot needs, as
 * numbers. A point takes eight bytes for each value, where a row takes about a
 * hundred. Points come in runs: consecutive entries whose values have the same
 * types.
 */
#ifndef PFD_POINTS_H
#define PFD_POINTS_H

#include <string.h>

#include "core/output/sink.h"

enum {
    PFD_POINT_VALUES = 4, /* no plot takes more */
};

enum pfd_point_type {
    PFD_POINT_NONE,     /* the entry has no such value; its bits are zero */
    PFD_POINT_DOUBLE,   /* also integers of up to 32 bits, exactly */
    PFD_POINT_INT,      /* of 64 bits */
    PFD_POINT_UNSIGNED, /* likewise */
    PFD_POINT_TEXT,     /* bits: its length; the bytes end the run */
};

/* The source of a value. */
enum pfd_point_from {
    PFD_POINT_OF_ARGUMENT, /* `number` */
    PFD_POINT_OF_ORIGIN,   /* `name`, component `number` */
    PFD_POINT_OF_INDEX,
    PFD_POINT_OF_TIME,
};

struct pfd_point_column {
    enum pfd_point_from from;
    uint32_t number;
    char name[64];
};

/* The places of the values of a string's entries that have its layout. */
struct pfd_point_plan {
    bool is_wanted;
    bool is_quick; /* all are numbers at `at`, loaded by `load` */
    uint8_t load[PFD_POINT_VALUES];
    uint8_t type[PFD_POINT_VALUES];
    uint32_t at[PFD_POINT_VALUES];
};

/*
 * Takes points from a conversion's workers in parallel, each by a share of its
 * own, so that they need not come as runs. Points that a share does not take
 * come as runs all the same.
 */
struct pfd_point_reducer {
    /* Begins the points of another buffer; called before its shares are
     * made. */
    void (*begin)(void *of);
    /* A worker's share; NULL: out of memory. */
    void *(*share)(void *of);
    /* Can the share take points of this plan? */
    bool (*opens)(void *share, const struct pfd_point_plan *plan);
    /* Takes points [n], PFD_PAYLOADS_MAX at most, of the plan that it was
     * opened for, with the values in `payloads`; order: of the first point, the
     * others follow. Returns how many it took: runs have the others. */
    size_t (*take)(void *share, const uint8_t *const *payloads, size_t n,
                   uint64_t order);
    /* The worker's batch is written: no other share changes anything
     * meanwhile. */
    void (*turn)(void *share);
    /* Merges and frees it; NULL is allowed. One share at a time, like
     * turn(). */
    void (*end)(void *share);
};

/* The values that the plot takes from entries. Immutable during a
 * conversion. */
struct pfd_points {
    struct pfd_point_column columns[PFD_POINT_VALUES]; /* [n] */
    size_t n;
    struct pfd_point_plan *plans; /* [n_plans], by string; owned */
    size_t n_plans;
    /* Format string of the entries, [n_text]; owned; NULL: that of the first
     * entry, chosen by the reader of runs. */
    char *text;
    size_t n_text;
    /* Reduces points on the workers of a conversion; NULL: all come as runs. */
    const struct pfd_point_reducer *reducer;
    void *reducer_of; /* is handed to begin() and share() */
};

enum pfd_run_kind {
    PFD_RUN_POINTS,
    PFD_RUN_OTHER,   /* entries of other format strings: no values */
    PFD_RUN_UNKNOWN, /* of unknown ids, likewise */
};

/* A run: this, n * n_values bits, and the texts of the last point; in all a
 * multiple of 8 bytes. A run with a text has one point. */
struct pfd_point_run {
    uint32_t n_bytes; /* of the whole run */
    uint32_t n;       /* points */
    uint8_t kind;     /* enum pfd_run_kind */
    uint8_t n_values;
    uint8_t type[PFD_POINT_VALUES];
    uint8_t spare[2];
    uint64_t order; /* of the first point in the buffer: its entry's index; the
                       other points follow it */
};

/* Makes the plans of all strings of this text, or of all when text is NULL;
 * columns and text are set. False when out of memory. */
bool pfd_points_plan(struct pfd_points *points,
                     const struct pfd_strings *strings);
void pfd_points_deinit(struct pfd_points *points);

/* Appends a run of one entry; its order is the entry's index. time: nanoseconds
 * since 1970; 0: unknown. */
void pfd_points_entry(struct pfd_text *out, struct pfd_entry *entry,
                      const struct pfd_points *points, uint64_t time);

/* Likewise, with options->points and options->time. */
extern const struct pfd_sink pfd_sink_points;

enum pfd_point_load {
    PFD_LOAD_U32,
    PFD_LOAD_I32,
    PFD_LOAD_F32,
    PFD_LOAD_64,
    PFD_LOAD_INDEX,
};

/* Loads one value as a double; index: the entry's. */
static inline double pfd_point_double(enum pfd_point_load load,
                                      const uint8_t *at, uint64_t index)
{
    int32_t word;
    float f;
    double d;
    if (load == PFD_LOAD_INDEX)
        return (double)index;
    if (load == PFD_LOAD_64) {
        memcpy(&d, at, sizeof d);
        return d;
    }
    memcpy(&word, at, sizeof word);
    memcpy(&f, at, sizeof f);
    return load == PFD_LOAD_F32   ? (double)f
           : load == PFD_LOAD_U32 ? (double)(uint32_t)word
                                  : (double)word;
}

#endif
