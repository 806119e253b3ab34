/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tell.h"

enum {
    HEAD = 64
}; /* bytes that tell files apart */

/* Passes findings on and counts them. */
struct listener {
    struct inputs *inputs;
    bool notes;
    pfd_finding_fn tell;
    void *user;
};

static void hear(void *user, const struct pfd_finding *finding)
{
    struct listener *l = user;
    bool note = pfd_finding_is_note(finding->kind);
    l->inputs->n_findings += !note;
    if (!note || l->notes)
        l->tell(l->user, finding);
}

static bool fail(struct inputs *in, const char *path, const char *why)
{
    tell_error("%s: %s", path, why);
    in->failed = true;
    return false;
}

static void load_strings(struct inputs *in, const char *path,
                         struct listener *listener)
{
    struct pfd_error err;
    in->n_strings_files++;
    if (pfd_strings_load_file(in->strings, path, hear, listener, &err) < 0)
        fail(in, path, err.text);
}

static bool open_buffer(struct inputs *in, const char *path, struct buffer *ret)
{
    struct stat st;
    *ret = (struct buffer){ .name = path };
    if (!strcmp(path, "-"))
        ret->fd = dup(STDIN_FILENO);
    else
        ret->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (ret->fd < 0 || fstat(ret->fd, &st))
        return fail(in, path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return fail(in, path, strerror(EISDIR));
    /* /proc and /sys say 0 and have bytes all the same: read those. */
    if (!S_ISREG(st.st_mode) || st.st_size == 0 ||
        lseek(ret->fd, 0, SEEK_CUR) != 0)
        return true;
    void *bytes =
        mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, ret->fd, 0);
    if (bytes == MAP_FAILED)
        return true;
    ret->bytes = bytes;
    ret->n = (size_t)st.st_size;
    madvise(bytes, ret->n, MADV_SEQUENTIAL);
    return true;
}

static void close_buffer(struct buffer *b)
{
    if (b->bytes)
        munmap((void *)(uintptr_t)b->bytes, b->n);
    if (b->fd >= 0)
        close(b->fd);
}

/* Strings or a buffer? Only regular files are looked into. */
static enum role role_of(const struct file *file)
{
    char head[HEAD];
    struct stat st;
    enum role role = ROLE_BUFFER;
    if (file->role != ROLE_BY_CONTENT)
        return file->role;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return ROLE_BUFFER; /* opening it again says why */
    if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
        ssize_t n = read(fd, head, sizeof head);
        if (n > 0 && pfd_strings_recognise(head, (size_t)n))
            role = ROLE_STRINGS;
    }
    close(fd);
    return role;
}

void inputs_open(struct inputs *ret, const struct options *options,
                 pfd_finding_fn tell, void *user)
{
    struct listener listener = { ret, options->verbose, tell, user };
    *ret = (struct inputs){ .strings = pfd_strings_new() };
    ret->buffers = calloc(options->n_files + 1, sizeof *ret->buffers);
    if (!ret->strings || !ret->buffers) {
        tell_error("out of memory");
        exit(EXIT_ERROR);
    }
    for (size_t i = 0; i < options->n_files; i++) {
        const struct file *file = &options->files[i];
        struct buffer *b = &ret->buffers[ret->n_buffers];
        if (role_of(file) == ROLE_STRINGS)
            load_strings(ret, file->path, &listener);
        else if (open_buffer(ret, file->path, b))
            ret->n_buffers++;
        else
            close_buffer(b);
    }
}

void inputs_close(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n_buffers; i++)
        close_buffer(&inputs->buffers[i]);
    free(inputs->buffers);
    pfd_strings_free(inputs->strings);
}

long input_read(void *user, void *bytes, size_t n)
{
    const int *fd = user;
    for (;;) {
        ssize_t got = read(*fd, bytes, n);
        if (got >= 0)
            return (long)got;
        if (errno != EINTR)
            return -(long)errno;
    }
}

static void on_sigbus(int signal_number)
{
    static const char text[] =
        "printfdecode: a file became shorter while it was read\n";
    (void)signal_number;
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(n < 0 ? EXIT_ERROR : EXIT_ERROR);
}

void input_guard(void)
{
    struct sigaction action = { .sa_handler = on_sigbus };
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
