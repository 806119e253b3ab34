/* SPDX-License-Identifier: MIT */
#include "option_groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/convert.h>

#include "option_values.h"
#include "show/messages.h"

/* The offset of a member of struct options. */
#define AT(member) offsetof(struct options, member)

/* ---- output ---- */

/* Forms for verbs that print no entries. */
static bool is_general(const char *name)
{
    return !strcmp(name, "text") || !strcmp(name, "json");
}

static bool find_output(struct options *o, const char *text, bool of_entries)
{
    const struct pfd_problems_form *report = NULL;
    const char *name = NULL;
    char list[OPTION_LIST] = "";
    o->output = NULL;
    for (size_t i = 0; pfd_output_get(i, &name) == PFD_OK; i++) {
        if (!of_entries && !is_general(name))
            continue;
        option_list(list, "", name);
        if (!strcmp(text, name))
            o->output = name;
    }
    for (size_t i = 0; of_entries && (report = pfd_problems_form_get(i)); i++)
        option_list(list, "", pfd_problems_form_name(report));
    if (of_entries) {
        option_list(list, "", "perfetto");
        o->report = pfd_problems_form_find(text);
        if (o->report)
            o->output = pfd_problems_form_name(o->report);
        if (!strcmp(text, "perfetto"))
            o->output = "perfetto";
    }
    if (o->output)
        return true;
    message_error("no such output: '%s'; '%s' has: %s", text, o->verb->name,
                  list);
    return false;
}

static bool set_output(struct options *o, const struct option_row *row,
                       const char *text)
{
    (void)row;
    return find_output(o, text, false);
}

static bool set_output_entries(struct options *o, const struct option_row *row,
                               const char *text)
{
    (void)row;
    return find_output(o, text, true);
}

static const struct option_row output_rows[] = {
    { "output", 'o', "KIND", "text (default), or json (one record a line)",
      AT(output), set_output, false },
};
const struct option_group options_output = OPTION_GROUP(output_rows);

static const struct option_row output_entries_rows[] = {
    { "output", 'o', "KIND",
      "text (default), json (one record a line), raw, perfetto, quickfix (for "
      "editors); for build servers: github, junit, sarif, tap",
      AT(output), set_output_entries, false },
};
const struct option_group options_output_entries =
    OPTION_GROUP(output_entries_rows);

/* ---- files and memory ---- */

/* The row says the file's role. */
static bool add_file(struct options *o, const struct option_row *row,
                     const char *text)
{
    return options_add_file(o, text, (enum role)row->at);
}

/* Files are read by descriptions that were loaded before them: these come
 * first. */
static bool add_description(struct options *o, const struct option_row *row,
                            const char *text)
{
    struct file *added = options_add_file(o, text, (enum role)row->at);
    struct file file = *added;
    memmove(o->files + 1, o->files, (o->n_files - 1) * sizeof *o->files);
    o->files[0] = file;
    return true;
}

static bool set_format(struct options *o, const struct option_row *row,
                       const char *text)
{
    (void)row;
    const struct pfd_format_info *info;
    char list[OPTION_LIST] = "";
    for (size_t i = 0; (info = pfd_format_get(i)); i++) {
        option_list(list, "", info->name);
        if (!strcmp(text, info->name)) {
            o->reading.format = info->name;
            return true;
        }
    }
    message_error("no such buffer format: '%s'; there are: %s", text, list);
    return false;
}

static bool set_pid(struct options *o, const struct option_row *row,
                    const char *text)
{
    (void)row;
    return (option_read_number(text, &o->memory.pid) && o->memory.pid > 0 &&
            o->memory.pid <= INT32_MAX) ||
           option_wrong("not the id of a process:", text);
}

static bool set_address(struct options *o, const struct option_row *row,
                        const char *text)
{
    (void)row;
    if (o->memory.has_address)
        return option_wrong("one --address is enough, not also", text);
    o->memory.has_address = option_read_place(text, &o->memory.address);
    return o->memory.has_address;
}

