/* SPDX-License-Identifier: MIT */
/* Processes that run, as /proc has them. Reading there may take long: not on
 * the loop. */
#ifndef PFDD_PROCESS_LIST_H
#define PFDD_PROCESS_LIST_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PFDD_PROCESS_LIST_NAME =
        64 /* bytes of a name, which the kernel cuts at 15 */
};

struct pfdd_process_info {
    uint64_t pid;
    uint64_t started; /* ticks from the system's start: no other process' */
    char name[PFDD_PROCESS_LIST_NAME]; /* any bytes */
};

/* False: there is none, or it has ended and is only not waited for. */
bool pfdd_process_list_get(uint64_t pid, struct pfdd_process_info *ret);

/* Calls for each process of our own user, but for ourselves, whose name, or
 * whose program's file's, fits a glob pattern, until a call gives false. */
typedef bool (*pfdd_process_fn)(void *user,
                                const struct pfdd_process_info *process);
void pfdd_process_list_find(const char *pattern, pfdd_process_fn call,
                            void *user);

#endif
