/* SPDX-License-Identifier: MIT */
/*
 * printfdecode scan: rewrites shader sources so that they print, and writes the
 * file of their format strings. Nothing is written if any file has an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output_files.h"
#include "scan_files.h"
#include "show/messages.h"
#include "show/output.h"
#include "verb.h"

/* The verb's values. */
struct scan_options {
    struct options common;
    const char *strings_to; /* the file for format strings */
    struct words calls;
    struct words include_folders; /* -I */
    const char *language;
    uint64_t set;
    uint64_t binding;
    bool subgroups;
    bool wide_atomics;
    bool sites;
    bool commit;
    bool origin;
    bool control;
};

static const struct scan_options *own(const struct options *o)
{
    return (const struct scan_options *)o;
}

/* A rewritten file. */
struct rewritten {
    char *place; /* path in the output folder; owned */
    void *bytes; /* [n]; owned */
    size_t n;
};

static void message_note(void *user, bool is_error, const char *text)
{
    (void)user;
    if (is_error) {
        message_error("%s", text);
    } else {
        message_hint("%s", text);
    }
}

/* Writes all bytes, and closes fd. */
static bool write_all(int fd, const char *bytes, size_t n)
{
    bool ok = fd >= 0;
    while (ok && n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        ok = done > 0;
        bytes += done;
        n -= ok ? (size_t)done : 0;
    }
    int why = errno;
    if (fd >= 0 && close(fd) && ok)
        return false;
    errno = why;
    return ok;
}

static bool write_file(int folder, const char *name, const void *bytes,
                       size_t n)
{
    int fd =
        openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (write_all(fd, bytes, n))
        return true;
    message_error("%s: %s", name, strerror(errno));
    return false;
}

static bool is_folder(const char *path)
{
    struct stat st;
    size_t n = strlen(path);
    return (n > 0 && path[n - 1] == '/') ||
           (!stat(path, &st) && S_ISDIR(st.st_mode));
}

/* Creates the folders of a path, up to its last '/'; the path is restored. */
static bool make_folders(int at, char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool ok = !mkdirat(at, path, 0777) || errno == EEXIST;
        *slash = '/';
        if (!ok)
            return false;
    }
    return true;
}

/* All files are checked before the first is written. */
static bool may_write(const struct options *o, int folder,
                      const struct rewritten *all, size_t n)
{
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", o->to, all[i].place);
        ok = output_file_check_at(o, folder, all[i].place) && ok;
        if (output_file_is_one(path, own(o)->strings_to)) {
            message_error("%s: would be written twice", path);
            ok = false;
        }
    }
    return ok;
}

/* Included files are inputs, too. */
static bool may_write_all(const struct scan_files *files)
{
    struct scan_options copy = *own(files->options);
    struct options *all = &copy.common;
    all->n_files = files->n;
    all->files = calloc(files->n, sizeof *all->files);
    for (size_t i = 0; i < files->n && all->files; i++)
        all->files[i].path = files->all[i].path;
    bool ok = all->files && output_files_check(all);
    if (!all->files)
        message_error("out of memory");
    free(all->files);
    return ok;
}

/* Opens the folder -o, after creating it and its parents; -1: an error was
 * printed. */
static int open_folder(const char *to)
{
    char *path = NULL;
    int ret = -1;
    if (asprintf(&path, "%s/", to) < 0)
        path = NULL;
    if (path && *to && make_folders(AT_FDCWD, path))
        ret = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (ret < 0)
        message_error("%s: %s", to, strerror(errno));
    free(path);
    return ret;
}

static bool write_folder(const struct options *o, const struct rewritten *all,
                         size_t n)
{
    int folder = open_folder(o->to);
    bool ok = folder >= 0 && may_write(o, folder, all, n);
    for (size_t i = 0; i < n && ok; i++) {
        ok = make_folders(folder, all[i].place);
        if (!ok)
            message_error("%s/%s: %s", o->to, all[i].place, strerror(errno));
        ok = ok && write_file(folder, all[i].place, all[i].bytes, all[i].n);
    }
    if (folder >= 0)
        close(folder);
    return ok;
}

static bool write_sources(const struct options *o, const struct rewritten *all,
                          size_t n)
{
    const char *to = o->to;
    if (!strcmp(to, "-") && n == 1)
        return output_write(NULL, all->bytes, all->n);
    if (n == 1 && !is_folder(to))
        return write_file(AT_FDCWD, to, all->bytes, all->n);
    return write_folder(o, all, n);
}

static bool write_strings(const struct options *o, const struct pfd_scan *scan)
{
    struct pfd_error err;
    void *bytes;
    size_t n;
    if (pfd_scan_strings(scan, &bytes, &n, &err) != PFD_OK) {
        message_error("%s", err.text);
        return false;
    }
    bool ok = write_file(AT_FDCWD, own(o)->strings_to, bytes, n);
    free(bytes);
    return ok;
}

static bool is_complete(const struct options *o)
{
    if (!o->to || !own(o)->strings_to) {
        message_error("where to? %s is missing",
                      o->to ? "--strings FILE" : "-o OUT");
        return false;
    }
    if (own(o)->set > UINT32_MAX || own(o)->binding > UINT32_MAX) {
        message_error("no set or binding is above 4294967295");
        return false;
    }
    return true;
}

