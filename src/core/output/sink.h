/* SPDX-License-Identifier: MIT */
/*
 * An output form: renders entries, findings and the summary to bytes. A sink
 * has no state; bytes are appended to a text, whose `failed` records an
 * allocation failure.
 *
 * To add one: src/core/output/sink_NAME.c with `const struct pfd_sink
 * pfd_sink_NAME`, and one word in src/meson.build.
 */
#ifndef PFD_SINK_H
#define PFD_SINK_H

#include <string.h>

#include <printfdecode/capture.h>

#include "core/decode/entry_run.h"
#include "core/output/consumer.h"
#include "core/strings/json_parts.h"

/*
 * The delivery stamp of a JSON line, behind its type: a sequence number, mostly
 * the previous line's plus one, and a time, which many lines share.
 */

enum {
    PFD_STAMP_TIME = 128, /* bytes of its members */
    PFD_STAMP_ROOM = 16 + PFD_ROOM_INT + PFD_STAMP_TIME + PFD_ARENA_SLACK,
};

/* All zeros but for the sequence number: without a time. */
struct pfd_stamp {
    struct pfd_counter counter;
    uint64_t sequence;
    uint64_t time_unix_ns; /* the value of `time` */
    size_t n_time;         /* members, with a comma before each */
    char time[PFD_STAMP_TIME + PFD_ARENA_SLACK];
};

/* Writes at most PFD_STAMP_ROOM bytes. */
static inline char *pfd_stamp_put(struct pfd_stamp *stamp, char *out)
{
    static const char key[] = ",\"sequence\":";
    const struct pfd_json_part time = { stamp->time, stamp->n_time };
    memcpy(out, key, sizeof key - 1);
    out =
        pfd_counter_put(&stamp->counter, out + sizeof key - 1, stamp->sequence);
    return pfd_json_put_part(out, &time);
}

struct pfd_sink_options {
    bool color;
    bool finding_marks;   /* text: an entry's findings before its message */
    bool inline_findings; /* rows of text: findings have lines, too */
    bool fields;          /* JSON: arguments by their names, too */
    unsigned show;        /* text: enum pfd_show */
    const char *links; /* text: prefix of hyperlinks to source files; NULL: no
                          links */
    /* JSON, already rendered: members of each entry, each with a comma before
     * it, and members of its "origin", each with a comma behind it. Each may
     * be NULL. The lengths are stored, since every line copies the members. */
    const char *members; /* [n_members] */
    size_t n_members;
    const char *origin_members; /* [n_origin_members] */
    size_t n_origin_members;
    /* Rows (core/output/value_rows.h): the form whose line goes into each, or
     * NULL, the message in pieces, and the entry's time (nanoseconds since
     * 1970). */
    const struct pfd_sink *form;
    bool pieces;
    bool has_texts; /* each has its format string, of any string set */
    const struct pfd_watch *watch; /* rows have severity and watched; or NULL */
    bool fails;       /* the form of a row: one of these filters wants it */
    bool losses_fail; /* who reads the output takes losses for errors */
    uint64_t time;
    uint64_t sequence; /* as in pfd_row, also the next two */
    uint64_t buffer;
    uint64_t generation;
    struct pfd_highlight *highlight; /* text in colour: NULL: nothing is */
    const struct pfd_points *points; /* points (core/output/points.h) */
    struct pfd_stamp *stamp; /* JSON: behind the type of each record; NULL:
                                none */
};

/* What a worker has for entries that are no more than their payloads: all
 * values lie as their string says, and no finding is reported. */
struct pfd_sink_worker {
    /* Begins another buffer, before its workers. */
    void (*begin)(const struct pfd_sink_options *options);
    /* NULL: out of memory. */
    void *(*open)(const struct pfd_sink_options *options);
    /* Can it take such entries of this string? payloads() is for it then. */
    bool (*accepts)(void *worker, const struct pfd_string *string);
    /* Takes payloads [n], PFD_PAYLOADS_MAX at most; index: of the first entry,
     * the others follow. */
    void (*payloads)(void *worker, struct pfd_text *out,
                     const uint8_t *const *payloads, size_t n, uint64_t index);
    /* The worker's batch is written: no other one changes anything
     * meanwhile. */
    void (*turn)(void *worker);
    /* One worker at a time, like turn(). */
    void (*close)(void *worker);
};

enum {
    PFD_PAYLOADS_MAX = 512
};

struct pfd_sink {
    const char *name;
    void (*entry)(struct pfd_text *out, struct pfd_entry *entry,
                  const struct pfd_sink_options *options);
    /*
     * The same for a run's entries, from the first on, while the text has no
     * more than `full` bytes; returns their number. Ends before an entry that
     * has to go to entry(): one that run() cannot render, that has findings
     * when it is printed, or for which there is no memory. NULL: every entry
     * goes there.
     */
    size_t (*run)(struct pfd_text *out, const struct pfd_entry_run *entry_run,
                  size_t full, const struct pfd_sink_options *options);
    /* NULL: this form has no findings. */
    void (*finding)(struct pfd_text *out, const struct pfd_finding *finding,
                    const struct pfd_sink_options *options);
    void (*summary)(struct pfd_text *out, const struct pfd_summary *summary,
                    const char *source, const struct pfd_sink_options *options);
    /* Instead of n entries of unknown ids. NULL: this form prints each. */
    void (*hidden)(struct pfd_text *out, uint64_t n,
                   const struct pfd_sink_options *options);
    /* Between entries that do not follow each other. NULL: nothing. */
    void (*between)(struct pfd_text *out, bool color);
    /* Its records begin with {"type":"...": a stamp may follow there. */
    bool has_type;
    bool has_sequence;                    /* reads options->sequence */
    const struct pfd_sink_worker *worker; /* NULL: workers have nothing more */
    /* Lines between those of entries, for readers of this output alone:
     * findings of the entry above, findings between entries, and gaps. NULL:
     * this form has no such lines. */
    void (*tell_entry)(struct pfd_text *out, const struct pfd_entry *entry,
                       bool color);
    void (*tell)(struct pfd_text *out, const struct pfd_finding *finding,
                 const struct pfd_sink_options *options);
    void (*gap)(struct pfd_text *out, const struct pfd_gap *gap,
                const char *source, const struct pfd_sink_options *options);
};

/*
 * Writes the message of a run's record at the text's end, with room for `more`
 * bytes behind it. Returns its end; NULL: it has to go to entry(). The message
 * is not part of the text yet.
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

/* Sets NUL-terminated texts, or NULL. */
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

/* NULL: no such name. */
const struct pfd_sink *pfd_sink_find(const char *name);

#endif