static bool set_size(struct options *o, const struct option_row *row,
                     const char *text)
{
    (void)row;
    return option_read_place(text, &o->memory.size) &&
           (o->memory.size ||
            option_wrong("not a number of bytes above 0:", text));
}

static const struct option_row strings_rows[] = {
    { "strings", '\0', "FILE",
      "read FILE as format strings, whatever it looks like", ROLE_STRINGS,
      add_file, false },
    { "describe", 0, "FILE",
      "read buffers of your own, as FILE (YAML) describes them", ROLE_STRINGS,
      add_description, false },
    { "counter", 0, "FILE",
      "the counter of such a buffer, which is in a file of its own",
      ROLE_COUNTER, add_file, false },
    { "shader", '\0', "ID=FILE",
      "the SPIR-V of the shader that records call ID; repeatable", ROLE_SHADER,
      add_file, false },
    { "shaders", '\0', "FILE",
      "the shaders of a JSON file: {\"shaders\": {\"ID\": {\"spv\": PATH}}}",
      ROLE_SHADERS, add_file, false },
};
const struct option_group options_strings = OPTION_GROUP(strings_rows);

static const struct option_row buffers_rows[] = {
    { "buffer", '\0', "FILE", "read FILE as a buffer, whatever it looks like",
      ROLE_BUFFER, add_file, false },
    { "format", '\0', "NAME", "the buffers' format; see 'printfdecode formats'",
      AT(reading.format), set_format, false },
};
const struct option_group options_buffers = OPTION_GROUP(buffers_rows);

static const struct option_row inflated_rows[] = {
    { "max-inflated", '\0', "BYTES",
      "what a compressed file or bundle may have (default: 1 GiB)",
      AT(reading.max_inflated), option_bytes, false },
};
const struct option_group options_inflated = OPTION_GROUP(inflated_rows);

static const struct option_row keep_going_rows[] = {
    { "keep-going", '\0', NULL,
      "decode the rest although a file cannot be read", AT(reading.keep_going),
      option_flag, false },
};
const struct option_group options_keep_going = OPTION_GROUP(keep_going_rows);

static const struct option_row process_rows[] = {
    { "pid", '\0', "PID",
      "read the memory of this process; without --address buffers are found",
      AT(memory.pid), set_pid, false },
};
const struct option_group options_process = OPTION_GROUP(process_rows);

static const struct option_row search_rows[] = {
    { "scan", '\0', NULL,
      "also search all that memory, or files, for shaders and code objects",
      AT(memory.scan), option_flag, false },
};
const struct option_group options_search = OPTION_GROUP(search_rows);

static const struct option_row core_rows[] = {
    { "core", '\0', "FILE",
      "read the memory that a core has; without --address buffers are found",
      AT(memory.core), option_input_file, false },
};
const struct option_group options_core = OPTION_GROUP(core_rows);

static const struct option_row address_rows[] = {
    { "address", '\0', "A", "where a buffer begins in that memory",
      AT(memory.address), set_address, false },
    { "size", '\0', "BYTES",
      "of that buffer (default: up to the end of its mapping)", AT(memory.size),
      set_size, false },
};
const struct option_group options_address = OPTION_GROUP(address_rows);

/* ---- decoding ---- */

/* The option of a format's table; the row's `at` is its index there. */
static bool set_decoding(struct options *o, const struct option_row *row,
                         const char *text)
{
    struct pfd_error err;
    o->reading.given |= 1u << row->at;
    if (pfd_options_set(&o->reading.decoding, row->name, text, &err) == PFD_OK)
        return true;
    message_error("--%s; see 'printfdecode --help'", err.text);
    return false;
}

enum {
    DECODING_MAX = 32 /* bits of `given` */
};

