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

#include "nearest.h"
#include "tell.h"

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
    READS_BUFFERS = DECODE | INSPECT | STATS | FOLLOW | CAPTURE | RECOVER,
    SHOWS = DECODE | FOLLOW | RECOVER,
    FILTERS = SHOWS | STATS,
    ALL = 1023,
};

/* Letters where there is a short form; numbers above them otherwise. */
enum {
    OPT_STRINGS = 256,
    OPT_BUFFER,
    OPT_FORMAT,
    OPT_ID,
    OPT_INVERT_MATCH,
    OPT_FORMAT_STRING,
    OPT_SOURCE,
    OPT_WHERE,
    OPT_SKIP,
    OPT_LIMIT,
    OPT_COLOR,
    OPT_PROGRESS,
    OPT_SHOW,
    OPT_SHADER,
    OPT_SHADERS,
    OPT_LAYOUT,
    OPT_COMPAT,
    OPT_OPENCL_STRINGS,
    OPT_TO,
    OPT_FORCE,
    OPT_KEEP_GOING,
    OPT_WITH_FILENAME,
    OPT_NO_FILENAME,
    OPT_MAX_INFLATED,
    OPT_LABEL,
    OPT_UNTIL_IDLE,
    OPT_SETTLE,
    OPT_FROM,
    OPT_ACK,
    OPT_FINDINGS,
    OPT_AT,
    OPT_ENTRY,
    OPT_TLS_CA,
    OPT_TLS_CERTIFICATE,
    OPT_TLS_KEY,
    OPT_TLS_NAME,
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
};

static const struct option_row {
    const char *name;
    int key;
    const char *argument; /* NULL: takes none */
    unsigned verbs;
    const char *help;
} rows[] = {
    { "output", 'o', "FILE", CAPTURE, "the capture to write (- is stdout)" },
    { "output", 'o', "KIND",
      DECODE | STRINGS | INSPECT | STATS | FOLLOW | RECOVER,
      "text (default), json (one record a line); decode, follow: raw" },
    { "strings", OPT_STRINGS, "FILE", ALL & ~FORMATS & ~EXTRACT,
      "read FILE as format strings, whatever it looks like" },
    { "buffer", OPT_BUFFER, "FILE", READS_BUFFERS,
      "read FILE as a buffer, whatever it looks like" },
    { "format", OPT_FORMAT, "NAME", READS_BUFFERS,
      "the buffers' format; see 'printfdecode formats'" },
    { "shader", OPT_SHADER, "ID=FILE", ALL & ~FORMATS & ~EXTRACT,
      "the SPIR-V of the shader that records call ID; repeatable" },
    { "shaders", OPT_SHADERS, "FILE", ALL & ~FORMATS & ~EXTRACT,
      "the shaders of a JSON file: {\"shaders\": {\"ID\": {\"spv\": PATH}}}" },
    { "layout", OPT_LAYOUT, "NAME", READS_BUFFERS & ~CAPTURE & ~RECOVER,
      "of debugprintf buffers: auto (default), p1 to p6" },
    { "compat", OPT_COMPAT, "WHO", READS_BUFFERS & ~CAPTURE & ~RECOVER,
      "print as another decoder does: none (default), clr or khronos" },
    { "opencl-strings", OPT_OPENCL_STRINGS, "AGE",
      READS_BUFFERS & ~CAPTURE & ~RECOVER,
      "how OpenCL's %s is stored: auto (default), old or new" },
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
    { "skip", OPT_SKIP, "N", DECODE, "leave out the first N entries" },
    { "limit", 'n', "N", SHOWS, "stop after N entries" },
    { "threads", 'j', "N", DECODE | STATS,
      "threads to work with (default: one per processor)" },
    { "to", OPT_TO, "FOLDER", EXTRACT, "where to write; made if missing" },
    { "force", OPT_FORCE, NULL, EXTRACT, "overwrite files that are there" },
    { "max-inflated", OPT_MAX_INFLATED, "BYTES", ALL & ~FORMATS & ~CHECK,
      "what a compressed file or bundle may have (default: 1 GiB)" },
    { "with-filename", OPT_WITH_FILENAME, NULL, DECODE | INSPECT,
      "text: say each buffer's name (default: of several buffers)" },
    { "no-filename", OPT_NO_FILENAME, NULL, DECODE | INSPECT, "never" },
    { "keep-going", OPT_KEEP_GOING, NULL, DECODE | INSPECT | STATS,
      "decode the rest although a file cannot be read" },
    { "label", OPT_LABEL, "KEY=VALUE", CAPTURE,
      "say this of the buffers; repeatable" },
    { "until-idle", OPT_UNTIL_IDLE, "SECONDS", FOLLOW,
      "end when nothing has come for so long" },
    { "settle", OPT_SETTLE, "MS", FOLLOW,
      "give up what stays unwritten for so long (default: 100)" },
    { "from", OPT_FROM, "WHERE", FOLLOW,
      "of a daemon: oldest, a sequence number or a time" },
    { "ack", OPT_ACK, NULL, FOLLOW,
      "tell a daemon which lines are written, for a required output" },
    { "findings", OPT_FINDINGS, "WHETHER", FOLLOW,
      "of a daemon: yes (default), or no: messages only" },
    { "tls-ca", OPT_TLS_CA, "FILE", FOLLOW,
      "the authority that signs daemons (default: the system's)" },
    { "tls-certificate", OPT_TLS_CERTIFICATE, "FILE", FOLLOW,
      "our certificate for a daemon, and those that lead to its authority" },
    { "tls-key", OPT_TLS_KEY, "FILE", FOLLOW, "its key, without passphrase" },
    { "tls-name", OPT_TLS_NAME, "NAME", FOLLOW,
      "what the daemon's certificate is for (default: HOST)" },
    { "color", OPT_COLOR, "WHEN", ALL & ~FORMATS,
      "auto (default), always or never; NO_COLOR is honoured" },
    { "progress", OPT_PROGRESS, "WHEN", DECODE | STATS,
      "auto (default), always or never: a line on stderr" },
    { "show", OPT_SHOW, "WHAT", SHOWS,
      "findings: before each line what is doubtful about it; unknown: all "
      "entries of unknown ids; with commas between them" },
    { "verbose", 'v', NULL, ALL & ~FORMATS,
      "also say notes, and the summary even when all is well" },
    { "help", 'h', NULL, ALL, "print this" },
    { "version", 'V', NULL, ALL,
      "print the version, and what it was built with" },
};

