/* SPDX-License-Identifier: MIT */
#include "file_order.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/decode/string_loader.h"
#include "show/messages.h"

static bool is_description(const struct file *file)
{
    char first[4096];
    struct stat st;
    ssize_t n = -1;
    if (file->found ||
        (file->role != ROLE_STRINGS && file->role != ROLE_BY_CONTENT) ||
        stat(file->path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = pread(fd, first, sizeof first, 0);
        close(fd);
    }
    return n > 0 && pfd_strings_describes(first, (size_t)n);
}

size_t *file_order(const struct options *options)
{
    size_t *ret = calloc(options->n_files + 1, sizeof *ret);
    size_t *others = calloc(options->n_files + 1, sizeof *others);
    size_t n = 0;
    size_t n_others = 0;
    if (!ret || !others) {
        message_error("out of memory");
        exit(error_status());
    }
    for (size_t i = 0; i < options->n_files; i++) {
        if (is_description(&options->files[i])) {
            ret[n++] = i;
        } else {
            others[n_others++] = i;
        }
    }
    for (size_t i = 0; i < n_others; i++)
        ret[n++] = others[i];
    free(others);
    return ret;
}
