/* SPDX-License-Identifier: MIT */
/*
 * The code objects and shaders of one stream of the capture format: what comes
 * in parts is put together, SPIR-V modules wait for the shaders that speak of
 * them, and what is whole is given to whoever keeps format strings. What the
 * frames mean is in src/stream/capture/README.md.
 *
 * Thread rule: a set belongs to one thread at a time.
 */
#ifndef PRINTFDECODE_WIRE_OBJECTS_H
#define PRINTFDECODE_WIRE_OBJECTS_H

#include <printfdecode/wire.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PFD_WIRE_OBJECTS_MAX = 1 << 20, /* of one stream */
    PFD_WIRE_OBJECT_MAX = 1 << 30,  /* bytes of one */
};

enum pfd_wire_object_use {
    PFD_WIRE_OBJECT_STRINGS, /* a code object: its strings are to be loaded */
    PFD_WIRE_OBJECT_NAMED,   /* the same, but only `uri` says where it is */
    PFD_WIRE_OBJECT_MODULE,  /* a SPIR-V module has come; it is given again as
                                one of the next two */
    PFD_WIRE_OBJECT_SHADER,  /* the module of shader number `shader` */
    PFD_WIRE_OBJECT_LOOSE,   /* a module that no shader speaks of: it gets a
                                number that is free */
};

/* One that is given; all of it is borrowed for the call. */
struct pfd_wire_object {
    enum pfd_wire_object_use use;
    uint64_t number;            /* the sender's */
    uint64_t shader;            /* of a SHADER: below 2^32 - 1 */
    uint64_t scope;             /* the buffers that it is for; 0: all */
    uint64_t at;                /* of the frame that it is given for, bytes
                                   from the start of the stream */
    struct pfd_wire_bytes name; /* a SHADER's own; may be empty */
    struct pfd_wire_bytes uri;  /* of a NAMED one */
    /* [n], NULL of a NAMED one. Those of STRINGS are of malloc(), and become
     * the callee's if it sets them to NULL. */
    void *bytes;
    size_t n;
};

struct pfd_wire_objects_options {
    /* False: out of memory. */
    bool (*give)(void *user, struct pfd_wire_object *object);
    /* n more bytes are going to be held; false: there is no room for them, and
     * what they are of is refused, with a finding. NULL: there always is. */
    bool (*hold)(void *user, size_t n);
    void (*release)(void *user, size_t n); /* n of them are not held any more */
    void *user;
    /* What is wrong with the frames: bad_frame, too_large, missing_data. NULL:
     * nobody wants to know. */
    pfd_finding_fn fn;
    void *fn_user;
    const char *source; /* of the findings; borrowed */
};

struct pfd_wire_objects;

/* NULL: out of memory. options is copied. */
PFD_API struct pfd_wire_objects *pfd_wire_objects_new(
    const struct pfd_wire_objects_options *options);

/* Gives nothing; NULL is allowed. */
PFD_API void pfd_wire_objects_free(struct pfd_wire_objects *set);

/*
 * Takes a frame of the stream. One of another type than `code_object` or
 * `shader` is pfd_wire_objects_settle(), `start` is pfd_wire_objects_finish().
 *
 * PFD_OK, also where the frame is of no use; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_wire_objects_take(
    struct pfd_wire_objects *set, const struct pfd_wire_frame *frame);

/* Bytes of the module that a `shader` frame will give; 0: the frame is another
 * one, or its module has not come. */
PFD_API size_t pfd_wire_objects_module(struct pfd_wire_objects *set,
                                       const struct pfd_wire_frame *frame);

/* No shader will speak of the modules that none has spoken of by now: they are
 * given as loose ones. PFD_OK; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_wire_objects_settle(struct pfd_wire_objects *set);

/*
 * The stream is over: gives what is left of it. A code object of which only the
 * beginning came is given like a whole one, since it may have strings, and is
 * reported. The set is then empty, and numbers may come again.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_wire_objects_finish(struct pfd_wire_objects *set);

#ifdef __cplusplus
}
#endif

#endif
