/* SPDX-License-Identifier: MIT */
/*
 * OTLP over HTTP, as JSON. Encodes log records in protobuf's mapping to JSON as
 * OTLP has it (64-bit integers are texts, enums numbers). (The protocol:
 * opentelemetry.io/docs/specs/otlp; names: its semantic conventions.)
 */
#ifndef PFDD_OTLP_ENCODING_H
#define PFDD_OTLP_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/log_record.h"

/* A log record: the attributes of its resource, NUL, the record, NUL. */
extern const struct pfdd_encoding pfdd_otlp_encoding;

/* The body of a request; all zeros: empty. */
struct pfdd_otlp {
    struct pfd_text text;
    char *resource; /* of the last record, owned */
};

/* Appends a log record to the body. service: its name. */
void pfdd_otlp_add(struct pfdd_otlp *body, const char *service,
                   const struct pfdd_log_record_made *note);
/* Ends the body. False: out of memory. */
bool pfdd_otlp_end(struct pfdd_otlp *body);
void pfdd_otlp_free(struct pfdd_otlp *body);

#endif
