/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "core/base/near_word.h"
#include "option_values.h"
#include "show/messages.h"
#include "show/output.h"

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

/* Has the help without a verb this option? */
static bool is_usual(const struct option_row *row)
{
    static const char *const names[] = {
        "output", "match",   "where",  "collapse", "show",
        "limit",  "strings", "format", "help",     "version",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(row->name, names[i]))
            return true;
    }
    return false;
}

static void print_options(const struct verb *verb, bool usual)
{
    const struct option_row *row;
    char left[LEFT_MAX];
    int width = 0;
    struct option_cursor c = option_cursor(verb);
    while ((row = option_next(&c))) {
        int n = !usual || is_usual(row) ? name_option(row, left) : 0;
        width = n > width ? n : width;
    }
    c = option_cursor(verb);
    while ((row = option_next(&c))) {
        char letter[] = "    ";
        if (usual && !is_usual(row))
            continue;
        if (row->letter)
            snprintf(letter, sizeof letter, "-%c, ", row->letter);
        name_option(row, left);
        output_printf("  %s%-*s %s\n", letter, width, left, row->help);
    }
}

static void print_verbs(const struct verbs *verbs)
{
    int width = 0;
    for (size_t i = 0; i < verbs->n; i++) {
        int n = (int)strlen(verbs->all[i]->name);
        width = n > width ? n : width;
    }
    output_printf("Verbs:\n");
    for (size_t i = 0; i < verbs->n; i++) {
        output_printf("  %-*s %s\n", width, verbs->all[i]->name,
                      verbs->all[i]->help);
    }
}

void help_print(const struct verbs *verbs, const struct verb *verb)
{
    if (verb) {
        output_printf(
            "Usage: printfdecode %s [OPTION]...%s%s\n\n%s\n\nOptions:\n",
            verb->name, *verb->files ? " " : "", verb->files, verb->help);
        print_options(verb, false);
    } else {
        output_printf(
            "Usage: printfdecode [VERB] [OPTION]... FILE...\n\n"
            "Decodes GPU printf buffers. ELF files, archives of them and "
            "SPIR-V modules give\nthe format strings, every other file is a "
            "buffer, - is a buffer on standard input.\n\n");
        print_verbs(verbs);
        output_printf("\nOptions of 'decode', the default verb:\n");
        print_options(verbs->all[0], true);
    }
    if (verb && verb->statuses) {
        output_printf("\nExit status: %s.\n", verb->statuses);
        return;
    }
    output_printf(
        "\nExit status: 0 clean, 1 usage or input/output error, 2 findings "
        "in the data,\n3 nothing passes the filter, 4 --fail-on and its like.\n");
    if (!verb) {
        output_printf("'printfdecode help VERB' has all options of one verb; "
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
        { "view", "libncurses-dev", HAVE_VIEW },
        { "zstd", "libzstd-dev", true },
        { "yaml", "libyaml-dev", true },
    };
    enum {
        N_PARTS = sizeof parts / sizeof *parts
    };
    char with[OPTION_LIST] = "";
    output_printf("printfdecode %s\n", pfd_version());
    for (size_t i = 0; i < N_PARTS; i++) {
        if (parts[i].is_there)
            option_list(with, "", parts[i].name);
    }
    output_printf("with %s\n", with);
    for (size_t i = 0; i < N_PARTS; i++) {
        if (!parts[i].is_there)
            output_printf("without %s (%s)\n", parts[i].name, parts[i].package);
    }
}

/* ---- what may be meant ---- */

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

static bool has_option(const struct verb *verb, const char *name)
{
    struct option_cursor c = option_cursor(verb);
    const struct option_row *row = option_next(&c);
    while (row && strcmp(row->name, name) != 0)
        row = option_next(&c);
    return row;
}

static void list_aliases(const struct verb *verb, const char *given, char *near)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (pfd_word_is_near(given, aliases[i].word) &&
            has_option(verb, aliases[i].option))
            option_list(near, "", aliases[i].said);
    }
}

void help_near_options(const struct verbs *verbs, const struct verb *of,
                       const char *given)
{
    char near[OPTION_LIST] = "";
    char others[OPTION_LIST] = "";
    struct option_cursor c = option_cursor(of);
    const struct option_row *row;
    while ((row = option_next(&c))) {
        if (pfd_word_is_near(given, row->name))
            option_list(near, "--", row->name);
    }
    for (size_t i = 0; i < verbs->n; i++) {
        if (has_option(verbs->all[i], given))
            option_list(others, "", verbs->all[i]->name);
    }
    if (!*near)
        list_aliases(of, given, near);
    if (*near)
        message_hint("near to it: %s", near);
    if (*others)
        message_hint("--%s is for: %s", given, others);
}

void help_near_verbs(const struct verbs *verbs, const char *word)
{
    char near[OPTION_LIST] = "";
    for (size_t i = 0; i < verbs->n; i++) {
        const char *name = verbs->all[i]->name;
        if (!strcmp(word, name)) {
            message_hint("the verb comes first: printfdecode %s ...", word);
            return;
        }
        if (pfd_word_is_near(word, name))
            option_list(near, "", name);
    }
    if (*near)
        message_hint("'%s' is no file and no verb; near to it: %s", word, near);
}
