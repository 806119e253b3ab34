/* SPDX-License-Identifier: MIT */
#include "base/reader_quota.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATTERNS = 8, /* part of the share for patterns of one reader */
};

struct pfdd_reader_quota *pfdd_reader_quota_join(
    struct pfdd_reader_quotas *reader_quotas, const struct pfdd_peer_key *key)
{
    struct pfdd_reader_quota *q = reader_quotas->users;
    while (q && memcmp(&q->key, key, sizeof *key) != 0)
        q = q->next;
    if (!q) {
        q = calloc(1, sizeof *q);
        if (!q)
            return NULL;
        q->of = reader_quotas;
        q->key = *key;
        q->next = reader_quotas->users;
        reader_quotas->users = q;
    }
    q->refs++;
    return q;
}

void pfdd_reader_quota_leave(struct pfdd_reader_quota *reader_quota)
{
    if (!reader_quota || --reader_quota->refs > 0)
        return;
    assert(reader_quota->n == 0);
    struct pfdd_reader_quota **at = &reader_quota->of->users;
    while (*at != reader_quota)
        at = &(*at)->next;
    *at = reader_quota->next;
    free(reader_quota);
}

bool pfdd_reader_quota_change(struct pfdd_reader_quota *reader_quota,
                              size_t before, size_t now)
{
    if (!reader_quota)
        return true;
    struct pfdd_reader_quotas *all = reader_quota->of;
    size_t user = reader_quota->n - before + now;
    size_t sum = all->n - before + now;
    if (now > before &&
        (now > all->n_max / 2 || user > all->n_max / 4 * 3 || sum > all->n_max))
        return false;
    reader_quota->n = user;
    all->n = sum;
    return true;
}

size_t pfdd_reader_quota_of_patterns(
    const struct pfdd_reader_quotas *reader_quotas)
{
    return reader_quotas->n_max / PATTERNS;
}
