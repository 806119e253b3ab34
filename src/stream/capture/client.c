/* SPDX-License-Identifier: MIT */
/*
 * Queued frames are a list. The frames of code objects and buffers are stored
 * besides, for the next connection. Only the first frame of the list can have
 * been sent in part.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <printfdecode/client.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/sized.h"
#include "stream/capture/send_queue.h"
#include "stream/capture/wire.h"

/*
 * The folder of our service's sockets, and whether the service is ours: any
 * user may be able to make a folder of that name, and a client hands over a
 * program's memory.
 */

bool pfd_client_default_dir(char *ret, size_t n)
{
    const char *folder = secure_getenv("PRINTFDECODE_DIR");
    const char *base = secure_getenv("XDG_RUNTIME_DIR");
    if (folder && folder[0] == '/') {
        int given = snprintf(ret, n, "%s", folder);
        return given > 0 && (size_t)given < n;
    }
    if (!base && geteuid() == 0)
        base = "/run";
    int length =
        base && base[0] == '/'
            ? snprintf(ret, n, "%s/printfdecode", base)
            : snprintf(ret, n, "/tmp/printfdecode-%u", (unsigned)geteuid());
    return length > 0 && (size_t)length < n;
}

static bool is_ours(uid_t user)
{
    return user == geteuid() || user == 0;
}

/* True if only this user and root can have put a socket into the folder of
 * pfd_client_default_dir(). */
static bool service_folder_is_ours(const char *folder)
{
    struct stat st;
    return lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) &&
           is_ours(st.st_uid) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* True if the listener at the other end of a connected Unix socket is of this
 * user or root. */
static bool service_peer_is_ours(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
           is_ours(peer.uid);
}

enum {
    QUEUE_MAX = 4 << 20,
    RETRY_MS = 100, /* between attempts to connect */
};

struct pfd_client {
    struct sockaddr_un address;
    socklen_t n_address;
    char *folder; /* of the default path, which has to be ours; NULL: a path was
                     given */
    char *process;
    int fd;
    uint64_t tried_ms;
    struct pfd_send_queue queue;
    size_t n_sent;  /* of the first item */
    size_t n_queue; /* bytes that count towards queue_max */
    size_t queue_max;
    struct pfd_send_queue state; /* code objects */
    struct pfd_client_buffer *buffers;
    uint64_t n_objects;
    uint64_t n_buffers;
    uint64_t lost_frames;
    uint64_t lost_bytes;
    uint64_t reported_frames; /* of the lost ones, reported by a gap */
    uint64_t reported_bytes;
};

struct pfd_client_buffer {
    struct pfd_client *client;
    struct pfd_client_buffer *next;
    struct pfd_queued_frame *item; /* its frame, with descriptors */
    uint64_t number;
    uint64_t generation;
    void *memory; /* [size] */
    size_t size;
    int fd;
    int doorbell; /* -1: none */
};

static enum pfd_status no_memory(struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

/* ---- queued frames ---- */

static void count_lost(struct pfd_client *c,
                       const struct pfd_queued_frame *item)
{
    c->lost_frames++;
    c->lost_bytes += item->n;
}

static bool enqueue(struct pfd_client *c, struct pfd_queued_frame *item)
{
    if (!pfd_send_queue_add(&c->queue, item))
        return false;
    if (!item->is_state)
        c->n_queue += item->n;
    return true;
}

static void dequeue(struct pfd_client *c)
{
    struct pfd_queued_frame *item = c->queue.first->item;
    if (!item->is_state)
        c->n_queue -= item->n;
    c->n_sent = 0;
    pfd_send_queue_remove_first(&c->queue);
}

/* ---- the connection ---- */

static void disconnect(struct pfd_client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    while (c->queue.first) {
        if (!c->queue.first->item->is_state)
            count_lost(c, c->queue.first->item);
        dequeue(c);
    }
}

static struct pfd_queued_frame *make_hello(const struct pfd_client *c)
{
    char host[256] = "";
    char boot_id[37] = "";
    struct pfd_queued_frame *item = NULL;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, boot_id, sizeof boot_id - 1);
    if (fd >= 0)
        close(fd);
    gethostname(host, sizeof host - 1);
    struct pfd_wire_frame hello = {
        .type = PFD_WIRE_HELLO,
        .host = pfd_wire_text(host),
        .process = pfd_wire_text(c->process),
        .pid = (uint64_t)getpid(),
        .boot_id = { boot_id, n > 0 ? (size_t)n : 0 },
        .time = pfd_clock_ns(CLOCK_REALTIME),
        .monotonic = pfd_clock_ns(CLOCK_MONOTONIC),
    };
    if (pfd_queued_frame_new(&hello, true, &item, NULL) != PFD_OK || !item)
        return NULL;
    item->is_state = true;
    return item;
}

