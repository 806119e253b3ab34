/* SPDX-License-Identifier: MIT */
/*
 * Scans a SPIR-V module: does it print, has validation changed it, and which
 * buffers do the added functions write records to?
 */
#ifndef LAYER_MODULE_SCAN_H
#define LAYER_MODULE_SCAN_H

#include "device.h"

enum {
    SCAN_OUTPUTS_MAX = 64,
};

/* A variable to which an added function writes records. */
struct scan_output {
    uint32_t id;
    bool is_counted; /* a record's place is reserved in it, by an addition */
    bool is_stored;  /* a record's words are stored in it */
    struct told told;
};

struct scan {
    bool prints;
    bool is_changed;   /* by instrumentation */
    bool is_checked;   /* by instrumentation for errors */
    uint64_t likeness; /* a hash that a module and its instrumented copy
                          share */
    struct scan_output outputs[SCAN_OUTPUTS_MAX];
    size_t n; /* outputs that are counted, stored, and have a place */
};

/* Scans [n] words. An invalid or truncated module gives the results so far. */
void scan_module(struct scan *scan, const uint32_t *words, size_t n);

#endif
