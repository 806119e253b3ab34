/* SPDX-License-Identifier: MIT */
/*
 * What a log service is told of an item: an entry, a finding or a gap, with all
 * that is known of it. A service has an encoding of its own, which workers write
 * notes in; readers give them one behind the other, each behind its length,
 * number and time. Any thread.
 */
#ifndef PFDD_LOG_RECORD_H
#define PFDD_LOG_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/printfdecode.h>

#include "base/byte_buffer.h"
#include "ring/chunk.h"

/* As syslog and the journal count. */
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
    uint64_t time;    /* ns since 1970 */
    const char *text; /* [n], as the program printed it, or in our words; the
                           newline at its end is not in it */
    size_t n;
    const struct pfdd_buffer *buffer; /* NULL: of none in particular */
    uint64_t generation;
    struct pfd_entry *entry; /* NULL: it is none */
    uint64_t findings;       /* in the entry: bits, without mere notes */
    const struct pfdd_field_map *map; /* NULL: no names of others are wanted */
};

struct pfdd_encoding {
    void (*put)(struct pfdd_byte_buffer *out,
                const struct pfdd_log_record *log_record);
    bool is_lines; /* nothing stands before a note: it is a line */
};

/* What is known beside the text, under the name that it has in our JSON: one
 * word, letters and '_'. Borrowed for the call; the name ends with NUL. */
struct pfdd_field {
    const char *name; /* [n_name] */
    size_t n_name;
    const char *value; /* [n] */
    size_t n;
    bool is_number; /* the value is one, without a sign and below 2^64 */
    bool of_buffer; /* it says where notes of this buffer come from */
};
typedef void (*pfdd_field_fn)(void *user, const struct pfdd_field *field);
void pfdd_log_record_fields(const struct pfdd_log_record *log_record,
                            pfdd_field_fn call, void *user);

/* Only those of the buffer: the same for all of its notes. */
void pfdd_log_record_buffer_fields(const struct pfdd_log_record *log_record,
                                   pfdd_field_fn call, void *user);

/* What is known of an entry by name; false: nothing. */
bool pfdd_log_record_origin(const struct pfdd_log_record *log_record,
                            const char *name, struct pfd_origin *ret);

/* What was found in an entry and is no note, a bit for each kind. */
uint64_t pfdd_log_record_findings(const struct pfd_entry *entry);

/* By what the entry says of itself, and what was found in it. */
enum pfdd_severity pfdd_log_record_severity(struct pfd_entry *entry,
                                            uint64_t findings);

/* "error", "warning", "info", "debug"; constant. */
const char *pfdd_severity_name(enum pfdd_severity severity);

/* Adds a note, and what stands before it. */
void pfdd_log_record_put(struct pfdd_byte_buffer *out,
                         const struct pfdd_encoding *encoding,
                         const struct pfdd_log_record *log_record);

/* A note as readers give it. */
struct pfdd_log_record_made {
    uint64_t sequence;
    uint64_t time;     /* ns since 1970 */
    const char *bytes; /* [n], borrowed */
    size_t n;
    size_t n_whole; /* bytes with what stands before it */
};

/* The note at the start of bytes [n], whole ones. */
void pfdd_log_record_at(const char *bytes, size_t n,
                        struct pfdd_log_record_made *ret);

#endif
