/* SPDX-License-Identifier: MIT */
/*
 * One item (entry, finding or gap) as a log service gets it, with all of its
 * metadata. Each service has an encoding, which workers encode records with. A
 * cursor emits them one after the other, each after a header with its sequence
 * number, time and length. Any thread.
 */
#ifndef PFDD_LOG_RECORD_H
#define PFDD_LOG_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/capture.h>
#include <printfdecode/printfdecode.h>

#include "core/base/text.h"
#include "ring/chunk.h"

/* Numbers of syslog and the journal. */
enum pfdd_severity {
    PFDD_SEVERITY_ERROR = 3,
    PFDD_SEVERITY_WARNING = 4,
    PFDD_SEVERITY_INFO = 6,
    PFDD_SEVERITY_DEBUG = 7,
};

/* All borrowed for the call. */
struct pfdd_log_record {
    const char *type; /* "entry", "finding", "gap", "error" */
    enum pfdd_severity severity;
    uint64_t sequence;
    uint64_t time; /* ns since 1970 */
    /* [n], as the program printed it, or the daemon's words, without the
     * newline at the end. */
    const char *text;
    size_t n;
    const struct pfdd_buffer *buffer; /* NULL: of no buffer in particular */
    uint64_t generation;
    struct pfd_entry *entry; /* NULL: it is no entry */
    uint64_t findings;       /* of the entry, a bit each, without notes */
    const struct pfdd_field_map *map; /* NULL: fields are not renamed */
};

struct pfdd_encoding {
    void (*put)(struct pfd_text *out, const struct pfdd_log_record *log_record);
    bool is_lines; /* records are lines, without a header */
};

/* Metadata beside the text, under its name in the daemon's JSON: one word of
 * letters and '_'. Borrowed for the call; the name ends with NUL. */
struct pfdd_field {
    const char *name; /* [n_name] */
    size_t n_name;
    const char *value; /* [n] */
    size_t n;
    bool is_number; /* the value is a number, unsigned and below 2^64 */
    bool of_buffer; /* it describes the buffer, not the item */
};
typedef void (*pfdd_field_fn)(void *user, const struct pfdd_field *field);
void pfdd_log_record_fields(const struct pfdd_log_record *log_record,
                            pfdd_field_fn call, void *user);

/* Only fields of the buffer: the same for all of its records. */
void pfdd_log_record_buffer_fields(const struct pfdd_log_record *log_record,
                                   pfdd_field_fn call, void *user);

/* Finds an entry's origin by name, borrowed as the entry is; NULL: it has none. */
const struct pfd_origin *pfdd_log_record_origin(
    const struct pfdd_log_record *log_record, const char *name);

/* "error", "warning", "info", "debug"; constant. */
const char *pfdd_severity_name(enum pfdd_severity severity);

/* Appends a record, with its header. */
void pfdd_log_record_put(struct pfd_text *out,
                         const struct pfdd_encoding *encoding,
                         const struct pfdd_log_record *log_record);

/* A record as a cursor emits it. */
struct pfdd_log_record_made {
    uint64_t sequence;
    uint64_t time;     /* ns since 1970 */
    const char *bytes; /* [n], borrowed */
    size_t n;
    size_t n_whole; /* bytes with its header */
};

/* Parses the record at the start of bytes [n], which holds whole records. */
void pfdd_log_record_at(const char *bytes, size_t n,
                        struct pfdd_log_record_made *ret);

/* Sets what the item is, where the text and the rest are set: its type, entry,
 * findings (if has_findings) and severity; marks of a line are no part of the
 * text. NULL: it was lost. */
void pfdd_log_record_set_item(struct pfdd_log_record *log_record,
                              struct pfd_chunk_item *item, bool has_findings);

#endif
