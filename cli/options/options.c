/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <printfdecode/convert.h>

#include "core/decode/inspect.h"
#include "show/messages.h"
#include "show/terminal.h"

/* Set once, before files are opened; also read by a signal handler. */
static int status_of_errors = EXIT_ERROR;

int error_status(void)
{
    return status_of_errors;
}

void error_status_set(const struct verb *verb)
{
    if (verb->error_status)
        status_of_errors = verb->error_status;
}

void exit_without_memory(void)
{
    message_error("out of memory");
    exit(error_status());
}

void *options_append(void *array, size_t *n, size_t size)
{
    void *next = realloc(array, (*n + 1) * size);
    if (!next)
        exit_without_memory();
    ++*n;
    return next;
}

struct option_cursor option_cursor(const struct verb *verb)
{
    return (struct option_cursor){ .group = verb->groups };
}

const struct option_row *option_next(struct option_cursor *c)
{
    while (*c->group && c->i == (*c->group)->n) {
        c->group++;
        c->i = 0;
    }
    return *c->group ? &(*c->group)->rows[c->i++] : NULL;
}

struct file *options_add_file(struct options *o, const char *path,
                              enum role role)
{
    o->files = options_append(o->files, &o->n_files, sizeof *o->files);
    o->files[o->n_files - 1] = (struct file){ .path = path, .role = role };
    return &o->files[o->n_files - 1];
}

void options_free(struct options *options)
{
    if (!options)
        return;
    struct option_cursor c = option_cursor(options->verb);
    const struct option_row *row;
    while ((row = option_next(&c))) {
        void *member = (char *)options + row->at;
        if (row->owns)
            free(*(void **)member);
    }
    for (size_t i = 0; i < options->n_files; i++) {
        free(options->files[i].found);
        free(options->files[i].beside);
    }
    free(options->files);
    free(options);
}

bool options_have_memory(const struct options *options)
{
    return options->memory.pid != 0 || options->memory.core;
}

bool options_have_tls(const struct options *options)
{
    const struct tls_config *tls = &options->tls;
    return tls->authority || tls->certificate || tls->key || tls->name;
}

bool options_check_certificate(const struct options *options)
{
    if ((options->tls.certificate != NULL) == (options->tls.key != NULL))
        return true;
    message_error("--tls-certificate and --tls-key go together");
    return false;
}

bool options_have_nats(const struct options *options)
{
    return options->nats.has_since || options->nats.credentials ||
           options->nats.user || options->nats.password_file;
}

bool options_have_daemon(const struct options *options)
{
    return options->live.from || options->live.ack ||
           options->live.no_findings || options_have_tls(options);
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
    return !options->lines.no_filename &&
           (options->lines.with_filename || n_buffers > 1);
}

bool options_finding_marks(const struct options *options)
{
    return options->lines.show & (SHOW_FINDINGS | SHOW_ALL) ||
           isatty(STDOUT_FILENO);
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
        if (options->lines.show & (all[i].said | SHOW_ALL))
            ret |= all[i].shown;
    }
    return ret;
}

const char *options_links(const struct options *options)
{
    bool is_wanted = options->lines.links == WHEN_AUTO
                         ? terminal_can_link()
                         : options->lines.links == WHEN_ALWAYS;
    return is_wanted ? terminal_folder_url() : NULL;
}

bool options_trace(const struct options *options)
{
    return options->output && !strcmp(options->output, "perfetto");
}

const char *options_form(const struct options *options)
{
    const struct pfd_problems_form *report = options->report;
    if (!options->output)
        return "text";
    if (!report)
        return options_trace(options) ? NULL : options->output;
    return options->checks.report_file || pfd_problems_form_has_lines(report)
               ? "text"
               : NULL;
}

bool options_fields(const struct options *options)
{
    return options->lines.fields == WHEN_ALWAYS ||
           (options->lines.fields == WHEN_AUTO && isatty(STDOUT_FILENO));
}

bool options_show_json(const struct options *options)
{
    return options->output && !strcmp(options->output, "json") &&
           isatty(STDOUT_FILENO);
}

bool options_inline_findings(const struct options *options)
{
    const char *form = options_form(options);
    bool is_text = form && !strcmp(form, "text");
    return is_text && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
}

bool options_decide(const struct options *o, bool text_too)
{
    static const struct pfd_options none;
    struct pfd_option_info info;
    for (size_t i = 0; pfd_option_get(i, &info) == PFD_OK; i++) {
        if ((text_too || !info.of_text) &&
            strcmp(pfd_options_word(&o->reading.decoding, info.name),
                   pfd_options_word(&none, info.name)) != 0)
            return true;
    }
    return false;
}
