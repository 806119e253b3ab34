/* SPDX-License-Identifier: MIT */
#include "frame_queue.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/thread.h"

enum {
    BYTES_MAX = 64 << 20, /* of queued frames, unless it is just one */
};

struct item {
    struct item *next;
    struct pfd_wire_frame frame;
    size_t n;
    char copies[]; /* [n], of labels, texts and bytes */
};

struct frame_queue {
    struct frame_queue *next_queue;
    void (*send)(void *user, struct pfd_wire_frame *frame);
    void *user;
    pid_t process;

    pthread_mutex_t lock;
    pthread_cond_t changed; /* any member below */
    pthread_t thread;
    bool has_thread;
    bool is_ending;
    struct item *first;
    struct item **last;
    size_t n; /* bytes that are queued or being sent */
};

/* All queues: a program may end without destroying its devices. None is freed
 * while they are ended. */
static pthread_mutex_t queues_lock = PTHREAD_MUTEX_INITIALIZER;
static struct frame_queue *queues;

/* ---- copies ---- */

static const size_t texts[] = {
    offsetof(struct pfd_wire_frame, name),
    offsetof(struct pfd_wire_frame, format),
    offsetof(struct pfd_wire_frame, device),
    offsetof(struct pfd_wire_frame, pipeline_type),
    offsetof(struct pfd_wire_frame, bytes),
};

enum {
    N_TEXTS = sizeof texts / sizeof *texts,
};

static struct pfd_wire_bytes *text_of(struct pfd_wire_frame *f, size_t i)
{
    return (struct pfd_wire_bytes *)(void *)((char *)f + texts[i]);
}

static size_t size_of(struct pfd_wire_frame *f)
{
    size_t n = f->n_labels * sizeof *f->labels;
    for (size_t i = 0; i < N_TEXTS; i++)
        n += text_of(f, i)->n;
    for (size_t i = 0; i < f->n_labels; i++)
        n += f->labels[i].key.n + f->labels[i].value.n;
    return n;
}

/* Moves a text to *at, which moves behind it. */
static void move(struct pfd_wire_bytes *text, char **at)
{
    if (!text->n)
        return;
    memcpy(*at, text->at, text->n);
    text->at = *at;
    *at += text->n;
}

static struct item *item_new(const struct pfd_wire_frame *frame)
{
    struct pfd_wire_frame f = *frame;
    size_t n = size_of(&f);
    struct item *ret = malloc(sizeof *ret + n);
    if (!ret)
        return NULL;
    struct pfd_wire_label *labels = (void *)ret->copies;
    char *at = (char *)(labels + f.n_labels);
    for (size_t i = 0; i < f.n_labels; i++) {
        labels[i] = f.labels[i];
        move(&labels[i].key, &at);
        move(&labels[i].value, &at);
    }
    f.labels = labels;
    for (size_t i = 0; i < N_TEXTS; i++)
        move(text_of(&f, i), &at);
    ret->next = NULL;
    ret->frame = f;
    ret->n = sizeof *ret + n;
    return ret;
}

/* ---- the thread ---- */

/* Sends the first item. The caller holds the lock, which is released
 * meanwhile. */
static void send_first(struct frame_queue *q)
{
    struct item *item = q->first;
    q->first = item->next;
    if (!q->first)
        q->last = &q->first;
    pthread_mutex_unlock(&q->lock);
    q->send(q->user, &item->frame);
    pthread_mutex_lock(&q->lock);
    q->n -= item->n;
    free(item);
    pthread_cond_broadcast(&q->changed);
}

static void *work(void *queue)
{
    struct frame_queue *q = queue;
    pthread_mutex_lock(&q->lock);
    while (q->first || !q->is_ending) {
        if (q->first) {
            send_first(q);
        } else {
            pthread_cond_wait(&q->changed, &q->lock);
        }
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* Sends all frames, and ends the thread. A child that a program forked has no
 * such thread. */
static void end(struct frame_queue *q)
{
    if (q->process != getpid())
        return;
    pthread_mutex_lock(&q->lock);
    bool joins = q->has_thread && !q->is_ending;
    q->is_ending = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    if (!joins)
        return;
    pthread_join(q->thread, NULL);
    pthread_mutex_lock(&q->lock);
    q->has_thread = false;
    while (q->first)
        send_first(q);
    pthread_mutex_unlock(&q->lock);
}

__attribute__((destructor)) static void end_all(void)
{
    pthread_mutex_lock(&queues_lock);
    for (struct frame_queue *q = queues; q; q = q->next_queue)
        end(q);
    pthread_mutex_unlock(&queues_lock);
}

/* ---- queues ---- */

struct frame_queue *frame_queue_new(void (*send)(void *user,
                                                 struct pfd_wire_frame *frame),
                                    void *user)
{
    pthread_condattr_t monotonic;
    struct frame_queue *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->send = send;
    q->user = user;
    q->process = getpid();
    q->last = &q->first;
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&q->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    q->has_thread = pfd_thread_start(&q->thread, work, q);
    pthread_mutex_lock(&queues_lock);
    q->next_queue = queues;
    queues = q;
    pthread_mutex_unlock(&queues_lock);
    return q;
}

void frame_queue_free(struct frame_queue *q)
{
    if (!q)
        return;
    pthread_mutex_lock(&queues_lock);
    struct frame_queue **at = &queues;
    while (*at != q)
        at = &(*at)->next_queue;
    *at = q->next_queue;
    pthread_mutex_unlock(&queues_lock);
    end(q);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

bool frame_queue_put(struct frame_queue *q, const struct pfd_wire_frame *frame)
{
    struct item *item = item_new(frame);
    if (!item)
        return false;
    pthread_mutex_lock(&q->lock);
    while (q->has_thread && q->n && q->n + item->n > BYTES_MAX)
        pthread_cond_wait(&q->changed, &q->lock);
    *q->last = item;
    q->last = &item->next;
    q->n += item->n;
    pthread_cond_broadcast(&q->changed);
    while (!q->has_thread && q->first)
        send_first(q);
    pthread_mutex_unlock(&q->lock);
    return true;
}

static struct timespec after(unsigned ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

void frame_queue_settle(struct frame_queue *q, unsigned ms)
{
    pthread_mutex_lock(&q->lock);
    if (q->n) {
        struct timespec until = after(ms);
        int rc = 0;
        while (q->n && !rc) {
            rc = ms == UINT_MAX
                     ? pthread_cond_wait(&q->changed, &q->lock)
                     : pthread_cond_timedwait(&q->changed, &q->lock, &until);
        }
    }
    pthread_mutex_unlock(&q->lock);
}
