/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tell.h"

enum {
    PENDING_MAX = 65536,
    MUCH = 65536,      /* bytes: what a pipe holds by itself */
    PIPE_MAX = 1 << 20 /* bytes: what anybody may ask for */
};

static bool failed;
static bool closed;
/* What output_printf() and its like have not handed over yet. */
static char pending[PENDING_MAX];
static size_t n_pending;
static size_t n_written; /* bytes, until it is much */

/*
 * Who writes into a pipe as it is and who reads from it wait for each other most
 * of the time: JSON comes through one of 1 MiB in a third of the time.
 */
static void widen_pipe(void)
{
    int size = fcntl(STDOUT_FILENO, F_GETPIPE_SZ);
    for (int n = PIPE_MAX; size > 0 && n > size; n /= 2) {
        if (fcntl(STDOUT_FILENO, F_SETPIPE_SZ, n) >= 0)
            return;
    }
}

static void write_all(const char *at, size_t n)
{
    if (n_written <= MUCH) {
        n_written += n;
        if (n_written > MUCH)
            widen_pipe();
    }
    while (n && !closed) {
        ssize_t done = write(STDOUT_FILENO, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            closed = true;
            failed = errno != EPIPE;
            if (failed)
                tell_error("standard output: %s", strerror(errno));
            break;
        }
        at += done;
        n -= (size_t)done;
    }
}

bool output_flush(void)
{
    size_t n = n_pending;
    n_pending = 0;
    write_all(pending, n);
    return !closed;
}

bool output_failed(void)
{
    output_flush();
    return failed;
}

bool output_write(void *user, const void *bytes, size_t n)
{
    (void)user;
    output_flush();
    write_all(bytes, n);
    return !closed;
}

/* Small pieces are gathered. */
static void put(const char *bytes, size_t n)
{
    if (n > PENDING_MAX - n_pending)
        output_flush();
    if (n > PENDING_MAX) {
        write_all(bytes, n);
        return;
    }
    memcpy(pending + n_pending, bytes, n);
    n_pending += n;
}

void output_finding(void *user, const struct pfd_finding *finding)
{
    tell_finding(user, finding);
    pfd_finding_write_json(finding, output_write, NULL);
}

void output_printf(const char *text, ...)
{
    char *line = NULL;
    va_list ap;
    va_start(ap, text);
    int n = vasprintf(&line, text, ap);
    va_end(ap);
    if (n < 0) {
        tell_error("out of memory");
        exit(1);
    }
    put(line, (size_t)n);
    free(line);
}

static void write_escaped(size_t (*escape)(char *, const void *, size_t),
                          size_t factor, const char *text, size_t n)
{
    char *shown = malloc(factor * n + 1);
    if (!shown) {
        tell_error("out of memory");
        exit(1);
    }
    put(shown, escape(shown, text, n));
    free(shown);
}

void output_escaped(const char *text, size_t n)
{
    write_escaped(pfd_escape_for_terminal, 4, text, n);
}

void output_json(const char *text, size_t n)
{
    write_escaped(pfd_escape_for_json, 6, text, n);
}
