/* SPDX-License-Identifier: MIT */
#include "scan_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "show/messages.h"

enum {
    INCLUDED_MAX = 4096,       /* included files, beside those of the command
                                  line */
    INCLUDED_BYTES = 256 << 20 /* total bytes of included files */
};

void scan_files_free(struct scan_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        pfd_input_close(files->all[i].input);
        free(files->all[i].path);
    }
    free(files->all);
}

static struct scan_file *add_file(struct scan_files *files, char *path)
{
    struct scan_file *all =
        path ? realloc(files->all, (files->n + 1) * sizeof *all) : NULL;
    if (!all) {
        free(path);
        message_error("out of memory");
        return NULL;
    }
    files->all = all;
    all[files->n] = (struct scan_file){ .path = path };
    return &all[files->n++];
}

/* ---- files of the command line ---- */

static bool language_of(const struct scan_files *files, const char *path,
                        enum pfd_scan_language *ret)
{
    if (files->language) {
        *ret =
            strcmp(files->language, "glsl") ? PFD_SCAN_OPENCL : PFD_SCAN_GLSL;
        return true;
    }
    if (pfd_scan_language_of(path, ret))
        return true;
    message_error("%s: its name does not say the language: --language glsl or "
                  "opencl",
                  path);
    return false;
}

/* The file with this device and inode; SIZE_MAX: none. */
static size_t find(const struct scan_files *files, const struct stat *st)
{
    for (size_t i = 0; i < files->n; i++) {
        if (files->all[i].ino == st->st_ino && files->all[i].dev == st->st_dev)
            return i;
    }
    return SIZE_MAX;
}

/* Records the file's device and inode. False: the file is given twice, and one
 * folder cannot hold both; an error was printed. */
static bool take_id(const struct scan_files *files, struct scan_file *file)
{
    struct stat st;
    if (!strcmp(file->path, "-") || stat(file->path, &st))
        return true;
    size_t i = find(files, &st);
    file->dev = st.st_dev;
    file->ino = st.st_ino;
    if (i == SIZE_MAX)
        return true;
    message_error("%s: is given twice", file->path);
    return false;
}

static bool read_file(struct scan_files *files, const char *path)
{
    struct pfd_error err;
    size_t n;
    size_t i;
    struct scan_file *file = add_file(files, strdup(path));
    if (!file)
        return false;
    bool ok = take_id(files, file);
    ok = language_of(files, path, &file->language) && ok;
    if (pfd_input_open(path, &file->input, &err) != PFD_OK) {
        message_error("%s: %s", path, err.text);
        return false;
    }
    const void *bytes = pfd_input_bytes(file->input, &n);
    enum pfd_status status =
        pfd_scan_add(files->scan, file->language, path, bytes, n, &i, &err);
    if (status == PFD_ERR_NOMEM)
        message_error("%s", err.text);
    return ok && status == PFD_OK;
}

/* ---- included files ---- */

/* "folder/path", allocated; n_folder 0: the path alone. */
static char *join(const char *folder, size_t n_folder,
                  const struct pfd_scan_include *include)
{
    char *ret = malloc(n_folder + include->n + 2);
    if (!ret)
        return NULL;
    memcpy(ret, folder, n_folder);
    if (n_folder && ret[n_folder - 1] != '/')
        ret[n_folder++] = '/';
    memcpy(ret + n_folder, include->path, include->n);
    ret[n_folder + include->n] = '\0';
    return ret;
}

/* The path if it is a regular file; NULL: it is not. */
static char *look(const char *folder, size_t n_folder,
                  const struct pfd_scan_include *include, struct stat *st)
{
    bool is_absolute = include->path[0] == '/';
    char *path = join(folder, is_absolute ? 0 : n_folder, include);
    if (path && !stat(path, st) && S_ISREG(st->st_mode))
        return path;
    free(path);
    return NULL;
}

static char *locate(const struct scan_files *files, size_t i,
                    const struct pfd_scan_include *include, struct stat *st)
{
    const struct words *folders = files->include_folders;
    const char *from = files->all[i].path;
    const char *slash = strrchr(from, '/');
    size_t n = slash ? (size_t)(slash - from) + 1 : 0;
    char *ret = include->is_angled ? NULL : look(from, n, include, st);
    for (size_t k = 0; k < folders->n && !ret; k++)
        ret = look(folders->all[k], strlen(folders->all[k]), include, st);
    return ret ? ret : look(from, n, include, st);
}

