/* SPDX-License-Identifier: MIT */
/*
 * From a reader of the ring into a socket: one turn of it. Loop thread only.
 */
#ifndef PFDD_PUMP_H
#define PFDD_PUMP_H

#include "delivery/reader.h"
#include "sources/daemon.h"

enum pfdd_pump {
    PFDD_PUMP_EMPTY,  /* all is written that is there now */
    PFDD_PUMP_BLOCKS, /* the socket takes no more now */
    PFDD_PUMP_TURN,   /* others have their turn, then it goes on */
    PFDD_PUMP_END,    /* the peer has gone, or is to go: close it */
};

/* True: a subscriber of this output that has missed something is cut off, and
 * counted. */
bool pfdd_pump_has_lagged(const struct pfdd_output *output,
                          const struct pfdd_reader *reader);

enum pfdd_pump pfdd_pump(const struct pfdd_output *output,
                         struct pfdd_reader *reader, int fd);

#endif
