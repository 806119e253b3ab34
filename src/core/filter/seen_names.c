/* SPDX-License-Identifier: MIT */
#include "core/filter/seen_names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/filter/entry_value.h"
#include "core/strings/column_names.h"

/* ---- lists of names ---- */

enum {
    NAMES_ROOM = 160,
    NAMES_LISTED = 64 /* of one string */
};

/* "x, y", as far as there is room. */
struct names {
    char text[NAMES_ROOM];
    size_t n;
};

static bool is_listed(const struct names *names, const char *name)
{
    size_t n = strlen(name);
    const char *at = names->text;
    while (*at) {
        size_t length = strcspn(at, ",");
        if (length == n && !memcmp(at, name, n))
            return true;
        at += length;
        at += strspn(at, ", ");
    }
    return false;
}

/* False: there is no room for more. */
static bool add_name(struct names *names, const char *name)
{
    size_t left = NAMES_ROOM - names->n;
    const char *comma = names->n ? ", " : "";
    bool fits = strlen(name) + sizeof ", , ..." <= left;
    if (fits && is_listed(names, name))
        return true;
    names->n += (size_t)snprintf(names->text + names->n, left, "%s%s", comma,
                                 fits ? name : "...");
    return fits;
}

static bool add_names_of(struct names *names, const struct pfd_string *s)
{
    size_t number = 0;
    for (size_t k = 0; k < s->n_steps && number < NAMES_LISTED; k++) {
        char name[PFD_COLUMN_NAME_MAX];
        if (!pfd_step_has_argument(&s->steps[k]))
            continue;
        pfd_column_name(s, k, number++, name);
        if (!add_name(names, name))
            return false;
    }
    return true;
}

/* Adds the names of another list. */
static void add_names(struct names *names, const struct names *others)
{
    char text[NAMES_ROOM];
    char *next = text;
    const char *name;
    memcpy(text, others->text, sizeof text);
    while ((name = strsep(&next, ","))) {
        name += *name == ' ';
        if (*name && !add_name(names, name))
            return;
    }
}

static void list_names(const struct pfd_strings *strings, struct names *ret)
{
    const struct pfd_string *s;
    *ret = (struct names){ .n = 0 };
    for (size_t i = 0; strings && (s = pfd_strings_at(strings, i)); i++) {
        if (!add_names_of(ret, s))
            return;
    }
}

/* ---- names of a set of strings ---- */

/* What a set has, remembered: a daemon checks the same set with each block, and
 * looking through all strings is costly. */
struct walked {
    uint64_t serial; /* of the set; 0: of none */
    size_t n;        /* strings it had */
    uint64_t names;  /* bits: names of the condition that are arguments */
    struct names there;
};

static bool is_column(const struct pfd_strings *strings, const char *name)
{
    const struct pfd_string *s;
    for (size_t i = 0; (s = pfd_strings_at(strings, i)); i++) {
        if (pfd_column_find(s, name, strlen(name)) != SIZE_MAX)
            return true;
    }
    return false;
}

/* Looks for the names of which bits are set. NULL: no strings. */
static void walk(struct walked *walked, const struct pfd_where *where,
                 uint64_t names, const struct pfd_strings *strings)
{
    uint64_t serial = strings ? pfd_strings_serial(strings) : 0;
    size_t n = strings ? pfd_strings_count(strings) : 0;
    if (walked->serial == serial && walked->n == n)
        return;
    *walked = (struct walked){ .serial = serial, .n = n };
    for (; strings && names; names &= names - 1) {
        unsigned i = (unsigned)__builtin_ctzll(names);
        if (is_column(strings, pfd_where_name(where, i)))
            walked->names |= UINT64_C(1) << i;
    }
    list_names(strings, &walked->there);
}

/* ---- names of entries that came ---- */

