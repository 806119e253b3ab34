/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "nearest.h"
#include "option_values.h"
#include "tell.h"

static void print_options(const struct option_table *t, unsigned verb)
{
    printf("\nOptions:\n");
    for (size_t i = 0; i < t->n_rows; i++) {
        char left[40];
        const struct option_row *r = &t->rows[i];
        if (!(r->verbs & verb))
            continue;
        snprintf(left, sizeof left, "--%s%s%s", r->name,
                 r->argument && *r->argument ? " " : "",
                 r->argument ? r->argument : "");
        if (r->key < 256) {
            printf("  -%c, %-18s %s\n", r->key, left, r->help);
        } else {
            printf("      %-18s %s\n", left, r->help);
        }
    }
}

void help_print(const struct option_table *t, const struct verb *verb)
{
    if (verb) {
        printf("Usage: printfdecode %s [OPTION]...%s%s\n\n%s\n", verb->name,
               *verb->files ? " " : "", verb->files, verb->help);
        print_options(t, 1u << (verb - t->verbs));
    } else {
        printf("Usage: printfdecode [VERB] [OPTION]... FILE...\n\n"
               "Decodes GPU printf buffers. ELF files, archives of them and "
               "SPIR-V modules give\nthe format strings, every other file is a "
               "buffer, - is a buffer on standard input.\n\nVerbs:\n");
        for (size_t i = 0; i < t->n_verbs; i++)
            printf("  %-10s %s\n", t->verbs[i].name, t->verbs[i].help);
        print_options(t, UINT_MAX);
    }
    printf("\nExit status: 0 clean, 1 usage or input/output error, 2 findings "
           "in the data,\n3 nothing passes the filter.\n");
    if (!verb) {
        printf("'printfdecode help VERB' tells about one verb; "
               "see also printfdecode(1).\n");
    }
}

void help_near_options(const struct option_table *t, const struct verb *of,
                       const char *given)
{
    unsigned verb = 1u << (of - t->verbs);
    char near[OPTION_LIST] = "";
    char others[OPTION_LIST] = "";
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct option_row *r = &t->rows[i];
        if (r->verbs & verb && nearest_is_near(given, r->name))
            option_list(near, "--", r->name);
        for (size_t v = 0; v < t->n_verbs && !strcmp(r->name, given); v++) {
            if (r->verbs >> v & 1)
                option_list(others, "", t->verbs[v].name);
        }
    }
    if (*near)
        tell_hint("near to it: %s", near);
    if (*others)
        tell_hint("--%s is for: %s", given, others);
}

void help_near_verbs(const struct option_table *t, const char *word)
{
    char near[OPTION_LIST] = "";
    for (size_t i = 0; i < t->n_verbs; i++) {
        if (!strcmp(word, t->verbs[i].name)) {
            tell_hint("the verb comes first: printfdecode %s ...", word);
            return;
        }
        if (nearest_is_near(word, t->verbs[i].name))
            option_list(near, "", t->verbs[i].name);
    }
    if (*near)
        tell_hint("'%s' is no file and no verb; near to it: %s", word, near);
}
