/* SPDX-License-Identifier: MIT */
/*
 * Renders entries and findings as lines, one at a time, in the forms that
 * pfd_convert_*() writes: for programs that take entries from a decoder or a
 * tail and send them on. Lines gather in a buffer until they are taken.
 *
 * Thread rule: one thread at a time.
 */
#ifndef PRINTFDECODE_LINES_H
#define PRINTFDECODE_LINES_H

#include <printfdecode/capture.h>
#include <printfdecode/filter.h>
#include <printfdecode/printfdecode.h>
#include <printfdecode/wire.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_lines;

/* output: a name of pfd_output_get(); color, origin: as in struct pfd_convert.
 * PFD_OK; PFD_ERR_USAGE: no such output; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_lines_new(const char *output, bool color,
                                      bool origin, struct pfd_lines **ret,
                                      struct pfd_error *err);

/* show, links: as in struct pfd_convert; links is borrowed. They add to
 * `origin`. */
PFD_API void pfd_lines_show(struct pfd_lines *lines, unsigned show,
                            const char *links);

/* From now on JSON has arguments by their names, too, as in struct
 * pfd_convert. */
PFD_API void pfd_lines_fields(struct pfd_lines *lines);

/*
 * From now on text has a line of its own, with "! SOURCE: " before it, for each
 * finding in an entry (behind its message), each finding between entries, and
 * each gap: for readers that see nothing but these lines. Other forms have a
 * place for findings, or none.
 */
PFD_API void pfd_lines_tell(struct pfd_lines *lines);

/* NULL is allowed. */
PFD_API void pfd_lines_free(struct pfd_lines *lines);

/*
 * The origin and time in JSON records from now on: "origin" from a buffer frame
 * (NULL: none), "time" and "time_unix_nano" (0: neither), "generation" and
 * "sequence" (UINT64_MAX: none). PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_lines_set_origin(
    struct pfd_lines *lines, const struct pfd_wire_frame *buffer);
PFD_API void pfd_lines_set_time(struct pfd_lines *lines, uint64_t time_unix_ns);
PFD_API void pfd_lines_set_place(struct pfd_lines *lines, uint64_t generation,
                                 uint64_t sequence);

/* Each adds a line; forms without findings, gaps or summaries add nothing.
 * source: the name of the gap's buffer, or NULL. */
PFD_API void pfd_lines_entry(struct pfd_lines *lines, struct pfd_entry *entry);
PFD_API void pfd_lines_finding(struct pfd_lines *lines,
                               const struct pfd_finding *finding);
PFD_API void pfd_lines_gap(struct pfd_lines *lines, const struct pfd_gap *gap,
                           const char *source);

/* The bytes that have gathered, [*n]; borrowed until the next call. NULL with
 * *n = 1: out of memory, lines are missing. */
PFD_API const char *pfd_lines_bytes(const struct pfd_lines *lines, size_t *n);

/* Empties the buffer. */
PFD_API void pfd_lines_clear(struct pfd_lines *lines);

#ifdef __cplusplus
}
#endif

#endif
