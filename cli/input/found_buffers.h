/* SPDX-License-Identifier: MIT */
/* Buffers that are found by searching memory, without an address. */
#ifndef CLI_FOUND_BUFFERS_H
#define CLI_FOUND_BUFFERS_H

#include "input.h"

struct found;

/* Searches the memory of `inputs`, prints why each range is taken for a buffer,
 * and adds the buffers, the likeliest first. Finding none is no error for
 * `follow`, which waits for one. False: an error was printed. */
bool found_buffers_add(struct inputs *inputs, const struct options *options,
                       pfd_finding_fn tell, void *user);

/* Like found_buffers_add(), for buffers that are new; may be called repeatedly.
 * meanwhile is called now and then with while_user; its false ends the search.
 * False: the memory is gone, or the search was ended. */
bool found_buffers_renew(struct inputs *inputs, const struct options *options,
                         bool (*meanwhile)(void *user), void *while_user,
                         pfd_finding_fn tell, void *user);

/* NULL is allowed. */
void found_buffers_free(struct found *found);

#endif
