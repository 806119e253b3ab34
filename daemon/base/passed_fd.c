/* SPDX-License-Identifier: MIT */
#include "base/passed_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

bool pfdd_passed_fd_is_memory(int fd, uint64_t size)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS); /* only memory has seals */
    return seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(fd, &st) == 0 &&
           (uint64_t)st.st_size >= size;
}

bool pfdd_passed_fd_is_eventfd(int fd)
{
    static const char wanted[] = "anon_inode:[eventfd]";
    char path[40];
    char name[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, name, sizeof name);
    return n == (ssize_t)strlen(wanted) && !memcmp(name, wanted, (size_t)n);
}

int pfdd_passed_fd_take(int fd)
{
    uint64_t count = 0;
    struct iovec io = { &count, sizeof count };
    ssize_t n = preadv2(fd, &io, 1, -1, RWF_NOWAIT);
    if (n == (ssize_t)sizeof count)
        return 0;
    return n < 0 ? errno : EIO;
}

/* ---- closing ---- */

/* A close() that blocks delays later ones of this list, and nothing else. */
enum {
    CLOSING_MAX = 1024
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int closing[CLOSING_MAX]; /* [n_closing] */
static unsigned n_closing;
static bool has_thread;

static void *close_all(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (n_closing == 0)
            pthread_cond_wait(&filled, &lock);
        int fd = closing[--n_closing];
        pthread_mutex_unlock(&lock);
        close(fd);
        pthread_mutex_lock(&lock);
    }
    return unused;
}

static bool start_thread(void)
{
    pthread_t thread;
    has_thread =
        has_thread || (pthread_create(&thread, NULL, close_all, NULL) == 0 &&
                       pthread_detach(thread) == 0);
    return has_thread;
}

void pfdd_passed_fd_close(int fd)
{
    if (fcntl(fd, F_GET_SEALS) >= 0 || pfdd_passed_fd_is_eventfd(fd)) {
        close(fd);
        return;
    }
    pthread_mutex_lock(&lock);
    /* If the list is full, fd stays open: descriptors run out sooner. */
    if (start_thread() && n_closing < CLOSING_MAX) {
        closing[n_closing++] = fd;
        pthread_cond_signal(&filled);
    }
    pthread_mutex_unlock(&lock);
}
