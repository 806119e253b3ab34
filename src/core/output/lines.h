/* SPDX-License-Identifier: MIT */
/*
 * Lines for the command and the daemon: rows, stamps, and memory of the caller.
 */
#ifndef PFD_INNER_LINES_H
#define PFD_INNER_LINES_H

#include <printfdecode/lines.h>

struct pfd_entry_run;

/* From now on text has an entry's findings before its message. */
void pfd_lines_mark(struct pfd_lines *lines);

/* From now on text that has colour shows what the filter's patterns match in
 * messages; the filter is borrowed. PFD_ERR_NOMEM. */
enum pfd_status pfd_lines_highlight(struct pfd_lines *lines,
                                    const struct pfd_filter *filter,
                                    struct pfd_error *err);

/* From now on rows gather, which hold the lines, for pfd_collapse_write(); a
 * stamp then stands behind an entry's other members. */
void pfd_lines_rows(struct pfd_lines *lines);

/* From now on rows without lines gather, for pfd_trace_write(). The format
 * strings of all entries must be of one set. */
void pfd_lines_values(struct pfd_lines *lines);

struct pfd_watch;

/* For rows: judges entries from now on; borrowed. NULL: judges no more. */
void pfd_lines_watch(struct pfd_lines *lines, const struct pfd_watch *watch);

/* Findings and gaps that mean a loss are errors, not warnings, in forms that say
 * which. */
void pfd_lines_fail_losses(struct pfd_lines *lines, bool fail);

/* For rows: the buffer, by any number, of the entries that follow. Entries of
 * different buffers, or of different generations of one, are never collapsed
 * together. 0 to begin with. */
void pfd_lines_set_buffer(struct pfd_lines *lines, uint64_t number);

/* Origin members that pfd_lines_origin_members() of other lines returned;
 * borrowed. */
void pfd_lines_set_origin_members(struct pfd_lines *lines, const char *members);

/* The number and the time of the next record: JSON has them as "sequence",
 * "time" and "time_unix_nano" right behind "type", where a reader finds them
 * without reading the whole record. */
void pfd_lines_set_stamp(struct pfd_lines *lines, uint64_t sequence,
                         uint64_t time_unix_ns);

/* One or several lines of the caller's own: bytes [n], copied as they are. */
void pfd_lines_add(struct pfd_lines *lines, const char *line, size_t n);

/* Cuts the buffer behind its first n bytes, also after a failure. */
void pfd_lines_cut(struct pfd_lines *lines, size_t n);

/* Hands over the bytes that have gathered, [*n], allocated (free()); NULL:
 * none. */
char *pfd_lines_take(struct pfd_lines *lines, size_t *n);

/* Gives the lines memory to gather in, [n], allocated (malloc()), which they
 * own from now on; the bytes that have gathered are dropped. If it is too
 * small, other memory replaces it. */
void pfd_lines_give(struct pfd_lines *lines, char *memory, size_t n);

/* Values for pfd_convert.members and .origin_members, as they are set here;
 * borrowed until the next call that sets something. */
const char *pfd_lines_members(struct pfd_lines *lines);
const char *pfd_lines_origin_members(struct pfd_lines *lines);

/* The same for all entries of a run, faster; none of them has a sequence. */
void pfd_lines_run(struct pfd_lines *lines,
                   const struct pfd_entry_run *entry_run);

#endif
