/* SPDX-License-Identifier: MIT */
#include "since.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

enum {
    AGO_DIGITS = 9,
    HOUR = 3600,
    MINUTE = 60,
};

static bool read_ago(const char *text, uint64_t *ago)
{
    static const struct {
        char unit;
        uint64_t seconds;
    } units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
    size_t n = strspn(text, "0123456789");
    for (size_t i = 0; n > 0 && n <= AGO_DIGITS && text[n] && !text[n + 1] &&
                       i < sizeof units / sizeof *units;
         i++) {
        if (units[i].unit == text[n]) {
            *ago = strtoull(text, NULL, 10) * units[i].seconds * NS_PER_S;
            return true;
        }
    }
    return false;
}

/* Reads ".5" or nothing; returns the text behind it. */
static const char *read_fraction(const char *text, uint64_t *ns)
{
    uint64_t unit = NS_PER_S / 10;
    *ns = 0;
    if (*text != '.')
        return text;
    for (text++; *text >= '0' && *text <= '9'; text++) {
        *ns += (uint64_t)(*text - '0') * unit;
        unit /= 10;
    }
    return text;
}

/* Reads two digits; -1: they are no digits. */
static int read_two(const char *text)
{
    return strspn(text, "0123456789") >= 2
               ? 10 * (text[0] - '0') + text[1] - '0'
               : -1;
}

/* Reads "Z" or "+01:30" as seconds; false: neither. */
static bool read_zone(const char *text, long *ret)
{
    *ret = 0;
    if (!strcmp(text, "Z"))
        return true;
    if ((*text != '+' && *text != '-') || strlen(text) != sizeof "+00:00" - 1 ||
        text[3] != ':')
        return false;
    int hours = read_two(text + 1);
    int minutes = read_two(text + 4);
    *ret = (*text == '-' ? -1 : 1) * (hours * HOUR + minutes * MINUTE);
    return hours >= 0 && minutes >= 0;
}

bool since_read(const char *text, uint64_t *time, uint64_t *ago)
{
    struct tm tm = { 0 };
    uint64_t ns = 0;
    long zone = 0;
    *time = *ago = 0;
    if (read_ago(text, ago))
        return true;
    const char *at = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!at || !read_zone(read_fraction(at, &ns), &zone))
        return false;
    time_t seconds = timegm(&tm) - zone;
    if (seconds < 0)
        return false;
    *time = (uint64_t)seconds * NS_PER_S + ns;
    return true;
}
