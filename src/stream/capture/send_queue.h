/* SPDX-License-Identifier: MIT */
/*
 * Frames that are queued to be sent, in lists. They are reference-counted: a
 * client also stores the frames of code objects and buffers, for its next
 * connection. One thread at a time, the client's.
 */
#ifndef PFD_SEND_QUEUE_H
#define PFD_SEND_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "stream/capture/wire.h"

enum {
    PFD_SEND_QUEUE_FDS = 2, /* a buffer's memory and its doorbell */
};

/* A frame, ready to go. */
struct pfd_queued_frame {
    unsigned n_users;
    size_t n;
    int fds[PFD_SEND_QUEUE_FDS]; /* [n_fds], borrowed from the buffer */
    int n_fds;
    bool is_state; /* sent again on each connection */
    char bytes[];  /* [n] */
};

struct pfd_send_queue {
    struct pfd_send_queue_node *first;
    struct pfd_send_queue_node **end;
};

struct pfd_send_queue_node {
    struct pfd_send_queue_node *next;
    struct pfd_queued_frame *item;
};

/* start: with a stream's start before it. *ret is the caller's, once. */
enum pfd_status pfd_queued_frame_new(const struct pfd_wire_frame *frame,
                                     bool start, struct pfd_queued_frame **ret,
                                     struct pfd_error *err);
/* What it was made of, without a start, as a new reader gives it back, which
 * *ret borrows from. */
bool pfd_queued_frame_read(const struct pfd_queued_frame *item,
                           struct pfd_wire_reader *reader,
                           struct pfd_wire_frame *ret);
/* NULL is allowed. */
void pfd_queued_frame_drop(struct pfd_queued_frame *item);

void pfd_send_queue_init(struct pfd_send_queue *list);
/* False: out of memory; otherwise the list has it, too. */
bool pfd_send_queue_add(struct pfd_send_queue *list,
                        struct pfd_queued_frame *item);
void pfd_send_queue_remove_first(struct pfd_send_queue *list);

#endif
