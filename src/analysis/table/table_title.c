/* SPDX-License-Identifier: MIT */
#include "analysis/table/table_title.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/strings/column_names.h"

enum {
    WORDS_MAX = 40 /* bytes */
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
    size_t length = 1;
    for (size_t i = 0; i < n && to + length <= WORDS_MAX; i += length) {
        size_t n_word =
            text[i] == '_' ? 0 : pfd_column_word_length(text + i, n - i);
        length = n_word ? n_word : 1;
        if (n_word && to + n_word <= WORDS_MAX) {
            memcpy(title + to, text + i, n_word);
            to += n_word;
        } else if (!n_word && to && title[to - 1] != '_') {
            title[to++] = '_';
        }
        if (text[i] == '%')
            length = conversion_length(text + i, n - i);
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
