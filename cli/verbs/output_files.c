/* SPDX-License-Identifier: MIT */
#include "output_files.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/input.h"
#include "input/shaders.h"
#include "options/option_values.h"
#include "show/messages.h"

/* An output file, to be compared with all inputs. */
struct search {
    const struct stat *target;
    bool is_input;
};

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* ---- inputs ---- */

static bool is_target(struct search *s, const char *path)
{
    struct stat st;
    bool is_there =
        strcmp(path, "-") ? !stat(path, &st) : !fstat(STDIN_FILENO, &st);
    s->is_input |= is_there && is_same(&st, s->target);
    return s->is_input;
}

/* A pfd_input_open_fn: compares the URI's file, and does not read it. */
static int look_at(void *user, const char *path, uint64_t pid, char *why,
                   size_t n_why)
{
    (void)pid;
    (void)why;
    (void)n_why;
    if (path)
        is_target(user, path);
    return -1;
}

static bool is_input(struct search *s, const char *name)
{
    struct pfd_input *input = NULL;
    if (!pfd_input_is_uri(name))
        return is_target(s, name);
    pfd_input_read_with(name, 0, look_at, s, &input, NULL);
    pfd_input_close(input);
    return s->is_input;
}

static bool look_at_shader(void *user, const struct pfd_shader_info *info)
{
    is_input(user, info->source);
    return true;
}

/* False: the map is not readable; an error was printed. */
static bool look_at_map(struct search *s, const char *path)
{
    bool says_more;
    return is_target(s, path) ||
           shaders_walk_map(path, look_at_shader, s, &says_more);
}

/* NULL: the file is no option's, beside those of o->files. */
static const char *find_option(struct search *s, const struct options *o)
{
    const struct option_row *row;
    struct option_cursor c = option_cursor(o->verb);
    while ((row = option_next(&c))) {
        const char *path =
            row->parse == option_input_file ? option_text_of(o, row) : NULL;
        const struct words *paths =
            row->parse == option_input_files ? option_words_of(o, row) : NULL;
        if (path && is_input(s, path))
            return path;
        for (size_t i = 0; paths && i < paths->n; i++) {
            if (is_input(s, paths->all[i]))
                return paths->all[i];
        }
    }
    return NULL;
}

/* Is the file an input? Its name there; "": no input is; NULL: said why it is
 * not known. */
static const char *find_input(const struct options *o, const struct stat *file)
{
    struct search s = { .target = file };
    const char *option = find_option(&s, o);
    if (option)
        return option;
    for (size_t i = 0; i < o->n_files; i++) {
        const char *path = o->files[i].path;
        const char *equals = strchr(path, '=');
        if (o->files[i].role == ROLE_ARGUMENT)
            continue;
        if (o->files[i].role == ROLE_SHADER)
            path = equals ? equals + 1 : path;
        if (o->files[i].role != ROLE_SHADERS) {
            is_input(&s, path);
        } else if (!look_at_map(&s, path)) {
            return NULL;
        }
        if (s.is_input)
            return path;
    }
    return "";
}

/* ---- outputs ---- */

/* Would writing change existing bytes? */
static bool holds_bytes(const struct stat *file)
{
    return S_ISREG(file->st_mode) || S_ISBLK(file->st_mode);
}

/* Is it the caller's standard output or error, as with /dev/stdout? */
static bool is_stream(const struct stat *file)
{
    struct stat st;
    return (!fstat(STDOUT_FILENO, &st) && is_same(&st, file)) ||
           (!fstat(STDERR_FILENO, &st) && is_same(&st, file));
}

bool output_file_check_at(const struct options *o, int folder, const char *name)
{
    struct stat st;
    bool is_inside = folder != AT_FDCWD;
    if (fstatat(folder, name, &st, 0) || !holds_bytes(&st))
        return true;
    const char *input = find_input(o, &st);
    if (input && *input) {
        message_error("%s: is read, and would be written over", input);
    } else if (input) {
        if (o->force || S_ISBLK(st.st_mode) || is_stream(&st))
            return true;
        message_error("%s%s%s: %s" FORCE_HINT, is_inside ? o->to : "",
                      is_inside ? "/" : "", name, strerror(EEXIST));
    }
    return false;
}

/* Finds the input that a stream writes to; returns like find_input(). */
static const char *find_behind(const struct options *o, int fd)
{
    struct stat st;
    return fstat(fd, &st) || !holds_bytes(&st) ? "" : find_input(o, &st);
}

/* Messages about an input must not be written into it: if standard error is an
 * input, they go to standard output, if that is another file. */
static bool check_streams(const struct options *o)
{
    const char *out = find_behind(o, STDOUT_FILENO);
    const char *error = out ? find_behind(o, STDERR_FILENO) : NULL;
    if (!error)
        return false;
    if (*error) {
        int fd = *out ? open("/dev/null", O_WRONLY | O_CLOEXEC) : STDOUT_FILENO;
        if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
            return false;
        message_error("%s: is read, and standard error goes there", error);
    } else if (*out) {
        message_error("%s: is read, and standard output goes there", out);
    }
    return !*out && !*error;
}

static bool stat_folder(const char *path, struct stat *ret)
{
    char *copy = strdup(path);
    bool ok = copy && !stat(dirname(copy), ret);
    free(copy);
    return ok;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool output_file_is_one(const char *a, const char *b)
{
    struct stat x;
    struct stat y;
    bool is_there = !stat(a, &x);
    if (is_there != !stat(b, &y))
        return false;
    if (is_there)
        return is_same(&x, &y) && holds_bytes(&x);
    return stat_folder(a, &x) && stat_folder(b, &y) && is_same(&x, &y) &&
           !strcmp(base_name(a), base_name(b));
}

/* The next output file of an option; NULL: there is none. */
static const char *next_output(const struct options *o, struct option_cursor *c)
{
    const struct option_row *row;
    while ((row = option_next(c))) {
        const char *path =
            row->parse == option_output_file ? option_text_of(o, row) : NULL;
        if (path && strcmp(path, "-") != 0)
            return path;
    }
    return NULL;
}

bool output_files_check(const struct options *o)
{
    struct option_cursor c = option_cursor(o->verb);
    const char *first = NULL;
    const char *path;
    if (!check_streams(o))
        return false;
    while ((path = next_output(o, &c))) {
        if (!output_file_check_at(o, AT_FDCWD, path))
            return false;
        if (first && output_file_is_one(first, path)) {
            message_error("%s: would be written twice", path);
            return false;
        }
        first = path;
    }
    return true;
}
