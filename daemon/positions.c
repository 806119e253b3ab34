/* SPDX-License-Identifier: MIT */
#include "positions.h"

#include <stdlib.h>
#include <string.h>

/* The number behind a key that stands once in what the daemon added or the
 * library wrote behind the message. */
static bool find_number(const char *line, size_t n, const char *key,
                        uint64_t *ret)
{
    size_t n_key = strlen(key);
    for (const char *at = line + n - n_key; n > n_key && at > line; at--) {
        if (!memcmp(at, key, n_key)) {
            *ret = strtoull(at + n_key, NULL, 10);
            return true;
        }
    }
    return false;
}

bool pfdd_position_find(const char *line, size_t n, struct pfdd_position *ret)
{
    *ret = (struct pfdd_position){ 0 };
    find_number(line, n, "\"generation\":", &ret->generation);
    return find_number(line, n, "],\"index\":", &ret->index) &&
           find_number(line, n, ",\"offset\":", &ret->offset);
}

void pfdd_positions_deinit(struct pfdd_positions *positions)
{
    for (size_t i = 0; i < positions->n; i++)
        free(positions->items[i].source);
    free(positions->items);
    *positions = (struct pfdd_positions){ 0 };
}

static struct pfdd_position *find(const struct pfdd_positions *positions,
                                  const char *source)
{
    for (size_t i = 0; i < positions->n; i++) {
        if (!strcmp(positions->items[i].source, source))
            return &positions->items[i].position;
    }
    return NULL;
}

void pfdd_positions_set(struct pfdd_positions *positions, const char *source,
                        const struct pfdd_position *position)
{
    struct pfdd_position *known = find(positions, source);
    if (known) {
        *known = *position;
        return;
    }
    struct pfdd_positions_item *items =
        realloc(positions->items, (positions->n + 1) * sizeof *items);
    char *copy = strdup(source);
    if (items)
        positions->items = items;
    if (!items || !copy) {
        free(copy);
        return;
    }
    items[positions->n++] = (struct pfdd_positions_item){ copy, *position };
}

bool pfdd_positions_get(const struct pfdd_positions *positions,
                        const char *source, struct pfdd_position *ret)
{
    const struct pfdd_position *known = find(positions, source);
    if (known)
        *ret = *known;
    return known != NULL;
}
