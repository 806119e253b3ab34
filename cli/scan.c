/* SPDX-License-Identifier: MIT */
/*
 * printfdecode scan: shader source, rewritten so that it prints, and the file
 * of its format strings. Nothing is written when any file is wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/input.h>
#include <printfdecode/scan.h>

#include "destination.h"
#include "options.h"
#include "output.h"
#include "tell.h"

/* One file, rewritten. */
struct rewritten {
    const char *name; /* without its folders */
    void *bytes;      /* [n]; owned */
    size_t n;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool language_of(const struct options *o, const char *path,
                        enum pfd_scan_language *ret)
{
    if (o->language) {
        *ret = strcmp(o->language, "glsl") ? PFD_SCAN_OPENCL : PFD_SCAN_GLSL;
        return true;
    }
    if (pfd_scan_language_of(path, ret))
        return true;
    tell_error("%s: its name does not say the language: --language glsl or "
               "opencl",
               path);
    return false;
}

static bool rewrite(const struct options *o, struct pfd_scan *scan,
                    const char *path, struct rewritten *ret)
{
    struct pfd_input *input = NULL;
    struct pfd_error err;
    enum pfd_scan_language language;
    size_t n;
    ret->name = base_name(path);
    if (!language_of(o, path, &language))
        return false;
    if (pfd_input_open(path, &input, &err) != PFD_OK) {
        tell_error("%s: %s", path, err.text);
        return false;
    }
    const void *bytes = pfd_input_bytes(input, &n);
    enum pfd_status status = pfd_scan_source(scan, language, path, bytes, n,
                                             &ret->bytes, &ret->n, &err);
    pfd_input_close(input);
    if (status == PFD_ERR_NOMEM)
        tell_error("%s", err.text);
    return status == PFD_OK;
}

static void tell_note(void *user, bool is_error, const char *text)
{
    (void)user;
    if (is_error) {
        tell_error("%s", text);
    } else {
        tell_hint("%s", text);
    }
}

/* Closes fd. */
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
    tell_error("%s: %s", name, strerror(errno));
    return false;
}

/* Would two files of the folder have one name? */
static bool names_differ(const struct rewritten *all, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            if (!strcmp(all[i].name, all[k].name)) {
                tell_error("two files are called %s: one folder cannot have "
                           "both",
                           all[i].name);
                return false;
            }
        }
    }
    return true;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* All files are looked at before one is written. */
static bool may_write(const struct options *o, int folder,
                      const struct rewritten *all, size_t n)
{
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", o->to, all[i].name);
        ok = destination_check_at(o, folder, all[i].name) && ok;
        if (destination_is_one(path, o->strings_to)) {
            tell_error("%s: would be written twice", path);
            ok = false;
        }
    }
    return ok;
}

static bool write_folder(const struct options *o, const struct rewritten *all,
                         size_t n)
{
    const char *to = o->to;
    if (!names_differ(all, n))
        return false;
    int folder = mkdir(to, 0777) && errno != EEXIST
                     ? -1
                     : open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        tell_error("%s: %s", to, strerror(errno));
        return false;
    }
    bool ok = may_write(o, folder, all, n);
    for (size_t i = 0; i < n && ok; i++)
        ok = write_file(folder, all[i].name, all[i].bytes, all[i].n);
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
        tell_error("%s", err.text);
        return false;
    }
    bool ok = write_file(AT_FDCWD, o->strings_to, bytes, n);
    free(bytes);
    return ok;
}

static bool is_complete(const struct options *o)
{
    if (!o->to || !o->strings_to) {
        tell_error("where to? %s is missing",
                   o->to ? "--strings FILE" : "-o OUT");
        return false;
    }
    if (o->set > UINT32_MAX || o->binding > UINT32_MAX) {
        tell_error("no set or binding is above 4294967295");
        return false;
    }
    return true;
}

int scan_run(const struct options *o)
{
    struct pfd_scan_options options = {
        .calls = o->calls.all,
        .n_calls = o->calls.n,
        .set = (uint32_t)o->set,
        .binding = (uint32_t)o->binding,
        .subgroups = o->subgroups,
        .wide_atomics = o->wide_atomics,
        .sites = o->sites,
        .commit = o->commit,
        .origin = o->origin,
        .control = o->control,
        .note = tell_note,
    };
    if (!is_complete(o))
        return EXIT_ERROR;
    struct pfd_scan *scan = pfd_scan_new(&options);
    struct rewritten *all = calloc(o->n_files, sizeof *all);
    bool ok = scan && all;
    if (!ok)
        tell_error("out of memory");
    /* All that is wrong is said at once. */
    for (size_t i = 0; i < o->n_files && scan && all; i++)
        ok &= rewrite(o, scan, o->files[i].path, &all[i]);
    ok = ok && write_sources(o, all, o->n_files) && write_strings(o, scan);
    if (ok && o->verbose) {
        tell_hint("%zu calls, %zu format strings", pfd_scan_n_calls(scan),
                  pfd_scan_n_strings(scan));
    }
    for (size_t i = 0; i < o->n_files && all; i++)
        free(all[i].bytes);
    free(all);
    pfd_scan_free(scan);
    return ok && !output_failed() ? EXIT_CLEAN : EXIT_ERROR;
}