/* Reports dropped frames, once there is a connection. */
static bool enqueue_gap(struct pfd_client *c)
{
    struct pfd_queued_frame *item = NULL;
    struct pfd_wire_frame gap = {
        .type = PFD_WIRE_GAP,
        .lost_frames = c->lost_frames - c->reported_frames,
        .lost_bytes = c->lost_bytes - c->reported_bytes,
        .reason = pfd_wire_text("the service was slow or not there"),
        .time = pfd_clock_ns(CLOCK_REALTIME),
    };
    if (!gap.lost_frames)
        return true;
    if (pfd_queued_frame_new(&gap, false, &item, NULL) != PFD_OK)
        return false;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): PFD_OK has an item */
    item->is_state = true; /* a lost gap is not counted */
    bool ok = enqueue(c, item);
    pfd_queued_frame_drop(item);
    c->reported_frames = c->lost_frames;
    c->reported_bytes = c->lost_bytes;
    return ok;
}

/* Queues everything that a new listener must know. */
static bool enqueue_state(struct pfd_client *c)
{
    struct pfd_queued_frame *hello = make_hello(c);
    bool ok = hello && enqueue(c, hello);
    pfd_queued_frame_drop(hello);
    for (struct pfd_send_queue_node *node = c->state.first; ok && node;
         node = node->next)
        ok = enqueue(c, node->item);
    for (struct pfd_client_buffer *b = c->buffers; ok && b; b = b->next)
        ok = enqueue(c, b->item);
    return ok && enqueue_gap(c);
}

/* A given path is trusted; the service at the default one has to be ours. */
static bool is_trusted(const struct pfd_client *c, int fd)
{
    return !c->folder ||
           (service_folder_is_ours(c->folder) && service_peer_is_ours(fd));
}

static bool connect_now(struct pfd_client *c)
{
    uint64_t now_ms = pfd_clock_ns(CLOCK_MONOTONIC) / 1000000;
    if (c->fd >= 0)
        return true;
    if (c->tried_ms && now_ms - c->tried_ms < RETRY_MS)
        return false;
    c->tried_ms = now_ms;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    /* A Unix socket connects at once or not at all. */
    if (connect(fd, (const struct sockaddr *)&c->address, c->n_address) ||
        !is_trusted(c, fd)) {
        close(fd);
        return false;
    }
    c->fd = fd;
    if (enqueue_state(c))
        return true;
    disconnect(c);
    return false;
}

static ssize_t send_first(struct pfd_client *c)
{
    const struct pfd_queued_frame *item = c->queue.first->item;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(PFD_SEND_QUEUE_FDS * sizeof(int))];
    } control = { .bytes = { 0 } };
    struct iovec part = {
        .iov_base = (char *)(uintptr_t)item->bytes + c->n_sent,
        .iov_len = item->n - c->n_sent,
    };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    if (item->n_fds && c->n_sent == 0) {
        size_t n = (size_t)item->n_fds * sizeof(int);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(n);
        struct cmsghdr *header = &control.header;
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(n);
        memcpy(CMSG_DATA(header), item->fds, n);
    }
    return sendmsg(c->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Has the service closed the connection? It may do so if no frame comes. With
 * an empty queue nothing is lost, if the client notices before it sends. */
static bool has_been_left(const struct pfd_client *c)
{
    struct pollfd p = { .fd = c->fd };
    return c->fd >= 0 && !c->queue.first && poll(&p, 1, 0) == 1 &&
           (p.revents & (POLLHUP | POLLERR));
}

enum pfd_status pfd_client_poll(struct pfd_client *c)
{
    if (has_been_left(c))
        disconnect(c);
    if (!connect_now(c))
        return PFD_MORE;
    while (c->queue.first) {
        ssize_t n = send_first(c);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            if (errno != EAGAIN && errno != ENOBUFS)
                disconnect(c);
            return PFD_MORE;
        }
        c->n_sent += (size_t)n;
        if (c->n_sent == c->queue.first->item->n)
            dequeue(c);
    }
    return PFD_OK;
}

