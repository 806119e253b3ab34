/* SPDX-License-Identifier: MIT */
#include "driver_report.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "options/options.h"
#include "own_program.h"

enum {
    TEXT_MAX = 4 << 20,
    WAIT_MS = 60000, /* validation layers start slowly on a busy machine */
    LOOK_MS = 5,
    NO_LOADER = 77, /* exit status of a report */
    NOT_FOUND = 127,
};

/* What a child is to run. */
struct child {
    char *path;
    char *name;
    driver_prepare_fn prepare;
    void *user;
};

/* ---- running it ---- */

/* Never returns. */
static void run_child(const struct child *c, int to)
{
    char *const argv[] = { c->name, NULL };
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    if (!c->prepare || c->prepare(c->user))
        execvp(c->path, argv);
    _exit(NOT_FOUND);
}

static long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Reads until the end of what the child writes, at most TEXT_MAX bytes; false:
 * it takes too long. */
static bool read_all(int from, long end, char *text, size_t *n)
{
    for (;;) {
        struct pollfd poll_fd = { .fd = from, .events = POLLIN };
        long left = end - now_ms();
        char spare[4096];
        bool is_full = *n == TEXT_MAX;
        if (left <= 0 || poll(&poll_fd, 1, (int)left) == 0)
            return false;
        ssize_t got = read(from, is_full ? spare : text + *n,
                           is_full ? sizeof spare : TEXT_MAX - *n);
        if (got == 0)
            return true;
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return true;
        *n += got > 0 && !is_full ? (size_t)got : 0;
    }
}

/* Waits for the child, which may have closed its outputs long before its end.
 * False: it takes too long. */
static bool wait_for(pid_t child, long end, int *status)
{
    const struct timespec turn = { .tv_nsec = LOOK_MS * 1000000L };
    pid_t ended;
    while ((ended = waitpid(child, status, WNOHANG)) == 0 ||
           (ended < 0 && errno == EINTR)) {
        if (now_ms() >= end)
            return false;
        nanosleep(&turn, NULL);
    }
    return true;
}

void driver_report_run(struct driver_report *ret, const char *program,
                       driver_prepare_fn prepare, void *user)
{
    const struct child c = { own_program(program), strdup(program), prepare,
                             user };
    int fds[2];
    int status = 0;
    size_t n = 0;
    *ret = (struct driver_report){ .text = malloc(TEXT_MAX + 1) };
    if (!ret->text || !c.path || !c.name)
        exit_without_memory();
    if (pipe2(fds, O_CLOEXEC)) {
        free(c.path);
        free(c.name);
        driver_report_free(ret);
        ret->is_missing = true;
        return;
    }
    long end = now_ms() + WAIT_MS;
    pid_t child = fork();
    if (child == 0)
        run_child(&c, fds[1]);
    free(c.path);
    free(c.name);
    close(fds[1]);
    ret->is_late = child > 0 && (!read_all(fds[0], end, ret->text, &n) ||
                                 !wait_for(child, end, &status));
    ret->text[n] = '\0';
    close(fds[0]);
    if (ret->is_late) {
        kill(child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    }
    int code = child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    ret->is_missing = child < 0 || code == NOT_FOUND;
    ret->lacks_loader = code == NO_LOADER;
    ret->signal = WIFSIGNALED(status) && !ret->is_late ? WTERMSIG(status) : 0;
}

void driver_report_free(struct driver_report *report)
{
    free(report->text);
    *report = (struct driver_report){ 0 };
}

/* ---- its lines ---- */

bool driver_report_split(char *line, const char *words[REPORT_WORDS])
{
    static const char mark[] = "pfd\t";
    if (strncmp(line, mark, sizeof mark - 1) != 0)
        return false;
    line += sizeof mark - 1;
    for (size_t i = 0; i < REPORT_WORDS; i++) {
        words[i] = line ? line : "";
        line = line ? strchr(line, '\t') : NULL;
        if (line)
            *line++ = '\0';
    }
    return true;
}
