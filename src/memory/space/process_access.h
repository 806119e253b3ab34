/* SPDX-License-Identifier: MIT */
/*
 * What the system says about a process, and why it will not let us read its
 * memory.
 */
#ifndef PFD_PROCESS_ACCESS_H
#define PFD_PROCESS_ACCESS_H

#include "core/base/error.h"

struct pfd_process_status {
    bool is_there;         /* the rest is known */
    char state;            /* 'Z': a zombie; ps(1) has them all */
    uint64_t group;        /* id of the process, of which it may be a thread */
    uint64_t pid_inside;   /* innermost of its ids; 0: not known */
    unsigned n_ids;        /* how many it has: one for each pid namespace from
                              ours on; 0: not known */
    uint64_t uid;          /* the real one */
    uint64_t capabilities; /* those that it may use */
    uint64_t started;      /* ticks of the clock from the system's start */
    bool has_memory;       /* threads of the kernel have none */
};

/* Reads the `status` file in a folder of /proc. */
struct pfd_process_status pfd_process_status(int folder);

/* What is asked before it is said why a process may not be read. */
struct pfd_process_facts {
    uint64_t pid;
    struct pfd_process_status status; /* its own */
    int number;                       /* errno value that the system gave */
    uint64_t own_uid;                 /* ours, and what we may use */
    uint64_t own_capabilities;
    bool has_owner; /* of its memory's file: not the process' user where it is
                       protected */
    uint64_t owner;
    int scope; /* kernel.yama.ptrace_scope; -1: there is none */
};

/* Fills err by facts alone; PFD_ERR_IO. */
enum pfd_status pfd_process_explain(const struct pfd_process_facts *facts,
                                    struct pfd_error *err);

/* Fills err: why process pid, whose folder in /proc is `folder`, cannot be
 * read, when the system has said `number` (an errno value). Returns
 * PFD_ERR_IO. */
enum pfd_status pfd_process_refused(uint64_t pid, int folder, int number,
                                    struct pfd_error *err);

#endif
