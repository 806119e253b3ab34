/* SPDX-License-Identifier: MIT */
/* The outcome of a step that may wait for the network. */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

enum outcome {
    OUTCOME_DONE,
    OUTCOME_END,     /* the peer closed the connection */
    OUTCOME_LATE,    /* nothing was received in time */
    OUTCOME_STOPPED, /* ended by a signal */
    OUTCOME_FAILED,  /* `why` holds the error */
    /* Of single steps only: */
    OUTCOME_WANTS_READ,
    OUTCOME_WANTS_WRITE,
};

#endif