/* Adds an included file. An unreadable file is left for the compiler to
 * report. */
static bool add_included(struct scan_files *files, char *path,
                         const struct stat *st, enum pfd_scan_language language)
{
    struct pfd_error err;
    struct pfd_input *input;
    size_t n;
    size_t i;
    files->n_bytes += (size_t)st->st_size;
    if (files->n - files->options->n_files >= INCLUDED_MAX ||
        files->n_bytes > INCLUDED_BYTES ||
        pfd_input_open(path, &input, &err) != PFD_OK) {
        files->is_full |= files->n_bytes > INCLUDED_BYTES ||
                          files->n - files->options->n_files >= INCLUDED_MAX;
        free(path);
        return true;
    }
    struct scan_file *file = add_file(files, path);
    if (!file) {
        pfd_input_close(input);
        return false;
    }
    file->input = input;
    file->dev = st->st_dev;
    file->ino = st->st_ino;
    if (!pfd_scan_language_of(path, &file->language))
        file->language = language;
    const void *bytes = pfd_input_bytes(input, &n);
    return pfd_scan_add_included(files->scan, file->language, path, bytes, n,
                                 &i, &err) != PFD_ERR_NOMEM;
}

static bool read_includes(struct scan_files *files, size_t i)
{
    struct pfd_scan_include include;
    bool ok = true;
    for (size_t k = 0; ok && pfd_scan_get_include(files->scan, i, k, &include);
         k++) {
        struct stat st;
        char *path = locate(files, i, &include, &st);
        size_t of = path ? find(files, &st) : SIZE_MAX;
        if (path && of == SIZE_MAX) {
            of = files->n;
            ok = add_included(files, path, &st, files->all[i].language);
        } else {
            free(path);
        }
        if (ok && of < files->n && of != i)
            ok = pfd_scan_link(files->scan, i, k, of) == PFD_OK;
    }
    return ok;
}

bool scan_files_read(struct scan_files *files)
{
    const struct options *o = files->options;
    bool ok = true;
    /* All errors are printed, not only the first. */
    for (size_t i = 0; i < o->n_files; i++)
        ok &= read_file(files, o->files[i].path);
    for (size_t i = 0; ok && i < files->n; i++)
        ok = read_includes(files, i);
    if (files->is_full) {
        message_hint(
            "more than %d files are included: the rest is not looked at",
            INCLUDED_MAX);
    }
    return ok;
}

/* ---- output paths ---- */

/* The path with links in its folder resolved; NULL: an error was printed. */
static char *real_place(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    char *ret = NULL;
    char *folder =
        slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *real = folder ? realpath(folder, NULL) : NULL;
    if (!folder) {
        message_error("out of memory");
    } else if (!real) {
        message_error("%s: its folder is not known", path);
    }
    if (real &&
        asprintf(&ret, "%s/%s", strcmp(real, "/") ? real : "", base) < 0) {
        ret = NULL;
        message_error("out of memory");
    }
    free(real);
    free(folder);
    return ret;
}

/* Length of the common prefix of both folders, up to a '/'. */
static size_t common(const char *a, const char *b, size_t n)
{
    size_t ret = 0;
    for (size_t i = 0; i < n && a[i] == b[i]; i++)
        ret = a[i] == '/' ? i + 1 : ret;
    return ret;
}

bool scan_files_places(const struct scan_files *files, char ***ret)
{
    size_t n = files->options->n_files;
    char **all = calloc(n, sizeof *all);
    bool ok = all != NULL;
    if (!all)
        message_error("out of memory");
    for (size_t i = 0; i < n && ok; i++) {
        all[i] = real_place(files->all[i].path);
        ok = all[i] != NULL;
    }
    size_t n_common = ok ? (size_t)(strrchr(all[0], '/') - all[0]) + 1 : 0;
    for (size_t i = 1; i < n && ok; i++)
        n_common = common(all[0], all[i], n_common);
    for (size_t i = 0; i < n && all; i++) {
        if (all[i] && ok)
            memmove(all[i], all[i] + n_common, strlen(all[i] + n_common) + 1);
    }
    *ret = all;
    return ok;
}
