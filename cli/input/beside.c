/* SPDX-License-Identifier: MIT */
#include "beside.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/strings.h>

#include "core/base/input.h"
#include "core/objects/objects.h"
#include "show/messages.h"

/* The program that is looked at. */
struct program {
    struct options *options;
    size_t i;
    bool failed;
    struct pfd_error err; /* if failed */
};

/* Is it one of the operands? */
static bool is_operand(const struct options *o, const char *path)
{
    struct stat st;
    struct stat other;
    if (stat(path, &st))
        return false;
    for (size_t i = 0; i < o->n_files; i++) {
        if (!stat(o->files[i].path, &other) && other.st_dev == st.st_dev &&
            other.st_ino == st.st_ino)
            return true;
    }
    return false;
}

static void add_archive(void *user, const char *path, const char *why_not)
{
    struct program *p = user;
    struct options *o = p->options;
    if (why_not) {
        message_hint("%s: named by %s, and not read: %s", path,
                     o->files[p->i].path, why_not);
        return;
    }
    o->files[p->i].is_split = true;
    if (is_operand(o, path))
        return;
    char *copy = strdup(path);
    if (!copy) {
        p->failed = true;
        snprintf(p->err.text, sizeof p->err.text, "out of memory");
        return;
    }
    options_add_file(o, copy, ROLE_STRINGS)->beside = copy;
    if (o->verbose)
        message_hint("%s: its device code is in %s", o->files[p->i].path, path);
}

static bool is_elf_file(const char *path)
{
    char head[4];
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is = fd >= 0 && read(fd, head, sizeof head) == (ssize_t)sizeof head &&
              !memcmp(head, "\177ELF", sizeof head);
    if (fd >= 0)
        close(fd);
    return is;
}

static void look_beside(struct program *p, const char *path)
{
    struct pfd_input *input;
    struct pfd_error err = { .text = "out of memory" };
    size_t n;
    if (pfd_input_open(path, &input, &err) != PFD_OK)
        return; /* the verb that reads it reports why */
    const void *bytes = pfd_input_bytes(input, &n);
    if (pfd_objects_beside(path, bytes, n, add_archive, p, &err) != PFD_OK) {
        p->failed = true;
        p->err = err;
    }
    pfd_input_close(input);
}

void beside_expand(struct options *o)
{
    size_t n = o->n_files;
    for (size_t i = 0; i < n; i++) {
        struct program program = { .options = o, .i = i };
        const char *path = o->files[i].path;
        enum role role = o->files[i].role;
        if ((role != ROLE_BY_CONTENT && role != ROLE_STRINGS) ||
            pfd_input_is_uri(path) || !is_elf_file(path))
            continue;
        look_beside(&program, path);
        if (program.failed) {
            message_error("%s: %s", path, program.err.text);
            exit(error_status());
        }
    }
}