int pfd_client_fd(const struct pfd_client *c)
{
    return c->fd;
}

void pfd_client_unsent(const struct pfd_client *c, uint64_t *frames,
                       uint64_t *bytes)
{
    if (frames)
        *frames = c->lost_frames;
    if (bytes)
        *bytes = c->lost_bytes;
}

/* Queues an item if there is a connection, and room. */
static enum pfd_status send_item(struct pfd_client *c,
                                 struct pfd_queued_frame *item,
                                 struct pfd_error *err)
{
    bool ok = true;
    pfd_client_poll(c);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): PFD_OK has an item */
    if (c->fd < 0 || (!item->is_state && item->n > c->queue_max - c->n_queue)) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): PFD_OK has an item */
        if (!item->is_state)
            count_lost(c, item);
        return PFD_OK;
    }
    ok = enqueue_gap(c) && enqueue(c, item);
    pfd_client_poll(c);
    return ok ? PFD_OK : no_memory(err);
}

enum pfd_status pfd_client_send(struct pfd_client *c,
                                const struct pfd_wire_frame *frame,
                                struct pfd_error *err)
{
    struct pfd_wire_frame own;
    if (pfd_sized_take(&own, sizeof own, frame, err) != PFD_OK)
        return PFD_ERR_USAGE;
    frame = &own;
    struct pfd_wire_parts parts = { 0 };
    struct pfd_wire_frame part;
    enum pfd_status status = PFD_OK;
    while (status == PFD_OK && pfd_wire_next_part(frame, &parts, &part)) {
        struct pfd_queued_frame *item = NULL;
        part.fds = 0;
        status = pfd_queued_frame_new(&part, false, &item, err);
        if (status == PFD_OK)
            status = send_item(c, item, err);
        pfd_queued_frame_drop(item);
    }
    return status;
}

/* ---- clients ---- */

enum pfd_status pfd_client_new(const char *path, const char *process,
                               size_t queue_max, struct pfd_client **ret,
                               struct pfd_error *err)
{
    char folder[256] = "";
    char built_in[sizeof folder + sizeof "/input.sock"] = "";
    bool is_default = !path;
    if (is_default) {
        if (pfd_client_default_dir(folder, sizeof folder))
            snprintf(built_in, sizeof built_in, "%s/input.sock", folder);
        path = built_in;
    }
    size_t n = strlen(path);
    struct pfd_client *c = calloc(1, sizeof *c);
    if (!c)
        return no_memory(err);
    if (n == 0 || n >= sizeof c->address.sun_path) {
        free(c);
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "a socket's path of %zu bytes, 1 to %zu are possible",
                        n, sizeof c->address.sun_path - 1);
    }
    c->fd = -1;
    c->queue_max = queue_max ? queue_max : QUEUE_MAX;
    c->address.sun_family = AF_UNIX;
    memcpy(c->address.sun_path, path, n);
    if (path[0] == '@')
        c->address.sun_path[0] = '\0';
    c->n_address = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n +
                               (path[0] != '@'));
    pfd_send_queue_init(&c->queue);
    pfd_send_queue_init(&c->state);
    c->process = strdup(process ? process : program_invocation_short_name);
    c->folder = is_default ? strdup(folder) : NULL;
    if (!c->process || (is_default && !c->folder)) {
        free(c->process);
        free(c->folder);
        free(c);
        return no_memory(err);
    }
    pfd_client_poll(c);
    *ret = c;
    return PFD_OK;
}

