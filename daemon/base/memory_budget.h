/* SPDX-License-Identifier: MIT */
/*
 * The memory that all parts have together, and what is left of it. Parts that
 * come and go are counted here by whoever makes them; what others hold they are
 * asked for. Loop thread only.
 */
#ifndef PFDD_MEMORY_BUDGET_H
#define PFDD_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

struct pfdd_resource_account;

struct pfdd_memory_budget {
    size_t max;           /* the cap of all bytes */
    size_t inputs;        /* that connections and streams hold */
    size_t frames;        /* of frames that have not come whole */
    size_t frame_reserve; /* more of them that streams may take unasked */
    size_t sessions;
    size_t looks;       /* of these: more that looks on their way may take */
    unsigned n_looks;   /* on their way */
    unsigned n_waiting; /* streams that wait for what others have */
    size_t buffers;     /* that producers sent, and sessions keep */
    size_t peak;        /* the most that there has been of all */
    /* What all others hold; *reserve: what they may take more unasked. */
    size_t (*others)(const void *user, size_t *reserve);
    /* What the ring and text may have, of which nobody has a share. */
    size_t (*for_all)(const void *user);
    const void *user;
};

/* Bytes of all parts. */
size_t pfdd_memory_budget_taken(const struct pfdd_memory_budget *budget);

/* To be called where something has grown: keeps the peak. */
void pfdd_memory_budget_note(struct pfdd_memory_budget *budget);

/* How much more there is room for, with what parts may still take without
 * asking. What wants more is refused: ask before there is more. An eighth
 * of the cap, but for 3 MiB, is left for those who have little. */
size_t pfdd_memory_budget_left(const struct pfdd_memory_budget *budget);
/* True: n more bytes are below the cap. */
bool pfdd_memory_budget_has(const struct pfdd_memory_budget *budget, size_t n);

/* Likewise for somebody who has little: all that there is. */
size_t pfdd_memory_budget_left_for_last(
    const struct pfdd_memory_budget *budget);
bool pfdd_memory_budget_has_for_last(const struct pfdd_memory_budget *budget,
                                     size_t n);

/* What of that is holder's (NULL: nobody's), who has a share of what is not
 * for all. */
size_t pfdd_memory_budget_left_for(const struct pfdd_memory_budget *budget,
                                   const struct pfdd_resource_account *account);
/* True: n more bytes are below that. */
bool pfdd_memory_budget_has_for(const struct pfdd_memory_budget *budget,
                                const struct pfdd_resource_account *account,
                                size_t n);

/* True: a look at a buffer may take n bytes more; they have a share of the cap
 * that nothing else takes. */
bool pfdd_memory_budget_has_for_look(const struct pfdd_memory_budget *budget,
                                     size_t n);

/* There is no room for these n bytes, which is others' doing: the holder has
 * little. */
bool pfdd_memory_budget_is_short_for(
    const struct pfdd_memory_budget *r,
    const struct pfdd_resource_account *account, size_t n);

/* True: likewise, for frames that have not come whole. They have half of the
 * cap: half frames of some producers leave room for what others send. */
bool pfdd_memory_budget_has_for_frame(
    const struct pfdd_memory_budget *budget,
    const struct pfdd_resource_account *account, size_t n);

#endif
