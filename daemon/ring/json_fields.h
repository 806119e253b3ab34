/* SPDX-License-Identifier: MIT */
/*
 * Log records as lines of JSON with renamed fields (field_map.h): a flat object
 * each, with time, severity and message first. Any thread.
 */
#ifndef PFDD_JSON_FIELDS_H
#define PFDD_JSON_FIELDS_H

#include "ring/log_record.h"

extern const struct pfdd_encoding pfdd_json_fields_encoding;

/* How lines of the daemon's JSON are recognized, with the usual or renamed
 * fields. */
struct pfdd_json_style {
    char begin[300];  /* the start of the line */
    char number[300]; /* the text before its sequence number */
    char time[300];   /* the text before its time */
    bool is_rfc3339;  /* the time is RFC 3339; else ns since 1970 */
    size_t n_head;    /* bytes within which both are found */
};

/* map: NULL: the usual names; else a map that keeps `sequence` and `time`. */
void pfdd_json_style_init(struct pfdd_json_style *ret,
                          const struct pfdd_field_map *map);

/* The sequence number of a complete line [n]; 0: the line is not of this
 * style. */
uint64_t pfdd_json_style_number(const struct pfdd_json_style *json_style,
                                const char *line, size_t n);
/* The time of a line of this style. */
uint64_t pfdd_json_style_time(const struct pfdd_json_style *json_style,
                              const char *line, size_t n);

#endif
