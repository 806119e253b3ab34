/* SPDX-License-Identifier: MIT */
#include "frame_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <printfdecode/client.h>

#include "core/base/clock.h"
#include "frame_queue.h"
#include "log.h"
#include "settings.h"
#include "stream/capture/wire.h"

enum {
    QUEUE_MAX = 8 << 20,
    SETTLE_MS = 1,
    PATH_BYTES = 4096,
};

struct frame_output {
    struct frame_queue *queue;
    uint64_t n_buffers;
    atomic_uint epoch;
    atomic_bool is_open;

    /* Of the queue's thread. */
    struct pfd_client *client; /* NULL: a file */
    int file;                  /* -1: none, or writing failed */
    uint64_t n_objects;
    uint64_t n_lost;
    bool is_slow; /* the service took nothing for too long */
};

/* ---- files ---- */

static bool write_all(void *user, const void *bytes, size_t n)
{
    struct frame_output *o = user;
    const char *at = bytes;
    while (n) {
        ssize_t done = write(o->file, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

static void put_file(struct frame_output *o, const struct pfd_wire_frame *frame)
{
    if (o->file < 0 || pfd_wire_write(frame, write_all, o, NULL) == PFD_OK)
        return;
    log_once(TELL_FILE, "%s: %s: what follows is not in it", settings_get()->to,
             strerror(errno));
    close(o->file);
    o->file = -1;
    o->is_open = false;
}

/* Expands %p and %n; if the path would be that of another device, appends this
 * one's number. */
static void expand(char *ret, size_t n, const char *pattern, unsigned device)
{
    size_t at = 0;
    bool is_numbered = device == 1;
    for (; *pattern && at + 24 < n; pattern++) {
        if (pattern[0] == '%' && (pattern[1] == 'p' || pattern[1] == 'n')) {
            is_numbered |= pattern[1] == 'n';
            at += (size_t)snprintf(ret + at, n - at, "%u",
                                   pattern[1] == 'n' ? device
                                                     : (unsigned)getpid());
            pattern++;
        } else {
            ret[at++] = *pattern;
        }
    }
    ret[at] = '\0';
    if (!is_numbered)
        snprintf(ret + at, n - at, ".%u", device);
}

static void open_file(struct frame_output *o, unsigned device)
{
    char path[PATH_BYTES];
    char host[256] = "";
    expand(path, sizeof path, settings_get()->to, device);
    gethostname(host, sizeof host - 1);
    struct pfd_wire_frame hello = {
        .type = PFD_WIRE_HELLO,
        .host = pfd_wire_text(host),
        .process = pfd_wire_text(program_invocation_short_name),
        .pid = (uint64_t)getpid(),
        .time = pfd_clock_ns(CLOCK_REALTIME),
        .monotonic = pfd_clock_ns(CLOCK_MONOTONIC),
    };
    o->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (o->file < 0 || pfd_wire_write_start(write_all, o) != PFD_OK) {
        log_once(TELL_FILE, "%s: %s: nothing is taken", path, strerror(errno));
        return;
    }
    put_file(o, &hello);
}

/* ---- the service ---- */

/* Sends queued frames, for at most wait_ms. A service that has taken nothing
 * for as long is not waited for until it takes something: threads that put
 * frames would wait that long for each. */
static void flush(struct frame_output *o)
{
    uint64_t now = pfd_clock_ns(CLOCK_MONOTONIC) / 1000000;
    uint64_t end = now + (o->is_slow ? 0 : settings_get()->wait_ms);
    uint64_t lost = 0;
    bool is_sent;
    while (!(is_sent = pfd_client_poll(o->client) != PFD_MORE) &&
           pfd_client_fd(o->client) >= 0) {
        struct pollfd fd = { .fd = pfd_client_fd(o->client),
                             .events = POLLOUT };
        now = pfd_clock_ns(CLOCK_MONOTONIC) / 1000000;
        if (now >= end ||
            (poll(&fd, 1, (int)(end - now)) < 0 && errno != EINTR))
            break;
    }
    bool is_there = pfd_client_fd(o->client) >= 0;
    pfd_client_unsent(o->client, &lost, NULL);
    o->is_slow = !is_sent;
    o->epoch += is_there != o->is_open || lost != o->n_lost;
    o->is_open = is_there;
    o->n_lost = lost;
}

static void say_absent(const struct frame_output *o)
{
    char folder[256] = "?";
    const char *path = settings_get()->socket;
    if (o->is_open)
        return;
    pfd_client_default_dir(folder, sizeof folder);
    log_once(TELL_NO_SERVICE,
             "nobody listens at %s%s: what shaders print is not taken until "
             "somebody does (printfdecode run --vulkan-debug-printf, or "
             "printfdecoded; PFD_LAYER=to=FILE writes it to a file)",
             path ? path : folder, path ? "" : "/input.sock");
}

/* ---- the thread that sends ---- */

static void send_part(struct frame_output *o, const struct pfd_wire_frame *part)
{
    if (o->client) {
        pfd_client_send(o->client, part, NULL);
        flush(o);
    } else {
        put_file(o, part);
    }
}

/* Sends a frame as frames of the size limit. */
static void send_parts(struct frame_output *o, struct pfd_wire_frame *frame)
{
    struct pfd_wire_bytes all = frame->bytes;
    if (!all.n)
        send_part(o, frame);
    for (size_t at = 0; at < all.n; at += frame->bytes.n) {
        frame->bytes.at = all.at + at;
        frame->bytes.n =
            all.n - at < PFD_WIRE_PIECE ? all.n - at : PFD_WIRE_PIECE;
        send_part(o, frame);
        frame->offset += frame->bytes.n;
    }
}

/* The client has a function for files with format strings. The name has its NUL
 * behind it. */
static void send_code_object(struct frame_output *o,
                             struct pfd_wire_frame *frame)
{
    if (o->client) {
        pfd_client_code_object(o->client, frame->name.at, frame->bytes.at,
                               frame->bytes.n, NULL, NULL);
        flush(o);
        return;
    }
    frame->name.n--;
    frame->code_object = ++o->n_objects;
    send_parts(o, frame);
}

static void send_frame(void *user, struct pfd_wire_frame *frame)
{
    struct frame_output *o = user;
    if (frame->type == PFD_WIRE_CODE_OBJECT) {
        send_code_object(o, frame);
        return;
    }
    send_parts(o, frame);
    if (o->client)
        say_absent(o);
}

/* ---- the program's threads ---- */

struct frame_output *frame_output_new(unsigned device)
{
    const struct settings *s = settings_get();
    struct frame_output *o = calloc(1, sizeof *o);
    struct pfd_error err = { .code = PFD_OK };
    if (!o)
        return NULL;
    o->file = -1;
    if (s->to) {
        open_file(o, device);
        o->is_open = o->file >= 0;
    } else if (pfd_client_new(s->socket, NULL, QUEUE_MAX, &o->client, &err) !=
               PFD_OK) {
        log_once(TELL_NO_SERVICE, "%s", err.text);
    } else {
        o->is_open = pfd_client_fd(o->client) >= 0;
    }
    o->queue = frame_queue_new(send_frame, o);
    if (!o->queue) {
        frame_output_free(o);
        return NULL;
    }
    return o;
}

void frame_output_free(struct frame_output *o)
{
    if (!o)
        return;
    frame_queue_free(o->queue);
    if (o->client)
        flush(o);
    pfd_client_free(o->client);
    if (o->file >= 0)
        close(o->file);
    free(o);
}

void frame_output_settle(struct frame_output *o)
{
    frame_queue_settle(o->queue, SETTLE_MS);
}

void frame_output_finish(struct frame_output *o)
{
    frame_queue_settle(o->queue, UINT_MAX);
}

uint64_t frame_output_number(struct frame_output *o)
{
    return ++o->n_buffers;
}

bool frame_output_is_open(const struct frame_output *o)
{
    return o->is_open;
}

unsigned frame_output_epoch(const struct frame_output *o)
{
    return o->epoch;
}

static void put(struct frame_output *o, const struct pfd_wire_frame *frame)
{
    if (!frame_queue_put(o->queue, frame))
        log_once(TELL_MEMORY, "out of memory: something is missing");
}

void frame_output_code_object(struct frame_output *o, const char *name,
                              const void *bytes, size_t n)
{
    struct pfd_wire_frame frame = {
        .type = PFD_WIRE_CODE_OBJECT,
        .name = { name, strlen(name) + 1 },
        .total = n > PFD_WIRE_PIECE ? n : 0,
        .bytes = { bytes, n },
    };
    put(o, &frame);
}

void frame_output_put(struct frame_output *o,
                      const struct pfd_wire_frame *frame)
{
    struct pfd_wire_frame timed = *frame;
    timed.time = pfd_clock_ns(CLOCK_REALTIME);
    put(o, &timed);
}