static struct option_row decoding_rows[DECODING_MAX];
static struct option_row decoding_text_rows[DECODING_MAX];
struct option_group options_decoding = { decoding_rows, 0 };
struct option_group options_decoding_text = { decoding_text_rows, 0 };

void options_make_decoding(void)
{
    struct pfd_option_info info;
    options_decoding.n = options_decoding_text.n = 0;
    for (size_t i = 0; i < DECODING_MAX && pfd_option_get(i, &info) == PFD_OK;
         i++) {
        struct option_row *row =
            info.of_text ? &decoding_text_rows[options_decoding_text.n++]
                         : &decoding_rows[options_decoding.n++];
        *row = (struct option_row){
            .name = info.name,
            .argument = info.value,
            .help = info.help,
            .at = i,
            .parse = set_decoding,
        };
    }
}

/* ---- filters ---- */

static bool add_id(struct options *o, const struct option_row *row,
                   const char *text)
{
    char *end = NULL;
    errno = 0;
    unsigned long long id = strtoull(text, &end, 16);
    (void)row;
    if (errno || end == text || *end || strchr(text, '-'))
        return option_wrong("not a hexadecimal id:", text);
    o->filter.ids.all = options_append(o->filter.ids.all, &o->filter.ids.n,
                                       sizeof *o->filter.ids.all);
    o->filter.ids.all[o->filter.ids.n - 1] = id;
    return true;
}

static const struct option_row filter_rows[] = {
    { "match", 'm', "REGEX",
      "only messages that match (PCRE2); repeatable: any of them",
      AT(filter.matches), option_words, true },
    { "ignore-case", 'i', NULL, "patterns take a for A as well",
      AT(filter.ignore_case), option_flag, false },
    { "invert-match", '\0', NULL, "only messages that do not match",
      AT(filter.invert), option_flag, false },
    { "where", '\0', "EXPR",
      "only entries whose arguments fulfil it, as 't > 0.5 && lane == 3'",
      AT(filter.where), option_text, false },
    { "id", '\0', "ID", "only entries of this string id (hex); repeatable",
      AT(filter.ids), add_id, true },
    { "format-string", '\0', "REGEX",
      "only entries whose format string matches; repeatable",
      AT(filter.format_strings), option_words, true },
    { "source", '\0', "NAME", "only of the buffer with this name; repeatable",
      AT(filter.sources), option_words, true },
};
const struct option_group options_filter = OPTION_GROUP(filter_rows);

static const struct option_row skip_rows[] = {
    { "skip", '\0', "N", "leave out the first N entries", AT(range.skip),
      option_number, false },
};
const struct option_group options_skip = OPTION_GROUP(skip_rows);

static const struct option_row limit_rows[] = {
    { "limit", 'n', "N", "stop after N entries", AT(range.limit), option_number,
      false },
};
const struct option_group options_limit = OPTION_GROUP(limit_rows);

static const struct option_row context_rows[] = {
    { "tail", '\0', "N", "only the last N of them", AT(range.tail),
      option_positive, false },
    { "context", 'C', "N", "and N entries before and after each",
      AT(range.context), option_number, false },
};
const struct option_group options_context = OPTION_GROUP(context_rows);

/* ---- lines ---- */

/* One word or several, separated by commas. */
static bool set_show(struct options *o, const struct option_row *row,
                     const char *text)
{
    (void)row;
    static const char *const words[] = { "findings", "unknown", "time",
                                         "source",   "line",    "lane",
                                         "id",       "all",     NULL };
    char word[16];
    for (const char *at = text; at; at = strchr(at, ',')) {
        at += at > text;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        int i = option_find_word(words, word);
        if (i < 0) {
            return option_wrong("not time, source, line, lane, id, findings, "
                                "unknown or all:",
                                text);
        }
        o->lines.show |= 1u << i;
    }
    return true;
}

