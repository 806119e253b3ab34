/* SPDX-License-Identifier: MIT */
#include "ring/binding.h"

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
    if (strings->own)
        strings->close_own(strings->close_user, strings->own);
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

/* ---- bindings left at older sets ---- */

static void add(struct pfdd_bindings *left, const struct pfdd_strings *strings)
{
    left->n_bytes += strings->n_bytes;
    left->n_own_bytes += strings->n_own_bytes;
}

static void take_off(struct pfdd_bindings *left,
                     const struct pfdd_strings *strings)
{
    left->n_bytes -= strings->n_bytes;
    left->n_own_bytes -= strings->n_own_bytes;
}

static void charge(struct pfdd_bindings *left, struct pfdd_strings *strings)
{
    if (strings->n_left++ == 0 && strings != left->current)
        add(left, strings);
}

static void discharge(struct pfdd_bindings *left, struct pfdd_strings *strings)
{
    if (--strings->n_left == 0 && strings != left->current)
        take_off(left, strings);
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
    discharge(of, b->strings);
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
        charge(left, b->strings);
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

/* Rebinds b to the current set. */
static void move_on(struct pfdd_bindings *left, struct pfdd_binding *b)
{
    charge(left, left->current);
    discharge(left, b->strings);
    rebind(b, left->current);
}

void pfdd_bindings_go_on(struct pfdd_bindings *left,
                         struct pfdd_strings *strings, bool is_superset)
{
    struct pfdd_strings *old = left->current;
    left->current = strings;
    if (old && old->n_left)
        add(left, old);
    if (strings->n_left)
        take_off(left, strings);
    for (struct pfdd_binding *b = old ? left->first : NULL; b; b = b->next) {
        if (b->strings == old && (is_superset || b->is_trimmed))
            move_on(left, b);
    }
}

void pfdd_bindings_trim(struct pfdd_bindings *left, size_t n_max)
{
    struct pfdd_binding *b = left->first;
    for (; b && left->n_bytes > n_max; b = b->next) {
        if (b->strings == left->current)
            continue;
        b->is_trimmed = true;
        move_on(left, b);
    }
}
