/* SPDX-License-Identifier: MIT */
/* Buffers in memory that nobody gave an address of. */
#ifndef CLI_FOUND_BUFFERS_H
#define CLI_FOUND_BUFFERS_H

#include "input.h"

struct found;

/* Finds those in the memory of `inputs`, says why each is one, and adds them,
 * the most believable first. That there is none is no error for `follow`, which
 * waits for one. False: said. */
bool found_buffers_add(struct inputs *inputs, const struct options *options,
                       pfd_finding_fn tell, void *user);

/* As found_add(), of those that are new; may be called again and again.
 * meanwhile is called now and then with while_user: false ends it. False: the
 * memory is gone, or it was ended. */
bool found_buffers_renew(struct inputs *inputs, const struct options *options,
                         bool (*meanwhile)(void *user), void *while_user,
                         pfd_finding_fn tell, void *user);

/* NULL is allowed. */
void found_buffers_free(struct found *found);

#endif
