/* SPDX-License-Identifier: MIT */
#include "config/keys.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"

static const char *const levels[] = { "error", "warning", "info", "debug",
                                      NULL };
static const char *const forms[] = { "json", "text", "raw", NULL };
static const char *const lags[] = { "drop_oldest", "disconnect", NULL };
static const char *const uris[] = { "own", "all", "none", NULL };
static const char *const input_types[] = { "buffer",  "directory", "listen",
                                           "connect", "stdin",     NULL };
static const char *const output_types[] = { "stdout", "file", "listen", "http",
                                            NULL };

#define TOP(member) offsetof(struct pfdd_config, member)
const struct pfdd_key pfdd_top_keys[] = {
    { "log_level", PFDD_KEY_WORD, TOP(log_level), 0, 0, levels },
    { "state_dir", PFDD_KEY_TEXT, TOP(state_dir), 0, 0, NULL },
    { "ring", PFDD_KEY_SIZE, TOP(ring), 1 << 20, UINT64_C(1) << 36, NULL },
    { "memory_max", PFDD_KEY_SIZE, TOP(memory_max), 16 << 20, UINT64_C(1) << 40,
      NULL },
    { "queue_max", PFDD_KEY_SIZE, TOP(queue_max), 4 << 20, UINT64_C(1) << 44,
      NULL },
    { "workers", PFDD_KEY_NUMBER, TOP(workers), 0, 64, NULL },
    { "drain", PFDD_KEY_TIME, TOP(drain_ms), 0, 3600000, NULL },
    { "sandbox", PFDD_KEY_BOOL, TOP(sandbox), 0, 0, NULL },
    { "code_objects", PFDD_KEY_NAMES, TOP(code_objects), 0, 0, NULL },
    { "inputs", PFDD_KEY_BLOCKS, 0, 0, 0, NULL },
    { "outputs", PFDD_KEY_BLOCKS, 0, 0, 0, NULL },
    { 0 },
};

#define IN(member) offsetof(struct pfdd_input_config, member)
const struct pfdd_key pfdd_input_keys[] = {
    { "type", PFDD_KEY_WORD, IN(type), 0, 0, input_types },
    { "name", PFDD_KEY_TEXT, IN(name), 0, 0, NULL },
    { "path", PFDD_KEY_TEXT, IN(path), 0, 0, NULL },
    { "format", PFDD_KEY_TEXT, IN(format), 0, 0, NULL },
    { "compat", PFDD_KEY_OPTION, IN(options), 0, 0, NULL },
    { "layout", PFDD_KEY_OPTION, IN(options), 0, 0, NULL },
    { "opencl_strings", PFDD_KEY_OPTION, IN(options), 0, 0, NULL },
    { "code_objects", PFDD_KEY_TEXT, IN(code_objects), 0, 0, NULL },
    { "dumps", PFDD_KEY_TEXT, IN(dumps), 0, 0, NULL },
    { "code_object_uris", PFDD_KEY_WORD, IN(uris), 0, 0, uris },
    { "owners", PFDD_KEY_UIDS, IN(owners), 0, 0, NULL },
    { "address", PFDD_KEY_TEXT, IN(address_text), 0, 0, NULL },
    { "mode", PFDD_KEY_MODE, IN(access.mode), 0, 0777, NULL },
    { "allow_uids", PFDD_KEY_UIDS, IN(access.uids), 0, 0, NULL },
    { "allow_gids", PFDD_KEY_GIDS, IN(access.gids), 0, 0, NULL },
    { "tls_certificate", PFDD_KEY_TEXT, IN(access.tls.certificate), 0, 0,
      NULL },
    { "tls_key", PFDD_KEY_TEXT, IN(access.tls.key), 0, 0, NULL },
    { "tls_ca", PFDD_KEY_TEXT, IN(access.tls.authority), 0, 0, NULL },
    { "tls_name", PFDD_KEY_TEXT, IN(access.tls.name), 0, 0, NULL },
    { "max_clients", PFDD_KEY_NUMBER, IN(access.max_clients), 1, 4096, NULL },
    { "settle", PFDD_KEY_TIME, IN(settle_ms), 1, 60000, NULL },
    { 0 },
};

