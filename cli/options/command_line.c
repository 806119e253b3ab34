/* SPDX-License-Identifier: MIT */
#include "command_line.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <printfdecode/client.h>

#include "help.h"
#include "option_groups.h"
#include "option_values.h"
#include "show/messages.h"

enum {
    KEY_ROW = 256, /* key of an option without a letter: its number beyond */
    ROWS_MAX = 160,
};

/* The rows of a verb in order, and how getopt has them. */
struct parser {
    const struct verbs *verbs;
    const struct verb *verb;
    bool is_named; /* the verb stands on the command line */
    const struct option_row *rows[ROWS_MAX]; /* [n] */
    size_t n;
    struct option longs[ROWS_MAX + 1];
    char shorts[2 * ROWS_MAX + 3];
};

static void collect_rows(struct parser *p)
{
    const struct option_row *row;
    struct option_cursor c = option_cursor(p->verb);
    while (p->n < ROWS_MAX && (row = option_next(&c)))
        p->rows[p->n++] = row;
}

/* The option that getopt rejected, as the user typed it. */
static bool wrong_option(const struct parser *p, int key, const char *last)
{
    const struct verb *verb = p->verb;
    char letter[] = { '-', (char)optopt, '\0' };
    char name[64];
    if (key == ':')
        return option_wrong("a value is missing after", last);
    bool is_letter = optopt > 0 && optopt < KEY_ROW;
    message_error(
        "unknown or ambiguous option for '%s': '%s'; see 'printfdecode "
        "help %s'",
        verb->name, is_letter ? letter : last, verb->name);
    if (!is_letter && !strncmp(last, "--", 2)) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(last + 2, "="),
                 last + 2);
        help_near_options(p->verbs, verb, name);
    }
    return false;
}

/* Fills the tables for getopt with the options of this verb only. */
static void make_getopt(struct parser *p)
{
    char *shorts = p->shorts;
    if (p->verb->runs_program)
        *shorts++ = '+'; /* stop at the program: its options are its own */
    *shorts++ = ':';
    for (size_t i = 0; i < p->n; i++) {
        const struct option_row *r = p->rows[i];
        p->longs[i] = (struct option){
            .name = r->name,
            .has_arg = !r->argument    ? no_argument
                       : !*r->argument ? optional_argument
                                       : required_argument,
            .val = r->letter ? r->letter : KEY_ROW + (int)i,
        };
        if (!r->letter)
            continue;
        *shorts++ = r->letter;
        if (r->argument)
            *shorts++ = ':';
    }
    p->longs[p->n] = (struct option){ 0 };
    *shorts = '\0';
}

static const struct option_row *find_row(const struct parser *p, int key)
{
    const struct option_row *ret =
        key >= KEY_ROW ? p->rows[key - KEY_ROW] : NULL;
    for (size_t i = 0; !ret && i < p->n; i++)
        ret = p->rows[i]->letter == key ? p->rows[i] : NULL;
    return ret;
}

static const struct verb *find_verb(const struct verbs *verbs, const char *name)
{
    for (size_t i = 0; i < verbs->n; i++) {
        if (!strcmp(verbs->all[i]->name, name))
            return verbs->all[i];
    }
    return NULL;
}

static void add_operand(const struct parser *p, struct options *o,
                        const char *path)
{
    if (p->verb->runs_program) {
        options_add_file(o, path, ROLE_ARGUMENT);
        return;
    }
    if (!p->is_named && access(path, F_OK))
        help_near_verbs(p->verbs, path);
    options_add_file(o, path,
                     strcmp(path, "-") ? ROLE_BY_CONTENT : ROLE_BUFFER);
}

static bool read_options(struct parser *p, struct options *o, int argc,
                         char **argv, int *status)
{
    int key;
    collect_rows(p);
    make_getopt(p);
    opterr = 0;
    optind = 1;
    while ((key = getopt_long(argc, argv, p->shorts, p->longs, NULL)) != -1) {
        if (key == 'h') {
            help_print(p->verbs, p->is_named ? p->verb : NULL);
            return false;
        }
        if (key == 'V') {
            help_version();
            return false;
        }
        *status = error_status();
        if (key == '?' || key == ':')
            return wrong_option(p, key, argv[optind - 1]);
        const struct option_row *row = find_row(p, key);
        if (!row || !row->parse || !row->parse(o, row, optarg))
            return false;
        *status = EXIT_CLEAN;
    }
    for (int i = optind; i < argc; i++)
        add_operand(p, o, argv[i]);
    return true;
}