struct pfd_seen_names {
    uint64_t needed;        /* bits: names of the condition that only arguments
                               have */
    _Atomic uint64_t names; /* bits: names that were arguments */
    atomic_bool any;
    pthread_mutex_t lock;
    /* Under the lock: */
    struct names there; /* until all names were seen */
    struct walked walked;
};
_Static_assert(sizeof(struct pfd_seen_names) <= PFD_SEEN_NAMES_BYTES, "");

static uint64_t needed_names(const struct pfd_where *where)
{
    uint64_t ret = 0;
    const char *name;
    _Static_assert(PFD_WHERE_NAMES_MAX <= 64, "a bit each");
    for (size_t i = 0; (name = pfd_where_name(where, i)); i++) {
        bool is_own = pfd_own_find(name) != SIZE_MAX || pfd_own_is_origin(name);
        ret |= (uint64_t)!is_own << i;
    }
    return ret;
}

struct pfd_seen_names *pfd_seen_names_new(const struct pfd_where *where)
{
    struct pfd_seen_names *seen_names = calloc(1, sizeof *seen_names);
    if (!seen_names)
        return NULL;
    pthread_mutex_init(&seen_names->lock, NULL);
    seen_names->needed = needed_names(where);
    return seen_names;
}

void pfd_seen_names_free(struct pfd_seen_names *seen_names)
{
    if (!seen_names)
        return;
    pthread_mutex_destroy(&seen_names->lock);
    free(seen_names);
}

void pfd_seen_names_note(struct pfd_seen_names *seen_names,
                         const struct pfd_where *where,
                         const struct pfd_string *s,
                         const struct pfd_where_bound *bound)
{
    uint64_t names = 0;
    uint64_t before = atomic_load(&seen_names->names);
    for (size_t i = 0; s && pfd_where_name(where, i); i++)
        names |= (uint64_t)(bound->steps[i] < PFD_WHERE_OWN) << i;
    if (!s || (atomic_load(&seen_names->any) && !(names & ~before) &&
               !(seen_names->needed & ~before)))
        return;
    atomic_store(&seen_names->any, true);
    atomic_fetch_or(&seen_names->names, names);
    pthread_mutex_lock(&seen_names->lock);
    add_names_of(&seen_names->there, s);
    pthread_mutex_unlock(&seen_names->lock);
}

static enum pfd_status tell_missing(const char *name, const struct names *there,
                                    struct pfd_error *err)
{
    struct pfd_quoted quoted;
    const char *near = pfd_own_near(name);
    pfd_quote(&quoted, name, strlen(name));
    return pfd_fail(
        err, PFD_ERR_USAGE, PFD_NO_OFFSET,
        "no format string has an argument '%s'%s%s; there %s %s", quoted.text,
        near ? ", and no entry has it; near to it: " : "", near ? near : "",
        there->n ? "is" : "are no arguments", there->text);
}

enum pfd_status pfd_seen_names_check(struct pfd_seen_names *seen_names,
                                     const struct pfd_where *where,
                                     const struct pfd_strings *strings,
                                     struct pfd_error *err)
{
    bool has_any = strings && pfd_strings_count(strings);
    if (!seen_names || (!atomic_load(&seen_names->any) && !has_any))
        return PFD_OK;
    uint64_t missing = seen_names->needed & ~atomic_load(&seen_names->names);
    if (!missing)
        return PFD_OK;
    pthread_mutex_lock(&seen_names->lock);
    walk(&seen_names->walked, where, seen_names->needed, strings);
    missing &= ~seen_names->walked.names;
    struct names there = seen_names->walked.there;
    add_names(&there, &seen_names->there);
    pthread_mutex_unlock(&seen_names->lock);
    return missing ? tell_missing(pfd_where_name(
                                      where, (size_t)__builtin_ctzll(missing)),
                                  &there, err)
                   : PFD_OK;
}

const char *pfd_seen_names_shadow(struct pfd_seen_names *seen_names,
                                  const struct pfd_where *where)
{
    if (!seen_names)
        return NULL;
    uint64_t both = atomic_load(&seen_names->names) & ~seen_names->needed;
    return both ? pfd_where_name(where, (size_t)__builtin_ctzll(both)) : NULL;
}
