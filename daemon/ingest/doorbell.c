/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/passed_fd.h"
#include "ingest/stream_buffers.h"

struct pfdd_doorbell {
    uv_poll_t poll;
    int fd;
    void (*ring)(void *user); /* NULL: dropped */
    void *user;
};

static void on_closed(uv_handle_t *handle)
{
    struct pfdd_doorbell *bell = handle->data;
    close(bell->fd);
    free(bell);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct pfdd_doorbell *bell = poll->data;
    int error = status < 0 ? EIO : pfdd_passed_fd_take(bell->fd);
    if (error && error != EAGAIN) {
        uv_poll_stop(&bell->poll);
    } else if (!error && bell->ring) {
        bell->ring(bell->user);
    }
}

struct pfdd_doorbell *pfdd_doorbell_hang(uv_loop_t *loop, int fd,
                                         void (*ring)(void *user), void *user)
{
    struct pfdd_doorbell *bell =
        pfdd_passed_fd_is_eventfd(fd) ? calloc(1, sizeof *bell) : NULL;
    if (!bell || uv_poll_init(loop, &bell->poll, fd) != 0) {
        free(bell);
        pfdd_passed_fd_close(fd);
        return NULL;
    }
    bell->fd = fd;
    bell->ring = ring;
    bell->user = user;
    bell->poll.data = bell;
    uv_poll_start(&bell->poll, UV_READABLE, on_readable);
    return bell;
}

void pfdd_doorbell_drop(struct pfdd_doorbell *bell)
{
    if (!bell)
        return;
    bell->ring = NULL;
    uv_poll_stop(&bell->poll);
    uv_close((uv_handle_t *)&bell->poll, on_closed);
}
