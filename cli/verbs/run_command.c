/* SPDX-License-Identifier: MIT */
#include "run_command.h"

#include <stdlib.h>
#include <string.h>

#include "show/messages.h"

void run_command_free(char **command)
{
    for (size_t i = 0; command && command[i]; i++)
        free(command[i]);
    free(command);
}

char **run_command_new(const struct options *o, const struct shader_run *shader)
{
    const char **words = calloc(o->n_files + 1, sizeof *words);
    char **argv = calloc(o->n_files + 1, sizeof *argv);
    size_t n = o->n_files;
    bool ok = words && argv;
    for (size_t i = 0; ok && i < n; i++) {
        words[i] = o->files[i].path;
        argv[i] = strdup(o->files[i].path);
        ok = argv[i];
    }
    if (!ok) {
        message_error("out of memory");
        run_command_free(argv);
        argv = NULL;
    } else if (shader && run_shader_is(words[0])) {
        run_command_free(argv);
        argv = run_shader_command(shader, words, n);
    }
    free(words);
    return argv;
}

const char *run_command_dump(char *const *command)
{
    if (!command || !command[0])
        return NULL; /* its shader was refused */
    const char *slash = strrchr(command[0], '/');
    const char *name = slash ? slash + 1 : command[0];
    bool is_runner = !strcmp(name, "run_comp") || !strcmp(name, "run_cl");
    for (size_t i = 1; is_runner && command[i]; i++) {
        if (!strcmp(command[i], "--to"))
            return command[i + 1];
    }
    return NULL;
}