static bool set_collapse(struct options *o, const struct option_row *row,
                         const char *text)
{
    (void)row;
    o->collapse.how = text ? COLLAPSE_EQUAL : COLLAPSE_STRING;
    return !text || !strcmp(text, "equal") ||
           option_wrong("--collapse stands alone or says =equal, not", text);
}

static const struct option_row collapse_rows[] = {
    { "collapse", '\0', OPTION_OPTIONAL,
      "one line for entries of a format string, with what varies in it; =equal: for equal messages only",
      AT(collapse.how), set_collapse, false },
    { "window", '\0', "N",
      "with --collapse: entries of a line are so far apart at most (default: 1000)",
      AT(collapse.window), option_positive, false },
};
const struct option_group options_collapse = OPTION_GROUP(collapse_rows);

static const struct option_row lines_rows[] = {
    { "show", '\0', "WHAT",
      "before each line: time, source, line (of the program), lane, id, findings; unknown: all entries of unknown ids; all; with commas",
      AT(lines.show), set_show, false },
    { "fields", '\0', OPTION_OPTIONAL,
      "JSON: arguments by their names, too (default: on a terminal); =never",
      AT(lines.fields), option_when, false },
    { "links", '\0', "WHEN",
      "names of source files lead there: auto (default), always or never",
      AT(lines.links), option_when, false },
};
const struct option_group options_lines = OPTION_GROUP(lines_rows);

static const struct option_row filename_rows[] = {
    { "with-filename", '\0', NULL,
      "text: say each buffer's name (default: of several buffers)",
      AT(lines.with_filename), option_flag, false },
    { "no-filename", '\0', NULL, "text: say no names", AT(lines.no_filename),
      option_flag, false },
};
const struct option_group options_filename = OPTION_GROUP(filename_rows);

/* ---- work ---- */

static bool set_threads(struct options *o, const struct option_row *row,
                        const char *text)
{
    uint64_t n = 0;
    (void)row;
    if (!option_read_number(text, &n))
        return false;
    if (n < 1 || n > 1024)
        return option_wrong("not a number of threads, 1 to 1024:", text);
    o->threads = (unsigned)n;
    return true;
}

static const struct option_row work_rows[] = {
    { "threads", 'j', "N", "threads to work with (default: one per processor)",
      AT(threads), set_threads, false },
    { "progress", '\0', "WHEN",
      "auto (default), always or never: a line on stderr", AT(progress),
      option_when, false },
};
const struct option_group options_work = OPTION_GROUP(work_rows);

/* ---- daemons and servers ---- */

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

static bool set_until_idle(struct options *o, const struct option_row *row,
                           const char *text)
{
    (void)row;
    o->live.has_until_idle = true;
    return read_seconds(text, &o->live.until_idle_ms);
}

static bool set_settle(struct options *o, const struct option_row *row,
                       const char *text)
{
    (void)row;
    if (!option_read_number(text, &o->live.settle_ms))
        return false;
    o->live.has_settle = true;
    if (o->live.settle_ms <= 3600000)
        return true;
    return option_wrong("not a number of milliseconds, 0 to 3600000:", text);
}

static bool set_findings(struct options *o, const struct option_row *row,
                         const char *text)
{
    (void)row;
    static const char *const words[] = { "yes", "no", NULL };
    int i = option_find_word(words, text);
    if (i < 0)
        return option_wrong("not yes or no:", text);
    o->live.no_findings = i == 1;
    return true;
}

static bool set_since(struct options *o, const struct option_row *row,
                      const char *text)
{
    (void)row;
    o->nats.has_since = since_read(text, &o->nats.since, &o->nats.ago);
    return o->nats.has_since ||
           option_wrong("not 10m, 90s, 2h, 1d or a time such as "
                        "2026-11-20T20:09:49Z:",
                        text);
}