void pfd_client_free(struct pfd_client *c)
{
    if (!c)
        return;
    if (c->fd >= 0)
        pfd_client_poll(c);
    disconnect(c);
    while (c->state.first)
        pfd_send_queue_remove_first(&c->state);
    free(c->process);
    free(c->folder);
    free(c);
}

uint64_t pfd_client_number(struct pfd_client *c)
{
    return ++c->n_buffers;
}

enum pfd_status pfd_client_code_object(struct pfd_client *c, const char *name,
                                       const void *bytes, size_t n,
                                       uint64_t *number, struct pfd_error *err)
{
    struct pfd_queued_frame *item = NULL;
    struct pfd_wire_frame frame = {
        .type = PFD_WIRE_CODE_OBJECT,
        .code_object = c->n_objects + 1,
        .name = pfd_wire_text(name),
        .bytes = { bytes, n },
    };
    if (n > PFD_WIRE_FRAME_MAX - 4096) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "a code object of %zu bytes is too large", n);
    }
    enum pfd_status status = pfd_queued_frame_new(&frame, false, &item, err);
    if (status != PFD_OK)
        return status;
    item->is_state = true;
    pfd_client_poll(c);
    if (!pfd_send_queue_add(&c->state, item)) {
        pfd_queued_frame_drop(item);
        return no_memory(err);
    }
    c->n_objects++;
    if (number)
        *number = c->n_objects;
    status = send_item(c, item, err);
    pfd_queued_frame_drop(item);
    return status;
}

/* ---- buffers ---- */

/* Makes the buffer's frame, for a service that has its memory, or does not have
 * it yet: with_fds. */
static enum pfd_status make_buffer_item(const struct pfd_client_buffer *b,
                                        const struct pfd_wire_frame *origin,
                                        bool with_fds,
                                        struct pfd_queued_frame **ret,
                                        struct pfd_error *err)
{
    struct pfd_wire_frame frame = *origin;
    frame.type = PFD_WIRE_BUFFER;
    frame.bytes = (struct pfd_wire_bytes){ NULL, 0 };
    frame.buffer = b->number;
    frame.generation = b->generation;
    frame.size = b->size;
    frame.fds = !with_fds ? 0 : b->doorbell >= 0 ? 2 : 1;
    if (!frame.time)
        frame.time = pfd_clock_ns(CLOCK_REALTIME);
    enum pfd_status status = pfd_queued_frame_new(&frame, false, ret, err);
    if (status != PFD_OK)
        return status;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): PFD_OK has an item */
    (*ret)->is_state = true;
    (*ret)->n_fds = (int)frame.fds;
    (*ret)->fds[0] = b->fd;
    (*ret)->fds[1] = b->doorbell;
    return PFD_OK;
}

static bool make_memory(struct pfd_client_buffer *b, struct pfd_error *err)
{
    b->fd = memfd_create("printf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (b->fd >= 0 && !ftruncate(b->fd, (off_t)b->size) &&
        !fcntl(b->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        b->memory =
            mmap(NULL, b->size, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
    }
    if (b->memory && b->memory != MAP_FAILED)
        return true;
    b->memory = NULL;
    pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET, "shared memory of %zu bytes: %s",
             b->size, strerror(errno));
    return false;
}

static void free_buffer(struct pfd_client_buffer *b)
{
    if (b->memory)
        munmap(b->memory, b->size);
    if (b->fd >= 0)
        close(b->fd);
    if (b->doorbell >= 0)
        close(b->doorbell);
    pfd_queued_frame_drop(b->item);
    free(b);
}

enum pfd_status pfd_client_buffer_new(struct pfd_client *c,
                                      const struct pfd_wire_frame *origin,
                                      bool doorbell,
                                      struct pfd_client_buffer **ret,
                                      struct pfd_error *err)
{
    struct pfd_wire_frame own;
    if (pfd_sized_take(&own, sizeof own, origin, err) != PFD_OK)
        return PFD_ERR_USAGE;
    origin = &own;
    if (!origin->size || origin->size > SIZE_MAX / 2) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "a buffer of %llu bytes",
                        (unsigned long long)origin->size);
    }
    struct pfd_client_buffer *b = calloc(1, sizeof *b);
    if (!b)
        return no_memory(err);
    b->client = c;
    b->size = (size_t)origin->size;
    b->fd = -1;
    b->doorbell = doorbell ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    b->number = pfd_client_number(c);
    if (!make_memory(b, err)) {
        free_buffer(b);
        return PFD_ERR_IO;
    }
    enum pfd_status status = make_buffer_item(b, origin, true, &b->item, err);
    /* Before the buffer is in the list: a connection made now would send it
     * twice. */
    pfd_client_poll(c);
    if (status == PFD_OK)
        status = send_item(c, b->item, err);
    if (status != PFD_OK) {
        free_buffer(b);
        return status;
    }
    struct pfd_client_buffer **end = &c->buffers;
    while (*end)
        end = &(*end)->next;
    *end = b;
    *ret = b;
    return PFD_OK;
}