/* Handles "help" and "help VERB", unless a file has that name. */
static bool is_help(const struct verbs *verbs, int argc, char **argv,
                    int *status)
{
    if (argc < 2 || argc > 3 || strcmp(argv[1], "help") != 0 ||
        !access("help", F_OK))
        return false;
    const struct verb *verb = argc == 3 ? find_verb(verbs, argv[2]) : NULL;
    *status = EXIT_CLEAN;
    if (argc == 2 || verb) {
        help_print(verbs, verb);
        return true;
    }
    message_error("no verb is called '%s'; see 'printfdecode help'", argv[2]);
    help_near_verbs(verbs, argv[2]);
    *status = EXIT_ERROR;
    return true;
}

/* The socket of a printfdecoded without a configuration. */
static void add_default_daemon(struct options *o)
{
    static char address[256];
    char folder[sizeof address - sizeof "unix:/lines.sock"];
    if (!pfd_client_default_dir(folder, sizeof folder))
        return;
    snprintf(address, sizeof address, "unix:%s/lines.sock", folder);
    options_add_file(o, address, ROLE_BY_CONTENT);
    o->is_default_daemon = true;
}

/* Checks that options about memory fit together. */
static bool check_memory(const struct options *o)
{
    const char *what = o->memory.code_objects ? "--code-objects"
                       : o->memory.size       ? "--size"
                                              : "--address";
    bool any =
        o->memory.has_address || o->memory.size || o->memory.code_objects;
    if (!options_have_memory(o) && any) {
        message_error("%s is for the memory of a process or a core: --pid or "
                      "--core is missing",
                      what);
        return false;
    }
    if (o->memory.pid && o->memory.core) {
        message_error("one of --pid and --core is enough");
        return false;
    }
    if (o->memory.size && !o->memory.has_address) {
        message_error("where in that memory? --address is missing");
        return false;
    }
    return true;
}

/* --tail and --limit choose opposite ends. */
static bool check_ends(const struct options *o)
{
    if (o->range.tail && o->range.limit != UINT64_MAX) {
        message_error(
            "--tail has the last entries, --limit the first: one of them "
            "is enough");
        return false;
    }
    return true;
}

/* Checks that there are files where the verb takes some. */
static bool check_files(struct options *o, bool is_named)
{
    const struct verb *verb = o->verb;
    bool none = o->n_files == 0 && !options_have_memory(o) && !o->nats.url;
    if (none && is_named && verb->follows) {
        add_default_daemon(o);
        none = o->n_files == 0;
    }
    if (none && *verb->files && !verb->may_lack_files) {
        message_error("no file is given; see 'printfdecode --help'");
        return false;
    }
    if (o->n_files && !*verb->files) {
        message_error("'%s' takes no files", verb->name);
        return false;
    }
    return true;
}

static struct options *new_options(const struct verb *verb)
{
    struct options *ret = calloc(1, verb->size ? verb->size : sizeof *ret);
    if (!ret) {
        message_error("out of memory");
        exit(error_status());
    }
    ret->verb = verb;
    ret->follows = verb->follows;
    ret->range.limit = UINT64_MAX;
    return ret;
}

struct options *command_line_read(const struct verbs *verbs, int argc,
                                  char **argv, int *status)
{
    const struct verb *verb = argc > 1 ? find_verb(verbs, argv[1]) : NULL;
    struct parser p = {
        .verbs = verbs,
        .verb = verb ? verb : verbs->all[0],
        .is_named = verb != NULL,
    };
    *status = EXIT_CLEAN;
    error_status_set(p.verb);
    options_make_decoding();
    if (is_help(verbs, argc, argv, status))
        return NULL;
    struct options *ret = new_options(p.verb);
    if (verb) {
        argv++;
        argc--;
    }
    bool ok = read_options(&p, ret, argc, argv, status);
    if (ok && !(check_memory(ret) && check_ends(ret) &&
                (!p.verb->check || p.verb->check(ret)) &&
                check_files(ret, p.is_named))) {
        *status = error_status();
        ok = false;
    }
    if (ok)
        return ret;
    options_free(ret);
    return NULL;
}
