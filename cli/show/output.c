/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/job_log.h"
#include "core/output/json.h"
#include "messages.h"

enum {
    PENDING_MAX = 65536,
    MUCH = 65536,      /* bytes: the default capacity of a pipe */
    PIPE_MAX = 1 << 20 /* bytes: what an unprivileged process may set */
};

static bool failed;
static bool closed;
/* Text of output_printf() and its like that was not written yet. */
static char pending[PENDING_MAX];
static size_t n_pending;
static size_t n_written; /* bytes; counted up to MUCH */

/*
 * With a small pipe, the writer and the reader of it mostly wait for each
 * other: JSON takes a third of the time through a pipe of 1 MiB.
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
                message_error("standard output: %s", strerror(errno));
            break;
        }
        at += done;
        n -= (size_t)done;
    }
}

/* ---- JSON on a terminal ---- */

/* A character of up to three bytes that may be a control: it waits until it is
 * whole. */
static struct {
    bool is_on;
    char bytes[4];
    size_t n;
} held;

static size_t length_of(char lead)
{
    unsigned char c = (unsigned char)lead;
    return c == 0x7f ? 1 : c == 0xc2 || c == 0xd8 ? 2 : c == 0xe2 ? 3 : 0;
}

static void release_held(void)
{
    char shown[4 * sizeof held.bytes];
    const unsigned char *p = (const unsigned char *)held.bytes;
    size_t n = held.n;
    held.n = 0;
    if (n && n == length_of(held.bytes[0]) &&
        pfd_escape_for_terminal(shown, held.bytes, n) != n) {
        unsigned c =
            n == 1   ? p[0]
            : n == 2 ? (p[0] & 31u) << 6 | (p[1] & 63u)
                     : (p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
        snprintf(shown, sizeof shown, "\\u%04x", c);
        write_all(shown, strlen(shown));
    } else {
        write_all(held.bytes, n);
    }
}

static void write_guarded(const char *at, size_t n)
{
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        bool goes_on = held.n && ((unsigned char)at[i] & 0xc0) == 0x80;
        if (held.n && !goes_on)
            release_held();
        if (!goes_on && !length_of(at[i]))
            continue;
        write_all(at + from, i - from);
        from = i + 1;
        held.bytes[held.n++] = at[i];
        if (held.n == length_of(held.bytes[0]))
            release_held();
    }
    write_all(at + from, n - from);
}

void output_guard_json(void)
{
    held.is_on = true;
}

static void write_safe(const char *bytes, size_t n)
{
    if (held.is_on) {
        write_guarded(bytes, n);
    } else {
        write_all(bytes, n);
    }
}

/* ---- prefixes of lines ---- */

static struct {
    const char *text; /* NULL: nothing */
    bool is_inside;   /* of a line that has it */
} prefix;

void output_prefix(const char *text)
{
    prefix.text = text;
}

static void write_shown(const char *bytes, size_t n)
{
    while (prefix.text && n && !closed) {
        const char *newline = memchr(bytes, '\n', n);
        size_t part = newline ? (size_t)(newline - bytes) + 1 : n;
        if (!prefix.is_inside)
            write_safe(prefix.text, strlen(prefix.text));
        write_safe(bytes, part);
        prefix.is_inside = !newline;
        bytes += part;
        n -= part;
    }
    write_safe(bytes, n);
}

/* ---- the log of a build server ---- */

static struct {
    bool is_on;
    bool is_inside; /* the last line has not ended */
    struct pfd_job_log log;
} job;

void output_guard_commands(bool is_json)
{
    struct stat st;
    job.is_on = !fstat(STDOUT_FILENO, &st) && !S_ISREG(st.st_mode);
    job.log.is_json = is_json;
}

static void write_out(const char *bytes, size_t n)
{
    enum {
        PART = 4096
    };
    char guarded[PART * PFD_JOB_LOG_GROWTH];
    if (n)
        job.is_inside = bytes[n - 1] != '\n';
    while (job.is_on && n && !closed) {
        size_t part = n < PART ? n : (size_t)PART;
        char *end = pfd_job_log_guard(&job.log, guarded, bytes, part);
        write_shown(guarded, (size_t)(end - guarded));
        bytes += part;
        n -= part;
    }
    write_shown(bytes, n);
}

/* ---- short texts ---- */

bool output_flush(void)
{
    size_t n = n_pending;
    n_pending = 0;
    write_out(pending, n);
    return !closed;
}

bool output_failed(void)
{
    output_flush();
    release_held();
    return failed;
}

void output_command(const char *bytes, size_t n)
{
    output_flush();
    if (job.is_inside)
        write_out("\n", 1);
    release_held();
    write_all(bytes, n);
}

bool output_write(void *user, const void *bytes, size_t n)
{
    (void)user;
    output_flush();
    write_out(bytes, n);
    return !closed;
}

/* Gathers short texts. */
static void put(const char *bytes, size_t n)
{
    if (n > PENDING_MAX - n_pending)
        output_flush();
    if (n > PENDING_MAX) {
        write_out(bytes, n);
        return;
    }
    memcpy(pending + n_pending, bytes, n);
    n_pending += n;
}

bool output_gather(const void *bytes, size_t n)
{
    put(bytes, n);
    return !closed;
}

void output_finding(void *user, const struct pfd_finding *finding)
{
    message_finding(user, finding);
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
        message_error("out of memory");
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
        message_error("out of memory");
        exit(1);
    }
    put(shown, escape(shown, text, n));
    free(shown);
}

void output_escaped(const char *text, size_t n)
{
    const char *newline;
    while ((newline = memchr(text, '\n', n))) {
        write_escaped(pfd_escape_for_terminal, 4, text,
                      (size_t)(newline - text));
        put("\\x0a", 4);
        n -= (size_t)(newline - text) + 1;
        text = newline + 1;
    }
    write_escaped(pfd_escape_for_terminal, 4, text, n);
}

void output_json(const char *text, size_t n)
{
    write_escaped(pfd_escape_for_json, 6, text, n);
}

void output_json_text(const char *name, const char *text, size_t n)
{
    char *bytes = malloc((n + 2) / 3 * 4 + 1);
    if (!bytes) {
        message_error("out of memory");
        exit(1);
    }
    size_t n_bytes = pfd_base64_for_json(bytes, text, n);
    output_printf("\"%s\":\"", name);
    output_json(text, n);
    output_printf("\"");
    if (n_bytes) {
        output_printf(",\"%s_b64\":\"", name);
        put(bytes, n_bytes);
        output_printf("\"");
    }
    free(bytes);
}
