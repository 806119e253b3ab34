/* SPDX-License-Identifier: MIT */
/*
 * The code objects of one stream: assembled within the memory budget
 * (wire_objects.h), read with the rights of the sender, and passed on to the
 * string store. Loop thread only.
 */
#ifndef PFDD_STREAM_OBJECTS_H
#define PFDD_STREAM_OBJECTS_H

#include <stdbool.h>

#include <printfdecode/wire.h>

struct pfd_wire_objects;
struct pfdd_ingest;
struct pfdd_resource_account;
struct pfdd_peer;
struct pfdd_producer;
struct pfdd_description;

struct pfdd_objects {
    struct pfdd_ingest *ingest;
    const char *name;       /* of the stream; borrowed */
    struct pfdd_peer *peer; /* owned; with whose rights URIs are read; NULL:
                               they are refused */
    struct pfdd_resource_account *account; /* NULL: none */
    bool is_kept; /* from the fd store, from before a restart */
    const struct pfdd_description *description; /* of rings whose producer sends
                                                   none; NULL: none */
    /* Reports why something cannot be used. */
    void (*refused)(void *user, const char *why);
    /* Likewise, for want of memory or descriptors. */
    void (*lacking)(void *user, const char *why);
    void *user;
    /* Set by pfdd_objects_init() from here on. */
    struct pfdd_producer *producer; /* of its modules; owned; NULL: they are
                                       shared */
    struct pfd_wire_objects *set;   /* owned; NULL: out of memory */
    bool is_described;              /* the producer has a description, */
    uint64_t described_scope;       /* of buffers of this scope; 0: of all */
    uint32_t crc;                   /* of its bytes */
    bool has_other;                 /* another one has come, and is not used */
};

/* The members above are set by the caller. */
void pfdd_objects_init(struct pfdd_objects *o);

/* True: there is memory for a `code_object` or `shader` frame, until its object
 * is complete. The second: there is none, because others have more than they
 * would if all had their share. */
bool pfdd_objects_have_room(struct pfdd_objects *o,
                            const struct pfd_wire_frame *f);
bool pfdd_objects_are_short(const struct pfdd_objects *o,
                            const struct pfd_wire_frame *f);

/* Takes a frame of any type. */
void pfdd_objects_take(struct pfdd_objects *o, const struct pfd_wire_frame *f);

/* A buffer of this scope has come: without a description of its producer's own, it
 * is read by the input's. False: its own is another than the stream's first, which
 * must not read it. format: NULL: not known. */
bool pfdd_objects_describe(struct pfdd_objects *o, uint64_t scope,
                           const char *format);

/* Modules without a `shader` frame so far get free numbers. */
void pfdd_objects_settle(struct pfdd_objects *o);

/* The stream has ended: passes on the rest. */
void pfdd_objects_finish(struct pfdd_objects *o);

/* Another stream begins: its numbers are its own. */
void pfdd_objects_reset(struct pfdd_objects *o);

void pfdd_objects_deinit(struct pfdd_objects *o);

#endif
