/* SPDX-License-Identifier: MIT */
#include "analysis/table/table_title.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    WORDS_MAX = 40 /* characters */
};

/* Bytes of the conversion at text [n], which begins with a %. */
static size_t conversion_length(const char *text, size_t n)
{
    size_t i = 1;
    while (i < n && text[i] && strchr("-+ #'*.0123456789hljztLqv", text[i]))
        i++;
    return i < n ? i + 1 : n;
}

void pfd_title_make(char *ret, size_t room, const char *text, size_t n)
{
    char title[WORDS_MAX + 1];
    size_t to = 0;
    for (size_t i = 0; i < n && to < WORDS_MAX; i++) {
        char c = text[i];
        bool is_word =
            (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
        if (c == '%')
            i += conversion_length(text + i, n - i) - 1;
        if (is_word) {
            title[to++] = c;
        } else if (to && title[to - 1] != '_') {
            title[to++] = '_';
        }
    }
    while (to && title[to - 1] == '_')
        to--;
    title[to] = '\0';
    snprintf(ret, room, "%s", to ? title : "table");
}

void pfd_title_avoid(char *name, size_t room, const struct pfd_table_form *form)
{
    size_t n = strlen(name);
    if (form->taken && !strcasecmp(name, form->taken) && n + 3 < room)
        memcpy(name + n, "_2", 3);
    if (form->prefix && n + 2 < room &&
        !strncasecmp(name, form->prefix, strlen(form->prefix))) {
        memmove(name + 1, name, n + 1);
        *name = '_';
    }
}
