/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tell.h"

static bool failed;
static bool closed;

bool output_failed(void)
{
    return failed;
}

bool output_write(void *user, const void *bytes, size_t n)
{
    const char *at = bytes;
    (void)user;
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
    return !closed;
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
    output_write(NULL, line, (size_t)n);
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
    output_write(NULL, shown, escape(shown, text, n));
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
