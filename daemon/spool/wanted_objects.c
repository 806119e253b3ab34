/* SPDX-License-Identifier: MIT */
#include "spool/wanted_objects.h"

#include <stdlib.h>
#include <string.h>

#include "core/decode/string_loader.h"

/* The index of an object in the list that was hashed last, from i on. Both
 * lists are in order of arrival. */
static size_t find_seen(const struct pfdd_hashed_list *hashed, size_t i,
                        uint64_t number)
{
    while (hashed->seen && i < hashed->n && hashed->seen[i].number != number)
        i++;
    return i;
}

bool pfdd_hashed_list_update(struct pfdd_hashed_list *hashed,
                             const struct pfdd_blob_store_list *list)
{
    size_t at = 0;
    if (hashed->seen && hashed->n == list->n &&
        hashed->changes == list->changes)
        return true;
    struct pfdd_seen_object *seen = calloc(list->n + 1, sizeof *seen);
    if (!seen)
        return false;
    for (size_t i = 0; i < list->n; i++) {
        struct pfdd_code_object o;
        list->of->get(list->list, i, &o);
        size_t found = find_seen(hashed, at, o.number);
        seen[i].number = o.number;
        seen[i].scope = o.scope;
        if (hashed->seen && found < hashed->n) {
            memcpy(seen[i].digest, hashed->seen[found].digest,
                   sizeof seen[i].digest);
            at = found + 1;
        } else {
            pfdd_sha256(o.bytes, o.n, seen[i].digest);
        }
    }
    free(hashed->seen);
    hashed->seen = seen;
    hashed->n = list->n;
    hashed->changes = list->changes;
    return true;
}

static bool has(const struct pfdd_wanted_object *wanted, size_t n,
                uint64_t number)
{
    for (size_t i = 0; i < n; i++) {
        if (wanted[i].object.number == number)
            return true;
    }
    return false;
}

/* Adds objects of the entries' own strings that the list no longer has, because
 * their producer has gone. */
static void add_own(const struct pfdd_blob_store_list *list,
                    struct pfdd_wanted_object *ret, size_t *n)
{
    size_t n_listed = *n;
    for (size_t i = 0; i < list->n_own; i++) {
        struct pfdd_wanted_object *w = &ret[*n];
        list->of->get(list->own, i, &w->object);
        if (has(ret, n_listed, w->object.number))
            continue;
        pfdd_sha256(w->object.bytes, w->object.n, w->digest);
        (*n)++;
    }
}

/* They say where others have messages. */
static void put_descriptions_first(struct pfdd_wanted_object *wanted, size_t n)
{
    size_t n_first = 0;
    for (size_t i = 0; i < n; i++) {
        struct pfdd_wanted_object w = wanted[i];
        if (w.object.is_shader ||
            !pfd_strings_describes(w.object.bytes, w.object.n))
            continue;
        memmove(&wanted[n_first + 1], &wanted[n_first],
                (i - n_first) * sizeof *wanted);
        wanted[n_first++] = w;
    }
}

struct pfdd_wanted_object *pfdd_hashed_list_want(
    const struct pfdd_hashed_list *hashed,
    const struct pfdd_blob_store_list *list, uint64_t scope, size_t *n)
{
    struct pfdd_wanted_object *ret =
        calloc(list->n + list->n_own + 1, sizeof *ret);
    *n = 0;
    for (size_t i = 0; ret && i < list->n && i < hashed->n; i++) {
        const struct pfdd_seen_object *seen = &hashed->seen[i];
        if (seen->scope && seen->scope != scope)
            continue;
        struct pfdd_wanted_object *w = &ret[(*n)++];
        list->of->get(list->list, i, &w->object);
        memcpy(w->digest, seen->digest, sizeof w->digest);
    }
    if (ret) {
        add_own(list, ret, n);
        put_descriptions_first(ret, *n);
    }
    return ret;
}

void pfdd_hashed_list_deinit(struct pfdd_hashed_list *hashed)
{
    free(hashed->seen);
    *hashed = (struct pfdd_hashed_list){ 0 };
}

size_t pfdd_hashed_list_memory(const struct pfdd_hashed_list *hashed)
{
    return hashed->n * sizeof *hashed->seen;
}
