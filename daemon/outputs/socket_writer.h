/* SPDX-License-Identifier: MIT */
/*
 * From the ring into a visitor's socket, turn by turn. Where there are
 * processors for that, threads write what is much: copying it into sockets is
 * most of what the loop would do for those who read all. Loop thread only.
 */
#ifndef PFDD_SOCKET_WRITER_H
#define PFDD_SOCKET_WRITER_H

#include <sys/types.h>

#include "daemon.h"
#include "net/accepted_client.h"
#include "ring/cursor.h"

enum pfdd_socket_writer_turn {
    PFDD_SOCKET_WRITER_EMPTY,  /* all is written that is there now */
    PFDD_SOCKET_WRITER_BLOCKS, /* the socket takes no more now */
    PFDD_SOCKET_WRITER_TURN,   /* others have their turn, then it goes on */
    PFDD_SOCKET_WRITER_AWAY,   /* a thread writes: go_on comes */
    PFDD_SOCKET_WRITER_END,    /* the peer has gone, or is to go: close it */
};

/* A member of its owner's, who has the visitor. */
struct pfdd_socket_writer {
    struct pfdd_cursor cursor; /* name, user and wake are the owner's to set */
    bool is_open;
    /* Private. */
    const struct pfdd_output *output;
    struct pfdd_accepted_client *to;
    void (*go_on)(struct pfdd_accepted_client *to);
    struct pfdd_job job;
    bool is_away;
    bool has_come; /* what a thread has done is to be looked at */
    const char *bytes;
    size_t n;
    ssize_t n_written;
    int error; /* errno, if that is below 0 */
};

/* pump is zeroed. go_on: a turn is to follow. What is wanted is moved from the
 * request. False: out of memory, and nothing is open. */
bool pfdd_socket_writer_open(struct pfdd_socket_writer *socket_writer,
                             const struct pfdd_output *output,
                             struct pfdd_accepted_client *to,
                             struct pfdd_request *request,
                             void (*go_on)(struct pfdd_accepted_client *to));
/* When the visitor leaves; what was never opened is allowed. A thread that still
 * writes ends first: the visitor's memory stays for as long. */
void pfdd_socket_writer_close(struct pfdd_socket_writer *socket_writer);

enum pfdd_socket_writer_turn pfdd_socket_writer_turn(
    struct pfdd_socket_writer *socket_writer);

/* True: a subscriber that has missed something is cut off, and counted. */
bool pfdd_socket_writer_has_lagged(
    const struct pfdd_socket_writer *socket_writer);

#endif
