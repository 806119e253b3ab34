/* SPDX-License-Identifier: MIT */
/*
 * Accounts of the descriptors and memory that peers cause, in trees: a producer
 * is charged, with its user, and with the user's input; a reader of the ring
 * (ring/cursor.h), or a page of metrics, with its user, and with all of them.
 *
 * Descriptors: an input may have three quarters and a user half. A producer
 * leaves a quarter of its user's, and as many as it has, for the user's other
 * producers; a few are always allowed.
 *
 * Memory: an input may have fifteen sixteenths, a user seven eighths, and a
 * producer three times what it leaves. An eighth of a user's memory is for
 * producers that have little. So no number of producers takes everything.
 *
 * Readers have a share of the cap that nothing else takes; a user may have three
 * quarters of it, and one reader half. A reader that asks for more is refused.
 *
 * Loop thread only.
 */
#ifndef PFDD_RESOURCE_ACCOUNT_H
#define PFDD_RESOURCE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/peer_limit.h"

/* Each is followed by that of the account above it. */
enum pfdd_resource_account_kind {
    PFDD_RESOURCE_ACCOUNT_PRODUCER,
    PFDD_RESOURCE_ACCOUNT_USER,
    PFDD_RESOURCE_ACCOUNT_INPUT,
    PFDD_RESOURCE_ACCOUNT_READER,
    PFDD_RESOURCE_ACCOUNT_READER_USER,
    PFDD_RESOURCE_ACCOUNT_READERS,
};

struct pfdd_resource_account {
    enum pfdd_resource_account_kind kind;
    struct pfdd_resource_account *of; /* borrowed; NULL: the root */
    unsigned n;                       /* descriptors */
    size_t n_bytes;
    unsigned n_looks; /* running read passes of its buffers */
};

/* The accounts of users, told apart by their peer keys, below one account. */
struct pfdd_user_accounts {
    struct pfdd_resource_account account; /* its kind is set by the owner */
    size_t n_bytes_max;                   /* READERS: that all may have */
    struct pfdd_user_account *first;
};

/* Puts a zeroed account below that of its user, which is there as long as
 * accounts are below it. False: out of memory. */
bool pfdd_user_accounts_join(struct pfdd_user_accounts *users,
                             const struct pfdd_peer_key *key,
                             struct pfdd_resource_account *account);
/* Gives back the account's bytes, and puts it below no user. An account that is
 * below none is allowed. */
void pfdd_user_accounts_leave(struct pfdd_resource_account *account);

/* Charges n descriptors. False: too many, nothing is charged. NULL is allowed,
 * here and below. */
bool pfdd_resource_account_take(struct pfdd_resource_account *account,
                                unsigned n);
void pfdd_resource_account_give_back(struct pfdd_resource_account *account,
                                     unsigned n);

/* Bytes that one of many with n_own bytes may still take, where all have n_taken
 * of max: up to three times what it leaves of seven eighths, or up to the floor,
 * which each may have. */
size_t pfdd_resource_share(size_t max, size_t n_taken, size_t n_own,
                           size_t floor);

/* Bytes that the account may still take, where all accounts may have max. */
size_t pfdd_resource_account_left(const struct pfdd_resource_account *account,
                                  size_t max);
/* Of these, bytes that a producer may take while it has little; NULL: none. */
size_t pfdd_resource_account_left_of_floor(
    const struct pfdd_resource_account *account, size_t max);

/* A read pass of one of the account's buffers begins. False: so many are
 * running that those of other producers would have to wait. */
bool pfdd_resource_account_begin_read_pass(
    struct pfdd_resource_account *account);
void pfdd_resource_account_end_read_pass(struct pfdd_resource_account *account);

/* Changes `before` bytes to `now` bytes; the caller has asked before
 * growing. */
void pfdd_resource_account_count(struct pfdd_resource_account *account,
                                 size_t before, size_t now);

/* Of a reader: changes its bytes to `now`. False: refused, and nothing has
 * changed. One that is below no user may have any number. */
bool pfdd_resource_account_change(struct pfdd_resource_account *account,
                                  size_t now);
/* Bytes that all readers may have together; 0: it is below no user. */
size_t pfdd_resource_account_max(const struct pfdd_resource_account *account);

#endif
