/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/messages.h"
#include "stream/capture/wire.h"

enum {
    SEEN_MAX = 2048 /* a stream of a daemon ends behind 4096 buffers, and their
                       numbers begin anew: fewer are of the last one */
};

struct recording {
    FILE *file;
    const char *path; /* borrowed */
    struct {
        uint64_t buffer;
        uint64_t generation;
    } seen[SEEN_MAX]; /* [n] */
    size_t n;
    bool is_cut; /* there were more */
};

static bool fail(const struct recording *r)
{
    message_error("%s: %s", r->path, strerror(errno));
    return false;
}

bool recording_open(const char *path, struct recording **ret)
{
    *ret = NULL;
    if (!path)
        return true;
    struct recording *r = calloc(1, sizeof *r);
    if (!r) {
        message_error("out of memory");
        return false;
    }
    r->path = path;
    r->file = fopen(path, "we");
    if (!r->file) {
        fail(r);
        free(r);
        return false;
    }
    *ret = r;
    return true;
}

bool recording_write(struct recording *r, const char *bytes, size_t n)
{
    return !r || fwrite(bytes, 1, n, r->file) == n || fail(r);
}

void recording_note(struct recording *r, uint64_t buffer, uint64_t generation)
{
    if (!r)
        return;
    for (size_t i = r->n; i > 0; i--) {
        if (r->seen[i - 1].buffer == buffer &&
            r->seen[i - 1].generation == generation)
            return;
    }
    r->is_cut |= r->n == SEEN_MAX;
    if (r->is_cut)
        return;
    r->seen[r->n].buffer = buffer;
    r->seen[r->n++].generation = generation;
}

static bool put(void *user, const void *bytes, size_t n)
{
    return recording_write(user, bytes, n);
}

static bool put_ends(struct recording *r)
{
    bool ok = true;
    for (size_t i = 0; ok && !r->is_cut && i < r->n; i++) {
        const struct pfd_wire_frame done = {
            .type = PFD_WIRE_DONE,
            .buffer = r->seen[i].buffer,
            .generation = r->seen[i].generation,
        };
        ok = pfd_wire_write(&done, put, r, NULL) == PFD_OK;
    }
    return ok;
}

bool recording_close(struct recording *r, bool is_whole)
{
    if (!r)
        return true;
    bool ok = !is_whole || put_ends(r);
    if (fclose(r->file))
        ok = fail(r);
    free(r);
    return ok;
}
