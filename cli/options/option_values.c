/* SPDX-License-Identifier: MIT */
#include "option_values.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
