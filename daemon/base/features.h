/* SPDX-License-Identifier: MIT */
/*
 * Optional features that this printfdecoded was built with. Each except HTTP
 * depends on one library; features.c knows the Debian packages of that.
 */
#ifndef DAEMON_FEATURES_H
#define DAEMON_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

enum pfdd_feature {
    PFDD_FEATURE_HTTP,
    PFDD_FEATURE_TLS,
    PFDD_FEATURE_SECCOMP,
    PFDD_FEATURE_SYSTEMD,
    PFDD_FEATURE_CURL,
    PFDD_FEATURE_SQLITE,
    PFDD_FEATURE_NATS,
    PFDD_N_FEATURES
};

bool pfdd_feature_is_there(enum pfdd_feature feature);

/* How to get a missing feature: words for the end of a sentence, constant. */
const char *pfdd_feature_remedy(enum pfdd_feature feature);

/* Prints to standard output which features are built in, and which are not. */
void pfdd_features_print(void);

#endif