enum {
    N_VERBS = sizeof verbs / sizeof *verbs,
    N_ROWS = sizeof rows / sizeof *rows,
};

static void print_options(unsigned verb)
{
    printf("\nOptions:\n");
    for (size_t i = 0; i < N_ROWS; i++) {
        char left[40];
        const struct option_row *r = &rows[i];
        if (!(r->verbs & verb))
            continue;
        snprintf(left, sizeof left, "--%s%s%s", r->name, r->argument ? " " : "",
                 r->argument ? r->argument : "");
        if (r->key < 256) {
            printf("  -%c, %-18s %s\n", r->key, left, r->help);
        } else {
            printf("      %-18s %s\n", left, r->help);
        }
    }
}

static void print_help(const struct verb *verb)
{
    if (verb) {
        printf("Usage: printfdecode %s [OPTION]...%s%s\n\n%s\n", verb->name,
               *verb->files ? " " : "", verb->files, verb->help);
        print_options(1u << (verb - verbs));
    } else {
        printf("Usage: printfdecode [VERB] [OPTION]... FILE...\n\n"
               "Decodes GPU printf buffers. ELF files, archives of them and "
               "SPIR-V modules give\nthe format strings, every other file is a "
               "buffer, - is a buffer on standard input.\n\nVerbs:\n");
        for (size_t i = 0; i < N_VERBS; i++)
            printf("  %-10s %s\n", verbs[i].name, verbs[i].help);
        print_options(ALL);
    }
    printf("\nExit status: 0 clean, 1 usage or input/output error, 2 findings "
           "in the data,\n3 nothing passes the filter.\n");
    if (!verb) {
        printf("'printfdecode help VERB' tells about one verb; "
               "see also printfdecode(1).\n");
    }
}

