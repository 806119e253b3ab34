/* SPDX-License-Identifier: MIT */
#include "base/admission_queue.h"

#include <stdlib.h>
#include <string.h>

struct caller {
    struct caller *next;
    int fd;
};

struct process {
    struct process *next;
    struct caller *first; /* in order of arrival; never NULL */
    struct caller **end;
    unsigned n;
    pid_t id;
};

struct pfdd_admission_group {
    struct pfdd_admission_group *next;
    struct process *first; /* the next one first; never NULL */
    struct pfdd_peer_key user;
};

size_t pfdd_admission_queue_memory(unsigned n)
{
    return n * (sizeof(struct caller) + sizeof(struct process) +
                sizeof(struct pfdd_admission_group));
}

/* NULL: no process has more than a few. */
static struct process *find_most(
    const struct pfdd_admission_queue *admission_queue)
{
    struct process *most = NULL;
    for (const struct pfdd_admission_group *p = admission_queue->groups; p;
         p = p->next) {
        for (struct process *o = p->first; o; o = o->next) {
            if (o->n > (most ? most->n : PFDD_ADMISSION_QUEUE_FEW))
                most = o;
        }
    }
    return most;
}

bool pfdd_admission_queue_has_place(
    const struct pfdd_admission_queue *admission_queue)
{
    return admission_queue->n < admission_queue->n_max ||
           find_most(admission_queue);
}

/* ---- push ---- */

/* A new user is appended. NULL: out of memory, here and below. */
static struct pfdd_admission_group *find_group(
    struct pfdd_admission_queue *admission_queue,
    const struct pfdd_peer_key *user)
{
    struct pfdd_admission_group **at = &admission_queue->groups;
    while (*at && memcmp(&(*at)->user, user, sizeof *user) != 0)
        at = &(*at)->next;
    if (!*at)
        *at = calloc(1, sizeof **at);
    if (*at)
        (*at)->user = *user;
    return *at;
}

static struct process *find_process(struct pfdd_admission_group *p, pid_t id)
{
    struct process **at = &p->first;
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    if (*at)
        return *at;
    struct process *o = calloc(1, sizeof *o);
    if (o) {
        o->id = id;
        o->end = &o->first;
    }
    *at = o;
    return o;
}

static void drop_if_empty(struct pfdd_admission_queue *admission_queue,
                          struct pfdd_admission_group *p)
{
    struct pfdd_admission_group **at = &admission_queue->groups;
    if (p->first)
        return;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    free(p);
}

static bool append(struct pfdd_admission_queue *admission_queue,
                   const struct pfdd_peer_key *user, pid_t id, int fd)
{
    struct caller *c = calloc(1, sizeof *c);
    struct pfdd_admission_group *p =
        c ? find_group(admission_queue, user) : NULL;
    struct process *o = p ? find_process(p, id) : NULL;
    if (!o) {
        free(c);
        if (p)
            drop_if_empty(admission_queue, p);
        return false;
    }
    c->fd = fd;
    *o->end = c;
    o->end = &c->next;
    o->n++;
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
static int take_turn(struct pfdd_admission_group *p)
{
    struct process *o = p->first;
    int fd = take_first(o);
    p->first = o->next;
    if (o->n == 0) {
        free(o);
        return fd;
    }
    struct process **at = &p->first;
    while (*at)
        at = &(*at)->next;
    o->next = NULL;
    *at = o;
    return fd;
}

int pfdd_admission_queue_pop(struct pfdd_admission_queue *admission_queue)
{
    struct pfdd_admission_group *p = admission_queue->groups;
    if (!p)
        return -1;
    int fd = take_turn(p);
    admission_queue->n--;
    admission_queue->groups = p->next;
    if (!p->first) {
        free(p);
        return fd;
    }
    struct pfdd_admission_group **at = &admission_queue->groups;
    while (*at)
        at = &(*at)->next;
    p->next = NULL;
    *at = p;
    return fd;
}