/* Rewrites all files into ret [n], each with what it needs. */
static bool rewrite(struct scan_files *files, struct rewritten *ret, size_t n)
{
    struct pfd_error err;
    char **places = NULL;
    bool is_right = true;
    bool ok = scan_files_read(files);
    for (size_t i = 0; i < n && ok; i++) {
        enum pfd_status status =
            pfd_scan_write(files->scan, i, &ret[i].bytes, &ret[i].n, &err);
        if (status == PFD_ERR_NOMEM)
            message_error("%s", err.text);
        is_right &= status == PFD_OK;
    }
    ok = ok && is_right && scan_files_places(files, &places);
    for (size_t i = 0; i < n && places; i++)
        ret[i].place = places[i];
    free(places);
    return ok;
}

static void message_result(const struct options *o, const struct pfd_scan *scan)
{
    if (own(o)->origin && !own(o)->subgroups && pfd_scan_n_calls(scan)) {
        message_hint(
            "--origin without --subgroups: entries say their workgroup "
            "or pixel, no wave and no lane");
    }
    if (o->verbose) {
        message_hint("%zu calls, %zu format strings", pfd_scan_n_calls(scan),
                     pfd_scan_n_strings(scan));
    }
}

static int scan_run(const struct options *o)
{
    struct pfd_scan_options options = {
        .calls = own(o)->calls.all,
        .n_calls = own(o)->calls.n,
        .set = (uint32_t)own(o)->set,
        .binding = (uint32_t)own(o)->binding,
        .subgroups = own(o)->subgroups,
        .wide_atomics = own(o)->wide_atomics,
        .sites = own(o)->sites,
        .commit = own(o)->commit,
        .origin = own(o)->origin,
        .control = own(o)->control,
        .note = message_note,
    };
    if (!is_complete(o))
        return EXIT_ERROR;
    struct scan_files files = {
        .options = o,
        .language = own(o)->language,
        .include_folders = &own(o)->include_folders,
        .scan = pfd_scan_new(&options),
    };
    struct rewritten *all = calloc(o->n_files, sizeof *all);
    bool ok = files.scan && all;
    if (!ok)
        message_error("out of memory");
    ok = ok && rewrite(&files, all, o->n_files) && may_write_all(&files) &&
         write_sources(o, all, o->n_files) && write_strings(o, files.scan);
    if (ok)
        message_result(o, files.scan);
    for (size_t i = 0; i < o->n_files && all; i++) {
        free(all[i].place);
        free(all[i].bytes);
    }
    free(all);
    pfd_scan_free(files.scan);
    scan_files_free(&files);
    return ok && !output_failed() ? EXIT_CLEAN : EXIT_ERROR;
}

static bool set_language(struct options *o, const struct option_row *row,
                         const char *text)
{
    static const char *const words[] = { "glsl", "opencl", NULL };
    int i = option_find_word(words, text);
    if (i < 0)
        return option_wrong("not glsl or opencl:", text);
    return option_text(o, row, words[i]);
}

static const struct option_row rows[] = {
    { "output", 'o', "OUT",
      "the rewritten file (- is stdout); of several files, their folder",
      offsetof(struct options, to), option_output_file, false },
    { "strings", 0, "FILE",
      "write the format strings to FILE, for 'printfdecode dump FILE'",
      offsetof(struct scan_options, strings_to), option_output_file, false },
    { "call", 0, "NAME",
      "NAME(...) prints, too, as printf or debugPrintfEXT; repeatable",
      offsetof(struct scan_options, calls), option_words, true },
    { "include", 'I', "FOLDER",
      "look for included files there, too; repeatable",
      offsetof(struct scan_options, include_folders), option_words, true },
    { "language", 0, "NAME",
      "glsl or opencl (default: what each file's name ends in)",
      offsetof(struct scan_options, language), set_language, false },
    { "set", 0, "N", "GLSL: the buffer's descriptor set (default: 0)",
      offsetof(struct scan_options, set), option_number, false },
    { "binding", 0, "N", "GLSL: its binding (default: 0)",
      offsetof(struct scan_options, binding), option_number, false },
    { "subgroups", 0, NULL,
      "one atomic for a subgroup; as defining PFD_SUBGROUPS does",
      offsetof(struct scan_options, subgroups), option_flag, false },
    { "wide-atomics", 0, NULL,
      "GLSL: count in 64 bits; as defining PFD_WIDE_ATOMICS does",
      offsetof(struct scan_options, wide_atomics), option_flag, false },
    { "sites", 0, NULL,
      "strings say file, line and level; the next three do, too",
      offsetof(struct scan_options, sites), option_flag, false },
    { "commit", 0, NULL, "each entry says itself whether it is whole",
      offsetof(struct scan_options, commit), option_flag, false },
    { "origin", 0, NULL, "each says its workgroup, wave and lane, or its pixel",
      offsetof(struct scan_options, origin), option_flag, false },
    { "control", 0, NULL, "a second buffer says what may be printed",
      offsetof(struct scan_options, control), option_flag, false },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group, &options_force, &options_messages, &options_help, NULL,
};

const struct verb verb_scan = {
    .name = "scan",
    .files = "FILE...",
    .help = "rewrite PFD_PRINTF of GLSL and OpenCL C into code that prints",
    .run = scan_run,
    .groups = groups,
    .size = sizeof(struct scan_options),
};
