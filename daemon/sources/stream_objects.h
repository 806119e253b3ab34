/* SPDX-License-Identifier: MIT */
/*
 * The code objects of one stream: those that come in parts, those that a URI
 * names, and SPIR-V modules, which wait here for the shaders that speak of
 * them. What is whole goes to the library. Loop thread only.
 */
#ifndef PFDD_STREAM_OBJECTS_H
#define PFDD_STREAM_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/wire.h>

struct pfdd;
struct pfdd_module;
struct pfdd_peer;
struct pfdd_scope;

struct pfdd_objects {
    struct pfdd *d;
    const char *name;       /* of the stream; borrowed */
    struct pfdd_peer *peer; /* owned; who may use URIs; NULL: nobody */
    bool is_kept;           /* the shelf gives back what it kept */
    /* Of its modules; owned. NULL: they are everybody's. */
    struct pfdd_scope *scope;
    /* One that comes in parts. */
    char *part; /* [total] */
    uint64_t number;
    uint64_t total;
    uint64_t at;
    struct pfdd_module *modules;
    size_t modules_bytes;
};

/* A frame of type code_object or shader. NULL, or why it cannot be used. */
const char *pfdd_objects_take(struct pfdd_objects *o,
                              const struct pfd_wire_frame *f);

/* Modules that no shader has spoken of by now get numbers that are free. */
void pfdd_objects_give_loose(struct pfdd_objects *o);

/* A stream begins, perhaps behind another one: its numbers are its own. */
void pfdd_objects_reset(struct pfdd_objects *o);

void pfdd_objects_deinit(struct pfdd_objects *o);

#endif