static bool wrong(const char *what, const char *value)
{
    tell_error("%s '%s'; see 'printfdecode --help'", what, value);
    return false;
}

enum {
    LIST = 256 /* bytes of a list of words */
};

/* Adds a word to a list with commas. */
static void list_word(char *list, const char *before, const char *word)
{
    size_t n = strlen(list);
    snprintf(list + n, LIST - n, "%s%s%s", n ? ", " : "", before, word);
}

/* No verb like the one that is used has this option: what may be meant. */
static void tell_near_options(unsigned verb, const char *given)
{
    char near[LIST] = "";
    char others[LIST] = "";
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct option_row *r = &rows[i];
        if (r->verbs & verb && nearest_is_near(given, r->name))
            list_word(near, "--", r->name);
        for (size_t v = 0; v < N_VERBS && !strcmp(r->name, given); v++) {
            if (r->verbs >> v & 1)
                list_word(others, "", verbs[v].name);
        }
    }
    if (*near)
        tell_hint("near to it: %s", near);
    if (*others)
        tell_hint("--%s is for: %s", given, others);
}

/* The option that getopt did not like, as the user wrote it. */
static bool wrong_option(const struct verb *verb, int key, const char *last)
{
    char letter[] = { '-', (char)optopt, '\0' };
    char name[64];
    if (key == ':')
        return wrong("a value is missing after", last);
    bool is_letter = optopt > 0 && optopt < 256;
    tell_error("unknown or ambiguous option for '%s': '%s'; see 'printfdecode "
               "help %s'",
               verb->name, is_letter ? letter : last, verb->name);
    if (!is_letter && !strncmp(last, "--", 2)) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(last + 2, "="),
                 last + 2);
        tell_near_options(1u << (verb - verbs), name);
    }
    return false;
}

static bool read_number(const char *text, uint64_t *ret)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno || end == text || *end || strchr(text, '-'))
        return wrong("not a number:", text);
    *ret = v;
    return true;
}

static bool read_threads(const char *text, unsigned *ret)
{
    uint64_t n = 0;
    if (!read_number(text, &n))
        return false;
    if (n < 1 || n > 1024)
        return wrong("not a number of threads, 1 to 1024:", text);
    *ret = (unsigned)n;
    return true;
}

static bool read_when(const char *text, enum when *ret)
{
    static const char *const names[] = { "auto", "always", "never" };
    for (unsigned i = 0; i < 3; i++) {
        if (!strcmp(text, names[i])) {
            *ret = (enum when)i;
            return true;
        }
    }
    return wrong("not auto, always or never:", text);
}

static void *append(void *array, size_t *n, size_t size)
{
    void *next = realloc(array, (*n + 1) * size);
    if (!next) {
        tell_error("out of memory");
        exit(EXIT_ERROR);
    }
    ++*n;
    return next;
}

struct file *options_add_file(struct options *o, const char *path,
                              enum role role)
{
    o->files = append(o->files, &o->n_files, sizeof *o->files);
    o->files[o->n_files - 1] = (struct file){ .path = path, .role = role };
    return &o->files[o->n_files - 1];
}

static bool add_id(struct options *o, const char *text)
{
    char *end = NULL;
    errno = 0;
    unsigned long long id = strtoull(text, &end, 16);
    if (errno || end == text || *end || strchr(text, '-'))
        return wrong("not a hexadecimal id:", text);
    o->ids = append(o->ids, &o->n_ids, sizeof *o->ids);
    o->ids[o->n_ids - 1] = id;
    return true;
}

static bool add_label(struct options *o, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return wrong("not KEY=VALUE:", text);
    o->labels = append(o->labels, &o->n_labels, sizeof *o->labels);
    o->labels[o->n_labels - 1] = (struct pfd_wire_label){
        .key = { text, (size_t)(equals - text) },
        .value = { equals + 1, strlen(equals + 1) },
    };
    return true;
}

static bool add_word(struct words *words, const char *text)
{
    words->all = append(words->all, &words->n, sizeof *words->all);
    words->all[words->n - 1] = text;
    return true;
}

