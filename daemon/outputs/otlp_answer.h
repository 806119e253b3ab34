/* SPDX-License-Identifier: MIT */
/*
 * The answer of a server of OTLP over HTTP to a request of logs
 * (ExportLogsServiceResponse; opentelemetry.io/docs/specs/otlp, "OTLP/HTTP
 * Response"). What stands in front of a server may answer 200, too, with a page
 * of its own: that is no success of the protocol.
 */
#ifndef PFDD_OTLP_ANSWER_H
#define PFDD_OTLP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfdd_otlp_answer {
    bool is_success;
    uint64_t n_rejected; /* of the records that were sent */
    char why[200];       /* the server's error message, also where it has
                            rejected none; "": none */
};

/* Parses the body [n_bytes] of an answer with a status of success. type: its
 * Content-Type, or NULL. n: records that were sent. */
void pfdd_otlp_answer_parse(const char *type, const char *bytes, size_t n_bytes,
                            uint64_t n, struct pfdd_otlp_answer *ret);

#endif
