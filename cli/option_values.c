/* SPDX-License-Identifier: MIT */
#include "option_values.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/convert.h>

#include "analysis/table/table.h"
#include "core/decode/inspect.h"
#include "input/since.h"
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

static bool read_number(const char *text, uint64_t *ret)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno || end == text || *end || strchr(text, '-'))
        return option_wrong("not a number:", text);
    *ret = v;
    return true;
}

/* Reads bytes: a number with an optional unit of 1024: "2GiB", "2G",
 * "2048MiB". */
static bool read_bytes(const char *text, uint64_t *ret)
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

static bool read_threads(const char *text, unsigned *ret)
{
    uint64_t n = 0;
    if (!read_number(text, &n))
        return false;
    if (n < 1 || n > 1024)
        return option_wrong("not a number of threads, 1 to 1024:", text);
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
    return option_wrong("not auto, always or never:", text);
}

static void *append(void *array, size_t *n, size_t size)
{
    void *next = realloc(array, (*n + 1) * size);
    if (!next) {
        message_error("out of memory");
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
        return option_wrong("not a hexadecimal id:", text);
    o->ids = append(o->ids, &o->n_ids, sizeof *o->ids);
    o->ids[o->n_ids - 1] = id;
    return true;
}

static bool add_label(struct options *o, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return option_wrong("not KEY=VALUE:", text);
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

static bool set_table_output(struct options *o, const char *text)
{
    struct pfd_table_output output;
    char list[OPTION_LIST] = "";
    for (size_t i = 0; pfd_table_output_get(i, &output) == PFD_OK; i++) {
        option_list(list, "", output.name);
        if (!strcmp(text, output.name)) {
            o->output = output.name;
            return true;
        }
    }
    message_error("no such output: '%s'; 'table' has: %s", text, list);
    return false;
}

static bool set_plot_output(struct options *o, const char *text)
{
    struct pfd_plot_output output;
    char list[OPTION_LIST] = "";
    for (size_t i = 0; pfd_plot_output_get(i, &output) == PFD_OK; i++) {
        option_list(list, "", output.name);
        if (!strcmp(text, output.name)) {
            o->output = output.name;
            return true;
        }
    }
    message_error("no such output: '%s'; 'plot' has: %s", text, list);
    return false;
}

static bool set_output(struct options *o, const char *text)
{
    const char *name = NULL;
    char list[OPTION_LIST] = "";
    bool is_decode = o->verb->run == decode_run || o->verb->run == follow_run ||
                     o->verb->run == replay_run;
    if (o->verb->run == capture_run || o->verb->run == scan_run) {
        o->to = text;
        return true;
    }
    if (o->verb->run == plot_run)
        return set_plot_output(o, text);
    if (o->verb->run == table_run)
        return set_table_output(o, text);
    for (size_t i = 0; pfd_output_get(i, &name) == PFD_OK; i++) {
        if (!is_decode && !strcmp(name, "raw"))
            continue;
        option_list(list, "", name);
        if (!strcmp(text, name)) {
            o->output = name;
            return true;
        }
    }
    if (is_decode) {
        option_list(list, "", "perfetto");
        o->output = "perfetto";
        if (!strcmp(text, o->output))
            return true;
    }
    message_error("no such output: '%s'; '%s' has: %s", text, o->verb->name,
                  list);
    return false;
}

/* Reads seconds with a decimal fraction; returns milliseconds. */
static bool read_seconds(const char *text, uint64_t *ret)
{
    char *end = NULL;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds >= 0 && seconds < 1e9))
        return option_wrong("not a number of seconds:", text);
    *ret = (uint64_t)(seconds * 1000);
    return true;
}

static bool set_settle(struct options *o, const char *text)
{
    if (!read_number(text, &o->settle_ms))
        return false;
    o->has_settle = true;
    if (o->settle_ms <= 3600000)
        return true;
    return option_wrong("not a number of milliseconds, 0 to 3600000:", text);
}

/* Reads a decimal number, or a hexadecimal one with 0x. */
static bool read_place(const char *text, uint64_t *ret)
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

/* Reads a place to inspect; fails if *has is set already. */
static bool set_place(const struct options *o, const char *text, uint64_t *ret,
                      bool *has)
{
    if (o->has_at || o->has_entry)
        return option_wrong("one --at or --entry is enough, not also", text);
    *has = read_place(text, ret);
    return *has;
}

