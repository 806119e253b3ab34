/* SPDX-License-Identifier: MIT */
/* The program: calls the verb, returns its exit status. */
#include <signal.h>
#include <unistd.h>

#include "input/beside.h"
#include "input/folder.h"
#include "input/input.h"
#include "options.h"
#include "show/messages.h"
#include "show/output.h"
#include "verbs/output_files.h"

int main(int argc, char **argv)
{
    struct options options;
    int status;

    /* A closed pipe is an error of write(), not a signal. */
    signal(SIGPIPE, SIG_IGN);
    input_guard();
    if (options_read(&options, argc, argv, &status)) {
        message_color(options_color(&options, STDERR_FILENO));
        if (options_show_json(&options))
            output_guard_json();
        bool ok = folders_expand(&options);
        beside_expand(&options);
        ok = ok && output_files_check(&options);
        status = ok ? options.verb->run(&options) : EXIT_ERROR;
        /* Output that was printed before a failure is flushed. */
        if (output_failed())
            status = EXIT_ERROR;
    }
    options_free(&options);
    return status;
}
