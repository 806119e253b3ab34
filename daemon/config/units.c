/* SPDX-License-Identifier: MIT */
#include "config/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *name;
    const char *spoken;
    uint64_t factor;
};

static const struct unit plain[] = { { "", "", 1 }, { 0 } };
static const struct unit sizes[] = {
    { "B", "bytes", 1 },
    { "KiB", "KiB", 1 << 10 },
    { "MiB", "MiB", 1 << 20 },
    { "GiB", "GiB", 1 << 30 },
    { 0 },
};
static const struct unit times[] = {
    { "ms", "ms", 1 },     { "s", "s", 1000 },     { "min", "min", 60000 },
    { "h", "h", 3600000 }, { "d", "d", 86400000 }, { 0 },
};

static bool read_amount(const char *text, const struct unit *units,
                        uint64_t *ret)
{
    char *end = NULL;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    bool is_hex = units == plain && !strncmp(text, "0x", 2);
    uint64_t value = strtoull(text, &end, is_hex ? 16 : 10);
    if (errno)
        return false;
    for (const struct unit *u = units; u->name; u++) {
        if (!strcmp(end, u->name))
            return !__builtin_mul_overflow(value, u->factor, ret);
    }
    return false;
}

bool pfdd_units_read_number(const char *text, uint64_t *ret)
{
    return read_amount(text, plain, ret);
}

bool pfdd_units_read_size(const char *text, uint64_t *ret)
{
    return read_amount(text, plain, ret) || read_amount(text, sizes, ret);
}

bool pfdd_units_read_time(const char *text, uint64_t *ret)
{
    return read_amount(text, times, ret);
}

static void put_amount(FILE *out, uint64_t value, const struct unit *u)
{
    while (u[1].name && value >= u[1].factor && value % u[1].factor == 0)
        u++;
    fprintf(out, "%" PRIu64 " %s", value / u->factor, u->spoken);
}

void pfdd_units_put_size(FILE *out, uint64_t bytes)
{
    put_amount(out, bytes, sizes);
}

void pfdd_units_put_time(FILE *out, uint64_t ms)
{
    put_amount(out, ms, times);
}
