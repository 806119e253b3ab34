/* SPDX-License-Identifier: MIT */
#include "analysis/table/quantile.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Grows a level; false: no memory is left. */
static bool grow(struct pfd_quantile_level *level, size_t *memory)
{
    uint32_t room = level->room ? 2 * level->room : PFD_QUANTILE_LEAST;
    size_t more = (room - level->room) * sizeof *level->values;
    if (room > PFD_QUANTILE_ROOM ||
        (more > *memory && level->room >= PFD_QUANTILE_LEAST))
        return false;
    uint64_t *values = realloc(level->values, room * sizeof *values);
    if (!values)
        return false;
    *memory -= more < *memory ? more : *memory;
    level->values = values;
    level->room = room;
    return true;
}

static bool put(struct pfd_quantile *q, size_t i, uint64_t value,
                size_t *memory);

/* Moves half of a full level up. */
static bool compact(struct pfd_quantile *q, size_t i, size_t *memory)
{
    struct pfd_quantile_level *level = &q->levels[i];
    bool ok = true;
    if (i + 1 == PFD_QUANTILE_LEVELS)
        return false; /* more numbers than can occur */
    qsort(level->values, level->n, sizeof *level->values, compare);
    for (uint32_t k = level->odd; k < level->n && ok; k += 2)
        ok = put(q, i + 1, level->values[k], memory);
    level->odd = !level->odd;
    level->n = 0;
    q->error += UINT64_C(1) << i;
    return ok;
}

static bool put(struct pfd_quantile *q, size_t i, uint64_t value,
                size_t *memory)
{
    struct pfd_quantile_level *level = &q->levels[i];
    if (level->n == level->room && !grow(level, memory)) {
        if (!level->room || !compact(q, i, memory))
            return false;
    }
    level->values[level->n++] = value;
    return true;
}

bool pfd_quantile_add(struct pfd_quantile *q, uint64_t value, size_t *memory)
{
    q->n++;
    return put(q, 0, value, memory);
}

struct weighted {
    uint64_t value;
    uint64_t weight;
};

enum pfd_status pfd_quantile_ask(const struct pfd_quantile *q, double share,
                                 uint64_t *ret)
{
    size_t n = 0;
    uint64_t sum = 0;
    for (size_t i = 0; i < PFD_QUANTILE_LEVELS; i++)
        n += q->levels[i].n;
    if (!n)
        return PFD_END;
    struct weighted *all = malloc(n * sizeof *all);
    if (!all)
        return PFD_ERR_NOMEM;
    n = 0;
    for (size_t i = 0; i < PFD_QUANTILE_LEVELS; i++) {
        for (uint32_t k = 0; k < q->levels[i].n; k++) {
            all[n++] =
                (struct weighted){ q->levels[i].values[k], UINT64_C(1) << i };
        }
    }
    qsort(all, n, sizeof *all, compare); /* the value is the first member */
    uint64_t rank = (uint64_t)(share * (double)q->n);
    rank += (double)rank < share * (double)q->n;
    size_t i = 0;
    for (sum = all[0].weight; sum < rank && i + 1 < n; sum += all[i].weight)
        i++;
    *ret = all[i].value;
    free(all);
    return PFD_OK;
}

void pfd_quantile_free(struct pfd_quantile *q)
{
    for (size_t i = 0; i < PFD_QUANTILE_LEVELS; i++)
        free(q->levels[i].values);
    memset(q, 0, sizeof *q);
}
