/* SPDX-License-Identifier: MIT */
/*
 * The strings of a stream whose buffers are of several processes: everybody's
 * code objects, and for each scope its shaders beside these. A set is made when
 * it is asked for, of all that has come by then, and never changed.
 */
#ifndef PFD_PRODUCER_STRINGS_H
#define PFD_PRODUCER_STRINGS_H

#include <printfdecode/strings.h>
#include <printfdecode/wire_objects.h>

struct pfd_producer_strings_object {
    struct pfd_producer_strings_object *next;
    uint64_t scope; /* 0: everybody's */
    bool is_shader;
    uint32_t shader;
    void *bytes; /* [n], owned */
    size_t n;
    char name[];
};

struct pfd_producer_strings_set {
    struct pfd_producer_strings_set *next;
    uint64_t scope;
    struct pfd_strings *strings; /* NULL: there is no memory */
    uint64_t n_had;              /* what had come when it was made */
};

/* All zeros: nothing has come. */
struct pfd_producer_strings {
    struct pfd_producer_strings_object
        *first; /* in the order in which they came */
    struct pfd_producer_strings_object **last;
    struct pfd_producer_strings_set *sets;
    uint64_t n_objects;
    size_t n_bytes; /* of them */
};

void pfd_producer_strings_clear(struct pfd_producer_strings *producer_strings);

/* Takes what pfd_wire_objects gives, but for what is only named. False: out of
 * memory. */
bool pfd_producer_strings_add(struct pfd_producer_strings *producer_strings,
                              struct pfd_wire_object *given);

/* The set of a scope now; it stays until something more has come. Findings go
 * to fn with user. NULL: out of memory. */
const struct pfd_strings *pfd_producer_strings_get(
    struct pfd_producer_strings *producer_strings, uint64_t scope,
    pfd_finding_fn fn, void *user);

#endif
