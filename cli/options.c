/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <printfdecode/client.h>
#include <printfdecode/convert.h>

#include "help.h"
#include "option_values.h"
#include "show/messages.h"
#include "show/terminal.h"

enum {
    DECODE = 1,
    STRINGS = 2,
    INSPECT = 4,
    STATS = 8,
    FORMATS = 16,
    CHECK = 32,
    EXTRACT = 64,
    FOLLOW = 128,
    CAPTURE = 256,
    RECOVER = 512,
    SCAN = 1024,
    INFO = 2048,
    RUN = 4096,
    TABLE = 8192,
    PLOT = 16384,
    REPLAY = 32768,
    READS_BUFFERS =
        DECODE | INSPECT | STATS | FOLLOW | CAPTURE | RECOVER | TABLE | PLOT,
    SHOWS = DECODE | FOLLOW | RECOVER | REPLAY,
    FILTERS = SHOWS | STATS | CAPTURE | TABLE | PLOT,
    ALL = 65535,
    WRITES = CAPTURE | DECODE | EXTRACT | PLOT | SCAN | TABLE,
    LOADS_STRINGS = ALL & ~FORMATS & ~EXTRACT & ~SCAN & ~INFO & ~RUN & ~REPLAY,
};

static const struct verb verbs[] = {
    { "decode", "FILE...", "print what the buffers say (the default verb)",
      decode_run },
    { "strings", "FILE...", "list the format strings of ELF files and archives",
      strings_run },
    { "inspect", "BUFFER [FILE...]",
      "walk through a buffer dword by dword, annotated", inspect_run },
    { "stats", "BUFFER [FILE...]",
      "count entries and bytes for each format string", stats_run },
    { "formats", "", "list the buffer formats", formats_run },
    { "spirv-check", "FILE...",
      "say which debugPrintf calls the validation layer would refuse",
      spirv_check_run },
    { "extract", "FILE...", "write the code objects in files to a folder",
      extract_run },
    { "follow", "[BUFFER FILE... | SOCKET | ADDRESS | URL]",
      "print what a mapped buffer or a printfdecoded says", follow_run },
    { "capture", "BUFFER... FILE...",
      "pack buffers and format strings into one file", capture_run },
    { "recover", "FILE...", "find entries in any file: a core, a memory image",
      recover_run },
    { "scan", "FILE...",
      "rewrite PFD_PRINTF of GLSL and OpenCL C into code that prints",
      scan_run },
    { "info", "FILE...",
      "say what files are: cores, captures, dumps and others", info_run },
    { "run", "[--] PROGRAM [ARGUMENT...]",
      "run a program, and print what its buffers say meanwhile", run_run },
    { "table", "BUFFER [FILE...]",
      "arguments as columns: text, CSV, JSON, NumPy and others", table_run },
    { "plot", "heat|hist|scatter|line BUFFER [FILE...]",
      "arguments as a picture: a file, or on the terminal", plot_run },
    { "replay", "", "print what edges have sent to servers of NATS",
      replay_run },
};

static const char OPTIONAL[] = "";