#define OUT(member) offsetof(struct pfdd_output_config, member)
const struct pfdd_key pfdd_output_keys[] = {
    { "type", PFDD_KEY_WORD, OUT(type), 0, 0, output_types },
    { "name", PFDD_KEY_TEXT, OUT(name), 0, 0, NULL },
    { "path", PFDD_KEY_TEXT, OUT(path), 0, 0, NULL },
    { "output", PFDD_KEY_WORD, OUT(form), 0, 0, forms },
    { "match", PFDD_KEY_TEXT, OUT(match), 0, 0, NULL },
    { "format_string", PFDD_KEY_TEXT, OUT(format_string), 0, 0, NULL },
    { "id", PFDD_KEY_TEXT, OUT(id), 0, 0, NULL },
    { "where", PFDD_KEY_TEXT, OUT(where), 0, 0, NULL },
    { "ignore_case", PFDD_KEY_BOOL, OUT(ignore_case), 0, 0, NULL },
    { "invert", PFDD_KEY_BOOL, OUT(invert), 0, 0, NULL },
    { "entries_only", PFDD_KEY_BOOL, OUT(entries_only), 0, 0, NULL },
    { "findings", PFDD_KEY_BOOL, OUT(findings), 0, 0, NULL },
    { "required", PFDD_KEY_BOOL, OUT(required), 0, 0, NULL },
    { "rotate_size", PFDD_KEY_SIZE, OUT(rotate_size), 4096, UINT64_C(1) << 44,
      NULL },
    { "rotate_age", PFDD_KEY_TIME, OUT(rotate_age_ms), 1000, UINT64_C(1) << 40,
      NULL },
    { "keep", PFDD_KEY_NUMBER, OUT(keep), 1, 10000, NULL },
    { "compress", PFDD_KEY_BOOL, OUT(compress), 0, 0, NULL },
    { "on_lag", PFDD_KEY_WORD, OUT(on_lag), 0, 0, lags },
    { "idle_timeout", PFDD_KEY_TIME, OUT(idle_ms), 100, 3600000, NULL },
    { "address", PFDD_KEY_TEXT, OUT(address_text), 0, 0, NULL },
    { "mode", PFDD_KEY_MODE, OUT(access.mode), 0, 0777, NULL },
    { "allow_uids", PFDD_KEY_UIDS, OUT(access.uids), 0, 0, NULL },
    { "allow_gids", PFDD_KEY_GIDS, OUT(access.gids), 0, 0, NULL },
    { "tls_certificate", PFDD_KEY_TEXT, OUT(access.tls.certificate), 0, 0,
      NULL },
    { "tls_key", PFDD_KEY_TEXT, OUT(access.tls.key), 0, 0, NULL },
    { "tls_ca", PFDD_KEY_TEXT, OUT(access.tls.authority), 0, 0, NULL },
    { "max_clients", PFDD_KEY_NUMBER, OUT(access.max_clients), 1, 4096, NULL },
    { 0 },
};

/* ---- all of them ---- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_ids(const struct pfdd_ids *a, const struct pfdd_ids *b)
{
    return a->n == b->n &&
           (!a->n || !memcmp(a->items, b->items, a->n * sizeof *a->items));
}

static bool same_names(const struct pfdd_names *a, const struct pfdd_names *b)
{
    bool ret = a->n == b->n;
    for (size_t i = 0; ret && i < a->n; i++)
        ret = same_text(a->items[i], b->items[i]);
    return ret;
}

static bool is_same(const struct pfdd_key *key, const void *a, const void *b)
{
    switch (key->kind) {
    case PFDD_KEY_TEXT:
        return same_text(*(char *const *)a, *(char *const *)b);
    case PFDD_KEY_BOOL:
        return *(const bool *)a == *(const bool *)b;
    case PFDD_KEY_WORD:
    case PFDD_KEY_MODE:
        return *(const unsigned *)a == *(const unsigned *)b;
    case PFDD_KEY_NUMBER:
    case PFDD_KEY_SIZE:
    case PFDD_KEY_TIME:
        return *(const uint64_t *)a == *(const uint64_t *)b;
    case PFDD_KEY_OPTION:
        return same_text(pfd_options_word(a, key->name),
                         pfd_options_word(b, key->name));
    case PFDD_KEY_NAMES:
        return same_names(a, b);
    case PFDD_KEY_UIDS:
    case PFDD_KEY_GIDS:
        return same_ids(a, b);
    case PFDD_KEY_BLOCKS:
        break;
    }
    return true;
}

bool pfdd_keys_are_same(const struct pfdd_key *keys, const void *a,
                        const void *b)
{
    for (const struct pfdd_key *key = keys; key->name; key++) {
        if (!is_same(key, (const char *)a + key->at, (const char *)b + key->at))
            return false;
    }
    return true;
}

static void free_value(const struct pfdd_key *key, void *at)
{
    struct pfdd_names *names = at;
    struct pfdd_ids *ids = at;
    if (key->kind == PFDD_KEY_TEXT) {
        free(*(char **)at);
    } else if (key->kind == PFDD_KEY_NAMES) {
        while (names->n)
            free(names->items[--names->n]);
        free(names->items);
    } else if (key->kind == PFDD_KEY_UIDS || key->kind == PFDD_KEY_GIDS) {
        free(ids->items);
    }
}

void pfdd_keys_free(const struct pfdd_key *keys, void *base)
{
    for (const struct pfdd_key *key = keys; key->name; key++)
        free_value(key, (char *)base + key->at);
}
