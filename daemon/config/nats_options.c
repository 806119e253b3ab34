/* SPDX-License-Identifier: MIT */
#include "config/nats_options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "config/address.h"
#include "config/type_class.h"

static const char plain[] = "nats://";
static const char secure[] = "tls://";

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

const struct pfdd_nats_options *pfdd_nats_options_of(
    const struct pfdd_block *block)
{
    const struct pfdd_part *part = block->type_class->parts;
    while (part->group && part->group != &pfdd_nats_options_group)
        part++;
    return part->group ? (const void *)((const char *)block + part->at) : NULL;
}

bool pfdd_nats_options_has_tls(const struct pfdd_nats_options *nats_options)
{
    return nats_options->servers.n &&
           begins(nats_options->servers.items[0], secure);
}

/* The part after nats:// or tls:// is an address, whose port is optional. NULL,
 * or an error message. */
static const char *check_server(const char *url, bool *is_tls)
{
    char text[300];
    char err[200];
    struct pfdd_address address;
    *is_tls = begins(url, secure);
    if (!*is_tls && !begins(url, plain))
        return "it is no nats://HOST:PORT or tls://HOST:PORT";
    const char *host = url + (*is_tls ? strlen(secure) : strlen(plain));
    if (strchr(host, '@')) {
        return "who we are stands in 'user' and 'password_file', or in "
               "'credentials_file'";
    }
    const char *colon = strrchr(host, ':');
    bool has_port = colon && !strchr(colon, ']');
    int n =
        snprintf(text, sizeof text, "tcp:%s%s", host, has_port ? "" : ":4222");
    if (n >= (int)sizeof text ||
        !pfdd_address_read(&address, text, err, sizeof err) || !address.port)
        return "it is no nats://HOST:PORT or tls://HOST:PORT";
    if (!*is_tls && !address.is_loopback)
        return "beyond this machine it is tls://";
    return NULL;
}

static void check_servers(const struct pfdd_nats_options *nats_options,
                          const struct pfdd_places *places)
{
    size_t n_tls = 0;
    for (size_t i = 0; i < nats_options->servers.n; i++) {
        bool is_tls = false;
        const char *why = check_server(nats_options->servers.items[i], &is_tls);
        if (why) {
            pfdd_diagnostics_add(places, "servers", "'servers': '%.200s': %s",
                                 nats_options->servers.items[i], why);
        }
        n_tls += is_tls;
    }
    if (nats_options->servers.n == 0) {
        pfdd_diagnostics_add(places, "servers", "'servers' has none");
    } else if (n_tls && n_tls < nats_options->servers.n) {
        pfdd_diagnostics_add(places, "servers",
                             "'servers': all of them are tls://, or none is");
    }
}

static void check(const void *group, const struct pfdd_places *places)
{
    const struct pfdd_nats_options *nats_options = group;
    const struct pfdd_tls_config *tls = &nats_options->tls;
    check_servers(nats_options, places);
    if (!pfdd_nats_options_has_tls(nats_options) &&
        (tls->authority || tls->certificate || tls->key))
        pfdd_diagnostics_add(places, "servers", "'servers': TLS is for tls://");
    if (!tls->certificate != !tls->key) {
        const char *missing = tls->key ? "tls_certificate" : "tls_key";
        pfdd_diagnostics_add(places, missing, "'%s' is missing", missing);
    }
    if (!nats_options->user != !nats_options->password_file) {
        const char *missing = nats_options->user ? "password_file" : "user";
        pfdd_diagnostics_add(places, missing, "'%s' is missing", missing);
    }
    if (nats_options->user && nats_options->credentials_file) {
        pfdd_diagnostics_add(places, "credentials_file",
                             "either 'credentials_file' or 'user'");
    }
}

#define AT(member) offsetof(struct pfdd_nats_options, member)

static const struct pfdd_key keys[] = {
    { .name = "servers",
      .kind = PFDD_KEY_NAMES,
      .at = AT(servers),
      .needed = true },
    { .name = "credentials_file",
      .kind = PFDD_KEY_TEXT,
      .at = AT(credentials_file),
      .use = PFDD_USE_READ },
    { .name = "user", .kind = PFDD_KEY_TEXT, .at = AT(user) },
    { .name = "password_file",
      .kind = PFDD_KEY_TEXT,
      .at = AT(password_file),
      .use = PFDD_USE_READ },
    { .name = "tls_ca",
      .kind = PFDD_KEY_TEXT,
      .at = AT(tls.authority),
      .use = PFDD_USE_READ },
    { .name = "tls_certificate",
      .kind = PFDD_KEY_TEXT,
      .at = AT(tls.certificate),
      .use = PFDD_USE_READ },
    { .name = "tls_key",
      .kind = PFDD_KEY_TEXT,
      .at = AT(tls.key),
      .use = PFDD_USE_READ },
    { .name = "replicas",
      .kind = PFDD_KEY_NUMBER,
      .at = AT(replicas),
      .min = 1,
      .max = 5,
      .initial = 1 },
    { .name = "stream_max",
      .kind = PFDD_KEY_SIZE,
      .at = AT(stream_max),
      .min = 1 << 20,
      .max = UINT64_C(1) << 50,
      .initial = UINT64_C(1) << 30 },
    { .name = "stream_age",
      .kind = PFDD_KEY_TIME,
      .at = AT(stream_age_ms),
      .min = 60000,
      .max = UINT64_C(366) * 24 * 3600 * 1000,
      .initial = UINT64_C(24) * 3600 * 1000 },
    { 0 },
};
const struct pfdd_group pfdd_nats_options_group = { keys, check };

void pfdd_nats_options_plan(const struct pfdd_nats_options *nats_options,
                            FILE *out)
{
    fputs(nats_options->servers.items[0], out);
    if (nats_options->servers.n > 1) {
        fprintf(out, " and %zu other%s", nats_options->servers.n - 1,
                nats_options->servers.n > 2 ? "s" : "");
    }
    if (nats_options->user)
        fprintf(out, ", as %s", nats_options->user);
    if (nats_options->credentials_file)
        fprintf(out, ", with %s", nats_options->credentials_file);
    if (nats_options->tls.certificate)
        fputs(", with a certificate of ours", out);
}
