/* SPDX-License-Identifier: MIT */
#include "stream/capture/producer_strings.h"

#include <stdlib.h>
#include <string.h>

#include <printfdecode/strings.h>

#include "core/decode/string_loader.h"

static void drop_sets(struct pfd_producer_strings *s)
{
    while (s->sets) {
        struct pfd_producer_strings_set *set = s->sets;
        s->sets = set->next;
        pfd_strings_free(set->strings);
        free(set);
    }
}

void pfd_producer_strings_clear(struct pfd_producer_strings *s)
{
    drop_sets(s);
    while (s->first) {
        struct pfd_producer_strings_object *o = s->first;
        s->first = o->next;
        free(o->bytes);
        free(o);
    }
    *s = (struct pfd_producer_strings){ .n_objects = s->n_objects };
}

/* Takes over the bytes of strings; copies a module, which stays the giver's. */
static void *take_bytes(struct pfd_wire_object *given)
{
    void *ret = given->bytes;
    if (given->use == PFD_WIRE_OBJECT_STRINGS) {
        given->bytes = NULL;
        return ret;
    }
    ret = malloc(given->n);
    if (ret)
        memcpy(ret, given->bytes, given->n);
    return ret;
}

bool pfd_producer_strings_add(struct pfd_producer_strings *s,
                              struct pfd_wire_object *given)
{
    if (given->use == PFD_WIRE_OBJECT_MODULE ||
        given->use == PFD_WIRE_OBJECT_NAMED)
        return true;
    struct pfd_producer_strings_object *o =
        calloc(1, sizeof *o + given->name.n + 1);
    void *bytes = o ? take_bytes(given) : NULL;
    if (!bytes) {
        free(o);
        return false;
    }
    o->scope = given->scope;
    o->is_shader = given->use == PFD_WIRE_OBJECT_SHADER;
    o->shader = (uint32_t)given->shader;
    o->bytes = bytes;
    o->n = given->n;
    if (given->name.n)
        memcpy(o->name, given->name.at, given->name.n);
    if (!s->last)
        s->last = &s->first;
    *s->last = o;
    s->last = &o->next;
    s->n_objects++;
    s->n_bytes += o->n;
    return true;
}

static bool load(struct pfd_strings *strings,
                 const struct pfd_producer_strings_object *o, pfd_finding_fn fn,
                 void *user)
{
    struct pfd_shader_info info = {
        .id = o->shader,
        .bytes = o->bytes,
        .n_bytes = o->n,
        .source = o->name,
    };
    enum pfd_status status =
        o->is_shader ? pfd_strings_add_shader(strings, &info, fn, user, NULL)
                     : pfd_strings_load(strings, o->bytes, o->n, o->name, fn,
                                        user, NULL);
    return status != PFD_ERR_NOMEM;
}

/* Loads the descriptions of a scope, or its other objects. */
static bool load_part(struct pfd_strings *strings,
                      const struct pfd_producer_strings *s, uint64_t scope,
                      bool descriptions, pfd_finding_fn fn, void *user)
{
    bool ok = true;
    for (const struct pfd_producer_strings_object *o = s->first; ok && o;
         o = o->next) {
        if ((!o->scope || o->scope == scope) &&
            pfd_strings_describes(o->bytes, o->n) == descriptions)
            ok = load(strings, o, fn, user);
    }
    return ok;
}

/* Descriptions come first: they say where others have messages. */
static struct pfd_strings *build(const struct pfd_producer_strings *s,
                                 uint64_t scope, pfd_finding_fn fn, void *user)
{
    struct pfd_strings *ret = pfd_strings_new();
    bool ok = ret && load_part(ret, s, scope, true, fn, user) &&
              load_part(ret, s, scope, false, fn, user);
    if (ok)
        return ret;
    pfd_strings_free(ret);
    return NULL;
}

const struct pfd_strings *pfd_producer_strings_get(
    struct pfd_producer_strings *s, uint64_t scope, pfd_finding_fn fn,
    void *user)
{
    struct pfd_producer_strings_set *set = s->sets;
    while (set && set->scope != scope)
        set = set->next;
    if (set && set->strings && set->n_had == s->n_objects)
        return set->strings;
    if (!set) {
        set = calloc(1, sizeof *set);
        if (!set)
            return NULL;
        set->scope = scope;
        set->next = s->sets;
        s->sets = set;
    }
    pfd_strings_free(set->strings);
    set->strings = build(s, scope, fn, user);
    set->n_had = s->n_objects;
    return set->strings;
}
