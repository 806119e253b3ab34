/* SPDX-License-Identifier: MIT */
#include "config/access.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/features.h"

#define AT(member) offsetof(struct pfdd_access, member)

/* The three TLS files must be given together. TLS is required beyond this
 * machine, where other machines could eavesdrop. */
static void check_tls(const void *group, const struct pfdd_places *places)
{
    const struct pfdd_access *a = group;
    const struct pfdd_address *address = &a->address;
    const char *const keys[] = { "tls_certificate", "tls_key", "tls_ca" };
    bool any = pfdd_is_given(places, "tls_name");
    for (int i = 0; i < 3; i++)
        any |= pfdd_is_given(places, keys[i]);
    bool is_beyond =
        address->host[0] && !address->is_unix && !address->is_loopback;
    if (is_beyond && !any) {
        pfdd_diagnostics_add(
            places, "address",
            "TCP beyond this machine wants TLS: give 'tls_certificate', "
            "'tls_key' and 'tls_ca', or use 127.0.0.1, ::1 or a unix socket");
        return;
    }
    for (int i = 0; any && i < 3; i++) {
        bool is_given = pfdd_is_given(places, keys[i]);
        if (is_given && address->is_unix)
            pfdd_diagnostics_add(places, keys[i], "'%s' is for TCP", keys[i]);
        if (!is_given && !address->is_unix)
            pfdd_diagnostics_add(places, keys[i], "'%s' is missing", keys[i]);
    }
    if (any && !pfdd_feature_is_there(PFDD_FEATURE_TLS)) {
        pfdd_diagnostics_add(places, NULL,
                             "this printfdecoded is built without TLS: %s",
                             pfdd_feature_remedy(PFDD_FEATURE_TLS));
    }
}

static const struct pfdd_key tls_keys[] = {
    { .name = "tls_certificate",
      .kind = PFDD_KEY_TEXT,
      .at = AT(tls.certificate),
      .use = PFDD_USE_READ },
    { .name = "tls_key",
      .kind = PFDD_KEY_TEXT,
      .at = AT(tls.key),
      .use = PFDD_USE_READ },
    { .name = "tls_ca",
      .kind = PFDD_KEY_TEXT,
      .at = AT(tls.authority),
      .use = PFDD_USE_READ },
    { 0 },
};
const struct pfdd_group pfdd_tls_group = { tls_keys, check_tls };

static const struct pfdd_key listen_keys[] = {
    { .name = "address",
      .kind = PFDD_KEY_ADDRESS,
      .at = AT(address),
      .use = PFDD_USE_LISTEN,
      .needed = true },
    { .name = "mode",
      .kind = PFDD_KEY_MODE,
      .at = AT(mode),
      .max = 0777,
      .initial = 0660 },
    { .name = "allow_uids", .kind = PFDD_KEY_UIDS, .at = AT(uids) },
    { .name = "allow_gids", .kind = PFDD_KEY_GIDS, .at = AT(gids) },
    { .name = "max_clients",
      .kind = PFDD_KEY_NUMBER,
      .at = AT(max_clients),
      .min = 1,
      .max = 4096,
      .initial = 64 },
    { 0 },
};
const struct pfdd_group pfdd_listen_group = { listen_keys, NULL };

static const struct pfdd_key connect_keys[] = {
    { .name = "address",
      .kind = PFDD_KEY_ADDRESS,
      .at = AT(address),
      .use = PFDD_USE_CONNECT,
      .needed = true },
    { .name = "tls_name", .kind = PFDD_KEY_TEXT, .at = AT(tls.name) },
    { 0 },
};

static void check_connect(const void *group, const struct pfdd_places *places)
{
    const struct pfdd_address *address =
        &((const struct pfdd_access *)group)->address;
    if (address->host[0] && !address->port) {
        pfdd_diagnostics_add(places, "address",
                             "'address': nobody is at port 0");
    }
}

const struct pfdd_group pfdd_connect_group = { connect_keys, check_connect };

void pfdd_access_explain(const struct pfdd_access *access, FILE *out)
{
    fprintf(out, " (%" PRIu64 " at most", access->max_clients);
    if (access->address.is_unix)
        fprintf(out, ", mode %04o", access->mode);
    if (access->uids.n || access->gids.n) {
        fprintf(out, ", only %zu users and %zu groups", access->uids.n,
                access->gids.n);
    }
    fprintf(out, "%s)", access->tls.certificate ? ", with TLS" : "");
}
