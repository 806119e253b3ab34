/* SPDX-License-Identifier: MIT */
/* The request to a daemon that the options of a command line make. */
#ifndef CLI_SUBSCRIPTION_H
#define CLI_SUBSCRIPTION_H

#include <printfdecode/subscriber.h>

#include "options/options.h"

/* The filter, and where to begin. Texts are borrowed from the options. */
struct pfd_subscription subscription_of(const struct options *options);

#endif