static bool set_pid(struct options *o, const char *text)
{
    return (read_number(text, &o->pid) && o->pid > 0 && o->pid <= INT32_MAX) ||
           option_wrong("not the id of a process:", text);
}

static bool set_address(struct options *o, const char *text)
{
    if (o->has_address)
        return option_wrong("one --address is enough, not also", text);
    o->has_address = read_place(text, &o->address);
    return o->has_address;
}

static bool set_size(struct options *o, const char *text)
{
    return read_place(text, &o->size) &&
           (o->size || option_wrong("not a number of bytes above 0:", text));
}

/* Validation has 32 bits for it. */
static bool set_buffer_bytes(struct options *o, const char *text)
{
    if (!read_bytes(text, &o->buffer_bytes))
        return false;
    return (o->buffer_bytes > 0 && o->buffer_bytes <= UINT32_MAX) ||
           option_wrong("not a number of bytes from 1 to 4294967295:", text);
}

static bool set_max_inflated(struct options *o, const char *text)
{
    if (!read_bytes(text, &o->max_inflated))
        return false;
    return o->max_inflated > 0 ||
           option_wrong("not a number of bytes above 0:", text);
}

static bool set_format(struct options *o, const char *text)
{
    struct pfd_format_info info;
    char list[OPTION_LIST] = "";
    for (size_t i = 0; pfd_format_get(i, &info) == PFD_OK; i++) {
        option_list(list, "", info.name);
        if (!strcmp(text, info.name)) {
            o->format = info.name;
            return true;
        }
    }
    message_error("no such buffer format: '%s'; there are: %s", text, list);
    return false;
}

/* The index of a word in a NULL-terminated list; -1: not found. */
static int find_word(const char *const *words, const char *text)
{
    for (int i = 0; words[i]; i++) {
        if (!strcmp(words[i], text))
            return i;
    }
    return -1;
}

static bool set_findings(struct options *o, const char *text)
{
    static const char *const words[] = { "yes", "no", NULL };
    int i = find_word(words, text);
    if (i < 0)
        return option_wrong("not yes or no:", text);
    o->no_findings = i == 1;
    return true;
}

/* Words of enum pfd_reducer, in its order. */
static bool set_reducer(struct options *o, const char *text)
{
    static const char *const words[] = { "last", "first", "count", "sum", "min",
                                         "max",  "mean",  "nan",   NULL };
    int i = find_word(words, text);
    if (i < 0) {
        return option_wrong(
            "not last, first, count, sum, min, max, mean or nan:", text);
    }
    o->reducer = (enum pfd_reducer)i;
    o->has_reducer = true;
    return true;
}

static bool set_scale(struct options *o, const char *text)
{
    static const char *const words[] = { "linear", "log", "equal", NULL };
    int i = find_word(words, text);
    if (i < 0)
        return option_wrong("not linear, log or equal:", text);
    o->scale = (enum pfd_plot_scale)i;
    o->has_scale = true;
    return true;
}

static bool set_language(struct options *o, const char *text)
{
    static const char *const words[] = { "glsl", "opencl", NULL };
    int i = find_word(words, text);
    if (i < 0)
        return option_wrong("not glsl or opencl:", text);
    o->language = words[i];
    return true;
}

/* Sets an option of a format's table; i: its index among all of them. */
static bool set_decoding(struct options *o, unsigned i, const char *text)
{
    struct pfd_option_info info;
    struct pfd_error err;
    if (pfd_option_get(i, &info) != PFD_OK)
        return false;
    o->given |= 1u << i;
    if (pfd_options_set(&o->decoding, info.name, text, &err) == PFD_OK)
        return true;
    message_error("--%s; see 'printfdecode --help'", err.text);
    return false;
}

/* One word or several, separated by commas. */
static bool set_show(struct options *o, const char *text)
{
    static const char *const words[] = { "findings", "unknown", "time",
                                         "source",   "line",    "lane",
                                         "id",       "all",     NULL };
    char word[16];
    for (const char *at = text; at; at = strchr(at, ',')) {
        at += at > text;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        int i = find_word(words, word);
        if (i < 0) {
            return option_wrong("not time, source, line, lane, id, findings, "
                                "unknown or all:",
                                text);
        }
        o->show |= 1u << i;
    }
    return true;
}

