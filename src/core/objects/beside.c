/* SPDX-License-Identifier: MIT */
/* Archives beside a program that hold its device code. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/objects.h>

#include "core/objects/code_walk.h"
#include "core/objects/elf_image.h"
#include "core/objects/kpack_ref.h"

enum {
    NAMES_MAX = 16
};

/* Where archives go to. */
struct finder {
    const char *folder; /* of the program */
    pfd_beside_fn fn;
    void *user;
};

/* The program may name anything: nothing but a file is opened for long. */
static bool is_archive(const char *path)
{
    uint8_t head[8];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool is =
        !fstat(fd, &st) && S_ISREG(st.st_mode) &&
        read(fd, head, sizeof head) == (ssize_t)sizeof head &&
        pfd_code_kind_of(pfd_byte_reader(head, sizeof head)) == PFD_CODE_KPACK;
    close(fd);
    return is;
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
                (int)sizeof path &&
            is_archive(path))
            f->fn(f->user, path);
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
        if (is_archive(path))
            f->fn(f->user, path);
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
