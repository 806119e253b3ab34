/* SPDX-License-Identifier: MIT */
/*
 * What is said in OTLP over HTTP, as JSON: by us, log records in the mapping of
 * protobuf to JSON that OTLP has (64-bit integers are texts, enums numbers); by
 * the server, which of them it would not have. (The protocol:
 * opentelemetry.io/docs/specs/otlp; names: its semantic conventions.)
 */
#ifndef PFDD_OTLP_H
#define PFDD_OTLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/log_record.h"

/* A note: the attributes of its resource, NUL, its log record, NUL. */
extern const struct pfdd_encoding pfdd_otlp_encoding;

/* A body of requests; all zeros: none was begun. */
struct pfdd_otlp {
    struct pfdd_byte_buffer text;
    char *resource; /* of the last note, owned */
};

/* Adds a note to the body. service: its name. */
void pfdd_otlp_add(struct pfdd_otlp *body, const char *service,
                   const struct pfdd_log_record_made *note);
/* No more comes. False: out of memory. */
bool pfdd_otlp_end(struct pfdd_otlp *body);
void pfdd_otlp_free(struct pfdd_otlp *body);

/* How many of n records an answer's partialSuccess does not have; why [n_why]:
 * in whose words, or "". What cannot be read says nothing. */
uint64_t pfdd_otlp_rejected(const char *answer, size_t n_answer, uint64_t n,
                            char *why, size_t n_why);

#endif
