/* SPDX-License-Identifier: MIT */
/*
 * What the system reports about a process, and the reason why its memory cannot
 * be read.
 */
#ifndef PFD_PROCESS_ACCESS_H
#define PFD_PROCESS_ACCESS_H

#include "core/base/error.h"

struct pfd_process_status {
    bool is_there;         /* the other members are known */
    char state;            /* 'Z': a zombie; ps(1) has them all */
    uint64_t group;        /* id of its process: it may be a thread */
    uint64_t pid_inside;   /* innermost of its ids; 0: unknown */
    unsigned n_ids;        /* number of its ids: one for each pid namespace from
                              ours on; 0: unknown */
    uint64_t uid;          /* the real one */
    uint64_t capabilities; /* the effective ones */
    uint64_t started;      /* ticks of the clock from the system's start */
    bool has_memory;       /* threads of the kernel have none */
};

/* Reads the `status` file in a folder of /proc. */
struct pfd_process_status pfd_process_status(int folder);

/* The facts that decide why a process may not be read. */
struct pfd_process_facts {
    uint64_t pid;
    struct pfd_process_status status; /* of the process */
    int number;                       /* errno value of the failed call */
    uint64_t own_uid;                 /* ours, with our capabilities */
    uint64_t own_capabilities;
    bool has_owner; /* the owner of its memory's file is known: it is not the
                       process' user if the process is protected */
    uint64_t owner;
    int scope; /* kernel.yama.ptrace_scope; -1: there is none */
};

/* Fills err from facts alone; returns PFD_ERR_IO. */
enum pfd_status pfd_process_explain(const struct pfd_process_facts *facts,
                                    struct pfd_error *err);

/* Fills err with the reason why process pid, whose folder in /proc is `folder`,
 * cannot be read after a call failed with errno value `number`. Returns
 * PFD_ERR_IO. */
enum pfd_status pfd_process_refused(uint64_t pid, int folder, int number,
                                    struct pfd_error *err);

#endif
