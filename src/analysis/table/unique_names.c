/* SPDX-License-Identifier: MIT */
#include "analysis/table/unique_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/escape.h"

void pfd_unique_names_free(struct pfd_unique_names *unique_names)
{
    for (size_t i = 0; i < unique_names->n_slots; i++)
        free(unique_names->slots[i]);
    free(unique_names->slots);
    *unique_names = (struct pfd_unique_names){ 0 };
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static size_t hash(const char *name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        h = (h ^ (uint8_t)lower(*name)) * UINT64_C(0x100000001b3);
    return (size_t)(h ^ h >> 29);
}

static char **find(char **slots, size_t n_slots, const char *name)
{
    size_t i = hash(name);
    while (slots[i & (n_slots - 1)] &&
           strcasecmp(slots[i & (n_slots - 1)], name) != 0)
        i++;
    return &slots[i & (n_slots - 1)];
}

static bool grow(struct pfd_unique_names *unique_names)
{
    size_t n = unique_names->n_slots ? 2 * unique_names->n_slots : 64;
    char **slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < unique_names->n_slots; i++) {
        if (unique_names->slots[i])
            *find(slots, n, unique_names->slots[i]) = unique_names->slots[i];
    }
    free(unique_names->slots);
    unique_names->slots = slots;
    unique_names->n_slots = n;
    return true;
}

static void clean(char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < n;) {
        size_t length = pfd_utf8_length(name + i, n - i);
        bool is_control = (uint8_t)name[i] < ' ' || name[i] == 0x7f ||
                          (length > 1 && pfd_is_control(name + i, length));
        if (length && !is_control) {
            i += length;
            continue;
        }
        for (size_t end = i + (length ? length : 1); i < end; i++)
            name[i] = '_';
    }
}

/* Appends a number to the name, within its limit. */
static void number(char *ret, size_t room, const char *name, unsigned i)
{
    char end[16];
    size_t n = strlen(name);
    size_t n_end = (size_t)snprintf(end, sizeof end, "_%u", i);
    if (n + n_end >= room)
        n = room - 1 - n_end;
    while (n && ((uint8_t)name[n] & 0xc0) == 0x80)
        n--; /* not in the middle of a character */
    snprintf(ret, room, "%.*s%s", (int)n, name, end);
}

bool pfd_unique_names_give(struct pfd_unique_names *unique_names, char *name,
                           size_t room)
{
    enum {
        ROOM = 256
    };
    char wanted[ROOM];
    if (2 * unique_names->n >= unique_names->n_slots && !grow(unique_names))
        return false;
    clean(name);
    if (!*name)
        snprintf(name, room, "column");
    snprintf(wanted, sizeof wanted, "%s", name);
    /* With many equal names the next number is near their count. */
    char **slot = find(unique_names->slots, unique_names->n_slots, name);
    for (unsigned i = 2, step = 1; *slot; i += step) {
        number(name, room, wanted, i);
        slot = find(unique_names->slots, unique_names->n_slots, name);
        step = i >= 16 ? (unsigned)unique_names->n + 1 : 1;
    }
    *slot = strdup(name);
    unique_names->n += *slot != NULL;
    return *slot != NULL;
}
