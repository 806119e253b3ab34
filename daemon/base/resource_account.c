/* SPDX-License-Identifier: MIT */
#include "base/resource_account.h"

#include <stdlib.h>
#include <string.h>

#include "base/descriptor_limit.h"

enum {
    LOOKS_MAX = 8,       /* running read passes of one producer */
    FEW = 6,             /* descriptors: enough for a buffer with a doorbell */
    FEW_PART = 4,        /* part of a user's descriptors for producers with so
                            few */
    FLOOR_MIN = 5 << 18, /* one follower (follower.h), and a frame */
    FLOORS = 128,        /* part of a user's memory: one floor */
    FLOOR_PART = 8,      /* part of all that is shared: all floors */
};

struct pfdd_user_account {
    struct pfdd_resource_account account;
    struct pfdd_user_account *next;
    struct pfdd_peer_key key;
    unsigned n; /* accounts below it */
};

static struct pfdd_user_account *find_user(struct pfdd_user_accounts *users,
                                           const struct pfdd_peer_key *key)
{
    struct pfdd_user_account *u = users->first;
    while (u && memcmp(&u->key, key, sizeof *key) != 0)
        u = u->next;
    if (u)
        return u;
    u = calloc(1, sizeof *u);
    if (!u)
        return NULL;
    u->account.kind = users->account.kind - 1;
    u->account.of = &users->account;
    u->key = *key;
    u->next = users->first;
    users->first = u;
    return u;
}

bool pfdd_user_accounts_join(struct pfdd_user_accounts *users,
                             const struct pfdd_peer_key *key,
                             struct pfdd_resource_account *account)
{
    struct pfdd_user_account *u = find_user(users, key);
    if (!u)
        return false;
    u->n++;
    account->kind = u->account.kind - 1;
    account->of = &u->account;
    return true;
}

void pfdd_user_accounts_leave(struct pfdd_resource_account *account)
{
    struct pfdd_user_account *u = (struct pfdd_user_account *)account->of;
    if (!u)
        return;
    pfdd_resource_account_count(account, account->n_bytes, 0);
    account->of = NULL;
    if (--u->n > 0)
        return;
    struct pfdd_user_account **at =
        &((struct pfdd_user_accounts *)u->account.of)->first;
    while (*at != u)
        at = &(*at)->next;
    *at = u->next;
    free(u);
}

static bool may_take(const struct pfdd_resource_account *h, unsigned n)
{
    unsigned user_max = pfdd_descriptor_limit_share();
    if (h->kind == PFDD_RESOURCE_ACCOUNT_PRODUCER) {
        return h->n + n <= FEW ||
               h->n + n + h->of->n + n <= user_max - user_max / FEW_PART;
    }
    if (h->kind == PFDD_RESOURCE_ACCOUNT_INPUT)
        return h->n + n <= user_max + user_max / 2;
    return h->n + n <= user_max;
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

/* Three quarters of the rest soon become nothing, so those above the floor leave
 * a part of it for later ones. */
size_t pfdd_resource_share(size_t max, size_t n_taken, size_t n_own,
                           size_t floor)
{
    size_t n_small = rest(floor, n_own);
    size_t n_others = rest(max - max / FLOOR_PART, n_taken);
    /* n_taken has these bytes, too. */
    size_t n_large = rest(3 * n_others, n_own) / 4;
    return n_small > n_large ? n_small : n_large;
}

static size_t left_of_producer(const struct pfdd_resource_account *h,
                               size_t user_max)
{
    return pfdd_resource_share(user_max, h->of->n_bytes, h->n_bytes,
                               floor_of(user_max));
}

/* What accounts of a kind may have of all bytes. */
static const struct {
    unsigned n;
    unsigned of;
} shares[] = {
    [PFDD_RESOURCE_ACCOUNT_USER] = { 7, 8 },
    [PFDD_RESOURCE_ACCOUNT_INPUT] = { 15, 16 },
    [PFDD_RESOURCE_ACCOUNT_READER] = { 1, 2 },
    [PFDD_RESOURCE_ACCOUNT_READER_USER] = { 3, 4 },
    [PFDD_RESOURCE_ACCOUNT_READERS] = { 1, 1 },
};

static size_t max_of(enum pfdd_resource_account_kind kind, size_t max)
{
    return max / shares[kind].of * shares[kind].n;
}

static size_t left_of(const struct pfdd_resource_account *h, size_t max)
{
    if (h->kind == PFDD_RESOURCE_ACCOUNT_PRODUCER)
        return left_of_producer(h, max_of(PFDD_RESOURCE_ACCOUNT_USER, max));
    return rest(max_of(h->kind, max), h->n_bytes);
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
    return account ? rest(floor_of(max_of(PFDD_RESOURCE_ACCOUNT_USER, max)),
                          account->n_bytes)
                   : 0;
}

void pfdd_resource_account_count(struct pfdd_resource_account *account,
                                 size_t before, size_t now)
{
    for (struct pfdd_resource_account *h = account; h; h = h->of)
        h->n_bytes += now - before;
}

size_t pfdd_resource_account_max(const struct pfdd_resource_account *account)
{
    return account->of
               ? ((struct pfdd_user_accounts *)account->of->of)->n_bytes_max
               : 0;
}

bool pfdd_resource_account_change(struct pfdd_resource_account *account,
                                  size_t now)
{
    size_t before = account->n_bytes;
    size_t max = pfdd_resource_account_max(account);
    if (account->of && now > before &&
        now - before > pfdd_resource_account_left(account, max))
        return false;
    pfdd_resource_account_count(account, before, now);
    return true;
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
