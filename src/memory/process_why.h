/* SPDX-License-Identifier: MIT */
/*
 * What the system says about a process, and why it will not let us read its
 * memory.
 */
#ifndef PFD_PROCESS_WHY_H
#define PFD_PROCESS_WHY_H

#include "base/error.h"

struct pfd_process_status {
    bool is_there;         /* the rest is known */
    char state;            /* 'Z': a zombie; ps(1) has them all */
    uint64_t group;        /* id of the process, of which it may be a thread */
    uint64_t pid_inside;   /* innermost of its ids; 0: not known */
    uint64_t uid;          /* the real one */
    uint64_t capabilities; /* those that it may use */
    uint64_t started;      /* ticks of the clock from the system's start */
    bool has_memory;       /* threads of the kernel have none */
};

/* Reads the `status` file in a folder of /proc. */
struct pfd_process_status pfd_process_status(int folder);

/* Fills err: why process pid, whose folder in /proc is `folder`, cannot be
 * read, when the system has said `number` (an errno value). Returns
 * PFD_ERR_IO. */
enum pfd_status pfd_process_refused(uint64_t pid, int folder, int number,
                                    struct pfd_error *err);

#endif
