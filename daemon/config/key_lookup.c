/* SPDX-License-Identifier: MIT */
#include "config/key_lookup.h"

#include <stdlib.h>
#include <string.h>

#include <printfdecode/printfdecode.h>

#include "config/address.h"
#include "core/decode/inspect.h"

bool pfdd_keys_next(const struct pfdd_part *parts, struct pfdd_key_at *at)
{
    if (!at->key) {
        at->part = parts;
        at->key = parts->group ? parts->group->keys : NULL;
    } else {
        at->key++;
    }
    while (at->part->group && !at->key->name) {
        at->part++;
        at->key = at->part->group ? at->part->group->keys : NULL;
    }
    return at->key != NULL;
}

void *pfdd_keys_member(struct pfdd_key_at at, void *base)
{
    return (char *)base + at.part->at + at.key->at;
}

static const void *member(struct pfdd_key_at at, const void *base)
{
    return (const char *)base + at.part->at + at.key->at;
}

struct pfdd_key_at pfdd_keys_find(const struct pfdd_part *parts,
                                  const char *name)
{
    struct pfdd_key_at at = { NULL, NULL };
    while (pfdd_keys_next(parts, &at) && strcmp(at.key->name, name) != 0)
        continue;
    return at;
}

static void init_value(const struct pfdd_key *key, void *to)
{
    if (key->kind == PFDD_KEY_BOOL) {
        *(bool *)to = key->initial != 0;
    } else if (key->kind == PFDD_KEY_WORD || key->kind == PFDD_KEY_MODE) {
        *(unsigned *)to = (unsigned)key->initial;
    } else if (key->kind == PFDD_KEY_NUMBER || key->kind == PFDD_KEY_SIZE ||
               key->kind == PFDD_KEY_TIME) {
        *(uint64_t *)to = key->initial;
    }
}

void pfdd_keys_init(const struct pfdd_part *parts, void *base)
{
    struct pfdd_key_at at = { NULL, NULL };
    while (pfdd_keys_next(parts, &at))
        init_value(at.key, pfdd_keys_member(at, base));
}

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
    case PFDD_KEY_ADDRESS:
        return same_text(((const struct pfdd_address *)a)->text,
                         ((const struct pfdd_address *)b)->text);
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

bool pfdd_keys_are_same(const struct pfdd_part *parts, const void *a,
                        const void *b)
{
    struct pfdd_key_at at = { NULL, NULL };
    while (pfdd_keys_next(parts, &at)) {
        if (!is_same(at.key, member(at, a), member(at, b)))
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

void pfdd_keys_free(const struct pfdd_part *parts, void *base)
{
    struct pfdd_key_at at = { NULL, NULL };
    while (pfdd_keys_next(parts, &at))
        free_value(at.key, pfdd_keys_member(at, base));
}

static bool call_paths(const struct pfdd_key *key, const void *value,
                       pfdd_path_fn call, void *user)
{
    const struct pfdd_names *names = value;
    const struct pfdd_address *address = value;
    bool ret = true;
    if (key->kind == PFDD_KEY_NAMES) {
        for (size_t i = 0; ret && i < names->n; i++)
            ret = call(user, key->use, names->items[i]);
    } else if (key->kind == PFDD_KEY_ADDRESS) {
        ret = !address->is_unix || call(user, key->use, address->path);
    } else if (*(char *const *)value) {
        ret = call(user, key->use, *(char *const *)value);
    }
    return ret;
}

bool pfdd_keys_paths(const struct pfdd_part *parts, const void *base,
                     pfdd_path_fn call, void *user)
{
    struct pfdd_key_at at = { NULL, NULL };
    while (pfdd_keys_next(parts, &at)) {
        if (at.key->use != PFDD_USE_NONE &&
            !call_paths(at.key, member(at, base), call, user))
            return false;
    }
    return true;
}
