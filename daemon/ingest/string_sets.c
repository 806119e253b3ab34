/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "ingest/code_object.h"
#include "ingest/string_space.h"

bool pfdd_string_sets_init(struct pfdd_string_sets *string_sets)
{
    struct pfdd_strings *empty = pfdd_strings_new(pfd_strings_new());
    *string_sets = (struct pfdd_string_sets){ 0 };
    string_sets->current = empty ? pfdd_binding_new(empty) : NULL;
    string_sets->behind.current = empty;
    pfdd_strings_unref(empty);
    return string_sets->current != NULL;
}

void pfdd_string_sets_deinit(struct pfdd_string_sets *string_sets)
{
    pfdd_binding_unref(string_sets->current);
}

struct pfdd_binding *pfdd_string_sets_bind(struct pfdd_string_sets *string_sets,
                                           struct pfdd_producer *producer)
{
    if (!producer)
        return string_sets->current;
    if (!producer->binding)
        producer->binding = pfdd_binding_new(string_sets->current->strings);
    return producer->binding ? producer->binding : string_sets->current;
}

/* The shared set has changed: producers without a set of their own use it at
 * once, others are marked stale. One whose description finds messages in objects has
 * in its set all that concern it, and is built anew only where others have gone:
 * loading all of them again with each object would be work without end. */
static void move_producers_on(struct pfdd_string_sets *string_sets,
                              struct pfdd_producer *producers, bool lacks)
{
    for (struct pfdd_producer *s = producers; s; s = s->next) {
        if (s->has_set) {
            s->is_stale |= !s->is_refreshed && (!s->reads_files || lacks);
            s->lacks |= lacks && s->is_stale;
        } else if (s->binding) {
            pfdd_binding_move(&s->binding, string_sets->current->strings,
                              !lacks, &string_sets->behind);
        }
        s->is_awaited &= s->is_stale;
    }
}

void pfdd_string_sets_take(struct pfdd_string_sets *string_sets,
                           struct pfd_strings *set, bool lacks,
                           struct pfdd_producer *producers)
{
    struct pfdd_strings *strings = set ? pfdd_strings_new(set) : NULL;
    if (!strings)
        return;
    pfdd_bindings_go_on(&string_sets->behind, strings, !lacks);
    pfdd_binding_move(&string_sets->current, strings, !lacks,
                      &string_sets->behind);
    pfdd_strings_unref(strings);
    move_producers_on(string_sets, producers, lacks);
}

void pfdd_string_sets_take_own(struct pfdd_string_sets *string_sets,
                               struct pfdd_producer *s)
{
    struct pfd_strings *set = s->set;
    s->set = NULL;
    if (!set || pfdd_string_sets_bind(string_sets, s) != s->binding) {
        pfd_strings_free(set);
        return;
    }
    struct pfdd_strings *strings = pfdd_strings_new(set);
    if (!strings)
        return;
    pfdd_binding_move(&s->binding, strings, !(s->is_refreshed && s->lacks),
                      &string_sets->behind);
    pfdd_strings_unref(strings);
    s->has_set = true;
    s->lacks &= !s->is_refreshed;
}

void pfdd_string_sets_close(void *user, const void *catalogue)
{
    (void)user;
    pfdd_catalogue_drop((struct pfdd_catalogue *)(uintptr_t)catalogue);
}

void pfdd_string_sets_hold_own(struct pfdd_producer *producer,
                               const struct pfdd_catalogue *all)
{
    struct pfdd_strings *strings = producer->binding->strings;
    struct pfdd_catalogue *own =
        strings->own ? NULL : pfdd_catalogue_new(all->n);
    if (!own)
        return;
    for (size_t i = 0; i < all->n; i++) {
        if (all->objects[i]->producer == producer &&
            pfdd_catalogue_put(own, all->objects[i])) {
            strings->n_own_bytes += pfdd_code_cost(all->objects[i]->n);
        }
    }
    strings->n_bytes += strings->n_own_bytes;
    strings->own = own;
    strings->n_own = own->n;
    strings->close_own = pfdd_string_sets_close;
}

size_t pfdd_string_sets_memory(const struct pfdd_string_sets *string_sets)
{
    return string_sets->current->strings->n_bytes +
           string_sets->behind.n_bytes - string_sets->behind.n_own_bytes;
}
