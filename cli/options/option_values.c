/* SPDX-License-Identifier: MIT */
#include "option_values.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "show/messages.h"

bool option_wrong(const char *what, const char *value)
{
    message_error("%s '%s'; see 'printfdecode --help'", what, value);
    return false;
}

void option_list(char *list, const char *before, const char *word)
{
    size_t n = strlen(list);
    snprintf(list + n, OPTION_LIST - n, "%s%s%s", n ? ", " : "", before, word);
}

bool option_read_number(const char *text, uint64_t *ret)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno || end == text || *end || strchr(text, '-'))
        return option_wrong("not a number:", text);
    *ret = v;
    return true;
}

bool option_read_bytes(const char *text, uint64_t *ret)
{
    static const char units[] = "KMGTP";
    char *end = NULL;
    unsigned shift = 0;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    bool ok = !errno && end != text && !strchr(text, '-');
    const char *unit = ok && *end ? strchr(units, toupper(*end)) : NULL;
    if (unit) {
        shift = 10 * (unsigned)(unit - units + 1);
        end++;
        end += *end == 'i' && end[1] == 'B' ? 2 : 0;
    } else if (ok && *end == 'B') {
        end++;
    }
    if (!ok || *end || v > UINT64_MAX >> shift) {
        return option_wrong(
            "not a number of bytes, such as 2147483648 or 2GiB:", text);
    }
    *ret = v << shift;
    return true;
}

bool option_read_place(const char *text, uint64_t *ret)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v =
        strtoull(text, &end, strncmp(text, "0x", 2) ? 10 : 16);
    if (errno || end == text || *end || strchr(text, '-'))
        return option_wrong("not a number, as 4096 or 0x1000:", text);
    *ret = v;
    return true;
}

int option_find_word(const char *const *words, const char *text)
{
    for (int i = 0; words[i]; i++) {
        if (!strcmp(words[i], text))
            return i;
    }
    return -1;
}

void *option_member(struct options *o, const struct option_row *row)
{
    return (char *)o + row->at;
}

const char *option_text_of(const struct options *o,
                           const struct option_row *row)
{
    const char *const *member = (const void *)((const char *)o + row->at);
    return *member;
}

const struct words *option_words_of(const struct options *o,
                                    const struct option_row *row)
{
    return (const void *)((const char *)o + row->at);
}

bool option_flag(struct options *o, const struct option_row *row,
                 const char *text)
{
    bool *member = option_member(o, row);
    (void)text;
    *member = true;
    return true;
}

bool option_text(struct options *o, const struct option_row *row,
                 const char *text)
{
    const char **member = option_member(o, row);
    *member = text;
    return true;
}

bool option_input_file(struct options *o, const struct option_row *row,
                       const char *text)
{
    return option_text(o, row, text);
}

bool option_output_file(struct options *o, const struct option_row *row,
                        const char *text)
{
    return option_text(o, row, text);
}

bool option_number(struct options *o, const struct option_row *row,
                   const char *text)
{
    return option_read_number(text, option_member(o, row));
}

bool option_positive(struct options *o, const struct option_row *row,
                     const char *text)
{
    const uint64_t *member = option_member(o, row);
    return option_number(o, row, text) &&
           (*member || option_wrong("not a number above 0:", text));
}

bool option_bytes(struct options *o, const struct option_row *row,
                  const char *text)
{
    uint64_t *member = option_member(o, row);
    return option_read_bytes(text, member) &&
           (*member || option_wrong("not a number of bytes above 0:", text));
}

bool option_when(struct options *o, const struct option_row *row,
                 const char *text)
{
    static const char *const names[] = { "auto", "always", "never", NULL };
    enum when *member = option_member(o, row);
    int i = option_find_word(names, text ? text : "always");
    if (i < 0)
        return option_wrong("not auto, always or never:", text);
    *member = (enum when)i;
    return true;
}

bool option_words(struct options *o, const struct option_row *row,
                  const char *text)
{
    struct words *words = option_member(o, row);
    words->all = options_append(words->all, &words->n, sizeof *words->all);
    words->all[words->n - 1] = text;
    return true;
}

bool option_input_files(struct options *o, const struct option_row *row,
                        const char *text)
{
    return option_words(o, row, text);
}

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
