/* SPDX-License-Identifier: MIT */
#include "base/memory_budget.h"

#include "base/resource_account.h"

enum {
    RESERVE = 32, /* part of the cap for unforeseen needs */
    LOOKS = 8,    /* part of the cap for read passes */
    LAST = 8,     /* part of the cap, less LAST_FROM, for accounts that have
                     little */
    LAST_FROM = 3 << 20,
    FRAMES = 8, /* part of the cap that partial frames leave */
};

static size_t add_up(const struct pfdd_memory_budget *r, size_t *reserve)
{
    return r->others(r->user, reserve) + r->inputs + r->frames + r->sessions +
           r->buffers;
}

/* Bytes of all parts. */
static size_t memory_budget_taken(const struct pfdd_memory_budget *r)
{
    size_t reserve = 0;
    return add_up(r, &reserve);
}

void pfdd_memory_budget_note(struct pfdd_memory_budget *r)
{
    size_t n = memory_budget_taken(r);
    r->peak = n > r->peak ? n : r->peak;
}

/* Bytes that are taken, or reserved for parts that do not ask. */
static size_t kept(const struct pfdd_memory_budget *r)
{
    size_t reserve = 0;
    size_t n = add_up(r, &reserve);
    return n + reserve + r->frame_reserve + r->max / RESERVE;
}

static size_t left_for_looks(const struct pfdd_memory_budget *r)
{
    size_t share = r->max / LOOKS;
    return share > r->looks ? share - r->looks : 0;
}

size_t pfdd_memory_budget_left_for_last(const struct pfdd_memory_budget *r)
{
    size_t n = kept(r) + left_for_looks(r);
    return n < r->max ? r->max - n : 0;
}

size_t pfdd_memory_budget_left(const struct pfdd_memory_budget *r)
{
    size_t left = pfdd_memory_budget_left_for_last(r);
    size_t part = r->max / LAST;
    size_t last = part > LAST_FROM ? part - LAST_FROM : 0;
    return left > last ? left - last : 0;
}

bool pfdd_memory_budget_has(const struct pfdd_memory_budget *r, size_t n)
{
    return n < pfdd_memory_budget_left(r);
}

bool pfdd_memory_budget_has_for_last(const struct pfdd_memory_budget *r,
                                     size_t n)
{
    return n < pfdd_memory_budget_left_for_last(r);
}

bool pfdd_memory_budget_has_for_read_pass(const struct pfdd_memory_budget *r,
                                          size_t n)
{
    return n <= left_for_looks(r) && kept(r) + n < r->max;
}

/* Bytes that all accounts may have together. */
static size_t max_of_holders(const struct pfdd_memory_budget *r)
{
    size_t n = r->for_all(r->user) + r->max / RESERVE + r->max / LOOKS;
    return n < r->max ? r->max - n : 0;
}

static size_t lower(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t pfdd_memory_budget_left_for(const struct pfdd_memory_budget *r,
                                   const struct pfdd_resource_account *account)
{
    size_t max = max_of_holders(r);
    size_t little = lower(pfdd_resource_account_left_of_floor(account, max),
                          pfdd_memory_budget_left_for_last(r));
    size_t left = pfdd_memory_budget_left(r);
    return lower(pfdd_resource_account_left(account, max),
                 left > little ? left : little);
}

bool pfdd_memory_budget_has_for(const struct pfdd_memory_budget *r,
                                const struct pfdd_resource_account *account,
                                size_t n)
{
    return n < pfdd_memory_budget_left_for(r, account);
}

bool pfdd_memory_budget_is_short_for(
    const struct pfdd_memory_budget *r,
    const struct pfdd_resource_account *account, size_t n)
{
    return !pfdd_memory_budget_has_for(r, account, n) &&
           n <= pfdd_resource_account_left_of_floor(account, max_of_holders(r));
}

bool pfdd_memory_budget_has_for_frame(
    const struct pfdd_memory_budget *r,
    const struct pfdd_resource_account *account, size_t n)
{
    return r->frames + n < r->max / 2 &&
           pfdd_memory_budget_has_for_last(r, n + r->max / FRAMES) &&
           pfdd_memory_budget_has_for(r, account, n);
}
