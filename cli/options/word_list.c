/* SPDX-License-Identifier: MIT */
#include "word_list.h"

#include <stdlib.h>
#include <string.h>

#include "show/messages.h"

bool word_list_split(const struct words *words, struct word_list *ret)
{
    for (size_t i = 0; i < words->n; i++) {
        for (const char *at = words->all[i]; at; at++) {
            size_t k = strcspn(at, ",");
            char **all = realloc(ret->all, (ret->n + 1) * sizeof *all);
            if (all)
                ret->all = all;
            if (!all || !(all[ret->n] = strndup(at, k))) {
                message_error("out of memory");
                return false;
            }
            ret->n++;
            at += k;
            if (!*at)
                break;
        }
    }
    return true;
}

void word_list_free(struct word_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->all[i]);
    free(list->all);
    *list = (struct word_list){ 0 };
}
