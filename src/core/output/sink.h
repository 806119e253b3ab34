/* SPDX-License-Identifier: MIT */
/*
 * An output form: entries, findings and the summary to bytes. A sink keeps no
 * state; bytes are appended to a text, whose `failed` tells of missing memory.
 *
 * To add one: src/core/output/sink_NAME.c with `const struct pfd_sink pfd_sink_NAME`,
 * and one word in src/meson.build.
 */
#ifndef PFD_SINK_H
#define PFD_SINK_H

#include <string.h>

#include <printfdecode/chunk.h>

#include "core/decode/entry_run.h"
#include "core/output/stamp.h"

struct pfd_sink_options {
    bool color;
    bool marks;        /* text: say an entry's findings before its message */
    bool tells;        /* rows of text: what is found has lines, too */
    bool fields;       /* JSON: arguments by their names, too */
    unsigned show;     /* text: enum pfd_show */
    const char *links; /* text: what source files' names are linked by; NULL:
                          they are not */
    /* JSON, rendered already: members of each entry, each with a comma before
     * it, and members of its "origin", each with a comma behind it. Each may
     * be NULL; the lengths stand beside them, as every line has them. */
    const char *members; /* [n_members] */
    size_t n_members;
    const char *origin_members; /* [n_origin_members] */
    size_t n_origin_members;
    /* Rows (core/output/value_rows.h): the form whose line goes into each, or NULL, the
     * message in pieces, and when the entry came (nanoseconds since 1970). */
    const struct pfd_sink *form;
    bool pieces;
    bool has_texts; /* each has its format string's, which may be of any set */
    uint64_t time;
    uint64_t sequence; /* as of pfd_row, and so are these */
    uint64_t buffer;
    uint64_t generation;
    struct pfd_highlight *highlight; /* text in colour: NULL: nothing is */
    const struct pfd_points *points; /* points (core/output/points.h) */
    struct pfd_stamp *stamp; /* JSON: behind the type of each record; NULL:
                                none */
};

struct pfd_sink {
    const char *name;
    void (*entry)(struct pfd_text *out, struct pfd_entry *entry,
                  const struct pfd_sink_options *options);
    /*
     * The same of a run's entries, from the first on, while the text has no
     * more than `full` bytes; returns how many. It ends before one that has to
     * go to entry(): that needs more, in which printing finds something, or
     * for which there is no memory. NULL: all of them have to.
     */
    size_t (*run)(struct pfd_text *out, const struct pfd_entry_run *entry_run,
                  size_t full, const struct pfd_sink_options *options);
    /* NULL: this form shows none. */
    void (*finding)(struct pfd_text *out, const struct pfd_finding *finding,
                    const struct pfd_sink_options *options);
    void (*summary)(struct pfd_text *out, const struct pfd_summary *summary,
                    const char *source);
    /* Instead of n entries of unknown ids. NULL: this form shows each. */
    void (*hidden)(struct pfd_text *out, uint64_t n, bool color);
    /* Between entries that do not follow each other. NULL: nothing. */
    void (*between)(struct pfd_text *out, bool color);
    /* Its records begin with {"type":"...": a stamp may stand behind that. */
    bool has_type;
    /* Lines among those of entries, for who sees nothing else: what is found
     * in an entry that stands above, what is found between entries, and what
     * was lost on the way. NULL: this form has no place for them. */
    void (*tell_entry)(struct pfd_text *out, const struct pfd_entry *entry,
                       bool color);
    void (*tell)(struct pfd_text *out, const struct pfd_finding *finding,
                 bool color);
    void (*gap)(struct pfd_text *out, const struct pfd_gap *gap,
                const char *source, const struct pfd_sink_options *options);
};

/*
 * The message of a run's record at the text's end, where there is room for
 * `more` bytes behind it: its end; NULL: it has to go to entry(). What is written
 * is no part of the text yet.
 */
static inline char *pfd_sink_message(struct pfd_text *out,
                                     const struct pfd_entry_run *entry_run,
                                     const struct pfd_record *r, size_t more)
{
    const struct pfd_string *s = r->string;
    uint64_t findings = 0;
    char *at = pfd_text_reserve(out, s->room + more);
    if (!at)
        return NULL;
    char *end =
        pfd_program_print(at, s->steps, pfd_string_text(s), PFD_RAW,
                          pfd_entry_run_payload(entry_run, r), &findings);
    return findings ? NULL : end;
}

/* All sinks, NULL at the end; written by meson. */
extern const struct pfd_sink *const pfd_sinks[];

/* Texts that end with a zero, or NULL. */
static inline void pfd_sink_set_members(struct pfd_sink_options *options,
                                        const char *members)
{
    options->members = members;
    options->n_members = members ? strlen(members) : 0;
}

static inline void pfd_sink_set_origin_members(struct pfd_sink_options *options,
                                               const char *members)
{
    options->origin_members = members;
    options->n_origin_members = members ? strlen(members) : 0;
}

/* NULL: none is called that. */
const struct pfd_sink *pfd_sink_find(const char *name);

#endif
