/* SPDX-License-Identifier: MIT */
#include "ingest/string_sets.h"

#include <stdint.h>

#include "ingest/code_object.h"

bool pfdd_sets_init(struct pfdd_sets *sets)
{
    struct pfdd_strings *empty = pfdd_strings_new(pfd_strings_new());
    *sets = (struct pfdd_sets){ 0 };
    sets->current = empty ? pfdd_binding_new(empty) : NULL;
    sets->behind.current = empty;
    pfdd_strings_unref(empty);
    return sets->current != NULL;
}

void pfdd_sets_deinit(struct pfdd_sets *sets)
{
    pfdd_binding_unref(sets->current);
}

struct pfdd_binding *pfdd_sets_bind(struct pfdd_sets *sets,
                                    struct pfdd_scope *scope)
{
    if (!scope)
        return sets->current;
    if (!scope->binding)
        scope->binding = pfdd_binding_new(sets->current->strings);
    return scope->binding ? scope->binding : sets->current;
}

/* Everybody's has changed: one without a set of its own has it, others are told
 * of it in their turn. */
static void tell_scopes(struct pfdd_sets *sets, struct pfdd_scope *scopes,
                        bool lacks)
{
    for (struct pfdd_scope *s = scopes; s; s = s->next) {
        if (s->has_set) {
            s->is_stale |= !s->is_refreshed;
            s->lacks |= lacks && s->is_stale;
        } else if (s->binding) {
            pfdd_binding_move(&s->binding, sets->current->strings, !lacks,
                              &sets->behind);
        }
        s->is_awaited &= s->is_stale;
    }
}

void pfdd_sets_take(struct pfdd_sets *sets, struct pfd_strings *set, bool lacks,
                    struct pfdd_scope *scopes)
{
    struct pfdd_strings *strings = set ? pfdd_strings_new(set) : NULL;
    if (!strings)
        return;
    pfdd_bindings_go_on(&sets->behind, strings, !lacks);
    pfdd_binding_move(&sets->current, strings, !lacks, &sets->behind);
    pfdd_strings_unref(strings);
    tell_scopes(sets, scopes, lacks);
}

void pfdd_sets_take_scope(struct pfdd_sets *sets, struct pfdd_scope *s)
{
    struct pfd_strings *set = s->set;
    s->set = NULL;
    if (!set || pfdd_sets_bind(sets, s) != s->binding) {
        pfd_strings_free(set);
        return;
    }
    struct pfdd_strings *strings = pfdd_strings_new(set);
    if (!strings)
        return;
    pfdd_binding_move(&s->binding, strings, !(s->is_refreshed && s->lacks),
                      &sets->behind);
    pfdd_strings_unref(strings);
    s->has_set = true;
    s->lacks &= !s->is_refreshed;
}

void pfdd_sets_close(void *user, const void *catalogue)
{
    (void)user;
    pfdd_catalogue_drop((struct pfdd_catalogue *)(uintptr_t)catalogue);
}

void pfdd_sets_hold_own(struct pfdd_scope *scope,
                        const struct pfdd_catalogue *all)
{
    struct pfdd_strings *strings = scope->binding->strings;
    struct pfdd_catalogue *own =
        strings->own ? NULL : pfdd_catalogue_new(all->n);
    if (!own)
        return;
    for (size_t i = 0; i < all->n; i++) {
        if (all->objects[i]->scope == scope &&
            pfdd_catalogue_put(own, all->objects[i])) {
            strings->n_own_bytes += pfdd_code_cost(all->objects[i]->n);
        }
    }
    strings->n_bytes += strings->n_own_bytes;
    strings->own = own;
    strings->n_own = own->n;
    strings->close_own = pfdd_sets_close;
}

size_t pfdd_sets_memory(const struct pfdd_sets *sets)
{
    return sets->current->strings->n_bytes + sets->behind.n_bytes -
           sets->behind.n_own_bytes;
}