static const struct option_row fixed_rows[] = {
    { "output", 'o', "FILE", CAPTURE, "the capture to write (- is stdout)" },
    { "output", 'o', "KIND",
      DECODE | STRINGS | INSPECT | STATS | FOLLOW | RECOVER | INFO | RUN |
          REPLAY,
      "text (default), json (one record a line); decode, follow, replay: raw, "
      "perfetto" },
    { "output", 'o', "FORM", TABLE,
      "text (default), csv, tsv, json (one object a line), npy (NumPy), "
      "arrow, sqlite" },
    { "output", 'o', "FORM", PLOT,
      "png, svg; on a terminal blocks, braille, sixel or kitty" },
    { "output", 'o', "OUT", SCAN,
      "the rewritten file (- is stdout); of several files, their folder" },
    { "strings", OPT_STRINGS_TO, "FILE", SCAN,
      "write the format strings to FILE, for 'printfdecode dump FILE'" },
    { "call", OPT_CALL, "NAME", SCAN,
      "NAME(...) prints, too, as printf or debugPrintfEXT; repeatable" },
    { "include", 'I', "FOLDER", SCAN,
      "look for included files there, too; repeatable" },
    { "language", OPT_LANGUAGE, "NAME", SCAN,
      "glsl or opencl (default: what each file's name ends in)" },
    { "set", OPT_SET, "N", SCAN,
      "GLSL: the buffer's descriptor set (default: 0)" },
    { "binding", OPT_BINDING, "N", SCAN, "GLSL: its binding (default: 0)" },
    { "subgroups", OPT_SUBGROUPS, NULL, SCAN,
      "one atomic for a subgroup; as defining PFD_SUBGROUPS does" },
    { "sites", OPT_SITES, NULL, SCAN,
      "strings say file, line and level; the next three do, too" },
    { "commit", OPT_COMMIT, NULL, SCAN,
      "each entry says itself whether it is whole" },
    { "origin", OPT_ORIGIN, NULL, SCAN,
      "each says its workgroup, wave and lane, or its pixel" },
    { "control", OPT_CONTROL, NULL, SCAN,
      "a second buffer says what may be printed" },
    { "vulkan-debug-printf", OPT_VULKAN_DEBUG_PRINTF, NULL, RUN,
      "Vulkan: what shaders print with debugPrintfEXT or printf" },
    { "vulkan-gpu-validation", OPT_VULKAN_GPU_VALIDATION, NULL, RUN,
      "Vulkan: errors that GPU-assisted validation finds in shaders" },
    { "buffer-bytes", OPT_BUFFER_BYTES, "BYTES", RUN,
      "what shaders of a draw or dispatch may print (default: 1 MiB)" },
    { "wide-atomics", OPT_WIDE_ATOMICS, NULL, SCAN,
      "GLSL: count in 64 bits; as defining PFD_WIDE_ATOMICS does" },
    { "strings", OPT_STRINGS, "FILE", LOADS_STRINGS,
      "read FILE as format strings, whatever it looks like" },
    { "describe", OPT_DESCRIBE, "FILE", LOADS_STRINGS,
      "read buffers of your own, as FILE (YAML) describes them" },
    { "buffer", OPT_BUFFER, "FILE", READS_BUFFERS,
      "read FILE as a buffer, whatever it looks like" },
    { "format", OPT_FORMAT, "NAME", READS_BUFFERS,
      "the buffers' format; see 'printfdecode formats'" },
    { "pid", OPT_PID, "PID", (READS_BUFFERS & ~RECOVER) | STRINGS,
      "read the memory of this process; without --address buffers are found" },
    { "core", OPT_CORE, "FILE", (READS_BUFFERS & ~RECOVER & ~FOLLOW) | STRINGS,
      "read the memory that a core has; without --address buffers are found" },
    { "code-objects", OPT_CODE_OBJECTS, NULL, DECODE,
      "list what code objects are in that memory; --to writes them" },
    { "scan", OPT_SCAN, NULL, (READS_BUFFERS & ~RECOVER) | STRINGS | EXTRACT,
      "also search all that memory, or files, for shaders and code objects" },
    { "address", OPT_ADDRESS, "A", READS_BUFFERS & ~RECOVER,
      "where a buffer begins in that memory" },
    { "size", OPT_SIZE, "BYTES", READS_BUFFERS & ~RECOVER,
      "of that buffer (default: up to the end of its mapping)" },
    { "shader", OPT_SHADER, "ID=FILE", LOADS_STRINGS,
      "the SPIR-V of the shader that records call ID; repeatable" },
    { "shaders", OPT_SHADERS, "FILE", LOADS_STRINGS,
      "the shaders of a JSON file: {\"shaders\": {\"ID\": {\"spv\": PATH}}}" },
    { "why", OPT_WHY, NULL, FORMATS,
      "list what no decoder can read instead, why, and what to use" },
    { "at", OPT_AT, "DWORD", INSPECT,
      "only what stands there: its entry and what is around it" },
    { "entry", OPT_ENTRY, "N", INSPECT, "only entry N, counted from 0" },
    { "match", 'm', "REGEX", FILTERS,
      "only messages that match (PCRE2); repeatable: any of them" },
    { "ignore-case", 'i', NULL, FILTERS, "patterns take a for A as well" },
    { "invert-match", OPT_INVERT_MATCH, NULL, FILTERS,
      "only messages that do not match" },
    { "where", OPT_WHERE, "EXPR", FILTERS,
      "only entries whose arguments fulfil it, as 't > 0.5 && lane == 3'" },
    { "id", OPT_ID, "ID", FILTERS,
      "only entries of this string id (hex); repeatable" },
    { "format-string", OPT_FORMAT_STRING, "REGEX", FILTERS,
      "only entries whose format string matches; repeatable" },
    { "source", OPT_SOURCE, "NAME", FILTERS,
      "only of the buffer with this name; repeatable" },
    { "count", 'c', NULL, DECODE, "say how many entries there are instead" },
    { "skip", OPT_SKIP, "N", DECODE | CAPTURE | TABLE | PLOT,
      "leave out the first N entries" },
    { "limit", 'n', "N", SHOWS | CAPTURE | TABLE | PLOT,
      "stop after N entries" },
    { "tail", OPT_TAIL, "N", DECODE | CAPTURE, "only the last N of them" },
    { "collapse", OPT_COLLAPSE, OPTIONAL, DECODE | FOLLOW | REPLAY,
      "one line for entries of a format string, with what varies in it; "
      "=equal: for equal messages only" },
    { "window", OPT_WINDOW, "N", DECODE | FOLLOW | REPLAY,
      "with --collapse: entries of a line are so far apart at most (default: 1000)" },
    { "context", 'C', "N", DECODE | CAPTURE,
      "and N entries before and after each" },
    { "threads", 'j', "N", DECODE | STATS | CAPTURE | TABLE | PLOT,
      "threads to work with (default: one per processor)" },
    { "to", OPT_TO, "FOLDER", EXTRACT | DECODE,
      "where to write; made if missing" },
    { "to", OPT_TO, "FILE", TABLE,
      "where to write; its name's end chooses the form (--all: a folder)" },
    { "all", OPT_ALL, NULL, TABLE,
      "a table for each format string, not of one only" },
    { "columns", OPT_COLUMNS, "NAMES", TABLE,
      "these columns, in this order; NAME=NEW renames; with commas between" },
    { "group-by", OPT_GROUP_BY, "NAMES", TABLE,
      "a row for all that have equal values in these columns" },
    { "agg", OPT_AGG, "WHAT", TABLE,
      "of the others: count, min, max, mean, std, p50, p99, nan, first, last "
      "(default: count,min,max,mean)" },
    { "sort", OPT_SORT, "NAME", STATS, "bytes (default), entries or id" },
    { "sort", OPT_SORT, "NAME", TABLE,
      "in the order of this column; -NAME: the greatest first" },
    { "top", OPT_TOP, "N", TABLE, "only N rows; of --sort NAME the greatest" },
    { "distinct", OPT_DISTINCT, "NAME", TABLE,
      "each value of this column, and how often it is there" },
    { "to", OPT_TO, "FILE", PLOT,
      "where to write; its name's end chooses the form" },
    { "x", OPT_X, "COLUMN", PLOT,
      "by its name or number: across (line: index, where it is not said)" },
    { "y", OPT_Y, "COLUMN", PLOT, "up; of heat pictures down, as in images" },
    { "value", OPT_VALUE, "COLUMN", PLOT,
      "heat: what is coloured (default: how many entries there are)" },
    { "by", OPT_BY, "COLUMN", PLOT, "a panel for each of its values" },
    { "reduce", OPT_REDUCE, "HOW", PLOT,
      "several values of a cell: last (default), first, count, sum, min, max, "
      "mean, nan (how many are)" },
    { "scale", OPT_SCALE, "HOW", PLOT,
      "linear (default), log, or equal: each colour for as many cells" },
    { "x-range", OPT_X_RANGE, "A:B", PLOT,
      "only from A to B (default: as wide as it comes)" },
    { "y-range", OPT_Y_RANGE, "A:B", PLOT, "likewise" },
    { "range", OPT_RANGE, "A:B", PLOT,
      "what the first and the last colour stand for; either may be missing" },
    { "cells", OPT_CELLS, "N", PLOT, "no more than N in a row or column" },
    { "pixel", OPT_PIXEL, "N", PLOT, "a cell is N pixels wide and high" },
    { "bare", OPT_BARE, NULL, PLOT,
      "heat: the file is the cells themselves, one pixel each" },
    { "map", OPT_MAP, "NAME", PLOT,
      "colours: tide (default), ember, grey, balance" },
    { "dark", OPT_DARK, NULL, PLOT, "on black" },
    { "live", OPT_LIVE, OPTIONAL, PLOT,
      "follow the files, and draw it again N times a second at most (=N)" },
    { "force", OPT_FORCE, NULL, WRITES, "overwrite files that are there" },
    { "max-inflated", OPT_MAX_INFLATED, "BYTES",
      ALL & ~FORMATS & ~CHECK & ~SCAN & ~RUN & ~REPLAY,
      "what a compressed file or bundle may have (default: 1 GiB)" },
    { "with-filename", OPT_WITH_FILENAME, NULL, DECODE | INSPECT,
      "text: say each buffer's name (default: of several buffers)" },
    { "no-filename", OPT_NO_FILENAME, NULL, DECODE | INSPECT, "never" },
    { "keep-going", OPT_KEEP_GOING, NULL,
      DECODE | INSPECT | STATS | TABLE | PLOT,
      "decode the rest although a file cannot be read" },
    { "entries", OPT_ENTRIES, NULL, CAPTURE,
      "decoded entries instead of the buffers' bytes; filters imply it" },
    { "label", OPT_LABEL, "KEY=VALUE", CAPTURE,
      "say this of the buffers; repeatable" },
    { "until-idle", OPT_UNTIL_IDLE, "SECONDS", FOLLOW | PLOT,
      "end when nothing has come for so long" },
    { "settle", OPT_SETTLE, "MS", FOLLOW | PLOT,
      "give up what stays unwritten for so long (default: 100)" },
    { "from", OPT_FROM, "WHERE", FOLLOW | PLOT,
      "of a daemon: oldest, a sequence number or a time" },
    { "ack", OPT_ACK, NULL, FOLLOW,
      "tell a daemon which entries are written, for a required output" },
    { "findings", OPT_FINDINGS, "WHETHER", FOLLOW | PLOT | REPLAY,
      "of a daemon or NATS: yes (default), or no: messages only" },
    { "tls-ca", OPT_TLS_CA, "FILE", FOLLOW | PLOT | REPLAY,
      "the authority that signs daemons (default: the system's)" },
    { "tls-certificate", OPT_TLS_CERTIFICATE, "FILE", FOLLOW | PLOT | REPLAY,
      "our certificate for a daemon, and those that lead to its authority" },
    { "tls-key", OPT_TLS_KEY, "FILE", FOLLOW | PLOT | REPLAY,
      "its key, without passphrase" },
    { "tls-name", OPT_TLS_NAME, "NAME", FOLLOW | PLOT | REPLAY,
      "what the daemon's certificate is for (default: HOST)" },
    { "nats", OPT_NATS, "URL", FOLLOW | REPLAY,
      "of servers that edges send to: nats://HOST:PORT, tls://HOST:PORT" },
    { "since", OPT_SINCE, "WHEN", FOLLOW | REPLAY,
      "of NATS: what is not older, as 10m, 2h, or a time" },
    { "credentials", OPT_CREDENTIALS, "FILE", FOLLOW | REPLAY,
      "who we are for NATS, as nsc writes it" },
    { "user", OPT_USER, "NAME", FOLLOW | REPLAY, "likewise, by name" },
    { "password-file", OPT_PASSWORD_FILE, "FILE", FOLLOW | REPLAY,
      "with this password" },
    { "color", OPT_COLOR, "WHEN", ALL & ~FORMATS,
      "auto (default), always or never; NO_COLOR is honoured" },
    { "progress", OPT_PROGRESS, "WHEN", DECODE | STATS | CAPTURE | TABLE | PLOT,
      "auto (default), always or never: a line on stderr" },
    { "show", OPT_SHOW, "WHAT", SHOWS,
      "before each line: time, source, line (of the program), lane, id, "
      "findings; unknown: all entries of unknown ids; all; with commas" },
    { "fields", OPT_FIELDS, OPTIONAL, SHOWS,
      "JSON: arguments by their names, too (default: on a terminal); =never" },
    { "links", OPT_LINKS, "WHEN", SHOWS,
      "names of source files lead there: auto (default), always or never" },
    { "verbose", 'v', NULL, ALL & ~FORMATS,
      "also say notes, and the summary even when all is well" },
    { "help", 'h', NULL, ALL, "print this" },
    { "version", 'V', NULL, ALL,
      "print the version, and what it was built with" },
};

