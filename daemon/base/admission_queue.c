/* SPDX-License-Identifier: MIT */
#include "base/admission_queue.h"

#include <stdlib.h>
#include <string.h>

struct caller {
    struct caller *next;
    int fd;
};

struct process {
    struct pfdd_fair_task task; /* of its user's queue */
    struct caller *first;       /* in order of arrival; never NULL */
    struct caller **end;
    unsigned n;
    pid_t id;
};

struct user {
    struct pfdd_fair_task task;
    struct pfdd_fair_queue processes; /* never empty */
    struct pfdd_peer_key key;
};

size_t pfdd_admission_queue_memory(unsigned n)
{
    return n * (sizeof(struct caller) + sizeof(struct process) +
                sizeof(struct user));
}

static struct process *find_most_of(const struct user *u, struct process *most)
{
    for (struct pfdd_fair_task *t = u->processes.first; t; t = t->next) {
        struct process *o = (struct process *)t;
        if (o->n > (most ? most->n : PFDD_ADMISSION_QUEUE_FEW))
            most = o;
    }
    return most;
}

/* NULL: no process has more than a few. */
static struct process *find_most(
    const struct pfdd_admission_queue *admission_queue)
{
    struct process *most = NULL;
    for (struct pfdd_fair_task *t = admission_queue->users.first; t;
         t = t->next)
        most = find_most_of((struct user *)t, most);
    return most;
}

bool pfdd_admission_queue_has_place(
    const struct pfdd_admission_queue *admission_queue)
{
    return admission_queue->n < admission_queue->n_max ||
           find_most(admission_queue);
}

/* ---- push ---- */

/* A new one is not queued yet. NULL: out of memory, here and below. */
static struct user *find_user(
    const struct pfdd_admission_queue *admission_queue,
    const struct pfdd_peer_key *key)
{
    struct pfdd_fair_task *t = admission_queue->users.first;
    while (t && memcmp(&((struct user *)t)->key, key, sizeof *key) != 0)
        t = t->next;
    if (t)
        return (struct user *)t;
    struct user *u = calloc(1, sizeof *u);
    if (u)
        u->key = *key;
    return u;
}

static struct process *find_process(const struct user *u, pid_t id)
{
    struct pfdd_fair_task *t = u->processes.first;
    while (t && ((struct process *)t)->id != id)
        t = t->next;
    if (t)
        return (struct process *)t;
    struct process *o = calloc(1, sizeof *o);
    if (o) {
        o->id = id;
        o->end = &o->first;
    }
    return o;
}

static bool append(struct pfdd_admission_queue *admission_queue,
                   const struct pfdd_peer_key *key, pid_t id, int fd)
{
    struct caller *c = calloc(1, sizeof *c);
    struct user *u = c ? find_user(admission_queue, key) : NULL;
    struct process *o = u ? find_process(u, id) : NULL;
    if (!o) {
        free(c);
        if (u && !u->task.is_queued)
            free(u);
        return false;
    }
    c->fd = fd;
    *o->end = c;
    o->end = &c->next;
    o->n++;
    pfdd_fair_queue_put(&u->processes, &o->task);
    pfdd_fair_queue_put(&admission_queue->users, &u->task);
    admission_queue->n++;
    return true;
}

/* Removes the newest connection of a process, which has others. */
static int take_last(struct pfdd_admission_queue *admission_queue,
                     struct process *o)
{
    struct caller **at = &o->first;
    while ((*at)->next)
        at = &(*at)->next;
    int fd = (*at)->fd;
    free(*at);
    *at = NULL;
    o->end = at;
    o->n--;
    admission_queue->n--;
    return fd;
}

bool pfdd_admission_queue_push(struct pfdd_admission_queue *admission_queue,
                               const struct pfdd_peer_key *user, pid_t process,
                               int fd, int *ret)
{
    if (!append(admission_queue, user, process, fd))
        return false;
    struct process *most = admission_queue->n > admission_queue->n_max
                               ? find_most(admission_queue)
                               : NULL;
    *ret = most ? take_last(admission_queue, most) : -1;
    return true;
}

/* ---- pop ---- */

static int take_first(struct process *o)
{
    struct caller *c = o->first;
    int fd = c->fd;
    o->first = c->next;
    if (!o->first)
        o->end = &o->first;
    o->n--;
    free(c);
    return fd;
}

/* Takes the first connection of the user's next process. The process is then
 * queued behind the user's other ones, or freed if it has no more. */
static int take_turn(struct user *u)
{
    struct process *o = (struct process *)pfdd_fair_queue_take(&u->processes);
    int fd = take_first(o);
    if (o->n) {
        pfdd_fair_queue_put(&u->processes, &o->task);
    } else {
        free(o);
    }
    return fd;
}

int pfdd_admission_queue_pop(struct pfdd_admission_queue *admission_queue)
{
    struct user *u =
        (struct user *)pfdd_fair_queue_take(&admission_queue->users);
    if (!u)
        return -1;
    int fd = take_turn(u);
    admission_queue->n--;
    if (u->processes.first) {
        pfdd_fair_queue_put(&admission_queue->users, &u->task);
    } else {
        free(u);
    }
    return fd;
}
