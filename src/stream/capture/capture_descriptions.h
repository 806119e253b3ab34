/* SPDX-License-Identifier: MIT */
/*
 * The descriptions of rings that a capture has, and whose buffers are read by
 * them. A set of strings takes one: buffers of another one are not read, and
 * never by a description that is not theirs.
 */
#ifndef PFD_CAPTURE_DESCRIPTIONS_H
#define PFD_CAPTURE_DESCRIPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "stream/capture/capture_buffer.h"

/* Whose a description or a buffer is: of a stream of the capture, and in it of
 * the buffers of one scope (0: of all). */
struct pfd_capture_owner {
    uint64_t stream;
    uint64_t scope;
};

struct pfd_capture_description;

/* All zeros: none. */
struct pfd_capture_descriptions {
    struct pfd_capture_description *first; /* in the arena */
};

/* Notes a description that was loaded, or refused because another one is loaded.
 * False: out of memory. */
bool pfd_capture_descriptions_add(struct pfd_capture_descriptions *descriptions,
                                  struct pfd_arena *arena,
                                  struct pfd_capture_owner owner,
                                  bool is_refused);

/* True: what the buffer has would be read by another description than its own. */
bool pfd_capture_descriptions_refuse(
    const struct pfd_capture_descriptions *descriptions,
    const struct pfd_captured *buffer);

#endif