enum {
    N_VERBS = sizeof verbs / sizeof *verbs,
    N_FIXED_ROWS = sizeof fixed_rows / sizeof *fixed_rows,
    ROWS_MAX = N_FIXED_ROWS + OPT_DECODING_MAX,
};

/* Fixed options, then options of the formats behind --shaders. */
static struct option_row rows[ROWS_MAX];
static size_t n_rows;

static struct option_table all_options(void)
{
    return (struct option_table){ verbs, N_VERBS, rows, n_rows };
}

static void add_decoding_rows(void)
{
    struct pfd_option_info info;
    for (size_t i = 0;
         i < OPT_DECODING_MAX && pfd_option_get(i, &info) == PFD_OK; i++) {
        unsigned not_by = info.of_text ? CAPTURE | RECOVER : RECOVER;
        rows[n_rows++] = (struct option_row){
            .name = info.name,
            .key = OPT_DECODING + (int)i,
            .argument = info.value,
            .verbs = READS_BUFFERS & ~not_by,
            .help = info.help,
        };
    }
}

static void make_rows(void)
{
    n_rows = 0;
    for (size_t i = 0; i < N_FIXED_ROWS; i++) {
        rows[n_rows++] = fixed_rows[i];
        if (fixed_rows[i].key == OPT_SHADERS)
            add_decoding_rows();
    }
}

