/* SPDX-License-Identifier: MIT */
#include "base/features.h"

#include <stdio.h>

#define BUILD_AGAIN(packages) "install Debian's " packages " and build it again"

static const struct feature {
    const char *name;
    const char *package;
    const char *remedy;
    bool is_there;
} features[] = {
    [PFDD_FEATURE_HTTP] = { "http", "-Dhttp=enabled",
                            "build it again with -Dhttp=enabled", HAVE_HTTP },
    [PFDD_FEATURE_TLS] = { "tls", "libssl-dev", BUILD_AGAIN("libssl-dev"),
                           HAVE_TLS },
    [PFDD_FEATURE_SECCOMP] = { "seccomp", "libseccomp-dev",
                               BUILD_AGAIN("libseccomp-dev"), HAVE_SECCOMP },
    [PFDD_FEATURE_SYSTEMD] = { "systemd", "libsystemd-dev",
                               BUILD_AGAIN("libsystemd-dev"), HAVE_SYSTEMD },
    [PFDD_FEATURE_CURL] = { "curl", "libcurl4-openssl-dev",
                            BUILD_AGAIN("libcurl4-openssl-dev"), HAVE_CURL },
    [PFDD_FEATURE_SQLITE] = { "sqlite", "libsqlite3-dev",
                              BUILD_AGAIN("libsqlite3-dev"), HAVE_SQLITE },
    [PFDD_FEATURE_NATS] = { "nats", "libnats-dev", BUILD_AGAIN("libnats-dev"),
                            HAVE_NATS },
};

bool pfdd_feature_is_there(enum pfdd_feature feature)
{
    return features[feature].is_there;
}

const char *pfdd_feature_remedy(enum pfdd_feature feature)
{
    return features[feature].remedy;
}

static void print_those(const char *word, bool is_there)
{
    const char *separator = word;
    for (size_t i = 0; i < PFDD_N_FEATURES; i++) {
        const struct feature *f = &features[i];
        if (f->is_there != is_there)
            continue;
        printf("%s %s", separator, f->name);
        if (!is_there)
            printf(" (%s)", f->package);
        separator = ",";
    }
    if (separator != word)
        printf("\n");
}

void pfdd_features_print(void)
{
    print_those("with", true);
    print_those("without", false);
}