static bool set_output(struct options *o, const char *text)
{
    const char *name = NULL;
    char list[LIST] = "";
    bool is_decode = o->verb->run == decode_run || o->verb->run == follow_run;
    if (o->verb->run == capture_run) {
        o->to = text;
        return true;
    }
    for (size_t i = 0; pfd_output_get(i, &name) == PFD_OK; i++) {
        if (!is_decode && !strcmp(name, "raw"))
            continue;
        list_word(list, "", name);
        if (!strcmp(text, name)) {
            o->output = name;
            return true;
        }
    }
    tell_error("no such output: '%s'; '%s' has: %s", text, o->verb->name, list);
    return false;
}

/* Seconds with a decimal fraction, as milliseconds. */
static bool read_seconds(const char *text, uint64_t *ret)
{
    char *end = NULL;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds >= 0 && seconds < 1e9))
        return wrong("not a number of seconds:", text);
    *ret = (uint64_t)(seconds * 1000);
    return true;
}

static bool set_settle(struct options *o, const char *text)
{
    if (!read_number(text, &o->settle_ms))
        return false;
    if (o->settle_ms < 1 || o->settle_ms > 3600000)
        return wrong("not a number of milliseconds, 1 to 3600000:", text);
    return true;
}

/* A place to inspect, where *has is not set yet; decimal, or 0x and more. */
static bool set_place(const struct options *o, const char *text, uint64_t *ret,
                      bool *has)
{
    char *end = NULL;
    if (o->has_at || o->has_entry)
        return wrong("one --at or --entry is enough, not also", text);
    errno = 0;
    unsigned long long v =
        strtoull(text, &end, strncmp(text, "0x", 2) ? 10 : 16);
    if (errno || end == text || *end || strchr(text, '-'))
        return wrong("not a number:", text);
    *ret = v;
    *has = true;
    return true;
}

static bool set_max_inflated(struct options *o, const char *text)
{
    if (!read_number(text, &o->max_inflated))
        return false;
    return o->max_inflated > 0 || wrong("not a number of bytes above 0:", text);
}

static bool set_format(struct options *o, const char *text)
{
    struct pfd_format_info info;
    char list[LIST] = "";
    for (size_t i = 0; pfd_format_get(i, &info) == PFD_OK; i++) {
        list_word(list, "", info.name);
        if (!strcmp(text, info.name)) {
            o->format = info.name;
            return true;
        }
    }
    tell_error("no such buffer format: '%s'; there are: %s", text, list);
    return false;
}

/* The number of a word in a list that ends in NULL; -1: it is not there. */
static int find_word(const char *const *words, const char *text)
{
    for (int i = 0; words[i]; i++) {
        if (!strcmp(words[i], text))
            return i;
    }
    return -1;
}

static bool set_layout(struct options *o, const char *text)
{
    static const char *const words[] = { "auto", "p1", "p2", "p3",
                                         "p4",   "p5", "p6", NULL };
    int i = find_word(words, text);
    if (i < 0)
        return wrong("not auto or p1 to p6:", text);
    o->decoding.printf_layout = (enum pfd_printf_layout)i;
    return true;
}

static bool set_findings(struct options *o, const char *text)
{
    static const char *const words[] = { "yes", "no", NULL };
    int i = find_word(words, text);
    if (i < 0)
        return wrong("not yes or no:", text);
    o->no_findings = i == 1;
    return true;
}

static bool set_compat(struct options *o, const char *text)
{
    static const char *const words[] = { "none", "clr", "khronos", NULL };
    int i = find_word(words, text);
    if (i < 0)
        return wrong("not none, clr or khronos:", text);
    o->decoding.compat = (enum pfd_compat)i;
    return true;
}

static bool set_opencl_strings(struct options *o, const char *text)
{
    static const char *const words[] = { "auto", "old", "new", NULL };
    int i = find_word(words, text);
    if (i < 0)
        return wrong("not auto, old or new:", text);
    o->decoding.opencl_strings = (enum pfd_opencl_strings)i;
    return true;
}