void *pfd_client_buffer_memory(struct pfd_client_buffer *b, size_t *n)
{
    if (n)
        *n = b->size;
    return b->memory;
}

int pfd_client_buffer_fd(const struct pfd_client_buffer *b)
{
    return b->fd;
}

void pfd_client_buffer_ring(struct pfd_client_buffer *b)
{
    uint64_t one = 1;
    /* A full counter has rung already. */
    if (b->doorbell >= 0 && write(b->doorbell, &one, sizeof one) < 0)
        return;
}

static enum pfd_status send_done(struct pfd_client_buffer *b,
                                 struct pfd_error *err)
{
    struct pfd_wire_frame done = {
        .type = PFD_WIRE_DONE,
        .buffer = b->number,
        .generation = b->generation,
        .time = pfd_clock_ns(CLOCK_REALTIME),
    };
    return pfd_client_send(b->client, &done, err);
}

enum pfd_status pfd_client_buffer_restart(struct pfd_client_buffer *b,
                                          const struct pfd_wire_frame *origin,
                                          struct pfd_error *err)
{
    static const struct pfd_wire_frame plain = { .type = PFD_WIRE_BUFFER };
    struct pfd_queued_frame *with_fds = NULL;
    struct pfd_queued_frame *without = NULL;
    const struct pfd_wire_frame *next = origin ? origin : &plain;
    struct pfd_wire_reader *reader = NULL;
    struct pfd_wire_frame before;
    struct pfd_wire_frame own;
    enum pfd_status status =
        pfd_sized_take(&own, sizeof own, next, err) == PFD_OK
            ? send_done(b, err)
            : PFD_ERR_USAGE;
    next = &own;
    if (status != PFD_OK)
        return status;
    if (!origin) {
        /* The stored frame has the last origin. */
        reader = pfd_wire_reader_new(0);
        if (reader && pfd_queued_frame_read(b->item, reader, &before)) {
            before.time = 0;
            next = &before;
        }
    }
    b->generation++;
    status = make_buffer_item(b, next, true, &with_fds, err);
    if (status == PFD_OK)
        status = make_buffer_item(b, next, false, &without, err);
    pfd_wire_reader_free(reader);
    if (status != PFD_OK) {
        pfd_queued_frame_drop(with_fds);
        return status;
    }
    status = send_item(b->client, without, err);
    pfd_queued_frame_drop(without);
    pfd_queued_frame_drop(b->item);
    b->item = with_fds;
    return status;
}

/* Queued frames must not name closed descriptors. */
static void forget_fds(struct pfd_client_buffer *b)
{
    struct pfd_client *c = b->client;
    for (struct pfd_send_queue_node *node = c->queue.first; node;
         node = node->next) {
        bool is_sent = node == c->queue.first && c->n_sent > 0;
        if (node->item->n_fds && node->item->fds[0] == b->fd && !is_sent) {
            disconnect(c); /* reconnect, without this buffer */
            return;
        }
    }
}

void pfd_client_buffer_free(struct pfd_client_buffer *b)
{
    if (!b)
        return;
    struct pfd_client *c = b->client;
    send_done(b, NULL);
    struct pfd_client_buffer **at = &c->buffers;
    while (*at && *at != b)
        at = &(*at)->next;
    if (*at)
        *at = b->next;
    forget_fds(b);
    free_buffer(b);
}
