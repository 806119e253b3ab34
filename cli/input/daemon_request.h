/* SPDX-License-Identifier: MIT */
/* The request to a daemon that the options of a command line make. */
#ifndef CLI_DAEMON_REQUEST_H
#define CLI_DAEMON_REQUEST_H

#include <printfdecode/subscriber.h>

#include "options/options.h"

/* The filter, and where to begin. Texts are borrowed from the options. */
struct pfd_subscription daemon_request_of(const struct options *options);

#endif
