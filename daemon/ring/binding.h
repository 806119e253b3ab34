/* SPDX-License-Identifier: MIT */
/*
 * The format strings that chunks of the ring are read with. A set of strings
 * never changes. While new sets have everything that older ones had, a binding
 * goes on to them, so that an entry whose string comes late is read with it
 * from then on. When something has to go from the sets, what was bound before
 * stays with the set that has it. Counted on the loop.
 */
#ifndef PFDD_BINDING_H
#define PFDD_BINDING_H

#include <stdbool.h>
#include <stddef.h>

#include <printfdecode/strings.h>

struct pfdd_strings {
    unsigned refs;
    struct pfd_strings *set;
    /* A list (chunk_objects.h) of the code objects of one scope that are in the set,
     * beside everybody's; it stays with the set when its producer has gone.
     * NULL: none. */
    const void *own;
    size_t n_own;
    void (*close_own)(void *user, const void *list);
    void *close_user;
    size_t n_bytes;     /* of the set, and of its own code objects, */
    size_t n_own_bytes; /* which are these of them */
    size_t n_left;      /* bindings that have been left with it */
};

/* set is taken over; NULL: out of memory, and it is freed. */
struct pfdd_strings *pfdd_strings_new(struct pfd_strings *set);
struct pfdd_strings *pfdd_strings_ref(struct pfdd_strings *strings);
/* NULL is allowed. */
void pfdd_strings_unref(struct pfdd_strings *strings);

struct pfdd_bindings;

struct pfdd_binding {
    unsigned refs;
    struct pfdd_strings *strings; /* a reference */
    bool is_trimmed;              /* it had others, which are gone */
    struct pfdd_bindings *of;     /* of those that have been left behind; NULL:
                                     it is not one of them */
    struct pfdd_binding *next;    /* likewise, a newer one */
};

/* A reference is taken of strings; NULL: out of memory. */
struct pfdd_binding *pfdd_binding_new(struct pfdd_strings *strings);
struct pfdd_binding *pfdd_binding_ref(struct pfdd_binding *binding);
/* NULL is allowed. */
void pfdd_binding_unref(struct pfdd_binding *binding);

/* Those that stay with their sets, oldest first. All zeros: none. */
struct pfdd_bindings {
    struct pfdd_binding *first;
    struct pfdd_binding *last;
    struct pfdd_strings *current; /* no reference; somebody else counts it */
    size_t n_bytes;               /* of the other sets, once each, */
    size_t n_own_bytes;           /* and of these: of their code objects */
};

/* What is current changes, and whoever was left with it goes on, unless it has
 * something that is gone then. The one before is still there. */
void pfdd_bindings_go_on(struct pfdd_bindings *left,
                         struct pfdd_strings *strings, bool is_superset);

/*
 * A new set takes the place of the one that *at is bound to. is_superset: it
 * has all that the old one had; otherwise chunks keep the old one in `left`.
 */
void pfdd_binding_move(struct pfdd_binding **at, struct pfdd_strings *strings,
                       bool is_superset, struct pfdd_bindings *left);

/* Its owner goes; chunks may keep it, in `left`. */
void pfdd_binding_leave(struct pfdd_binding *binding,
                        struct pfdd_bindings *left);

/* The oldest that were left go on to what is current until the others have no
 * more than n_max bytes: entries of strings that it lacks are of unknown ids
 * from then on. */
void pfdd_bindings_trim(struct pfdd_bindings *left, size_t n_max);

#endif
