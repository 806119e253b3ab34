/* SPDX-License-Identifier: MIT */
#include "config/field_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_MAX = 128 /* bytes of a name */
};

struct pair {
    char *ours; /* owned */
    char *theirs;
};

struct pfdd_field_map {
    struct pair *pairs; /* [n] */
    size_t n;
    bool is_ecs;
};

#define ECS_VERSION "1.6.0"

/* `ecs.version` is added to these. Fields without a place in the schema become
 * labels, which cannot be nested. */
static const char *const ecs[] = {
    "time=@timestamp",
    "severity=log.level",
    "message=message",
    "host=host.name",
    "process=process.name",
    "pid=process.pid",
    "file=log.origin.file.name",
    "line=log.origin.file.line",
    "function=log.origin.function",
    "sequence=event.sequence",
    "time_unix_nano=",
    "*=labels.gpu_",
};

static struct pair *find_pair(const struct pfdd_field_map *map,
                              const char *name)
{
    for (size_t i = 0; i < map->n; i++) {
        if (!strcmp(map->pairs[i].ours, name))
            return &map->pairs[i];
    }
    return NULL;
}

/* Takes ownership of both; false: out of memory. */
static bool set_pair(struct pfdd_field_map *map, char *ours, char *theirs)
{
    struct pair *known = ours ? find_pair(map, ours) : NULL;
    struct pair *more = NULL;
    if (known && theirs) {
        free(ours);
        free(known->theirs);
        known->theirs = theirs;
        return true;
    }
    if (!known && ours && theirs)
        more = realloc(map->pairs, (map->n + 1) * sizeof *more);
    if (!more) {
        free(ours);
        free(theirs);
        return false;
    }
    map->pairs = more;
    map->pairs[map->n++] = (struct pair){ ours, theirs };
    return true;
}

/* Letters, digits, and separators that other schemas use in names. */
static bool is_name(const char *text)
{
    size_t n =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789_-.@/:$");
    return !text[n] && n <= NAME_MAX;
}

static const char *add_word(struct pfdd_field_map *map, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t n = equals ? (size_t)(equals - word) : 0;
    size_t n_name = strspn(word, "abcdefghijklmnopqrstuvwxyz_");
    bool is_ours = n && (n_name == n || (n == 1 && *word == '*'));
    if (!strcmp(word, "ecs")) {
        const char *why = NULL;
        for (size_t i = 0; !why && i < sizeof ecs / sizeof *ecs; i++)
            why = add_word(map, ecs[i]);
        map->is_ecs = true;
        return why;
    }
    if (!is_ours || !is_name(equals + 1))
        return "is 'ecs', or 'NAME=OTHER', 'NAME=', '*=PREFIX', '*='";
    return set_pair(map, strndup(word, n), strdup(equals + 1))
               ? NULL
               : "out of memory";
}

/* A name that two fields share; NULL: none. */
static const char *find_double(const struct pfdd_field_map *map)
{
    for (size_t i = 0; i < map->n; i++) {
        for (size_t k = 0; k < i; k++) {
            const struct pair *a = &map->pairs[i];
            const struct pair *b = &map->pairs[k];
            if (*a->theirs && !strcmp(a->theirs, b->theirs) &&
                strcmp(a->ours, "*") != 0 && strcmp(b->ours, "*") != 0)
                return a->theirs;
        }
    }
    return NULL;
}

struct pfdd_field_map *pfdd_field_map_new(char *const *words, size_t n,
                                          char *err, size_t n_err)
{
    struct pfdd_field_map *map = calloc(1, sizeof *map);
    const char *why = map ? NULL : "out of memory";
    snprintf(err, n_err, "out of memory");
    for (size_t i = 0; !why && i < n; i++) {
        why = add_word(map, words[i]);
        if (why)
            snprintf(err, n_err, "'%.60s' %s", words[i], why);
    }
    const char *twice = why ? NULL : find_double(map);
    if (twice)
        snprintf(err, n_err, "two fields are called '%.60s'", twice);
    if (!why && !twice)
        return map;
    pfdd_field_map_free(map);
    return NULL;
}

void pfdd_field_map_free(struct pfdd_field_map *map)
{
    if (!map)
        return;
    while (map->n) {
        free(map->pairs[--map->n].ours);
        free(map->pairs[map->n].theirs);
    }
    free(map->pairs);
    free(map);
}

bool pfdd_field_map_find(const struct pfdd_field_map *map, const char *name,
                         const char **prefix, const char **ret)
{
    const struct pair *own = find_pair(map, name);
    const struct pair *rest = own ? NULL : find_pair(map, "*");
    *prefix = rest ? rest->theirs : "";
    *ret = own ? own->theirs : name;
    return own ? *own->theirs : !rest || *rest->theirs;
}

bool pfdd_field_map_keeps(const struct pfdd_field_map *map, const char *name)
{
    const char *prefix = NULL;
    const char *theirs = NULL;
    bool ret = pfdd_field_map_find(map, name, &prefix, &theirs);
    size_t n = ret ? strlen(prefix) : 0;
    for (size_t i = 0; ret && i < map->n; i++) {
        const char *other = map->pairs[i].theirs;
        ret = !strcmp(map->pairs[i].ours, name) ||
              !strcmp(map->pairs[i].ours, "*") ||
              strncmp(other, prefix, n) != 0 || strcmp(other + n, theirs) != 0;
    }
    return ret;
}

const char *pfdd_field_map_ecs(const struct pfdd_field_map *map)
{
    return map->is_ecs ? ECS_VERSION : NULL;
}
