/* SPDX-License-Identifier: MIT */
#include "spool_buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/thread.h"
#include "show/messages.h"

enum {
    MEMORY = 8 << 20, /* bytes in memory */
    PART = 256 << 10, /* received at once */
};

/* Bytes in a ring: [from, to) of all that ever went through it. */
struct ring {
    uint64_t from;
    uint64_t to;
    uint64_t max;
};

struct spool_buffer {
    pthread_mutex_t lock;
    pthread_cond_t has_room;
    pthread_t thread;
    bool has_thread;
    int fd;
    int event; /* an eventfd: something has come */
    int stop;  /* another: the thread has to end */
    int file;
    /* Bytes in memory are older than those in the file: it is written while it
     * has some, or memory is full. */
    struct ring in_memory;
    struct ring in_file;
    char *memory; /* [MEMORY] */
    char *part;   /* [PART], the thread's */
    bool is_over; /* nothing more will come */
    bool stopping;
    bool was_full; /* it was said that the program waits */
    int error;
};

static uint64_t held(const struct ring *r)
{
    return r->to - r->from;
}

/* The part of n bytes from `at` on up to the end of the ring's storage. */
static size_t straight(const struct ring *r, uint64_t at, size_t n)
{
    uint64_t left = r->max - at % r->max;
    return n < left ? n : (size_t)left;
}

static void notify(int event)
{
    const uint64_t one = 1;
    ssize_t done = write(event, &one, sizeof one);
    (void)done; /* it fails only where it is readable anyway */
}

/* ---- the thread ---- */

/* Room for the next bytes; they go to *ring. */
static uint64_t find_room(struct spool_buffer *b, struct ring **ring)
{
    bool to_file = held(&b->in_file) || held(&b->in_memory) == MEMORY;
    *ring = to_file ? &b->in_file : &b->in_memory;
    if (to_file && !held(&b->in_file)) /* no larger than it has to be */
        b->in_file.from = b->in_file.to = 0;
    return (*ring)->max - held(*ring);
}

/* Writes bytes at the ring's end, without the lock: nothing else is there.
 * Returns how many; 0: an error, in errno. */
static size_t store(struct spool_buffer *b, const struct ring *ring,
                    const char *bytes, size_t n)
{
    n = straight(ring, ring->to, n);
    if (ring == &b->in_memory) {
        memcpy(b->memory + ring->to % ring->max, bytes, n);
        return n;
    }
    ssize_t done = pwrite(b->file, bytes, n, (off_t)(ring->to % ring->max));
    return done > 0 ? (size_t)done : 0;
}

static void message_full(struct spool_buffer *b, const char *why)
{
    if (!b->was_full) {
        message_hint(
            "%s: the program may have to wait until its lines are read",
            why ? why : "--spool-max is reached");
    }
    b->was_full = true;
}

/* Waits until something was taken. The caller holds the lock. */
static void wait_for_room(struct spool_buffer *b, const char *why)
{
    uint64_t before = b->in_memory.from + b->in_file.from;
    message_full(b, why);
    while (!b->stopping && before == b->in_memory.from + b->in_file.from)
        pthread_cond_wait(&b->has_room, &b->lock);
}

static void keep(struct spool_buffer *b, const char *bytes, size_t n)
{
    pthread_mutex_lock(&b->lock);
    while (n && !b->stopping) {
        struct ring *ring;
        uint64_t room = find_room(b, &ring);
        if (!room) {
            wait_for_room(b, NULL);
            continue;
        }
        pthread_mutex_unlock(&b->lock);
        size_t done = store(b, ring, bytes, n < room ? n : (size_t)room);
        int error = errno;
        pthread_mutex_lock(&b->lock);
        ring->to += done;
        bytes += done;
        n -= done;
        notify(b->event);
        if (!done && held(&b->in_file) + held(&b->in_memory)) {
            wait_for_room(b, strerror(error));
        } else if (!done) {
            b->error = error;
            break;
        }
    }
    pthread_mutex_unlock(&b->lock);
}

