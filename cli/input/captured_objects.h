/* SPDX-License-Identifier: MIT */
/* The code objects of a capture, without its buffers. */
#ifndef CLI_CAPTURED_OBJECTS_H
#define CLI_CAPTURED_OBJECTS_H

#include <stdbool.h>

#include "stream/capture/wire_objects.h"

/* Takes an object, as pfd_wire_objects_options.give does; never a MODULE, which
 * comes again as a shader's or a loose one. False: stop. */
typedef bool (*captured_object_fn)(void *user,
                                   const struct pfd_wire_object *object);

/*
 * Calls fn for every code object and shader of the capture in bytes [n], in
 * order, borrowed for the call. Damage is passed over: the reader of the
 * capture reports it.
 *
 * PFD_OK; PFD_ERR_STOPPED: fn returned false; PFD_ERR_NOMEM;
 * PFD_ERR_UNSUPPORTED: an unknown version.
 */
enum pfd_status captured_objects_each(const void *bytes, size_t n,
                                      captured_object_fn fn, void *user,
                                      struct pfd_error *err);

#endif
