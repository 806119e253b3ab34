/* SPDX-License-Identifier: MIT */
/*
 * What somebody makes us have, of descriptors and of memory: a producer, whose
 * are also its user's, whose are also an input's. Of descriptors an input has
 * three quarters, a user half, and a producer no more than it leaves for others
 * of its user, or a few. Of memory an input has fifteen sixteenths, a user seven eighths,
 * and a producer three times what it leaves; an eighth of a user's is for
 * producers that have little: however many come, nobody takes all. Loop thread only.
 */
#ifndef PFDD_RESOURCE_ACCOUNT_H
#define PFDD_RESOURCE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>

enum pfdd_resource_account_kind {
    PFDD_RESOURCE_ACCOUNT_PRODUCER,
    PFDD_RESOURCE_ACCOUNT_USER,
    PFDD_RESOURCE_ACCOUNT_INPUT,
};

struct pfdd_resource_account {
    enum pfdd_resource_account_kind kind;
    struct pfdd_resource_account *of; /* borrowed; NULL: nobody */
    unsigned n;                       /* descriptors */
    size_t n_bytes;
    unsigned n_looks; /* at its buffers, on their way */
};

/* False: n more descriptors are too many. NULL is allowed, here and below. */
bool pfdd_resource_account_take(struct pfdd_resource_account *account,
                                unsigned n);
void pfdd_resource_account_give_back(struct pfdd_resource_account *account,
                                     unsigned n);

/* Bytes that it may still have, where there are max for all holders. */
size_t pfdd_resource_account_left(const struct pfdd_resource_account *account,
                                  size_t max);
/* Of those, what a producer may have while it has little; NULL: nothing. */
size_t pfdd_resource_account_left_of_floor(
    const struct pfdd_resource_account *account, size_t max);

/* A look at one of its buffers begins. False: so many are on their way that
 * those of others would wait for them. */
bool pfdd_resource_account_begin_look(struct pfdd_resource_account *account);
void pfdd_resource_account_end_look(struct pfdd_resource_account *account);

/* What was `before` bytes is `now` bytes; whoever grows has asked. */
void pfdd_resource_account_count(struct pfdd_resource_account *account,
                                 size_t before, size_t now);

#endif
