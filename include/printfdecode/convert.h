/* SPDX-License-Identifier: MIT */
/*
 * Converts whole buffers to text, raw bytes or JSON, in buffer order. The
 * output is the same for any number of threads.
 */
#ifndef PRINTFDECODE_CONVERT_H
#define PRINTFDECODE_CONVERT_H

#include <printfdecode/capture.h>
#include <printfdecode/filter.h>
#include <printfdecode/printfdecode.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Callbacks are never called two at a time, but perhaps from different threads,
 * one after another: on the caller's, or on one of the library's, whose stack is
 * 1 MiB, three quarters of which are free. To stop, return false.
 */
typedef bool (*pfd_write_fn)(void *user, const void *bytes, size_t n);
typedef bool (*pfd_progress_fn)(void *user, const struct pfd_summary *so_far);

/*
 * Reads up to n bytes into bytes. Returns their number, 0 at the end, or a
 * negated errno value.
 */
typedef long (*pfd_read_fn)(void *user, void *bytes, size_t n);

struct pfd_consumer; /* of entries instead of lines: a table, a plot, ... */

/* The different ids of a buffer's entries. */
struct pfd_id_counts {
    size_t struct_size; /* as common.h says */
    uint64_t known;     /* strings of which there are entries */
    uint64_t unknown;   /* ids without a string */
    bool is_more;       /* there are more than counted as unknown: several
                         thousand */
};

/* Takes the number of entries of a format string that came in the buffer, and
 * of their bytes. string: borrowed for the call; NULL: all strings beyond the
 * first 65,536, or beyond 16 MiB of them. */
typedef void (*pfd_string_sum_fn)(void *user,
                                  const struct pfd_string_info *string,
                                  uint64_t entries, uint64_t bytes);

/* A conversion. All borrowed for the call; zero or NULL: not set. */
struct pfd_convert {
    size_t struct_size; /* as common.h says */
    const struct pfd_strings *strings;
    const char *format; /* a buffer format's name; NULL: choose */
    const char *output; /* "text", "raw" or "json"; NULL: nothing is written */
    const char *source; /* the buffer's name */
    const struct pfd_options *options; /* NULL: the defaults */
    /* Of pfd_convert_bytes(): [n_holes] ranges in order that are known to be
     * zero because they were never written; they are passed over unread. */
    const struct pfd_range *holes;
    size_t n_holes;
    /* Likewise [n_missing] ranges of unknown bytes, which never came and read
     * as zeros. Entries with such bytes have the finding `incomplete`. */
    const struct pfd_range *missing;
    size_t n_missing;
    /* Of pfd_convert_bytes(), for the bytes of a mapped file: reads them from
     * the file, so that they stay in a processor's cache and pages need not be
     * mapped. Called by all threads, also at once, with the same stack; NULL:
     * never. */
    pfd_read_at_fn read_at;
    void *read_at_user;
    unsigned threads; /* 0: as many as there are processors */
    /* Selects entries; NULL: all. The summary counts the others all the
     * same. */
    const struct pfd_filter *filter;
    /* Facts about entries for conditions, beside their contents; the time of
     * chunks is each one's own. NULL: none. */
    const struct pfd_filter_facts *facts;
    uint64_t skip;   /* selected entries to skip first */
    uint64_t limit;  /* entries to emit then, before it stops; 0: all */
    bool no_entries; /* emit none, whatever limit is */
    /* Only entries with these indexes, [n_ranges] in order and apart; NULL:
     * all. marks_ranges: text has a line "--" between them. */
    const struct pfd_range *ranges;
    size_t n_ranges;
    bool marks_ranges;
    uint64_t *n_emitted; /* entries that were emitted; added to; or NULL */
    uint64_t *n_doubts;  /* of those, entries on which a pattern gave up;
                           likewise */
    bool notes;          /* finding() takes notes as well as findings */
    bool origin;         /* text: show the origin of each message */
    unsigned show;       /* likewise, bits of enum pfd_show */
    /* text: a prefix that makes names of source files hyperlinks of a terminal,
     * to the prefix and the name; NULL: no hyperlinks. It is the beginning of a
     * URL, such as "file://host/home/me/", taken as it is; for a name that
     * begins with a / only up to its third slash. */
    const char *links;
    /* text: findings between entries have lines of their own, in their place,
     * "! SOURCE: dword 7: KIND: sentence"; notes have none. */
    bool inline_findings;
    bool color;                         /* text: mark all but messages */
    const struct pfd_filter *highlight; /* and what its patterns match in
                                           messages; NULL: nothing */
    bool finding_marks; /* text: say an entry's findings before its message */
    /* JSON: arguments by their names, too: "fields":{"ray":7,"t":0.5}. Slower:
     * lines of one format string have less in common. */
    bool fields;
    /* text: limit entries of unknown ids to 8 of each id and 64 of all, and
     * then say how many more there are. */
    bool limit_unknown;
    /* JSON of the caller's own, "" or NULL for none: members of every record
     * (with a comma before each), and members of the "origin" of entries (with
     * a comma behind each). */
    const char *members;
    const char *origin_members;
    /* Of pfd_convert_chunks(), instead of one `members` for all: members of the
     * records of chunk i; borrowed until the next call. One at a time. */
    const char *(*chunk_members)(void *user, size_t i);
    void *chunk_user;
    pfd_write_fn write;
    /* Takes entries in place of write(): what the printfdecode command makes
     * tables, plots and traces with. With an output, it gets their lines,
     * too. */
    const struct pfd_consumer *consumer;
    /* Time of everything outside of chunks, for consumers and PFD_SHOW_TIME;
     * nanoseconds since 1970; 0: unknown. */
    uint64_t row_time;
    /* Instead of an output: takes the selected entries and all findings between
     * them as chunks of some 100 KiB, each with n_items items; user:
     * write_user. */
    bool (*write_chunk)(void *user, const void *bytes, size_t n,
                        uint64_t n_items);
    void *write_user;
    /* Takes findings. Findings about entries come after all entries, merged
     * into one for each kind and id, with the number of entries; for ids beyond
     * some thousands, into one for each kind. */
    pfd_finding_fn finding;
    void *finding_user;
    /* Takes the indexes [n] of emitted entries, in order. */
    void (*emitted)(void *user, const uint64_t *indexes, size_t n);
    void *given_user;
    pfd_progress_fn progress;
    void *progress_user;
    /* Selected entries and their bytes for each string,
     * [pfd_strings_count()], or NULL; added to. Without output, entries are
     * then counted unformatted. */
    uint64_t *string_entries;
    uint64_t *string_bytes;
    /* With string_entries: likewise for format strings that come in the buffer,
     * after all entries. A string may come several times: the sum is all of its
     * entries. */
    pfd_string_sum_fn string_sum;
    void *string_sum_user;
    struct pfd_id_counts *id_counts; /* filled, or NULL */
};

