/* SPDX-License-Identifier: MIT */
#include "base/timestamp.h"

#include <stdbool.h>
#include <string.h>

enum {
    NS = 1000000000,
    DAY = 86400,        /* seconds */
    MARCH = 719468,     /* days from March 1 of year 0 to 1970 */
    CENTURIES = 146097, /* days of four centuries */
    YEARS = 1461,       /* days of four years */
    MONTHS = 153,       /* days of five months, from March on */
};

struct date {
    unsigned year;
    unsigned month; /* from 1 */
    unsigned day;   /* from 1 */
};

/* Years begin in March here, so that a leap day is the last day of its year. */
static struct date date_of(unsigned days)
{
    unsigned since = days + MARCH;
    unsigned of_four = since % CENTURIES; /* day within four centuries */
    unsigned year = (of_four - of_four / (YEARS - 1) +
                     of_four / (CENTURIES / 4) - of_four / (CENTURIES - 1)) /
                    365;
    unsigned day = of_four - (365 * year + year / 4 - year / 100);
    unsigned month = (5 * day + 2) / MONTHS;
    bool is_next = month >= 10;
    return (struct date){ .year = since / CENTURIES * 400 + year + is_next,
                          .month = is_next ? month - 9 : month + 3,
                          .day = day - (MONTHS * month + 2) / 5 + 1 };
}

/* Writes the last n digits. */
static void put(char *ret, unsigned value, unsigned n)
{
    for (; n--; value /= 10)
        ret[n] = (char)('0' + value % 10);
}

size_t pfdd_timestamp(char ret[PFDD_TIMESTAMP], uint64_t ns, unsigned n)
{
    uint64_t seconds = ns / NS;
    unsigned of_day = (unsigned)(seconds % DAY);
    unsigned rest = (unsigned)(ns % NS);
    struct date date = date_of((unsigned)(seconds / DAY));
    memcpy(ret, "0000-00-00T00:00:00.", 20);
    put(ret, date.year, 4);
    put(ret + 5, date.month, 2);
    put(ret + 8, date.day, 2);
    put(ret + 11, of_day / 3600, 2);
    put(ret + 14, of_day / 60 % 60, 2);
    put(ret + 17, of_day % 60, 2);
    put(ret + 20, rest, 9);
    ret[20 + n] = 'Z';
    return 21 + n;
}
