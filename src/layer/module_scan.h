/* SPDX-License-Identifier: MIT */
/*
 * What the words of a SPIR-V module say: whether it prints, whether validation
 * has changed it, and which buffers the functions that it added write records
 * into.
 */
#ifndef LAYER_MODULE_SCAN_H
#define LAYER_MODULE_SCAN_H

#include "device.h"

enum {
    SCAN_OUTPUTS_MAX = 64,
};

/* A variable that an added function writes records into. */
struct scan_output {
    uint32_t id;
    bool is_counted; /* a record's place is added up in it */
    bool is_stored;  /* a record's words are stored in it */
    struct told told;
};

struct scan {
    bool prints;
    bool is_changed;   /* by instrumentation */
    bool is_checked;   /* by instrumentation that looks for errors */
    uint64_t likeness; /* what a module and its instrumented one share */
    struct scan_output outputs[SCAN_OUTPUTS_MAX];
    size_t n; /* outputs; each is counted and stored, and has a place */
};

/* [n] words. Words that are no module, or are cut, say nothing more. */
void scan_module(struct scan *scan, const uint32_t *words, size_t n);

#endif
