/* SPDX-License-Identifier: MIT */
#include "base/reader_quota.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATTERNS = 8, /* this part of the share: those of a reader */
};

struct pfdd_quota *pfdd_quota_join(struct pfdd_quotas *quotas,
                                   const struct pfdd_peer_key *key)
{
    struct pfdd_quota *q = quotas->users;
    while (q && memcmp(&q->key, key, sizeof *key) != 0)
        q = q->next;
    if (!q) {
        q = calloc(1, sizeof *q);
        if (!q)
            return NULL;
        q->of = quotas;
        q->key = *key;
        q->next = quotas->users;
        quotas->users = q;
    }
    q->refs++;
    return q;
}

void pfdd_quota_leave(struct pfdd_quota *quota)
{
    if (!quota || --quota->refs > 0)
        return;
    assert(quota->n == 0);
    struct pfdd_quota **at = &quota->of->users;
    while (*at != quota)
        at = &(*at)->next;
    *at = quota->next;
    free(quota);
}

bool pfdd_quota_change(struct pfdd_quota *quota, size_t before, size_t now)
{
    if (!quota)
        return true;
    struct pfdd_quotas *all = quota->of;
    size_t user = quota->n - before + now;
    size_t sum = all->n - before + now;
    if (now > before &&
        (now > all->n_max / 2 || user > all->n_max / 4 * 3 || sum > all->n_max))
        return false;
    quota->n = user;
    all->n = sum;
    return true;
}

size_t pfdd_quota_of_patterns(const struct pfdd_quotas *quotas)
{
    return quotas->n_max / PATTERNS;
}