/* The option that getopt rejected, as the user typed it. */
static bool wrong_option(const struct verb *verb, int key, const char *last)
{
    char letter[] = { '-', (char)optopt, '\0' };
    char name[64];
    if (key == ':')
        return option_wrong("a value is missing after", last);
    const struct option_table t = all_options();
    bool is_letter = optopt > 0 && optopt < 256;
    message_error(
        "unknown or ambiguous option for '%s': '%s'; see 'printfdecode "
        "help %s'",
        verb->name, is_letter ? letter : last, verb->name);
    if (!is_letter && !strncmp(last, "--", 2)) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(last + 2, "="),
                 last + 2);
        help_near_options(&t, verb, name);
    }
    return false;
}

/* Fills the tables for getopt with the options of this verb only. */
static void make_getopt(unsigned verb, struct option *longs, char *shorts)
{
    if (verb == RUN)
        *shorts++ = '+'; /* stop at the program: its options are its own */
    *shorts++ = ':';
    for (size_t i = 0; i < n_rows; i++) {
        const struct option_row *r = &rows[i];
        if (!(r->verbs & verb))
            continue;
        *longs++ =
            (struct option){ r->name,
                             !r->argument              ? no_argument
                             : r->argument == OPTIONAL ? optional_argument
                                                       : required_argument,
                             NULL, r->key };
        if (r->key >= 256)
            continue;
        *shorts++ = (char)r->key;
        if (r->argument)
            *shorts++ = ':';
    }
    *longs = (struct option){ NULL, 0, NULL, 0 };
    *shorts = '\0';
}

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < N_VERBS; i++) {
        if (!strcmp(verbs[i].name, name))
            return &verbs[i];
    }
    return NULL;
}

