/* SPDX-License-Identifier: MIT */
/*
 * The memory of all parts together, and the rest of the cap. Parts that come
 * and go are counted here by their owners; other parts are asked for their
 * size. Loop thread only.
 */
#ifndef PFDD_MEMORY_BUDGET_H
#define PFDD_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

struct pfdd_resource_account;

struct pfdd_memory_budget {
    size_t max;           /* the cap, bytes */
    size_t inputs;        /* of connections and streams */
    size_t frames;        /* of frames that were not received whole */
    size_t frame_reserve; /* more of these that streams may take unasked */
    size_t sessions;
    /* Of sessions: more bytes that running read passes may take. */
    size_t looks;
    unsigned n_looks;   /* running read passes */
    unsigned n_waiting; /* streams that wait for memory of others */
    size_t buffers;     /* sent by producers and held by followers */
    size_t peak;        /* the most bytes that were ever taken */
    /* Bytes of all other parts; *reserve: more that they may take unasked. */
    size_t (*others)(const void *user, size_t *reserve);
    /* Bytes that the ring and text may take, which no account shares. */
    size_t (*for_all)(const void *user);
    const void *user;
};

/* Call after something has grown: updates the peak. */
void pfdd_memory_budget_note(struct pfdd_memory_budget *r);

/* Bytes that are left, less the bytes that parts may take without asking. A
 * part that needs more is refused, so it asks before it grows. An eighth of the
 * cap, less 3 MiB, is left for accounts that have little. */
size_t pfdd_memory_budget_left(const struct pfdd_memory_budget *r);
/* True: n more bytes fit. */
bool pfdd_memory_budget_has(const struct pfdd_memory_budget *budget, size_t n);

/* Likewise for an account that has little: everything that is left. */
size_t pfdd_memory_budget_left_for_last(const struct pfdd_memory_budget *r);
bool pfdd_memory_budget_has_for_last(const struct pfdd_memory_budget *budget,
                                     size_t n);

/* Bytes of that which an account may take (NULL: none is charged). Accounts
 * share the memory that the ring and text cannot take. */
size_t pfdd_memory_budget_left_for(const struct pfdd_memory_budget *r,
                                   const struct pfdd_resource_account *account);
/* True: n more bytes fit there. */
bool pfdd_memory_budget_has_for(const struct pfdd_memory_budget *budget,
                                const struct pfdd_resource_account *account,
                                size_t n);

/* True: a read pass may take n more bytes. Read passes have a share of the cap
 * that nothing else takes. */
bool pfdd_memory_budget_has_for_read_pass(
    const struct pfdd_memory_budget *budget, size_t n);

/* True: n bytes do not fit because others take the memory: the account has
 * little. */
bool pfdd_memory_budget_is_short_for(
    const struct pfdd_memory_budget *r,
    const struct pfdd_resource_account *account, size_t n);

/* True: n more bytes of a partial frame fit. Partial frames take half of the
 * cap at most, and leave memory for frames of other producers. */
bool pfdd_memory_budget_has_for_frame(
    const struct pfdd_memory_budget *budget,
    const struct pfdd_resource_account *account, size_t n);

#endif