static bool set_live(struct options *o, const char *text)
{
    enum {
        USUAL = 4,
        MOST = 100
    };
    char *end = NULL;
    o->live = USUAL;
    if (!text)
        return true;
    o->live = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    return (o->live >= 1 && o->live <= MOST && !*end) ||
           option_wrong("--live is so many times a second, 1 to 100, not",
                        text);
}

static bool set_since(struct options *o, const char *text)
{
    o->nats.has_since = since_read(text, &o->nats.since, &o->nats.ago);
    return o->nats.has_since ||
           option_wrong("not 10m, 90s, 2h, 1d or a time such as "
                        "2026-11-20T20:09:49Z:",
                        text);
}

static bool set_collapse(struct options *o, const char *text)
{
    o->collapse = text ? COLLAPSE_EQUAL : COLLAPSE_STRING;
    return !text || !strcmp(text, "equal") ||
           option_wrong("--collapse stands alone or says =equal, not", text);
}

/* The member for an option whose value is stored as text; NULL: not such an
 * option. */
static const char **text_of(struct options *o, int key)
{
    const struct {
        int key;
        const char **at;
    } texts[] = {
        { OPT_CORE, &o->core },
        { OPT_FROM, &o->from },
        { OPT_WHERE, &o->where },
        { OPT_TO, &o->to },
        { OPT_TLS_CA, &o->tls.authority },
        { OPT_TLS_CERTIFICATE, &o->tls.certificate },
        { OPT_TLS_KEY, &o->tls.key },
        { OPT_TLS_NAME, &o->tls.name },
        { OPT_STRINGS_TO, &o->strings_to },
        { OPT_SORT, &o->sort },
        { OPT_DISTINCT, &o->distinct },
        { OPT_X, &o->x },
        { OPT_Y, &o->y },
        { OPT_VALUE, &o->value },
        { OPT_BY, &o->by },
        { OPT_X_RANGE, &o->x_range },
        { OPT_Y_RANGE, &o->y_range },
        { OPT_RANGE, &o->range },
        { OPT_MAP, &o->map },
        { OPT_NATS, &o->nats.url },
        { OPT_CREDENTIALS, &o->nats.credentials },
        { OPT_USER, &o->nats.user },
        { OPT_PASSWORD_FILE, &o->nats.password_file },
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

/* The member for an option without a value; NULL: not such an option. */
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
    case OPT_ALL:
        return &o->all;
    case OPT_CODE_OBJECTS:
        return &o->code_objects;
    case OPT_SCAN:
        return &o->scan;
    case OPT_WHY:
        return &o->why;
    case OPT_ENTRIES:
        return &o->entries;
    case OPT_FORCE:
        return &o->force;
    case OPT_KEEP_GOING:
        return &o->keep_going;
    case OPT_WITH_FILENAME:
        return &o->with_filename;
    case OPT_NO_FILENAME:
        return &o->no_filename;
    case OPT_SUBGROUPS:
        return &o->subgroups;
    case OPT_WIDE_ATOMICS:
        return &o->wide_atomics;
    case OPT_SITES:
        return &o->sites;
    case OPT_COMMIT:
        return &o->commit;
    case OPT_ORIGIN:
        return &o->origin;
    case OPT_CONTROL:
        return &o->control;
    case OPT_VULKAN_DEBUG_PRINTF:
        return &o->vulkan_debug_printf;
    case OPT_VULKAN_GPU_VALIDATION:
        return &o->vulkan_gpu_validation;
    case OPT_BARE:
        return &o->bare;
    case OPT_DARK:
        return &o->dark;
    default:
        return NULL;
    }
}

/* The member for a plain number; NULL: not such an option. */
static uint64_t *number_of(struct options *o, int key)
{
    switch (key) {
    case OPT_SKIP:
        return &o->skip;
    case 'n':
        return &o->limit;
    case 'C':
        return &o->context;
    case OPT_SET:
        return &o->set;
    case OPT_BINDING:
        return &o->binding;
    default:
        return NULL;
    }
}

/* The member for a number that must not be 0; NULL: not such an option. */
static uint64_t *positive_of(struct options *o, int key)
{
    switch (key) {
    case OPT_CELLS:
        return &o->cells;
    case OPT_PIXEL:
        return &o->pixel;
    case OPT_TAIL:
        return &o->tail;
    case OPT_TOP:
        return &o->top;
    case OPT_WINDOW:
        return &o->window;
    default:
        return NULL;
    }
}