static void add_operand(struct options *o, const char *path, bool named_verb)
{
    if (o->verb->run == run_run) {
        options_add_file(o, path, ROLE_ARGUMENT);
        return;
    }
    const struct option_table t = all_options();
    if (!named_verb && access(path, F_OK))
        help_near_verbs(&t, path);
    options_add_file(o, path,
                     strcmp(path, "-") ? ROLE_BY_CONTENT : ROLE_BUFFER);
}

static bool read_options(struct options *o, int argc, char **argv,
                         bool *named_verb, int *status)
{
    struct option longs[ROWS_MAX + 1];
    char shorts[2 * ROWS_MAX + 3];
    int key;

    make_getopt(1u << (o->verb - verbs), longs, shorts);
    opterr = 0;
    optind = 1;
    while ((key = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        if (key == 'h') {
            const struct option_table t = all_options();
            help_print(&t, *named_verb ? o->verb : NULL);
            return false;
        }
        if (key == 'V') {
            help_version();
            return false;
        }
        *status = EXIT_ERROR;
        if (key == '?' || key == ':')
            return wrong_option(o->verb, key, argv[optind - 1]);
        if (!option_set(o, key, optarg))
            return false;
        *status = EXIT_CLEAN;
    }
    for (int i = optind; i < argc; i++)
        add_operand(o, argv[i], *named_verb);
    return true;
}

/* Handles "help" and "help VERB", unless a file has that name. */
static bool is_help(int argc, char **argv, int *status)
{
    if (argc < 2 || argc > 3 || strcmp(argv[1], "help") != 0 ||
        !access("help", F_OK))
        return false;
    const struct option_table t = all_options();
    const struct verb *verb = argc == 3 ? find_verb(argv[2]) : NULL;
    *status = EXIT_CLEAN;
    if (argc == 2 || verb) {
        help_print(&t, verb);
        return true;
    }
    message_error("no verb is called '%s'; see 'printfdecode help'", argv[2]);
    help_near_verbs(&t, argv[2]);
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
static bool options_check_memory(const struct options *o)
{
    const char *what = o->code_objects ? "--code-objects"
                       : o->size       ? "--size"
                                       : "--address";
    bool any = o->has_address || o->size || o->code_objects;
    if (!options_have_memory(o) && any) {
        message_error("%s is for the memory of a process or a core: --pid or "
                      "--core is missing",
                      what);
        return false;
    }
    if (o->pid && o->core) {
        message_error("one of --pid and --core is enough");
        return false;
    }
    if (o->size && !o->has_address) {
        message_error("where in that memory? --address is missing");
        return false;
    }
    if ((o->to || o->force) && o->verb->run == decode_run && !o->code_objects) {
        message_error("--to and --force are for --code-objects");
        return false;
    }
    return true;
}

/* --tail and --limit choose opposite ends. */
static bool options_check_ends(const struct options *o)
{
    if (o->tail && o->limit != UINT64_MAX) {
        message_error(
            "--tail has the last entries, --limit the first: one of them "
            "is enough");
        return false;
    }
    return true;
}

bool options_read(struct options *ret, int argc, char **argv, int *status)
{
    const struct verb *verb = argc > 1 ? find_verb(argv[1]) : NULL;
    bool named = verb != NULL;
    *ret = (struct options){
        .verb = named ? verb : &verbs[0],
        .limit = UINT64_MAX,
    };
    *status = EXIT_CLEAN;
    make_rows();
    if (is_help(argc, argv, status))
        return false;
    if (named) {
        argv++;
        argc--;
    }
    if (!read_options(ret, argc, argv, &named, status))
        return false;
    if (!options_check_memory(ret) || !options_check_ends(ret)) {
        *status = EXIT_ERROR;
        return false;
    }
    bool none =
        ret->n_files == 0 && !options_have_memory(ret) && !ret->nats.url;
    if (none && verb && verb->run == follow_run) {
        add_default_daemon(ret);
        none = ret->n_files == 0;
    }
    if (none && *ret->verb->files) {
        message_error("no file is given; see 'printfdecode --help'");
        *status = EXIT_ERROR;
        return false;
    }
    if (ret->n_files && !*ret->verb->files) {
        message_error("'%s' takes no files", ret->verb->name);
        *status = EXIT_ERROR;
        return false;
    }
    return true;
}

void options_free(struct options *options)
{
    free(options->matches.all);
    free(options->format_strings.all);
    free(options->sources.all);
    free(options->calls.all);
    free(options->include_folders.all);
    free(options->columns.all);
    free(options->group_by.all);
    free(options->aggregates.all);
    for (size_t i = 0; i < options->n_files; i++) {
        free(options->files[i].found);
        free(options->files[i].beside);
    }
    free(options->files);
    free(options->ids);
    free(options->labels);
}

bool options_have_memory(const struct options *options)
{
    return options->pid != 0 || options->core;
}

bool options_have_tls(const struct options *options)
{
    const struct tls_config *tls = &options->tls;
    return tls->authority || tls->certificate || tls->key || tls->name;
}

bool options_have_nats(const struct options *options)
{
    return options->nats.has_since || options->nats.credentials ||
           options->nats.user || options->nats.password_file;
}

bool options_have_daemon(const struct options *options)
{
    return options->from || options->ack || options->no_findings ||
           options_have_tls(options);
}

bool options_color(const struct options *options, int fd)
{
    const char *no = getenv("NO_COLOR");
    if (options->color != WHEN_AUTO)
        return options->color == WHEN_ALWAYS;
    return !(no && *no) && isatty(fd);
}

bool options_names(const struct options *options, size_t n_buffers)
{
    return !options->no_filename && (options->with_filename || n_buffers > 1);
}

bool options_finding_marks(const struct options *options)
{
    return options->show & (SHOW_FINDINGS | SHOW_ALL) || isatty(STDOUT_FILENO);
}

unsigned options_show(const struct options *options)
{
    static const struct {
        unsigned said;
        unsigned shown;
    } all[] = { { SHOW_TIME, PFD_SHOW_TIME }, { SHOW_SOURCE, PFD_SHOW_SOURCE },
                { SHOW_LINE, PFD_SHOW_LINE }, { SHOW_LANE, PFD_SHOW_LANE },
                { SHOW_ID, PFD_SHOW_ID },     { 0, PFD_SHOW_ORIGIN } };
    unsigned ret = options->verbose ? PFD_SHOW_ORIGIN : 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (options->show & (all[i].said | SHOW_ALL))
            ret |= all[i].shown;
    }
    return ret;
}

const char *options_links(const struct options *options)
{
    bool is_wanted = options->links == WHEN_AUTO
                         ? terminal_can_link()
                         : options->links == WHEN_ALWAYS;
    return is_wanted ? terminal_folder_url() : NULL;
}

bool options_fields(const struct options *options)
{
    return options->fields == WHEN_ALWAYS ||
           (options->fields == WHEN_AUTO && isatty(STDOUT_FILENO));
}

bool options_show_json(const struct options *options)
{
    return options->output && !strcmp(options->output, "json") &&
           isatty(STDOUT_FILENO);
}

bool options_inline_findings(const struct options *options)
{
    bool is_text = !options->output || !strcmp(options->output, "text");
    return is_text && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
}

bool options_follow(const struct options *options)
{
    return options->verb->run == follow_run || options->live;
}
