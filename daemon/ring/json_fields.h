/* SPDX-License-Identifier: MIT */
/*
 * Notes as lines of JSON with the names of others (field_map.h): an object each,
 * flat, with time, severity and message first. Any thread.
 */
#ifndef PFDD_JSON_FIELDS_H
#define PFDD_JSON_FIELDS_H

#include "ring/log_record.h"

extern const struct pfdd_encoding pfdd_json_fields_encoding;

/* How a line of ours is known, in JSON with our own names or those of others. */
struct pfdd_json_style {
    char begin[300];  /* what it begins with */
    char number[300]; /* what stands before its sequence number, */
    char time[300];   /* and before its time */
    bool is_rfc3339;  /* which is one of RFC 3339; else ns since 1970 */
    size_t n_head;    /* bytes in which both are said */
};

/* map: NULL: our own names; else it keeps `sequence` and `time`. */
void pfdd_json_style_init(struct pfdd_json_style *ret,
                          const struct pfdd_field_map *map);

/* Of a line [n] that is whole and looks like one; 0: it does not. */
uint64_t pfdd_json_style_number(const struct pfdd_json_style *json_style,
                                const char *line, size_t n);
/* Of one that does. */
uint64_t pfdd_json_style_time(const struct pfdd_json_style *json_style,
                              const char *line, size_t n);

#endif
