/* SPDX-License-Identifier: MIT */
#include "stream/capture/capture_descriptions.h"

#include <string.h>

struct pfd_capture_description {
    struct pfd_capture_description *next;
    struct pfd_capture_owner owner;
    bool is_refused;
};

bool pfd_capture_descriptions_add(struct pfd_capture_descriptions *descriptions,
                                  struct pfd_arena *arena,
                                  struct pfd_capture_owner owner,
                                  bool is_refused)
{
    struct pfd_capture_description *d = pfd_arena_take(arena, sizeof *d);
    if (!d)
        return false;
    *d = (struct pfd_capture_description){ descriptions->first, owner,
                                           is_refused };
    descriptions->first = d;
    return true;
}

/* Does its frame say that it is read by a description? */
static bool is_described(const struct pfd_captured *buffer)
{
    static const char word[] = "described";
    const struct pfd_wire_bytes *format = &buffer->origin.format;
    return format->n == sizeof word - 1 && !memcmp(format->at, word, format->n);
}

bool pfd_capture_descriptions_refuse(
    const struct pfd_capture_descriptions *descriptions,
    const struct pfd_captured *buffer)
{
    const struct pfd_capture_description *d = descriptions->first;
    bool is_own = false;
    for (; d; d = d->next) {
        bool is_it =
            d->owner.stream == buffer->stream &&
            (!d->owner.scope || d->owner.scope == buffer->origin.scope);
        if (is_it && d->is_refused)
            return true;
        is_own |= is_it;
    }
    return descriptions->first && !is_own && is_described(buffer);
}
