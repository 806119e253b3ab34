/* SPDX-License-Identifier: MIT */
/* Running processes, from /proc. Reading it may block: not on the loop. */
#ifndef PFDD_PROCESS_LIST_H
#define PFDD_PROCESS_LIST_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PFDD_PROCESS_LIST_NAME =
        64 /* bytes of a name, which the kernel truncates to 15 */
};

struct pfdd_process_info {
    uint64_t pid;
    uint64_t started; /* ticks since boot: tells processes of the same pid
                         apart */
    char name[PFDD_PROCESS_LIST_NAME]; /* any bytes */
};

/* False: there is no such process, or it is a zombie. */
bool pfdd_process_list_get(uint64_t pid, struct pfdd_process_info *ret);

/* Calls `call` for each process of the daemon's own user, except the daemon,
 * whose name, or whose program's file name, matches a glob pattern, until a
 * call returns false. */
typedef bool (*pfdd_process_fn)(void *user,
                                const struct pfdd_process_info *process);
void pfdd_process_list_find(const char *pattern, pfdd_process_fn call,
                            void *user);

#endif
