/* SPDX-License-Identifier: MIT */
/* The program: calls the verb, returns its exit status. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/base/job_log.h"
#include "input/beside.h"
#include "input/folder.h"
#include "input/input.h"
#include "options/command_line.h"
#include "show/messages.h"
#include "show/output.h"
#include "verbs.h"
#include "verbs/output_files.h"

/* Does a build server look for commands in our output? */
static bool is_for_job_log(const struct options *o)
{
    return pfd_job_log_is_read() || (o->output && !strcmp(o->output, "github"));
}

static bool is_json(const struct options *o)
{
    const char *form = options_form(o);
    return form ? !strcmp(form, "json")
                : o->report && pfd_problems_form_is_json(o->report);
}

static int run(struct options *options)
{
    message_color(options_color(options, STDERR_FILENO));
    if (options_show_json(options))
        output_guard_json();
    if (is_for_job_log(options)) {
        output_guard_commands(is_json(options));
        message_guard_commands();
    }
    bool ok = folders_expand(options);
    beside_expand(options);
    ok = ok && output_files_check(options);
    int status = ok ? options->verb->run(options) : error_status();
    /* Output that was printed before a failure is flushed. */
    return output_failed() ? error_status() : status;
}

int main(int argc, char **argv)
{
    int status = EXIT_CLEAN;

    /* A closed pipe is an error of write(), not a signal. */
    signal(SIGPIPE, SIG_IGN);
    input_guard();
    struct options *options = command_line_read(&verbs, argc, argv, &status);
    if (options) {
        status = run(options);
    } else if (output_failed()) { /* help was asked for */
        status = error_status();
    }
    options_free(options);
    return status;
}
