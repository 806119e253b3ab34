/* SPDX-License-Identifier: MIT */
/*
 * Accounts of the descriptors and memory that peers cause, in a tree: a
 * producer is charged, with its user, and with the user's input.
 *
 * Descriptors: an input may have three quarters and a user half. A producer
 * leaves a quarter of its user's, and as many as it has, for the user's other
 * producers; a few are always allowed.
 *
 * Memory: an input may have fifteen sixteenths, a user seven eighths, and a
 * producer three times what it leaves. An eighth of a user's memory is for
 * producers that have little. So no number of producers takes everything. Loop
 * thread only.
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
    struct pfdd_resource_account *of; /* borrowed; NULL: the root */
    unsigned n;                       /* descriptors */
    size_t n_bytes;
    unsigned n_looks; /* running read passes of its buffers */
};

/* Charges n descriptors. False: too many, nothing is charged. NULL is allowed,
 * here and below. */
bool pfdd_resource_account_take(struct pfdd_resource_account *account,
                                unsigned n);
void pfdd_resource_account_give_back(struct pfdd_resource_account *account,
                                     unsigned n);

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

#endif
