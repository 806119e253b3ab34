/* SPDX-License-Identifier: MIT */
/*
 * A directory in which code objects and finished dumps appear: what was
 * written and closed, moved in, or is there at the start. A name that is
 * closed or moved in again is read again: a new code object joins the old
 * ones, a new dump is printed.
 *
 * libuv's own watcher does not tell a file that is being written from one that
 * is finished, so this is inotify itself.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon.h"
#include "library.h"
#include "log.h"
#include "session.h"

enum {
    SESSIONS_MAX = 64, /* dumps at once; others wait */
    RETRY_MS = 500,
};

/* A dump that waits for its turn, or is being read. */
struct dump {
    struct directory_input *of;
    struct dump *next;
    char *path;
    bool reading;
};

struct directory_input {
    struct pfdd_input base;
    uv_poll_t poll;
    uv_timer_t timer;
    int fd;
    int watch;
    unsigned n_open;
    struct dump *dumps;
    unsigned n_reading;
    uint64_t waiting;
};

static void finish_close(struct directory_input *in)
{
    if (in->base.closing && in->n_open == 0 && in->n_reading == 0)
        pfdd_input_closed(&in->base);
}

static void free_dump(struct dump *dump)
{
    struct directory_input *in = dump->of;
    struct dump **at = &in->dumps;
    while (*at != dump)
        at = &(*at)->next;
    *at = dump->next;
    in->n_reading -= dump->reading;
    in->waiting -= !dump->reading;
    free(dump->path);
    free(dump);
}

static void start_dumps(struct directory_input *in);

static void dump_ended(void *user)
{
    struct dump *dump = user;
    struct directory_input *in = dump->of;
    free_dump(dump);
    if (!in->base.closing)
        start_dumps(in);
    finish_close(in);
}

/* False: out of descriptors, try again later. */
static bool read_dump(struct dump *dump)
{
    struct directory_input *in = dump->of;
    struct stat st;
    int fd = open(dump->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
        in->base.d->count.out_of_fds++;
        return false;
    }
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        pfdd_log(PFDD_WARNING, "%s: %s", dump->path,
                 fd < 0 ? strerror(errno) : "not a regular file");
        if (fd >= 0)
            close(fd);
        free_dump(dump);
        return true;
    }
    struct pfdd_session_options options = {
        .name = dump->path,
        .format = in->base.config->format,
        .fd = fd,
        .complete = true,
        .resume = true,
        .ended = dump_ended,
        .user = dump,
    };
    struct pfdd_session *session = pfdd_session_new(in->base.d, &options);
    if (!session) {
        free_dump(dump);
        return true;
    }
    dump->reading = true;
    in->n_reading++;
    in->waiting--;
    pfdd_session_close(session);
    return true;
}

/* In the order in which they came. */
static void start_dumps(struct directory_input *in)
{
    struct dump *next = NULL;
    for (struct dump *d = in->dumps; d && in->n_reading < SESSIONS_MAX;
         d = next) {
        next = d->next;
        if (!d->reading && !read_dump(d)) {
            uv_timer_start(&in->timer, in->timer.timer_cb, RETRY_MS, 0);
            return;
        }
    }
}

static void add_dump(struct directory_input *in, const char *path)
{
    struct dump *dump = calloc(1, sizeof *dump);
    struct dump **end = &in->dumps;
    if (dump)
        dump->path = strdup(path);
    if (!dump || !dump->path) {
        free(dump);
        return;
    }
    dump->of = in;
    while (*end)
        end = &(*end)->next;
    *end = dump;
    in->waiting++;
    start_dumps(in);
}

static bool matches(const char *pattern, const char *name)
{
    return pattern && fnmatch(pattern, name, FNM_PERIOD) == 0;
}

static void take_file(struct directory_input *in, const char *name)
{
    char path[PATH_MAX];
    const struct pfdd_input_config *config = in->base.config;
    if (snprintf(path, sizeof path, "%s/%s", config->path, name) >=
        (int)sizeof path)
        return;
    if (matches(config->code_objects, name)) {
        pfdd_library_add_file(in->base.d->library, path);
    } else if (matches(config->dumps, name)) {
        add_dump(in, path);
    }
}

/* Everything that is there: code objects first. */
static void scan(struct directory_input *in, bool objects)
{
    const struct pfdd_input_config *config = in->base.config;
    struct dirent **entries = NULL;
    int n = scandir(config->path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        if (matches(config->code_objects, name) == objects)
            take_file(in, name);
        free(entries[i]);
    }
    free(entries);
}

static void on_timer(uv_timer_t *timer)
{
    start_dumps(timer->data);
}

static void on_events(uv_poll_t *poll, int status, int events)
{
    struct directory_input *in = poll->data;
    char bytes[16384]
        __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n = read(in->fd, bytes, sizeof bytes);
    for (ssize_t at = 0; at < n;) {
        struct inotify_event event;
        memcpy(&event, bytes + at, sizeof event);
        if (event.mask & IN_Q_OVERFLOW) {
            pfdd_log(PFDD_WARNING, "%s: too many files at once: reading all",
                     in->base.config->path);
            scan(in, true);
            scan(in, false);
        } else if (event.mask & (IN_IGNORED | IN_DELETE_SELF)) {
            pfdd_log(PFDD_WARNING, "%s: the directory is gone",
                     in->base.config->path);
        } else if (event.len && !(event.mask & IN_ISDIR)) {
            take_file(in, bytes + at + sizeof event);
        }
        at += (ssize_t)(sizeof event + event.len);
    }
}

static bool open_input(struct pfdd_input *input, char *err, size_t n_err)
{
    struct directory_input *in = (struct directory_input *)input;
    struct pfdd *d = input->d;
    in->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    in->watch = in->fd < 0 ? -1
                           : inotify_add_watch(in->fd, input->config->path,
                                               IN_CLOSE_WRITE | IN_MOVED_TO |
                                                   IN_DELETE_SELF | IN_ONLYDIR);
    if (in->watch < 0 || uv_poll_init(d->loop, &in->poll, in->fd) != 0) {
        snprintf(err, n_err, "%s: %s", input->config->path, strerror(errno));
        if (in->fd >= 0)
            close(in->fd);
        return false;
    }
    uv_timer_init(d->loop, &in->timer);
    in->poll.data = in;
    in->timer.data = in;
    in->timer.timer_cb = on_timer;
    in->n_open = 2;
    uv_poll_start(&in->poll, UV_READABLE, on_events);
    scan(in, true);
    scan(in, false);
    return true;
}

static void on_closed(uv_handle_t *handle)
{
    struct directory_input *in = handle->data;
    in->n_open--;
    finish_close(in);
}

static void close_input(struct pfdd_input *input)
{
    struct directory_input *in = (struct directory_input *)input;
    struct dump *next = NULL;
    for (struct dump *d = in->dumps; d; d = next) {
        next = d->next;
        if (!d->reading)
            free_dump(d);
    }
    uv_poll_stop(&in->poll);
    close(in->fd);
    uv_close((uv_handle_t *)&in->poll, on_closed);
    uv_close((uv_handle_t *)&in->timer, on_closed);
}

const struct pfdd_input_class pfdd_input_directory = {
    "directory",
    sizeof(struct directory_input),
    open_input,
    close_input,
};
