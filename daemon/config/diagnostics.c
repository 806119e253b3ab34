/* SPDX-License-Identifier: MIT */
#include "config/diagnostics.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/near_word.h"

__attribute__((format(printf, 3, 0))) static void complain(
    struct pfdd_diagnostics *c, struct pfdd_place at, const char *text,
    va_list args)
{
    char what[320];
    char line[768];
    vsnprintf(what, sizeof what, text, args);
    snprintf(line, sizeof line, "%s:%zu:%zu: %s", c->name, at.line + 1,
             at.column + 1, what);
    c->tell(c->user, line);
    c->n++;
}

bool pfdd_diagnostics_add_at(struct pfdd_diagnostics *c, struct pfdd_place at,
                             const char *text, ...)
{
    va_list args;
    va_start(args, text);
    complain(c, at, text, args);
    va_end(args);
    return false;
}

/* Index of a key; places->n: it is missing. */
static size_t find(const struct pfdd_places *places, const char *key)
{
    size_t i = 0;
    while (i < places->n && (!key || strcmp(places->given[i].key, key) != 0))
        i++;
    return i;
}

bool pfdd_is_given(const struct pfdd_places *places, const char *key)
{
    return find(places, key) < places->n;
}

void pfdd_diagnostics_add(const struct pfdd_places *places, const char *key,
                          const char *text, ...)
{
    size_t i = find(places, key);
    va_list args;
    va_start(args, text);
    complain(places->diagnostics,
             i < places->n ? places->given[i].at : places->start, text, args);
    va_end(args);
}

void pfdd_near_add(char near[PFDD_NEAR], const char *given, const char *name)
{
    size_t n = strlen(near);
    if (pfd_word_is_near(given, name)) {
        snprintf(near + n, PFDD_NEAR - n, "%s%s",
                 n ? ", " : "; near to it: ", name);
    }
}
