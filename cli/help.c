/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "option_values.h"
#include "show/messages.h"
#include "suggest.h"

enum {
    LEFT_MAX = 64, /* bytes of an option and its value's name */
};

/* Writes "--limit N" into left [LEFT_MAX]; returns its length. */
static int name_option(const struct option_row *r, char *left)
{
    bool has_value = r->argument && *r->argument;
    return snprintf(left, LEFT_MAX, "--%s%s%s", r->name, has_value ? " " : "",
                    has_value ? r->argument : "");
}

static void print_options(const struct option_table *t, unsigned verb)
{
    char left[LEFT_MAX];
    int width = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        int n = t->rows[i].verbs & verb ? name_option(&t->rows[i], left) : 0;
        width = n > width ? n : width;
    }
    printf("\nOptions:\n");
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct option_row *r = &t->rows[i];
        char letter[] = "    ";
        if (!(r->verbs & verb))
            continue;
        if (r->key < 256)
            snprintf(letter, sizeof letter, "-%c, ", r->key);
        name_option(r, left);
        printf("  %s%-*s %s\n", letter, width, left, r->help);
    }
}

static void print_verbs(const struct option_table *t)
{
    int width = 0;
    for (size_t i = 0; i < t->n_verbs; i++) {
        int n = (int)strlen(t->verbs[i].name);
        width = n > width ? n : width;
    }
    printf("Verbs:\n");
    for (size_t i = 0; i < t->n_verbs; i++) {
        printf("  %-*s %s\n", width, t->verbs[i].name, t->verbs[i].help);
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
               "buffer, - is a buffer on standard input.\n\n");
        print_verbs(t);
        print_options(t, UINT_MAX);
    }
    printf("\nExit status: 0 clean, 1 usage or input/output error, 2 findings "
           "in the data,\n3 nothing passes the filter.\n");
    if (!verb) {
        printf("'printfdecode help VERB' tells about one verb; "
               "see also printfdecode(1).\n");
    }
}

void help_version(void)
{
    static const struct {
        const char *name;
        const char *package; /* Debian package that installs it */
        bool is_there;
    } parts[] = {
        { "tls", "libssl-dev", HAVE_TLS },
        { "nats", "libnats-dev", HAVE_NATS },
        { "png", "libpng-dev", HAVE_PNG },
        { "sqlite", "libsqlite3-dev", HAVE_SQLITE },
        { "zstd", "libzstd-dev", true },
        { "yaml", "libyaml-dev", true },
    };
    enum {
        N_PARTS = sizeof parts / sizeof *parts
    };
    char with[OPTION_LIST] = "";
    printf("printfdecode %s\n", pfd_version());
    for (size_t i = 0; i < N_PARTS; i++) {
        if (parts[i].is_there)
            option_list(with, "", parts[i].name);
    }
    printf("with %s\n", with);
    for (size_t i = 0; i < N_PARTS; i++) {
        if (!parts[i].is_there)
            printf("without %s (%s)\n", parts[i].name, parts[i].package);
    }
}

/* Words of other programs, and the names of the same things here. */
static const struct alias {
    const char *word;
    const char *option;
    const char *said;
} aliases[] = {
    { "json", "output", "-o json" },  { "raw", "output", "-o raw" },
    { "grep", "match", "--match" },   { "regex", "match", "--match" },
    { "filter", "where", "--where" }, { "head", "limit", "--limit" },
    { "csv", "columns", "-o csv" },   { "max-count", "limit", "--limit" },
    { "colour", "color", "--color" },
};

static bool has_option(const struct option_table *t, unsigned verb,
                       const char *name)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        if (t->rows[i].verbs & verb && !strcmp(t->rows[i].name, name))
            return true;
    }
    return false;
}

static void list_aliases(const struct option_table *t, unsigned verb,
                         const char *given, char *near)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (suggest_is_near(given, aliases[i].word) &&
            has_option(t, verb, aliases[i].option))
            option_list(near, "", aliases[i].said);
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
        if (r->verbs & verb && suggest_is_near(given, r->name))
            option_list(near, "--", r->name);
        for (size_t v = 0; v < t->n_verbs && !strcmp(r->name, given); v++) {
            if (r->verbs >> v & 1)
                option_list(others, "", t->verbs[v].name);
        }
    }
    if (!*near)
        list_aliases(t, verb, given, near);
    if (*near)
        message_hint("near to it: %s", near);
    if (*others)
        message_hint("--%s is for: %s", given, others);
}

void help_near_verbs(const struct option_table *t, const char *word)
{
    char near[OPTION_LIST] = "";
    for (size_t i = 0; i < t->n_verbs; i++) {
        if (!strcmp(word, t->verbs[i].name)) {
            message_hint("the verb comes first: printfdecode %s ...", word);
            return;
        }
        if (suggest_is_near(word, t->verbs[i].name))
            option_list(near, "", t->verbs[i].name);
    }
    if (*near)
        message_hint("'%s' is no file and no verb; near to it: %s", word, near);
}
