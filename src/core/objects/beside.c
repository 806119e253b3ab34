/* SPDX-License-Identifier: MIT */
/* Archives beside a program that hold its device code. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/strings.h>

#include "core/objects/code_walk.h"
#include "core/objects/elf_image.h"
#include "core/objects/objects.h"

enum {
    NAMES_MAX = 16
};

/* Where archives go to. */
struct finder {
    const char *folder; /* of the program */
    pfd_beside_fn fn;
    void *user;
};

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "it is a folder"
           : S_ISFIFO(mode) ? "it is a pipe"
           : S_ISSOCK(mode) ? "it is a socket"
                            : "it is a device";
}

static const char *why_not_archive(int fd)
{
    uint8_t head[8];
    struct stat st;
    if (fstat(fd, &st))
        return strerror(errno);
    if (!S_ISREG(st.st_mode))
        return kind_of(st.st_mode);
    bool is =
        read(fd, head, sizeof head) == (ssize_t)sizeof head &&
        pfd_code_kind_of(pfd_byte_reader(head, sizeof head)) == PFD_CODE_KPACK;
    return is ? NULL : "it does not begin as a kpack archive does";
}

/* The program may name anything, and opening a device may start something: the
 * file is looked at before, and again once it is open. */
static void give(const struct finder *f, const char *path)
{
    struct stat st;
    if (stat(path, &st)) {
        if (errno != ENOENT)
            f->fn(f->user, path, strerror(errno));
        return;
    }
    if (!S_ISREG(st.st_mode)) {
        f->fn(f->user, path, kind_of(st.st_mode));
        return;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    f->fn(f->user, path, fd < 0 ? strerror(errno) : why_not_archive(fd));
    if (fd >= 0)
        close(fd);
}

static bool has_ends(const char *name, const char *head, size_t n_head,
                     const char *tail)
{
    size_t n = strlen(name);
    size_t n_tail = strlen(tail);
    return n >= n_head + n_tail && !memcmp(name, head, n_head) &&
           !strcmp(name + n - n_tail, tail);
}

/* Files in a folder whose names begin and end so. */
static void find_in(const struct finder *f, const char *folder,
                    const char *head, size_t n_head, const char *tail)
{
    struct dirent **names = NULL;
    char path[PATH_MAX];
    int n = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (has_ends(names[i]->d_name, head, n_head, tail) &&
            snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name) <
                (int)sizeof path)
            give(f, path);
        free(names[i]);
    }
    free(names);
}

static void find_named(const struct finder *f, const char *name, size_t n)
{
    static const char any[] = "@GFXARCH@";
    char path[PATH_MAX];
    if (!n || n >= sizeof path || name[0] == '/' || memchr(name, 0, n) ||
        snprintf(path, sizeof path, "%s/%.*s", f->folder, (int)n, name) >=
            (int)sizeof path)
        return;
    char *last = strrchr(path, '/') + 1;
    char *hole = strstr(last, any);
    if (!hole) {
        give(f, path);
        return;
    }
    last[-1] = '\0';
    find_in(f, path, last, (size_t)(hole - last), hole + sizeof any - 1);
}

static void find_all(const struct finder *f, const struct pfd_section *section)
{
    struct pfd_kpack_names names = pfd_kpack_names(section);
    size_t n = 0;
    for (int i = 0; i < NAMES_MAX; i++) {
        const char *name = pfd_kpack_next_name(&names, &n);
        if (!name)
            return;
        find_named(f, name, n);
    }
}

/* The folder that the program lies in, where a link may lead to. */
static bool folder_of(const char *path, char ret[PATH_MAX])
{
    struct stat st;
    bool is_link = !lstat(path, &st) && S_ISLNK(st.st_mode);
    if (is_link && !realpath(path, ret))
        return false;
    if (!is_link && snprintf(ret, PATH_MAX, "%s%s", path[0] == '/' ? "" : "./",
                             path) >= PATH_MAX)
        return false;
    *strrchr(ret, '/') = '\0';
    return true;
}

enum pfd_status pfd_objects_beside(const char *path, const void *bytes,
                                   size_t n, pfd_beside_fn fn, void *user,
                                   struct pfd_error *err)
{
    struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    struct pfd_report silent = { .source = path };
    struct pfd_image *image;
    struct pfd_section section;
    char folder[PATH_MAX];
    const struct finder finder = { folder, fn, user };
    if (pfd_code_kind_of(c) != PFD_CODE_ELF || pfd_code_is_amd(c) ||
        !folder_of(path, folder))
        return PFD_OK;
    enum pfd_status status = pfd_image_open(bytes, n, &image, &silent, err);
    if (status != PFD_OK)
        return status;
    for (size_t i = 0; pfd_image_section(image, i, &section) == PFD_OK; i++) {
        if (pfd_kpack_is_ref(&section)) {
            find_all(&finder, &section);
            break; /* sections may overlap, and all of one is read */
        }
    }
    pfd_image_free(image);
    return PFD_OK;
}
