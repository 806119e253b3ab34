/* SPDX-License-Identifier: MIT */
/*
 * What this printfdecoded is built with, of what need not be there. Each but
 * HTTP hangs on one library; it knows which packages of Debian bring that.
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

/* What to do about one that is not: words for the end of a sentence, constant.
 */
const char *pfdd_feature_remedy(enum pfdd_feature feature);

/* Lines of standard output: which are there, and which are not. */
void pfdd_features_print(void);

#endif
