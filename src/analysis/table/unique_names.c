/* SPDX-License-Identifier: MIT */
#include "analysis/table/unique_names.h"

#include <stdio.h>
#include <string.h>

#include "core/base/escape.h"

enum {
    ROOM = 256
};

void pfd_unique_names_free(struct pfd_unique_names *unique_names)
{
    pfd_dictionary_free(&unique_names->given);
}

/* Gives the name; false: it was given before, or there is no memory. */
static bool give(struct pfd_dictionary *given, const char *name)
{
    char lower[ROOM];
    size_t n = strlen(name);
    uint32_t before = given->n;
    for (size_t i = 0; i < n; i++) {
        bool is_upper = name[i] >= 'A' && name[i] <= 'Z';
        lower[i] = is_upper ? (char)(name[i] + 32) : name[i];
    }
    (void)pfd_dictionary_add(given, lower, n);
    return given->n > before;
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
    struct pfd_dictionary *given = &unique_names->given;
    char wanted[ROOM];
    clean(name);
    if (!*name)
        snprintf(name, room, "column");
    snprintf(wanted, sizeof wanted, "%s", name);
    /* With many equal names the next number is near their count. */
    for (unsigned i = 2, step = 1; !give(given, name) && !given->failed;
         i += step) {
        number(name, room, wanted, i);
        step = i >= 16 ? given->n + 1 : 1;
    }
    return !given->failed;
}
