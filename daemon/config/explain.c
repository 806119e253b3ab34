/* SPDX-License-Identifier: MIT */
#include "config/explain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/units.h"

enum {
    PATH_ROOM = 4096
};

struct plan {
    const struct pfdd_config *config;
    const char *path; /* of the configuration */
    FILE *out;
    pfdd_config_tell_fn tell;
    void *user;
    struct pfdd_names warned; /* warnings that were printed */
};

/* Repeated paths cause each warning only once. */
static bool is_new(struct plan *p, const char *line)
{
    for (size_t i = 0; i < p->warned.n; i++) {
        if (!strcmp(p->warned.items[i], line))
            return false;
    }
    char **items = realloc(p->warned.items, (p->warned.n + 1) * sizeof *items);
    if (!items)
        return true;
    p->warned.items = items;
    items[p->warned.n] = strdup(line);
    p->warned.n += items[p->warned.n] != NULL;
    return true;
}

__attribute__((format(printf, 2, 3))) static void warn(struct plan *p,
                                                       const char *text, ...)
{
    char what[PATH_ROOM + 256];
    char line[2 * PATH_ROOM];
    va_list args;
    va_start(args, text);
    vsnprintf(what, sizeof what, text, args);
    va_end(args);
    snprintf(line, sizeof line, "%.1000s: warning: %s", p->path, what);
    if (is_new(p, line))
        p->tell(p->user, line);
}

/* ---- checks of files ---- */

static bool may(const char *path, int mode)
{
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
}

/* The folder of a path, up to the first {word}. */
static void folder_of(char ret[PATH_ROOM], const char *path)
{
    snprintf(ret, PATH_ROOM, "%s", path);
    ret[strcspn(ret, "{")] = '\0';
    char *slash = strrchr(ret, '/');
    if (!slash) {
        memcpy(ret, ".", 2);
    } else {
        slash[slash == ret] = '\0';
    }
}

/* Checks the folder in which a file or socket will be created. */
static void check_folder(struct plan *p, const char *path)
{
    char folder[PATH_ROOM];
    struct stat st;
    folder_of(folder, path);
    if (stat(folder, &st) != 0) {
        warn(p, "%s: %s: the folder is to be made before", folder,
             strerror(errno));
    } else if (!S_ISDIR(st.st_mode)) {
        warn(p, "%s: no folder", folder);
    } else if (!may(folder, W_OK | X_OK)) {
        warn(p, "%s: not writable by user %u, who asks", folder,
             (unsigned)geteuid());
    }
}

/* Checks a file to read; is_awaited: it may appear later. */
static void check_file(struct plan *p, const char *path, bool is_awaited)
{
    struct stat st;
    if (!path)
        return;
    if (stat(path, &st) != 0) {
        warn(p, "%s: %s%s", path, strerror(errno),
             is_awaited ? ": it is waited for" : "");
    } else if (!S_ISREG(st.st_mode)) {
        warn(p, "%s: not a regular file", path);
    } else if (!may(path, R_OK)) {
        warn(p, "%s: not readable by user %u, who asks", path,
             (unsigned)geteuid());
    }
}

static void check_directory(struct plan *p, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        warn(p, "%s: %s: the daemon would not start", path, strerror(errno));
    } else if (!S_ISDIR(st.st_mode)) {
        warn(p, "%s: no folder: the daemon would not start", path);
    } else if (!may(path, R_OK | X_OK)) {
        warn(p, "%s: not readable by user %u, who asks", path,
             (unsigned)geteuid());
    }
}

/* Checks a folder that is created on demand. */
static void check_state_dir(struct plan *p, const char *path)
{
    char inside[PATH_ROOM];
    snprintf(inside, sizeof inside, may(path, F_OK) ? "%s/queue" : "%s", path);
    check_folder(p, inside);
}

/* ---- paths and blocks ---- */

static bool check_path(void *user, enum pfdd_use use, const char *path)
{
    struct plan *p = user;
    switch (use) {
    case PFDD_USE_READ:
    case PFDD_USE_AWAIT:
        check_file(p, path, use == PFDD_USE_AWAIT);
        break;
    case PFDD_USE_WATCH:
        check_directory(p, path);
        break;
    case PFDD_USE_WRITE:
    case PFDD_USE_DATABASE:
        check_folder(p, path);
        break;
    case PFDD_USE_KEEP:
        if (pfdd_config_has_required(p->config))
            check_state_dir(p, path);
        break;
    case PFDD_USE_LISTEN:
        check_folder(p, path);
        break;
    case PFDD_USE_NAMES:
    case PFDD_USE_CONNECT:
    case PFDD_USE_NONE:
        break;
    }
    return true;
}

static void put_block(struct plan *p, const char *what,
                      const struct pfdd_block *block)
{
    fprintf(p->out, "%s: ", what);
    block->type_class->plan(block, p->out);
    fputc('\n', p->out);
}

static void put_output(struct plan *p, size_t i)
{
    put_block(p, "output", p->config->outputs[i]);
    if (pfdd_config_output(p->config, i)->required) {
        fputs("  required: no line is lost to it; while it does not take "
              "them, they wait on disk, and then all sources wait\n",
              p->out);
    }
}

static void put_limits(struct plan *p)
{
    const struct pfdd_config *c = p->config;
    fputs("limits: ", p->out);
    pfdd_units_put_size(p->out, c->memory_max);
    fputs(" of memory, of which ", p->out);
    pfdd_units_put_size(p->out, c->ring);
    fputs(" for the latest lines; ", p->out);
    pfdd_units_put_time(p->out, c->drain_ms);
    fputs(" to write what is left at the end", p->out);
    if (pfdd_config_has_required(c)) {
        fputs("; ", p->out);
        pfdd_units_put_size(p->out, c->queue_max);
        fprintf(p->out, " of disk in %s", c->state_dir);
    }
    fprintf(p->out, "; %s sandbox\n", c->sandbox ? "in a" : "without");
}

void pfdd_explain_print(const struct pfdd_config *config, const char *path,
                        FILE *out, pfdd_config_tell_fn tell, void *user)
{
    struct plan p = { config, path, out, tell, user, { NULL, 0 } };
    fprintf(out, "ok: %zu %s, %zu %s\n", config->n_inputs,
            config->n_inputs == 1 ? "input" : "inputs", config->n_outputs,
            config->n_outputs == 1 ? "output" : "outputs");
    for (size_t i = 0; i < config->code_objects.n; i++)
        fprintf(out, "code object: %s\n", config->code_objects.items[i]);
    for (size_t i = 0; i < config->n_inputs; i++)
        put_block(&p, "input", config->inputs[i]);
    for (size_t i = 0; i < config->n_outputs; i++)
        put_output(&p, i);
    pfdd_config_paths(config, check_path, &p);
    if (config->n_outputs == 0)
        warn(&p, "no outputs: nobody will see a line");
    put_limits(&p);
    for (size_t i = 0; i < p.warned.n; i++)
        free(p.warned.items[i]);
    free(p.warned.items);
}
