/* SPDX-License-Identifier: MIT */
/*
 * The code objects and shaders of one capture stream: assembles the ones that
 * come in parts, holds SPIR-V modules until shaders refer to them, and gives
 * whole ones to the owner of format strings. The frames are explained in
 * src/stream/capture/README.md.
 *
 * Thread rule: a set belongs to one thread at a time.
 */
#ifndef PFD_WIRE_OBJECTS_H
#define PFD_WIRE_OBJECTS_H

#include <printfdecode/wire.h>

enum {
    PFD_WIRE_OBJECTS_MAX = 1 << 20, /* of one stream */
    PFD_WIRE_OBJECT_MAX = 1 << 30,  /* bytes of one */
};

enum pfd_wire_object_use {
    PFD_WIRE_OBJECT_STRINGS, /* a code object: its strings are to be loaded */
    PFD_WIRE_OBJECT_NAMED,   /* the same, but only `uri` locates it */
    PFD_WIRE_OBJECT_MODULE,  /* a SPIR-V module has arrived; it is given again
                                as one of the next two */
    PFD_WIRE_OBJECT_SHADER,  /* the module of shader number `shader` */
    PFD_WIRE_OBJECT_LOOSE,   /* a module that no shader refers to: it gets a
                                number that is free */
};

/* An object that is given; all of it is borrowed for the call. */
struct pfd_wire_object {
    enum pfd_wire_object_use use;
    uint64_t number;            /* the sender's */
    uint64_t shader;            /* of a SHADER: below 2^32 - 1 */
    uint64_t scope;             /* the buffers that it belongs to; 0: all */
    uint64_t at;                /* of the frame that completed it, bytes from
                                   the start of the stream */
    struct pfd_wire_bytes name; /* a SHADER's own; may be empty */
    struct pfd_wire_bytes uri;  /* of a NAMED one */
    /* [n], NULL of a NAMED one. For STRINGS they are of malloc(), and the
     * callee may take them by setting this to NULL. */
    void *bytes;
    size_t n;
};

struct pfd_wire_objects_options {
    /* False: out of memory. */
    bool (*give)(void *user, struct pfd_wire_object *object);
    /* n more bytes will be held; false: there is no room, and their object is
     * refused, with a finding. NULL: there always is. */
    bool (*hold)(void *user, size_t n);
    void (*release)(void *user, size_t n); /* n of them are no longer held */
    void *user;
    /* Takes findings about the frames: bad_frame, too_large, missing_data.
     * NULL: not wanted. */
    pfd_finding_fn fn;
    void *fn_user;
    const char *source; /* of the findings; borrowed */
};

struct pfd_wire_objects;

/* NULL: out of memory. options is copied. */
struct pfd_wire_objects *pfd_wire_objects_new(
    const struct pfd_wire_objects_options *options);

/* Gives nothing; NULL is allowed. */
void pfd_wire_objects_free(struct pfd_wire_objects *set);

/*
 * Takes a frame of the stream. A frame that is no `code_object` or `shader`
 * acts as pfd_wire_objects_settle(), a `start` as pfd_wire_objects_finish().
 *
 * PFD_OK, also if the frame is of no use; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_wire_objects_take(struct pfd_wire_objects *set,
                                      const struct pfd_wire_frame *frame);

/* Bytes of the module that a `shader` frame will give; 0: another type of
 * frame, or its module has not arrived. */
size_t pfd_wire_objects_module(struct pfd_wire_objects *set,
                               const struct pfd_wire_frame *frame);

/* No shader will refer to the remaining modules any more: gives them as loose
 * ones. PFD_OK; PFD_ERR_NOMEM. */
enum pfd_status pfd_wire_objects_settle(struct pfd_wire_objects *set);

/*
 * The stream is over: gives the rest of it. A code object of which only the
 * beginning arrived is given like a whole one, since it may have strings, and
 * is reported. The set is then empty, and numbers may come again.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_wire_objects_finish(struct pfd_wire_objects *set);

#endif
