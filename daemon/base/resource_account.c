/* SPDX-License-Identifier: MIT */
#include "base/resource_account.h"

#include "base/descriptor_limit.h"

enum {
    LOOKS_MAX = 8,       /* running read passes of one producer */
    FEW = 6,             /* descriptors: enough for a buffer with a doorbell */
    FEW_PART = 4,        /* part of a user's descriptors for producers with so
                            few */
    FLOOR_MIN = 5 << 18, /* one follower (follower.h), and a frame */
    FLOORS = 128,        /* part of a user's memory: one floor */
    FLOOR_PART = 8,      /* part of a user's memory: all floors */
};

static bool may_take(const struct pfdd_resource_account *h, unsigned n)
{
    unsigned user_max = pfdd_descriptor_limit_share();
    switch (h->kind) {
    case PFDD_RESOURCE_ACCOUNT_PRODUCER:
        return h->n + n <= FEW ||
               h->n + n + h->of->n + n <= user_max - user_max / FEW_PART;
    case PFDD_RESOURCE_ACCOUNT_USER:
        return h->n + n <= user_max;
    case PFDD_RESOURCE_ACCOUNT_INPUT:
        return h->n + n <= user_max + user_max / 2;
    }
    return false;
}

bool pfdd_resource_account_take(struct pfdd_resource_account *account,
                                unsigned n)
{
    for (const struct pfdd_resource_account *h = account; h; h = h->of) {
        if (!may_take(h, n))
            return false;
    }
    for (struct pfdd_resource_account *h = account; h; h = h->of)
        h->n += n;
    return true;
}

void pfdd_resource_account_give_back(struct pfdd_resource_account *account,
                                     unsigned n)
{
    for (struct pfdd_resource_account *h = account; h; h = h->of)
        h->n -= n;
}

static size_t rest(size_t max, size_t n)
{
    return max > n ? max - n : 0;
}

/* Bytes that a producer may have while it has little. */
static size_t floor_of(size_t user_max)
{
    size_t part = user_max / FLOORS;
    return part > FLOOR_MIN ? part : FLOOR_MIN;
}

/* Three quarters of the rest soon become nothing, so producers above the floor
 * leave a part of it for later ones. */
static size_t left_of_producer(const struct pfdd_resource_account *h,
                               size_t user_max)
{
    size_t n_small = rest(floor_of(user_max), h->n_bytes);
    size_t n_others = rest(user_max - user_max / FLOOR_PART, h->of->n_bytes);
    /* Its user is charged for these bytes, too. */
    size_t n_large = rest(3 * n_others, h->n_bytes) / 4;
    return n_small > n_large ? n_small : n_large;
}

static size_t max_of_user(size_t max)
{
    return max / 8 * 7;
}

static size_t left_of(const struct pfdd_resource_account *h, size_t max)
{
    size_t user_max = max_of_user(max);
    switch (h->kind) {
    case PFDD_RESOURCE_ACCOUNT_PRODUCER:
        return left_of_producer(h, user_max);
    case PFDD_RESOURCE_ACCOUNT_USER:
        return rest(user_max, h->n_bytes);
    case PFDD_RESOURCE_ACCOUNT_INPUT:
        return rest(max / 16 * 15, h->n_bytes);
    }
    return 0;
}

size_t pfdd_resource_account_left(const struct pfdd_resource_account *account,
                                  size_t max)
{
    size_t least = max;
    for (const struct pfdd_resource_account *h = account; h; h = h->of) {
        size_t left = left_of(h, max);
        least = left < least ? left : least;
    }
    return least;
}

size_t pfdd_resource_account_left_of_floor(
    const struct pfdd_resource_account *account, size_t max)
{
    return account ? rest(floor_of(max_of_user(max)), account->n_bytes) : 0;
}

void pfdd_resource_account_count(struct pfdd_resource_account *account,
                                 size_t before, size_t now)
{
    for (struct pfdd_resource_account *h = account; h; h = h->of)
        h->n_bytes += now - before;
}

bool pfdd_resource_account_begin_read_pass(
    struct pfdd_resource_account *account)
{
    if (!account)
        return true;
    if (account->n_looks >= LOOKS_MAX)
        return false;
    account->n_looks++;
    return true;
}

void pfdd_resource_account_end_read_pass(struct pfdd_resource_account *account)
{
    if (account)
        account->n_looks--;
}
