/* SPDX-License-Identifier: MIT */
#include "delivery/binding.h"

#include <assert.h>
#include <stdlib.h>

struct pfdd_strings *pfdd_strings_new(struct pfd_strings *set)
{
    struct pfdd_strings *strings = set ? calloc(1, sizeof *strings) : NULL;
    if (!strings) {
        pfd_strings_free(set);
        return NULL;
    }
    strings->refs = 1;
    strings->set = set;
    strings->n_bytes = pfd_strings_memory(set);
    return strings;
}

struct pfdd_strings *pfdd_strings_ref(struct pfdd_strings *strings)
{
    strings->refs++;
    return strings;
}

void pfdd_strings_unref(struct pfdd_strings *strings)
{
    if (!strings || --strings->refs > 0)
        return;
    pfd_strings_free(strings->set);
    free(strings);
}

struct pfdd_binding *pfdd_binding_new(struct pfdd_strings *strings)
{
    struct pfdd_binding *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->refs = 1;
    b->strings = pfdd_strings_ref(strings);
    return b;
}

struct pfdd_binding *pfdd_binding_ref(struct pfdd_binding *binding)
{
    binding->refs++;
    return binding;
}

static void unlist(struct pfdd_binding *b)
{
    struct pfdd_bindings *of = b->of;
    assert(of);
    struct pfdd_binding **at = &of->first;
    struct pfdd_binding *before = NULL;
    while (*at && *at != b) {
        before = *at;
        at = &before->next;
    }
    *at = b->next;
    if (of->last == b)
        of->last = before;
    of->n_bytes -= b->strings->n_bytes;
    b->of = NULL;
}

void pfdd_binding_unref(struct pfdd_binding *binding)
{
    if (!binding || --binding->refs > 0)
        return;
    if (binding->of)
        unlist(binding);
    pfdd_strings_unref(binding->strings);
    free(binding);
}

static void rebind(struct pfdd_binding *b, struct pfdd_strings *strings)
{
    pfdd_strings_ref(strings);
    pfdd_strings_unref(b->strings);
    b->strings = strings;
}

void pfdd_binding_leave(struct pfdd_binding *b, struct pfdd_bindings *left)
{
    if (b->refs > 1) {
        b->of = left;
        b->next = NULL;
        *(left->last ? &left->last->next : &left->first) = b;
        left->last = b;
        left->n_bytes += b->strings->n_bytes;
    }
    pfdd_binding_unref(b);
}

void pfdd_binding_move(struct pfdd_binding **at, struct pfdd_strings *strings,
                       bool is_superset, struct pfdd_bindings *left)
{
    struct pfdd_binding *fresh =
        is_superset || (*at)->refs == 1 ? NULL : pfdd_binding_new(strings);
    if (!fresh) {
        rebind(*at, strings);
        return;
    }
    pfdd_binding_leave(*at, left);
    *at = fresh;
}

void pfdd_bindings_trim(struct pfdd_bindings *left, size_t n_max,
                        struct pfdd_strings *strings)
{
    while (left->first && left->n_bytes > n_max) {
        struct pfdd_binding *oldest = left->first;
        unlist(oldest);
        rebind(oldest, strings);
    }
}
