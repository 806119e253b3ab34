/* SPDX-License-Identifier: MIT */
/*
 * Entries as points: the few values of each that a picture is made of, as
 * numbers. What a row says in a hundred bytes, a point says in eight for each
 * value. Points come in runs: entries behind one another whose values are of
 * the same types.
 */
#ifndef PFD_POINTS_H
#define PFD_POINTS_H

#include <string.h>

#include "core/output/sink.h"

enum {
    PFD_POINT_VALUES = 4 /* no picture takes more */
};

enum pfd_point_type {
    PFD_POINT_NONE,     /* the entry has no such value; its bits are zero */
    PFD_POINT_DOUBLE,   /* an integer of 32 bits and less, too: exactly */
    PFD_POINT_INT,      /* of 64 bits */
    PFD_POINT_UNSIGNED, /* likewise */
    PFD_POINT_TEXT,     /* bits: bytes of it, which stand behind the run */
};

/* Where a value comes from. */
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

/* Where the values of a string's entries are, if they are as it says. */
struct pfd_point_plan {
    bool is_wanted;
    bool is_quick; /* all are numbers at `at`, read as `load` says */
    uint8_t load[PFD_POINT_VALUES];
    uint8_t type[PFD_POINT_VALUES];
    uint32_t at[PFD_POINT_VALUES];
};

/* What is wanted of entries. Immutable while a conversion runs. */
struct pfd_points {
    struct pfd_point_column columns[PFD_POINT_VALUES]; /* [n] */
    size_t n;
    struct pfd_point_plan *plans; /* [n_plans], by string; owned */
    size_t n_plans;
    /* Format string of the entries, [n_text]; owned; NULL: that of the first
     * entry, which the reader of runs decides. */
    char *text;
    size_t n_text;
    /* Whose points they are: workers may reduce them for it; NULL: nobody's. */
    struct pfd_plot *plot;
};

enum pfd_run_kind {
    PFD_RUN_POINTS,
    PFD_RUN_OTHER,   /* entries of other format strings: no values */
    PFD_RUN_UNKNOWN, /* of unknown ids, likewise */
};

/* A run: this, n * n_values bits, and the texts of the last point; in all a
 * multiple of 8 bytes. One with a text has one point. */
struct pfd_point_run {
    uint32_t n_bytes; /* of all of it */
    uint32_t n;       /* points */
    uint8_t kind;     /* enum pfd_run_kind */
    uint8_t n_values;
    uint8_t type[PFD_POINT_VALUES];
    uint8_t spare[2];
    uint64_t order; /* of the first point among a buffer's: its entry's index;
                       those of the others come behind it */
};

/* Makes the plans of all strings of this text, or of all when text is NULL;
 * columns and text are set. False when out of memory. */
bool pfd_points_plan(struct pfd_points *points,
                     const struct pfd_strings *strings);
void pfd_points_deinit(struct pfd_points *points);

/* A run of one entry, appended; its order is the entry's index. time: nanoseconds since 1970; 0: unknown. */
void pfd_points_entry(struct pfd_text *out, struct pfd_entry *entry,
                      const struct pfd_points *points, uint64_t time);

/* Likewise; options->points and options->time say the rest. */
extern const struct pfd_sink pfd_sink_points;

/* Begins a run of up to `most` quick points, the first of this order; where
 * their bits go, or NULL when out of memory. */
uint64_t *pfd_points_begin(struct pfd_text *out,
                           const struct pfd_points *points,
                           const struct pfd_point_plan *plan, size_t most,
                           uint64_t order);
void pfd_points_end(struct pfd_text *out, size_t n, size_t n_values);

enum pfd_point_load {
    PFD_LOAD_U32,
    PFD_LOAD_I32,
    PFD_LOAD_F32,
    PFD_LOAD_64,
    PFD_LOAD_INDEX,
};

/* One value that is a double; index: the entry's. */
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

/* The values of a quick point; the end of what was written. */
static inline uint64_t *pfd_point_load(uint64_t *to, const uint8_t *payload,
                                       const struct pfd_point_plan *plan,
                                       size_t n, uint64_t index)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *at = payload + plan->at[i];
        if (plan->load[i] == PFD_LOAD_64) {
            memcpy(to++, at, sizeof *to);
            continue;
        }
        double d =
            pfd_point_double((enum pfd_point_load)plan->load[i], at, index);
        memcpy(to++, &d, sizeof d);
    }
    return to;
}

#endif
