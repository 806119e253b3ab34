/* SPDX-License-Identifier: MIT */
#include "config/explain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/printfdecode.h>

#include "config/description.h"
#include "config/units.h"

enum {
    PATH_ROOM = 4096,
    WHY_ROOM = 256,
};

struct plan {
    const struct pfdd_config *config;
    const char *path; /* of the configuration */
    FILE *out;
    pfdd_config_tell_fn tell;
    void *user;
    struct pfdd_names warned; /* warnings that were printed */
    const char *folder;       /* the one that was checked last */
    bool is_unusable;         /* the daemon would not start */
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
    p->folder = path;
    if (stat(path, &st) != 0) {
        warn(p, "%s: %s: the folder is to be made before the daemon starts",
             path, strerror(errno));
    } else if (!S_ISDIR(st.st_mode)) {
        warn(p, "%s: no folder: the daemon would not start", path);
        p->is_unusable = true;
    } else if (!may(path, R_OK | X_OK)) {
        warn(p, "%s: not readable by user %u, who asks", path,
             (unsigned)geteuid());
    }
}

/* True: the pattern has a set without its end, which fnmatch() takes for the
 * letter itself. */
static bool has_open_set(const char *pattern)
{
    for (const char *c = pattern; *c; c++) {
        c += *c == '\\' && c[1];
        if (*c != '[')
            continue;
        const char *first = c + 1 + (c[1] == '!' || c[1] == '^');
        const char *end = *first ? strchr(first + 1, ']') : NULL;
        if (!end)
            return true;
        c = end;
    }
    return false;
}

/* True: the folder has files, and the pattern fits none. */
static bool fits_none(const char *folder, const char *pattern)
{
    DIR *dir = opendir(folder);
    const struct dirent *it = NULL;
    bool has_any = false;
    bool has_one = false;
    while (dir && !has_one && (it = readdir(dir))) {
        has_any |= *it->d_name != '.';
        has_one = fnmatch(pattern, it->d_name, FNM_PERIOD) == 0;
    }
    if (dir)
        closedir(dir);
    return has_any && !has_one;
}

/* Checks a pattern of names in the folder before it. */
static void check_names(struct plan *p, const char *pattern)
{
    if (strchr(pattern, '/')) {
        warn(p, "'%s' fits no file: names in the folder %s have no '/'",
             pattern, p->folder);
    } else if (has_open_set(pattern)) {
        warn(p, "'%s': its '[' has no ']', and stands for itself", pattern);
    } else if (fits_none(p->folder, pattern)) {
        warn(p, "%s: no file there fits '%s': it is waited for", p->folder,
             pattern);
    }
}

/* The first finding says best why there are no strings. */
static void hear(void *user, const struct pfd_finding *finding)
{
    char *why = user;
    if (!*why)
        snprintf(why, WHY_ROOM, "%s", finding->text);
}

/* Checks the description of an input's rings; path: NULL: it has none. */
static void check_description(struct plan *p, const char *path)
{
    struct pfdd_description description;
    char why[2 * WHY_ROOM];
    if (!pfdd_description_read(&description, path,
                               (size_t)(p->config->memory_max / 4), why,
                               sizeof why)) {
        warn(p, "%s: the daemon would not start", why);
        p->is_unusable = true;
    }
    pfdd_description_deinit(&description);
}

static bool is_description(const char *path)
{
    struct pfdd_description description;
    char why[2 * WHY_ROOM];
    bool ret = pfdd_description_read(&description, path, SIZE_MAX / 2, why,
                                     sizeof why);
    pfdd_description_deinit(&description);
    return ret;
}

/* Checks a file that is to have format strings. */
static void check_code_object(struct plan *p, const char *path)
{
    struct stat st;
    struct pfd_error err = { 0 };
    char why[WHY_ROOM] = "";
    struct pfd_strings *strings = NULL;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || !may(path, R_OK))
        return;
    strings = pfd_strings_new();
    if (!strings)
        return;
    if (pfd_strings_load_file(strings, path, hear, why, &err) != PFD_OK) {
        warn(p, "%s", err.text);
    } else if (is_description(path)) {
        warn(p,
             "%s: a description of rings, which belongs to an input (its key "
             "'describe')",
             path);
    } else if (pfd_strings_count(strings) == 0) {
        warn(p, "%s: no format strings: %s", path, *why ? why : "it has none");
    }
    pfd_strings_free(strings);
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
        check_names(p, path);
        break;
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

bool pfdd_explain_print(const struct pfdd_config *config, const char *path,
                        FILE *out, pfdd_config_tell_fn tell, void *user)
{
    struct plan p = {
        .config = config, .path = path, .out = out, .tell = tell, .user = user
    };
    pfdd_config_paths(config, check_path, &p);
    for (size_t i = 0; i < config->code_objects.n; i++)
        check_code_object(&p, config->code_objects.items[i]);
    for (size_t i = 0; i < config->n_inputs; i++)
        check_description(&p, pfdd_config_input(config, i)->describe);
    fprintf(out, "%s: %zu %s, %zu %s\n", p.is_unusable ? "not ok" : "ok",
            config->n_inputs, config->n_inputs == 1 ? "input" : "inputs",
            config->n_outputs, config->n_outputs == 1 ? "output" : "outputs");
    for (size_t i = 0; i < config->code_objects.n; i++)
        fprintf(out, "code object: %s\n", config->code_objects.items[i]);
    for (size_t i = 0; i < config->n_inputs; i++)
        put_block(&p, "input", config->inputs[i]);
    for (size_t i = 0; i < config->n_outputs; i++)
        put_output(&p, i);
    if (config->n_outputs == 0)
        warn(&p, "no outputs: nobody will see a line");
    put_limits(&p);
    for (size_t i = 0; i < p.warned.n; i++)
        free(p.warned.items[i]);
    free(p.warned.items);
    return !p.is_unusable;
}
