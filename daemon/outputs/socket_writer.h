/* SPDX-License-Identifier: MIT */
/*
 * Writes from the ring into the socket of an accepted client, turn by turn.
 * Where there are processors for them, threads write large amounts: copying
 * into sockets is most of the loop's work for subscribers that read everything.
 * Loop thread only.
 */
#ifndef PFDD_SOCKET_WRITER_H
#define PFDD_SOCKET_WRITER_H

#include <sys/types.h>

#include "net/accepted_client.h"
#include "outputs/delivery.h"
#include "ring/cursor.h"

enum pfdd_socket_writer_turn {
    PFDD_SOCKET_WRITER_EMPTY,  /* all available lines were written */
    PFDD_SOCKET_WRITER_BLOCKS, /* the socket does not accept more now */
    PFDD_SOCKET_WRITER_TURN,   /* there is more, but other tasks run first */
    PFDD_SOCKET_WRITER_AWAY,   /* a thread is writing: go_on is called later */
    PFDD_SOCKET_WRITER_END,    /* the peer has gone or has to go: close it */
};

/* A member of its owner, which also has the accepted client. */
struct pfdd_socket_writer {
    struct pfdd_cursor cursor; /* the owner sets name, user and wake */
    bool is_open;
    struct pfdd_sent *gone; /* gets its sums when it ends; NULL: none does */
    /* Private. */
    const struct pfdd_output *output;
    struct pfdd_accepted_client *to;
    void (*go_on)(struct pfdd_accepted_client *to);
    struct pfdd_job job;
    bool is_away;
    bool has_come; /* a thread's result is to be handled */
    const char *bytes;
    size_t n;
    ssize_t n_written;
    int error; /* errno, if n_written is below 0 */
};

/* socket_writer is zeroed. go_on is called when another turn is due. Takes
 * request->wants. False: out of memory; nothing is open. */
bool pfdd_socket_writer_open(struct pfdd_socket_writer *socket_writer,
                             const struct pfdd_output *output,
                             struct pfdd_accepted_client *to,
                             struct pfdd_request *request,
                             void (*go_on)(struct pfdd_accepted_client *to));
/* When the client leaves; allowed if it was never opened. A thread that is
 * still writing ends first: the client's memory stays valid until then. */
void pfdd_socket_writer_close(struct pfdd_socket_writer *p);

enum pfdd_socket_writer_turn pfdd_socket_writer_turn(
    struct pfdd_socket_writer *p);

#endif