/* False: the end, or an error. */
static bool receive(struct spool_buffer *b)
{
    struct pollfd polled[] = { { .fd = b->fd, .events = POLLIN },
                               { .fd = b->stop, .events = POLLIN } };
    ssize_t n = recv(b->fd, b->part, PART, 0);
    if (n > 0) {
        keep(b, b->part, (size_t)n);
        return !b->error && !b->stopping;
    }
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0 && errno == EAGAIN) {
        poll(polled, 2, -1);
        return !polled[1].revents;
    }
    b->error = n < 0 ? errno : 0;
    return false;
}

static void *work(void *user)
{
    struct spool_buffer *b = user;
    while (receive(b)) {
    }
    pthread_mutex_lock(&b->lock);
    b->is_over = true;
    pthread_mutex_unlock(&b->lock);
    notify(b->event);
    return NULL;
}

/* ---- lifetime ---- */

struct spool_buffer *spool_buffer_new(int fd, const char *folder, uint64_t max,
                                      int *error)
{
    struct spool_buffer *b = calloc(1, sizeof *b);
    *error = ENOMEM;
    if (!b)
        return NULL;
    *b = (struct spool_buffer){
        .fd = fd,
        .in_memory.max = MEMORY,
        .in_file.max = max,
        .memory = malloc(MEMORY),
        .part = malloc(PART),
        .event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
        .stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
        .file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600),
    };
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->has_room, NULL);
    bool is_open = b->file >= 0 && b->event >= 0 && b->stop >= 0;
    *error = is_open ? ENOMEM : errno;
    b->has_thread = is_open && b->memory && b->part &&
                    pfd_thread_start(&b->thread, work, b);
    if (b->has_thread)
        return b;
    spool_buffer_free(b);
    return NULL;
}

void spool_buffer_free(struct spool_buffer *b)
{
    if (!b)
        return;
    if (b->has_thread) {
        pthread_mutex_lock(&b->lock);
        b->stopping = true;
        pthread_cond_broadcast(&b->has_room);
        pthread_mutex_unlock(&b->lock);
        notify(b->stop);
        pthread_join(b->thread, NULL);
    }
    pthread_cond_destroy(&b->has_room);
    pthread_mutex_destroy(&b->lock);
    const int fds[] = { b->file, b->event, b->stop };
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    free(b->memory);
    free(b->part);
    free(b);
}

/* ---- the reader ---- */

int spool_buffer_fd(const struct spool_buffer *b)
{
    return b->event;
}

/* Without the lock: what a ring holds stays until it is counted as taken. 0: the
 * file cannot be read, errno says why. */
static size_t load(struct spool_buffer *b, const struct ring *ring, char *bytes,
                   size_t n)
{
    n = straight(ring, ring->from, n);
    if (ring == &b->in_memory) {
        memcpy(bytes, b->memory + ring->from % ring->max, n);
        return n;
    }
    ssize_t done = pread(b->file, bytes, n, (off_t)(ring->from % ring->max));
    return done > 0 ? (size_t)done : 0;
}

enum outcome spool_buffer_take(struct spool_buffer *b, char *bytes, size_t n,
                               size_t *n_ret, int *error)
{
    uint64_t count = 0;
    ssize_t done = read(b->event, &count, sizeof count);
    (void)done; /* later bytes make it readable again */
    pthread_mutex_lock(&b->lock);
    struct ring *ring = held(&b->in_memory) ? &b->in_memory : &b->in_file;
    uint64_t there = held(ring);
    bool is_over = b->is_over;
    *error = b->error;
    pthread_mutex_unlock(&b->lock);
    if (!there && !is_over)
        return OUTCOME_WANTS_READ;
    if (!there)
        return *error ? OUTCOME_FAILED : OUTCOME_END;
    *n_ret = load(b, ring, bytes, n < there ? n : (size_t)there);
    if (!*n_ret) {
        *error = errno ? errno : EIO;
        return OUTCOME_FAILED;
    }
    pthread_mutex_lock(&b->lock);
    ring->from += *n_ret;
    pthread_cond_signal(&b->has_room);
    pthread_mutex_unlock(&b->lock);
    notify(b->event);
    return OUTCOME_DONE;
}
