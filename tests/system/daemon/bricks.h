/* SPDX-License-Identifier: MIT */
/*
 * The daemon in a test's own process: its loop is turned by the test between
 * looks at plain sockets. Each test ends with stop(), which wants
 * uv_loop_close() == 0.
 */
#ifndef BRICKS_H
#define BRICKS_H

#include <stdbool.h>
#include <stddef.h>

#include <uv.h>

#include "base/log.h"
#include "daemon.h"

enum {
    PATIENCE_S = 100, /* of whoever waits for something */
    TEST_S = 300,     /* of a test, which waits more than once */
};

extern char temp[64]; /* the test's folder */
extern const char *elf_path;
extern const char *dump_path;
extern uv_loop_t loop;
extern struct pfdd d;

/* Of main(): the dump and the code object; what every one of them sets up. */
void take_arguments(char **argv);

void make_temp(void);
void remove_temp(void);

char *slurp(const char *path, size_t *n);
void spit(const char *name, const void *bytes, size_t n);

/* Of a buffer, with the code object. */
size_t count_entries(const void *bytes, size_t n);

/* $T is the folder, $E the code object. */
char *fill(const char *text);

/* The configuration's errors, into user [512]. */
void tell(void *user, const char *text);
void start(const char *yaml);
void turn(void);
void turn_for(int ms);
void stop(void);

/* True: whoever has waited since then has waited for long enough. */
bool is_late(uint64_t since);

int dial(const char *name);

/* What came on a socket. */
struct heard {
    int fd;
    char *bytes;
    size_t n;
    bool ended;
};

struct heard subscribe(const char *request);
void hear(struct heard *h);
size_t count(const struct heard *h, const char *what);
void hang_up(struct heard *h);

/* Until so many of something came. */
void await(struct heard *h, const char *what, size_t n);

#endif
