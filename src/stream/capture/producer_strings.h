/* SPDX-License-Identifier: MIT */
/*
 * The strings of a stream with buffers of several processes: the code objects
 * of all, and for each scope its shaders besides. A set is built on demand, of
 * all objects that have arrived, and never changed.
 */
#ifndef PFD_PRODUCER_STRINGS_H
#define PFD_PRODUCER_STRINGS_H

#include <printfdecode/strings.h>

#include "stream/capture/wire_objects.h"

struct pfd_producer_strings_object {
    struct pfd_producer_strings_object *next;
    uint64_t scope; /* 0: all */
    bool is_shader;
    uint32_t shader;
    void *bytes; /* [n], owned */
    size_t n;
    char name[];
};

struct pfd_producer_strings_set {
    struct pfd_producer_strings_set *next;
    uint64_t scope;
    struct pfd_strings *strings; /* NULL: out of memory */
    uint64_t n_had;              /* n_objects when it was built */
};

/* All zeros: empty. */
struct pfd_producer_strings {
    struct pfd_producer_strings_object *first; /* in order of arrival */
    struct pfd_producer_strings_object **last;
    struct pfd_producer_strings_set *sets;
    uint64_t n_objects;
    size_t n_bytes; /* of them */
};

void pfd_producer_strings_clear(struct pfd_producer_strings *producer_strings);

/* Adds an object that pfd_wire_objects gives; ignores modules, and objects that
 * are only named. False: out of memory. */
bool pfd_producer_strings_add(struct pfd_producer_strings *producer_strings,
                              struct pfd_wire_object *given);

/* The set of a scope as of now, valid until another object arrives. Findings go
 * to fn with user. NULL: out of memory. */
const struct pfd_strings *pfd_producer_strings_get(
    struct pfd_producer_strings *producer_strings, uint64_t scope,
    pfd_finding_fn fn, void *user);

#endif
