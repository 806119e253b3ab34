/* SPDX-License-Identifier: MIT */
/*
 * A program of the package that reports on drivers, in a process of its own, so
 * that a driver that crashes or hangs ends that one only.
 */
#ifndef CLI_DRIVER_REPORT_H
#define CLI_DRIVER_REPORT_H

#include <stdbool.h>

enum {
    REPORT_WORDS = 5,
};

struct driver_report {
    char *text; /* what it wrote, to both outputs; owned, NULL: nothing */
    bool lacks_loader; /* it exited, and found none */
    bool is_missing;   /* there is no such program */
    bool is_late;      /* it did not end in time */
    int signal;        /* that ended it; 0: none */
};

/* Called in the child; false: it cannot be run. */
typedef bool (*driver_prepare_fn)(void *user);

/* prepare: sets up the environment; NULL: as it is. */
void driver_report_run(struct driver_report *ret, const char *program,
                       driver_prepare_fn prepare, void *user);
void driver_report_free(struct driver_report *report);

/* Splits a line that begins with "pfd": its words; words that it does not have
 * are empty. False: it is another line, and whole. */
bool driver_report_split(char *line, const char *words[REPORT_WORDS]);

#endif
