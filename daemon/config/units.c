/* SPDX-License-Identifier: MIT */
#include "config/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* Of the units, the largest of which the value is a multiple. */
static const struct unit *largest(uint64_t *value, const struct unit *u)
{
    while (u[1].name && *value >= u[1].factor && *value % u[1].factor == 0)
        u++;
    *value /= u->factor;
    return u;
}

static void put_amount(FILE *out, uint64_t value, const struct unit *u)
{
    u = largest(&value, u);
    fprintf(out, "%" PRIu64 " %s", value, u->spoken);
}

void pfdd_units_put_size(FILE *out, uint64_t bytes)
{
    put_amount(out, bytes, sizes);
}

void pfdd_units_put_time(FILE *out, uint64_t ms)
{
    put_amount(out, ms, times);
}

static void write_amount(char ret[PFDD_UNITS_TEXT], uint64_t value,
                         const struct unit *u)
{
    u = largest(&value, u);
    snprintf(ret, PFDD_UNITS_TEXT, "%" PRIu64 "%s", value, u->name);
}

void pfdd_units_size_text(char ret[PFDD_UNITS_TEXT], uint64_t bytes)
{
    write_amount(ret, bytes, sizes);
}

void pfdd_units_time_text(char ret[PFDD_UNITS_TEXT], uint64_t ms)
{
    write_amount(ret, ms, times);
}

/* ---- what may be meant ---- */

/* Words of other programs, and our units. */
struct word {
    const char *word;
    const char *unit;
};

static const struct word size_words[] = {
    { "k", "KiB" }, { "kb", "KiB" }, { "m", "MiB" }, { "mb", "MiB" },
    { "g", "GiB" }, { "gb", "GiB" }, { 0 },
};
static const struct word time_words[] = {
    { "", "s" },
    { "msec", "ms" },
    { "sec", "s" },
    { "seconds", "s" },
    { "m", "min" },
    { "mins", "min" },
    { "minutes", "min" },
    { "hr", "h" },
    { "hours", "h" },
    { "days", "d" },
    { 0 },
};

static const char *meant_unit(const char *text, const struct unit *units,
                              const struct word *words)
{
    for (; units->name; units++) {
        if (!strcasecmp(text, units->name))
            return units->name;
    }
    for (; words->word; words++) {
        if (!strcasecmp(text, words->word))
            return words->unit;
    }
    return NULL;
}

static bool find_meant(char ret[PFDD_UNITS_TEXT], const char *text,
                       const struct unit *units, const struct word *words)
{
    size_t n = strspn(text, "0123456789");
    const char *rest = text + n + strspn(text + n, " ");
    const char *unit = n && n < 16 ? meant_unit(rest, units, words) : NULL;
    if (unit)
        snprintf(ret, PFDD_UNITS_TEXT, "%.*s%s", (int)n, text, unit);
    return unit;
}

bool pfdd_units_meant_size(char ret[PFDD_UNITS_TEXT], const char *text)
{
    return find_meant(ret, text, sizes, size_words);
}

bool pfdd_units_meant_time(char ret[PFDD_UNITS_TEXT], const char *text)
{
    return find_meant(ret, text, times, time_words);
}