/* The list that the option appends to; NULL: not such an option. */
static struct words *words_of(struct options *o, int key)
{
    switch (key) {
    case 'm':
        return &o->matches;
    case OPT_FORMAT_STRING:
        return &o->format_strings;
    case OPT_SOURCE:
        return &o->sources;
    case OPT_CALL:
        return &o->calls;
    case 'I':
        return &o->include_folders;
    case OPT_COLUMNS:
        return &o->columns;
    case OPT_GROUP_BY:
        return &o->group_by;
    case OPT_AGG:
        return &o->aggregates;
    default:
        return NULL;
    }
}

/* Adds a file with its role; false: the option names no file. */
static bool add_file(struct options *o, int key, const char *path)
{
    static const struct {
        int key;
        enum role role;
    } roles[] = {
        { OPT_STRINGS, ROLE_STRINGS }, { OPT_DESCRIBE, ROLE_STRINGS },
        { OPT_BUFFER, ROLE_BUFFER },   { OPT_SHADER, ROLE_SHADER },
        { OPT_SHADERS, ROLE_SHADERS },
    };
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        if (roles[i].key == key) {
            options_add_file(o, path, roles[i].role);
            return true;
        }
    }
    return false;
}

/* Options whose values have a function of their own. */
static const struct setter {
    int key;
    bool (*set)(struct options *o, const char *text);
} setters[] = {
    { 'o', set_output },
    { OPT_FORMAT, set_format },
    { OPT_LANGUAGE, set_language },
    { OPT_ID, add_id },
    { OPT_REDUCE, set_reducer },
    { OPT_SCALE, set_scale },
    { OPT_COLLAPSE, set_collapse },
    { OPT_LIVE, set_live },
    { OPT_SHOW, set_show },
    { OPT_PID, set_pid },
    { OPT_ADDRESS, set_address },
    { OPT_SIZE, set_size },
    { OPT_FINDINGS, set_findings },
    { OPT_MAX_INFLATED, set_max_inflated },
    { OPT_BUFFER_BYTES, set_buffer_bytes },
    { OPT_LABEL, add_label },
    { OPT_SETTLE, set_settle },
    { OPT_SINCE, set_since },
};

static const struct setter *setter_of(int key)
{
    for (size_t i = 0; i < sizeof setters / sizeof setters[0]; i++) {
        if (setters[i].key == key)
            return &setters[i];
    }
    return NULL;
}

bool option_set(struct options *o, int key, const char *text)
{
    bool *flag = flag_of(o, key);
    uint64_t *number = number_of(o, key);
    if (flag) {
        *flag = true;
        return true;
    }
    if (number)
        return read_number(text, number);
    number = positive_of(o, key);
    if (number) {
        return read_number(text, number) &&
               (*number || option_wrong("not a number above 0:", text));
    }
    if (add_file(o, key, text))
        return true;
    struct words *words = words_of(o, key);
    if (words)
        return add_word(words, text);
    const struct setter *setter = setter_of(key);
    if (setter)
        return setter->set(o, text);
    switch (key) {
    case 'j':
        return read_threads(text, &o->threads);
    case OPT_COLOR:
        return read_when(text, &o->color);
    case OPT_PROGRESS:
        return read_when(text, &o->progress);
    case OPT_LINKS:
        return read_when(text, &o->links);
    case OPT_FIELDS:
        return read_when(text ? text : "always", &o->fields);
    case OPT_AT:
        return set_place(o, text, &o->at, &o->has_at);
    case OPT_ENTRY:
        return set_place(o, text, &o->entry, &o->has_entry);
    case OPT_UNTIL_IDLE:
        o->has_until_idle = true;
        return read_seconds(text, &o->until_idle_ms);
    default:
        return key < OPT_DECODING
                   ? set_text(o, key, text)
                   : set_decoding(o, (unsigned)(key - OPT_DECODING), text);
    }
}

bool options_decide(const struct options *o, bool text_too)
{
    struct pfd_option_info info;
    for (size_t i = 0; pfd_option_get(i, &info) == PFD_OK; i++) {
        if ((text_too || !info.of_text) &&
            strcmp(pfd_options_word(&o->decoding, info.name), info.words[0]) !=
                0)
            return true;
    }
    return false;
}