/* Outputs by index. PFD_OK; PFD_END: there is no i. */
PFD_API enum pfd_status pfd_output_get(size_t i, const char **ret);

/*
 * Converts a buffer of [n] bytes; after a failure, too, summary has the counts
 * so far.
 *
 * PFD_OK; PFD_ERR_STOPPED: a callback returned false; PFD_ERR_USAGE: no such
 * format or output; PFD_ERR_NOMEM; PFD_ERR_IO: no thread could be started.
 */
PFD_API enum pfd_status pfd_convert_bytes(const struct pfd_convert *convert,
                                          const void *bytes, size_t n,
                                          struct pfd_summary *summary,
                                          struct pfd_error *err);

/*
 * The same for a buffer that is read as a stream; memory is bounded by a window
 * for each thread. PFD_ERR_IO also when read failed.
 */
PFD_API enum pfd_status pfd_convert_stream(const struct pfd_convert *convert,
                                           pfd_read_fn read, void *read_user,
                                           struct pfd_summary *summary,
                                           struct pfd_error *err);

/*
 * The same for entries of one buffer that were decoded before: its chunks [n],
 * all of one buffer format. A chunk that cannot be read becomes a finding,
 * `bad_frame`. holes, missing and format are ignored.
 */
PFD_API enum pfd_status pfd_convert_chunks(const struct pfd_convert *convert,
                                           const struct pfd_chunk_bytes *chunks,
                                           size_t n,
                                           struct pfd_summary *summary,
                                           struct pfd_error *err);

/* Escapes bytes [n] for a terminal: control bytes other than newline and tab
 * become \xNN. ret has room for 4 * n bytes; returns the number written. */
PFD_API size_t pfd_escape_for_terminal(char *ret, const void *bytes, size_t n);

#ifdef __cplusplus
}
#endif

#endif