/* One word or several, with commas between them. */
static bool set_show(struct options *o, const char *text)
{
    static const char *const words[] = { "findings", "unknown", NULL };
    char word[16];
    for (const char *at = text; at; at = strchr(at, ',')) {
        at += at > text;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        int i = find_word(words, word);
        if (i < 0)
            return wrong("not findings or unknown:", text);
        o->show |= 1u << i;
    }
    return true;
}

/* Where the value of an option is kept as it is given; NULL: of another. */
static const char **text_of(struct options *o, int key)
{
    const struct {
        int key;
        const char **at;
    } texts[] = {
        { OPT_FROM, &o->from },
        { OPT_WHERE, &o->where },
        { OPT_TO, &o->to },
        { OPT_TLS_CA, &o->tls.authority },
        { OPT_TLS_CERTIFICATE, &o->tls.certificate },
        { OPT_TLS_KEY, &o->tls.key },
        { OPT_TLS_NAME, &o->tls.name },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i].key == key)
            return texts[i].at;
    }
    return NULL;
}

static bool set_text(struct options *o, int key, const char *text)
{
    const char **at = text_of(o, key);
    if (!at)
        return false;
    *at = text;
    return true;
}

/* What an option without a value says; NULL: it has one. */
static bool *flag_of(struct options *o, int key)
{
    switch (key) {
    case 'i':
        return &o->ignore_case;
    case OPT_INVERT_MATCH:
        return &o->invert;
    case 'c':
        return &o->count;
    case 'v':
        return &o->verbose;
    case OPT_ACK:
        return &o->ack;
    case OPT_FORCE:
        return &o->force;
    case OPT_KEEP_GOING:
        return &o->keep_going;
    case OPT_WITH_FILENAME:
        return &o->with_filename;
    case OPT_NO_FILENAME:
        return &o->no_filename;
    default:
        return NULL;
    }
}

static bool set(struct options *o, int key, const char *text)
{
    bool *flag = flag_of(o, key);
    if (flag) {
        *flag = true;
        return true;
    }
    switch (key) {
    case 'o':
        return set_output(o, text);
    case OPT_STRINGS:
        options_add_file(o, text, ROLE_STRINGS);
        return true;
    case OPT_BUFFER:
        options_add_file(o, text, ROLE_BUFFER);
        return true;
    case OPT_FORMAT:
        return set_format(o, text);
    case OPT_SHADER:
        options_add_file(o, text, ROLE_SHADER);
        return true;
    case OPT_SHADERS:
        options_add_file(o, text, ROLE_SHADERS);
        return true;
    case OPT_LAYOUT:
        return set_layout(o, text);
    case OPT_COMPAT:
        return set_compat(o, text);
    case OPT_OPENCL_STRINGS:
        return set_opencl_strings(o, text);
    case 'm':
        return add_word(&o->matches, text);
    case OPT_FORMAT_STRING:
        return add_word(&o->format_strings, text);
    case OPT_SOURCE:
        return add_word(&o->sources, text);
    case OPT_ID:
        return add_id(o, text);
    case OPT_SKIP:
        return read_number(text, &o->skip);
    case 'n':
        return read_number(text, &o->limit);
    case 'j':
        return read_threads(text, &o->threads);
    case OPT_COLOR:
        return read_when(text, &o->color);
    case OPT_PROGRESS:
        return read_when(text, &o->progress);
    case OPT_SHOW:
        return set_show(o, text);
    case OPT_AT:
        return set_place(o, text, &o->at, &o->has_at);
    case OPT_ENTRY:
        return set_place(o, text, &o->entry, &o->has_entry);
    case OPT_FINDINGS:
        return set_findings(o, text);
    case OPT_MAX_INFLATED:
        return set_max_inflated(o, text);
    case OPT_LABEL:
        return add_label(o, text);
    case OPT_UNTIL_IDLE:
        o->has_until_idle = true;
        return read_seconds(text, &o->until_idle_ms);
    case OPT_SETTLE:
        return set_settle(o, text);
    default:
        return set_text(o, key, text);
    }
}

