/* SPDX-License-Identifier: MIT */
/*
 * The code objects of one stream, as the library puts them together: within the
 * cap of memory, with the rights of whoever sends, and over to the library of
 * strings. Loop thread only.
 */
#ifndef PFDD_STREAM_OBJECTS_H
#define PFDD_STREAM_OBJECTS_H

#include <stdbool.h>

#include <printfdecode/wire.h>

struct pfd_wire_objects;
struct pfdd;
struct pfdd_resource_account;
struct pfdd_peer;
struct pfdd_producer;

struct pfdd_objects {
    struct pfdd *d;
    const char *name;       /* of the stream; borrowed */
    struct pfdd_peer *peer; /* owned; who may use URIs; NULL: nobody */
    struct pfdd_resource_account *account; /* NULL: nobody counts */
    bool is_kept; /* the shelf gives back what it kept */
    /* Why something cannot be used. */
    void (*refused)(void *user, const char *why);
    void *user;
    /* From here on, what pfdd_objects_init() sets. */
    struct pfdd_producer *producer; /* of its modules; owned. NULL: they are
                                 everybody's */
    struct pfd_wire_objects *set;   /* owned; NULL: out of memory */
};

/* The members above are set. */
void pfdd_objects_init(struct pfdd_objects *o);

/* Whether there is room for a frame of a code object, or a shader, up to where
 * it is whole; and whether there is none because others have more than they
 * would if all had their share. */
bool pfdd_objects_have_room(struct pfdd_objects *o,
                            const struct pfd_wire_frame *f);
bool pfdd_objects_are_short(const struct pfdd_objects *o,
                            const struct pfd_wire_frame *f);

/* A frame of any type. */
void pfdd_objects_take(struct pfdd_objects *o, const struct pfd_wire_frame *f);

/* Modules that no shader has spoken of by now get numbers that are free. */
void pfdd_objects_settle(struct pfdd_objects *o);

/* The stream is over: what is left of it is given. */
void pfdd_objects_finish(struct pfdd_objects *o);

/* A stream begins behind another one: its numbers are its own. */
void pfdd_objects_reset(struct pfdd_objects *o);

void pfdd_objects_deinit(struct pfdd_objects *o);

#endif
