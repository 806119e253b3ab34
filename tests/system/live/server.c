/* SPDX-License-Identifier: MIT */
/*
 * A service in small, for tests: takes one connection at SOCKET, follows the
 * buffers that are shared over it, prints their messages, and ends when the
 * connection does. Says "ready" on standard error once it listens.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <printfdecode/tail.h>
#include <printfdecode/wire.h>

#include "stream/capture/wire.h"

enum {
    BUFFERS_MAX = 16,
    FDS_MAX = 16
};

static struct pfd_strings *strings;
static struct {
    struct pfd_tail *tail;
    uint64_t number;
    uint64_t size;
    int fd;
} buffers[BUFFERS_MAX];
static size_t n_buffers;
static int fds[FDS_MAX]; /* that have come and are not taken */
static size_t n_fds;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static long read_fd(void *user, uint64_t offset, void *bytes, size_t n)
{
    ssize_t got = pread(*(int *)user, bytes, n, (off_t)offset);
    return got < 0 ? -errno : (long)got;
}

static void take_item(void *user, const struct pfd_tail_item *item)
{
    size_t n = 0;
    (void)user;
    if (!item->is_entry) {
        fprintf(stderr, "%s: %s\n", pfd_finding_name(item->finding->kind),
                item->finding->text);
        return;
    }
    const char *message = pfd_entry_message(item->entry, &n);
    if (message)
        fwrite(message, 1, n, stdout);
    fflush(stdout);
}

static int take_fd(void)
{
    int fd = n_fds ? fds[0] : -1;
    if (n_fds)
        memmove(fds, fds + 1, --n_fds * sizeof *fds);
    return fd;
}

static void take_buffer(const struct pfd_wire_frame *frame)
{
    struct pfd_error err;
    struct stat st;
    int fd = frame->fds ? take_fd() : -1;
    for (uint64_t i = 1; i < frame->fds; i++)
        close(take_fd()); /* the doorbell: we look each millisecond anyway */
    if (fd < 0 || n_buffers == BUFFERS_MAX)
        return;
    if (!(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK) || fstat(fd, &st) ||
        (uint64_t)st.st_size < frame->size)
        die("a memfd that is not sealed, or too small");
    buffers[n_buffers].fd = fd;
    buffers[n_buffers].number = frame->buffer;
    buffers[n_buffers].size = frame->size;
    struct pfd_tail_options options = {
        .strings = strings,
        .source = "shared",
        .read = read_fd,
        .read_user = &buffers[n_buffers].fd,
        .item = take_item,
    };
    if (pfd_tail_new(&options, &buffers[n_buffers].tail, &err) != PFD_OK)
        die(err.text);
    n_buffers++;
}

static void take_frame(const struct pfd_wire_frame *frame)
{
    struct pfd_error err;
    if (frame->type == PFD_WIRE_CODE_OBJECT &&
        pfd_strings_load(strings, frame->bytes.at, frame->bytes.n, "sent", NULL,
                         NULL, &err) != PFD_OK)
        die(err.text);
    if (frame->type == PFD_WIRE_BUFFER)
        take_buffer(frame);
}

/* False at the end of the connection. */
static bool receive(int socket, struct pfd_wire_reader *reader)
{
    char bytes[4096];
    char control[CMSG_SPACE(FDS_MAX * sizeof(int))];
    struct iovec part = { bytes, sizeof bytes };
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control,
        .msg_controllen = sizeof control,
    };
    struct pfd_wire_frame frame;
    struct pfd_error err;
    size_t taken = 0;
    ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (n <= 0)
        return false;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c;
         c = CMSG_NXTHDR(&message, c)) {
        size_t k = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        if (c->cmsg_type != SCM_RIGHTS || n_fds + k > FDS_MAX)
            die("unexpected control message");
        memcpy(fds + n_fds, CMSG_DATA(c), k * sizeof(int));
        n_fds += k;
    }
    if (pfd_wire_reader_feed(reader, bytes, (size_t)n, &taken, &err) !=
            PFD_OK ||
        taken != (size_t)n)
        die("feed");
    for (;;) {
        enum pfd_status status = pfd_wire_reader_next(reader, &frame, &err);
        if (status == PFD_MORE)
            return true;
        if (status != PFD_OK)
            die(err.text);
        take_frame(&frame);
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct pfd_error err;
    if (argc != 2 || strlen(argv[1]) >= sizeof address.sun_path)
        return 2;
    strcpy(address.sun_path, argv[1]);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 ||
        bind(listener, (struct sockaddr *)&address, sizeof address) ||
        listen(listener, 4))
        die(argv[1]);
    fprintf(stderr, "ready\n");
    int socket = accept(listener, NULL, NULL);
    if (socket < 0)
        die("accept");
    strings = pfd_strings_new();
    struct pfd_wire_reader *reader = pfd_wire_reader_new(0);
    struct pollfd p = { .fd = socket, .events = POLLIN };
    bool open = true;
    while (open) {
        if (poll(&p, 1, 1) > 0)
            open = receive(socket, reader);
        for (size_t i = 0; i < n_buffers; i++)
            pfd_tail_poll(buffers[i].tail, buffers[i].size, now_ns(), &err);
    }
    for (size_t i = 0; i < n_buffers; i++) {
        pfd_tail_finish(buffers[i].tail, buffers[i].size, &err);
        pfd_tail_free(buffers[i].tail);
        close(buffers[i].fd);
    }
    pfd_wire_reader_free(reader);
    pfd_strings_free(strings);
    close(socket);
    close(listener);
    unlink(argv[1]);
    return 0;
}