/* The tables as getopt wants them; only this verb's options exist. */
static void make_getopt(unsigned verb, struct option *longs, char *shorts)
{
    *shorts++ = ':';
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct option_row *r = &rows[i];
        if (!(r->verbs & verb))
            continue;
        *longs++ = (struct option){
            r->name, r->argument ? required_argument : no_argument, NULL, r->key
        };
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

/* A verb behind an option, or mistyped, would be taken for a file. */
static void tell_verb(const char *word)
{
    char near[LIST] = "";
    for (size_t i = 0; i < N_VERBS; i++) {
        if (!strcmp(word, verbs[i].name)) {
            tell_hint("the verb comes first: printfdecode %s ...", word);
            return;
        }
        if (nearest_is_near(word, verbs[i].name))
            list_word(near, "", verbs[i].name);
    }
    if (*near)
        tell_hint("'%s' is no file and no verb; near to it: %s", word, near);
}

static void add_operand(struct options *o, const char *path, bool named_verb)
{
    if (!named_verb && access(path, F_OK))
        tell_verb(path);
    options_add_file(o, path,
                     strcmp(path, "-") ? ROLE_BY_CONTENT : ROLE_BUFFER);
}

static bool read_options(struct options *o, int argc, char **argv,
                         bool *named_verb, int *status)
{
    struct option longs[N_ROWS + 1];
    char shorts[2 * N_ROWS + 2];
    int key;

    make_getopt(1u << (o->verb - verbs), longs, shorts);
    opterr = 0;
    optind = 1;
    while ((key = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        if (key == 'h') {
            print_help(*named_verb ? o->verb : NULL);
            return false;
        }
        if (key == 'V') {
            printf("printfdecode %s\n%s\n", pfd_version(),
                   HAVE_TLS ? "with tls" : "without tls (libssl-dev)");
            return false;
        }
        *status = EXIT_ERROR;
        if (key == '?' || key == ':')
            return wrong_option(o->verb, key, argv[optind - 1]);
        if (!set(o, key, optarg))
            return false;
        *status = EXIT_CLEAN;
    }
    for (int i = optind; i < argc; i++)
        add_operand(o, argv[i], *named_verb);
    return true;
}

/* "help" and "help VERB", unless a file is called that. */
static bool is_help(int argc, char **argv, int *status)
{
    if (argc < 2 || argc > 3 || strcmp(argv[1], "help") != 0 ||
        !access("help", F_OK))
        return false;
    const struct verb *verb = argc == 3 ? find_verb(argv[2]) : NULL;
    *status = EXIT_CLEAN;
    if (argc == 2 || verb) {
        print_help(verb);
        return true;
    }
    tell_error("no verb is called '%s'; see 'printfdecode help'", argv[2]);
    tell_verb(argv[2]);
    *status = EXIT_ERROR;
    return true;
}

/* Where printfdecoded without a configuration has its lines. */
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

bool options_read(struct options *ret, int argc, char **argv, int *status)
{
    const struct verb *verb = argc > 1 ? find_verb(argv[1]) : NULL;
    bool named = verb != NULL;
    *ret = (struct options){
        .verb = named ? verb : &verbs[0],
        .limit = UINT64_MAX,
    };
    *status = EXIT_CLEAN;
    if (is_help(argc, argv, status))
        return false;
    if (named) {
        argv++;
        argc--;
    }
    if (!read_options(ret, argc, argv, &named, status))
        return false;
    if (ret->n_files == 0 && verb && verb->run == follow_run)
        add_default_daemon(ret);
    if (ret->n_files == 0 && *ret->verb->files) {
        tell_error("no file is given; see 'printfdecode --help'");
        *status = EXIT_ERROR;
        return false;
    }
    if (ret->n_files && !*ret->verb->files) {
        tell_error("'%s' takes no files", ret->verb->name);
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
    for (size_t i = 0; i < options->n_files; i++)
        free(options->files[i].found);
    free(options->files);
    free(options->ids);
    free(options->labels);
}

bool options_have_tls(const struct options *options)
{
    const struct tls_config *tls = &options->tls;
    return tls->authority || tls->certificate || tls->key || tls->name;
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

bool options_marks(const struct options *options)
{
    return options->show & SHOW_FINDINGS || isatty(STDOUT_FILENO);
}
