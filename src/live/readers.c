/* SPDX-License-Identifier: MIT */
/*
 * A read is cut into pieces, which the threads and who asked for it take in
 * turn: nobody waits for a thread that has not woken.
 */
#include "live/readers.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/processors.h"

enum {
    THREADS_MAX = 16,
    THREADS_DEFAULT = 3,
    PROCESSORS_EACH = 4,
    PIECE = 256 << 10,
    WORTH_IT = 2 * PIECE,
};

struct pfd_readers {
    pthread_t threads[THREADS_MAX]; /* [n_threads] */
    size_t n_wanted;
    pthread_mutex_t lock; /* guards these: */
    pthread_cond_t come;  /* a piece may be taken */
    pthread_cond_t done;  /* all have been read */
    size_t n_threads;
    bool is_over;
    bool is_busy; /* with this: */
    int fd;
    uint64_t offset;
    char *bytes; /* [n] */
    size_t n;
    size_t n_taken; /* bytes */
    size_t n_in_work;
    size_t n_got; /* bytes from the start, less where a piece was short */
    int error;    /* that ended them */
};

static long read_alone(int fd, uint64_t offset, void *bytes, size_t n)
{
    for (;;) {
        ssize_t got = pread(fd, bytes, n, (off_t)offset);
        if (got >= 0)
            return (long)got;
        if (errno != EINTR)
            return -(long)errno;
    }
}

/* With the lock, which is given up meanwhile. */
static void read_piece(struct pfd_readers *r)
{
    size_t at = r->n_taken;
    size_t n = r->n - at < PIECE ? r->n - at : PIECE;
    r->n_taken += n;
    r->n_in_work++;
    pthread_mutex_unlock(&r->lock);
    long got = read_alone(r->fd, r->offset + at, r->bytes + at, n);
    pthread_mutex_lock(&r->lock);
    r->n_in_work--;
    size_t end = at + (got > 0 ? (size_t)got : 0);
    if (end < at + n && end < r->n_got) {
        r->n_got = end;
        r->error = got < 0 ? (int)-got : 0;
    }
    if (!r->n_in_work && r->n_taken == r->n)
        pthread_cond_signal(&r->done);
}

static void *work(void *arg)
{
    struct pfd_readers *r = arg;
    pthread_mutex_lock(&r->lock);
    while (!r->is_over) {
        if (r->n_taken < r->n) {
            read_piece(r);
        } else {
            pthread_cond_wait(&r->come, &r->lock);
        }
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* With the lock. Those that cannot be had are done without. */
static void start_threads(struct pfd_readers *r)
{
    while (r->n_threads < r->n_wanted &&
           !pthread_create(&r->threads[r->n_threads], NULL, work, r))
        r->n_threads++;
    r->n_wanted = r->n_threads;
}

static size_t count_threads(void)
{
    unsigned n = pfd_processors() / PROCESSORS_EACH;
    return n < THREADS_DEFAULT ? n : THREADS_DEFAULT;
}

enum pfd_status pfd_readers_new(unsigned threads, struct pfd_readers **ret,
                                struct pfd_error *err)
{
    struct pfd_readers *r = calloc(1, sizeof *r);
    if (!r)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    r->n_wanted = threads ? threads : count_threads();
    if (r->n_wanted > THREADS_MAX)
        r->n_wanted = THREADS_MAX;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->come, NULL);
    pthread_cond_init(&r->done, NULL);
    *ret = r;
    return PFD_OK;
}

void pfd_readers_free(struct pfd_readers *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->is_over = true;
    pthread_cond_broadcast(&r->come);
    pthread_mutex_unlock(&r->lock);
    for (size_t i = 0; i < r->n_threads; i++)
        pthread_join(r->threads[i], NULL);
    pthread_cond_destroy(&r->come);
    pthread_cond_destroy(&r->done);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

/* With the lock: as pfd_readers_read(). */
static long read_together(struct pfd_readers *r, int fd, uint64_t offset,
                          void *bytes, size_t n)
{
    r->is_busy = true;
    r->fd = fd;
    r->offset = offset;
    r->bytes = bytes;
    r->n = r->n_got = n;
    r->n_taken = 0;
    r->error = 0;
    start_threads(r);
    pthread_cond_broadcast(&r->come);
    while (r->n_taken < r->n)
        read_piece(r);
    while (r->n_in_work)
        pthread_cond_wait(&r->done, &r->lock);
    r->is_busy = false;
    return r->n_got ? (long)r->n_got : -(long)r->error;
}

long pfd_readers_read(struct pfd_readers *r, int fd, uint64_t offset,
                      void *bytes, size_t n)
{
    long got = 0;
    if (!r || n < WORTH_IT)
        return read_alone(fd, offset, bytes, n);
    pthread_mutex_lock(&r->lock);
    bool is_free = !r->is_busy && r->n_wanted;
    if (is_free)
        got = read_together(r, fd, offset, bytes, n);
    pthread_mutex_unlock(&r->lock);
    return is_free ? got : read_alone(fd, offset, bytes, n);
}
