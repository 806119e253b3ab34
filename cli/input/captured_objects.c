/* SPDX-License-Identifier: MIT */
#include "captured_objects.h"

#include <stdio.h>

#include "stream/capture/wire.h"

struct giving {
    captured_object_fn fn;
    void *user;
    bool is_stopped;
};

static bool give(void *user, struct pfd_wire_object *object)
{
    struct giving *g = user;
    if (object->use != PFD_WIRE_OBJECT_MODULE && !g->is_stopped)
        g->is_stopped = !g->fn(g->user, object);
    return true;
}

/* Hands the capture's bytes over as the reader asks for them. */
static enum pfd_status read_frames(struct pfd_wire_reader *reader,
                                   struct pfd_wire_objects *set,
                                   const struct giving *g, const char *bytes,
                                   size_t n, struct pfd_error *err)
{
    struct pfd_wire_frame frame;
    enum pfd_status status = PFD_OK;
    size_t at = 0;
    while (!g->is_stopped) {
        size_t taken = 0;
        status = pfd_wire_reader_next(reader, &frame, err);
        if (status == PFD_OK) {
            status = pfd_wire_objects_take(set, &frame);
        } else if (status == PFD_ERR_CORRUPT) {
            status = PFD_OK;
        } else if (status == PFD_END) {
            return pfd_wire_objects_finish(set);
        } else if (status == PFD_MORE && at < n) {
            size_t piece = n - at < PFD_WIRE_PIECE ? n - at : PFD_WIRE_PIECE;
            status =
                pfd_wire_reader_feed(reader, bytes + at, piece, &taken, err);
            at += taken;
        } else if (status == PFD_MORE) {
            pfd_wire_reader_finish(reader);
        }
        if (status < 0)
            return status;
    }
    return PFD_ERR_STOPPED;
}

enum pfd_status captured_objects_each(const void *bytes, size_t n,
                                      captured_object_fn fn, void *user,
                                      struct pfd_error *err)
{
    struct giving g = { .fn = fn, .user = user };
    const struct pfd_wire_objects_options options = {
        .give = give,
        .user = &g,
        .source = "",
    };
    struct pfd_wire_objects *set = pfd_wire_objects_new(&options);
    struct pfd_wire_reader *reader = pfd_wire_reader_new(0);
    enum pfd_status status = PFD_ERR_NOMEM;
    if (set && reader)
        status = read_frames(reader, set, &g, bytes, n, err);
    if (status == PFD_ERR_NOMEM)
        snprintf(err->text, sizeof err->text, "out of memory");
    pfd_wire_reader_free(reader);
    pfd_wire_objects_free(set);
    return g.is_stopped ? PFD_ERR_STOPPED : status;
}
