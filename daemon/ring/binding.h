/* SPDX-License-Identifier: MIT */
/*
 * The format strings that chunks of the ring are decoded with. A set of strings
 * never changes. While a new set contains everything that older sets had,
 * bindings advance to it, so an entry whose string arrives late is decoded with
 * it from then on. When a new set drops strings, existing bindings are left at
 * the set that has them. References are counted on the loop.
 */
#ifndef PFDD_BINDING_H
#define PFDD_BINDING_H

#include <stdbool.h>
#include <stddef.h>

#include <printfdecode/strings.h>

struct pfdd_strings {
    unsigned refs;
    struct pfd_strings *set;
    /* A list (chunk.h) of the set's code objects of one scope, beside
     * the shared ones. The set holds it after its producer has gone. NULL:
     * none. */
    const void *own;
    size_t n_own;
    void (*close_own)(void *user, const void *list);
    void *close_user;
    size_t n_bytes;     /* of the set and its own code objects */
    size_t n_own_bytes; /* of n_bytes: its own code objects */
    size_t n_left;      /* bindings that were left at this set */
};

/* Takes ownership of set. NULL: out of memory; set is freed. */
struct pfdd_strings *pfdd_strings_new(struct pfd_strings *set);
struct pfdd_strings *pfdd_strings_ref(struct pfdd_strings *strings);
/* NULL is allowed. */
void pfdd_strings_unref(struct pfdd_strings *strings);

struct pfdd_bindings;

struct pfdd_binding {
    unsigned refs;
    struct pfdd_strings *strings; /* a reference */
    bool is_trimmed;              /* its older set was given up to save
                                     memory */
    struct pfdd_bindings *of;     /* the list that it was left in; NULL: it was
                                     not left */
    struct pfdd_binding *next;    /* in that list, a newer one */
};

/* Takes a reference to strings. NULL: out of memory. */
struct pfdd_binding *pfdd_binding_new(struct pfdd_strings *strings);
struct pfdd_binding *pfdd_binding_ref(struct pfdd_binding *binding);
/* NULL is allowed. */
void pfdd_binding_unref(struct pfdd_binding *binding);

/* Bindings that were left at older sets, oldest first. All zeros: none. */
struct pfdd_bindings {
    struct pfdd_binding *first;
    struct pfdd_binding *last;
    struct pfdd_strings *current; /* no reference: the owner of the list holds
                                     one */
    size_t n_bytes;               /* of the other sets, each counted once */
    size_t n_own_bytes;           /* of n_bytes: their own code objects */
};

/* Changes the current set. Bindings left at the previous one advance if
 * is_superset, or if they were trimmed. The previous set still exists during
 * this call. */
void pfdd_bindings_go_on(struct pfdd_bindings *left,
                         struct pfdd_strings *strings, bool is_superset);

/*
 * Rebinds *at to a new set. is_superset: the new set contains everything that
 * the old one had. Otherwise chunks keep the old binding, which is added to
 * `left`.
 */
void pfdd_binding_move(struct pfdd_binding **at, struct pfdd_strings *strings,
                       bool is_superset, struct pfdd_bindings *left);

/* Drops the owner's reference. If chunks still hold the binding, it is added to
 * `left`. */
void pfdd_binding_leave(struct pfdd_binding *binding,
                        struct pfdd_bindings *left);

/* Rebinds the oldest left bindings to the current set until the other sets take
 * at most n_max bytes. From then on, entries whose strings the current set
 * lacks have unknown ids. */
void pfdd_bindings_trim(struct pfdd_bindings *left, size_t n_max);

#endif