static const struct option_row live_rows[] = {
    { "until-idle", '\0', "SECONDS", "end when nothing has come for so long",
      AT(live.until_idle_ms), set_until_idle, false },
    { "settle", '\0', "MS",
      "give up what stays unwritten for so long (default: 100)",
      AT(live.settle_ms), set_settle, false },
    { "from", '\0', "WHERE", "of a daemon: oldest, a sequence number or a time",
      AT(live.from), option_text, false },
};
const struct option_group options_live = OPTION_GROUP(live_rows);

static const struct option_row spool_rows[] = {
    { "spool-max", '\0', "BYTES",
      "of a daemon: what is not read yet goes to a file of this size, before "
      "others wait",
      AT(live.spool_max), option_bytes, false },
};
const struct option_group options_spool = OPTION_GROUP(spool_rows);

static const struct option_row remote_rows[] = {
    { "findings", '\0', "WHETHER",
      "of a daemon or NATS: yes (default), or no: messages only",
      AT(live.no_findings), set_findings, false },
    { "tls-ca", '\0', "FILE",
      "the authority that signs daemons (default: the system's)",
      AT(tls.authority), option_input_file, false },
    { "tls-certificate", '\0', "FILE",
      "our certificate for a daemon, and those that lead to its authority",
      AT(tls.certificate), option_input_file, false },
    { "tls-key", '\0', "FILE", "its key, without passphrase", AT(tls.key),
      option_input_file, false },
    { "tls-name", '\0', "NAME",
      "what the daemon's certificate is for (default: HOST)", AT(tls.name),
      option_text, false },
};
const struct option_group options_remote = OPTION_GROUP(remote_rows);

static const struct option_row nats_rows[] = {
    { "nats", '\0', "URL",
      "of servers that edges send to: nats://HOST:PORT, tls://HOST:PORT",
      AT(nats.url), option_text, false },
    { "since", '\0', "WHEN",
      "of NATS: what is not older, as 10m, 2h, or a time", AT(nats.since),
      set_since, false },
    { "credentials", '\0', "FILE", "who we are for NATS, as nsc writes it",
      AT(nats.credentials), option_input_file, false },
    { "user", '\0', "NAME", "likewise, by name", AT(nats.user), option_text,
      false },
    { "password-file", '\0', "FILE", "with this password",
      AT(nats.password_file), option_input_file, false },
};
const struct option_group options_nats = OPTION_GROUP(nats_rows);

/* ---- all verbs ---- */

static const struct option_row force_rows[] = {
    { "force", '\0', NULL, "overwrite files that are there", AT(force),
      option_flag, false },
};
const struct option_group options_force = OPTION_GROUP(force_rows);

static const struct option_row messages_rows[] = {
    { "color", '\0', "WHEN",
      "auto (default), always or never; NO_COLOR is honoured", AT(color),
      option_when, false },
    { "verbose", 'v', NULL,
      "also say notes, and the summary even when all is well", AT(verbose),
      option_flag, false },
};
const struct option_group options_messages = OPTION_GROUP(messages_rows);

static const struct option_row checks_rows[] = {
    { "fail-on", 0, "REGEX",
      "exit status 4 where a message matches; repeatable", AT(checks.matches),
      option_words, true },
    { "fail-where", 0, "EXPR", "likewise where this holds of an entry",
      AT(checks.where), option_text, false },
    { "fail-on-errors", 0, NULL,
      "likewise of level error, of abort and of GPU-AV", AT(checks.errors),
      option_flag, false },
    { "fail-on-loss", 0, NULL, "likewise where something was lost",
      AT(checks.loss), option_flag, false },
    { "report", 0, "FILE",
      "the report of -o github, junit, sarif or tap goes there, lines to "
      "standard output",
      AT(checks.report_file), option_output_file, false },
};
const struct option_group options_checks = OPTION_GROUP(checks_rows);

static const struct option_row help_rows[] = {
    { "help", 'h', NULL, "print this", 0, NULL, false },
    { "version", 'V', NULL, "print the version, and what it was built with", 0,
      NULL, false },
};
const struct option_group options_help = OPTION_GROUP(help_rows);
