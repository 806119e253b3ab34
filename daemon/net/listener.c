/* SPDX-License-Identifier: MIT */
#include "net/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <printfdecode/convert.h>

#include "base/descriptor_limit.h"
#include "base/log.h"
#include "config/systemd.h"
#include "core/output/json.h"

enum {
    BACKLOG = SOMAXCONN,
    RETRY_MS = 200, /* after running out of descriptors */
    WAIT_MS = 2,    /* until the next try to admit */
    GO_ON_MS = 1,   /* until the next connections are admitted */
    AT_ONCE = 16,   /* accepted or admitted at a time */
    SPARE = 16,     /* connections over TLS in addition to max_clients: HTTP
                       allows some more for pages */
};

union any {
    struct sockaddr any;
    struct sockaddr_un un;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

static socklen_t fill_address(union any *ret, const struct pfdd_address *a)
{
    memset(ret, 0, sizeof *ret);
    if (a->is_unix) {
        ret->un.sun_family = AF_UNIX;
        memcpy(ret->un.sun_path, a->path, strlen(a->path) + 1);
        return sizeof ret->un;
    }
    if (inet_pton(AF_INET, a->host, &ret->in.sin_addr) == 1) {
        ret->in.sin_family = AF_INET;
        ret->in.sin_port = htons((uint16_t)a->port);
        return sizeof ret->in;
    }
    inet_pton(AF_INET6, a->host, &ret->in6.sin6_addr);
    ret->in6.sin6_family = AF_INET6;
    ret->in6.sin6_port = htons((uint16_t)a->port);
    return sizeof ret->in6;
}

socklen_t pfdd_socket_address(const struct pfdd_address *address,
                              struct sockaddr_storage *ret)
{
    union any any;
    socklen_t n = fill_address(&any, address);
    memset(ret, 0, sizeof *ret);
    memcpy(ret, &any, n);
    return n;
}

/* TCP keep-alive: after 15 s of silence, three probes. */
static void set_keepalive(int fd)
{
    const struct {
        int level;
        int name;
        int value;
    } options[] = {
        { SOL_SOCKET, SO_KEEPALIVE, 1 },
        { IPPROTO_TCP, TCP_KEEPIDLE, 15 },
        { IPPROTO_TCP, TCP_KEEPINTVL, 5 },
        { IPPROTO_TCP, TCP_KEEPCNT, 3 },
        { IPPROTO_TCP, TCP_USER_TIMEOUT, 30000 }, /* ms */
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                   sizeof options[i].value);
    }
}

int pfdd_socket_dial(const struct sockaddr *to, socklen_t n, int type)
{
    int fd = socket(to->sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (to->sa_family != AF_UNIX)
        set_keepalive(fd);
    if (connect(fd, to, n) == 0 || errno == EINPROGRESS)
        return fd;
    int why = errno;
    close(fd);
    return -why;
}

/* Removes a socket file that refuses connections: its process has gone. */
static void remove_stale(const struct pfdd_address *address)
{
    struct stat st;
    if (lstat(address->path, &st) != 0 || !S_ISSOCK(st.st_mode))
        return;
    union any to;
    socklen_t n = fill_address(&to, address);
    int fd = pfdd_socket_dial(&to.any, n, SOCK_STREAM);
    if (fd >= 0) {
        close(fd);
    } else if (fd == -ECONNREFUSED) {
        unlink(address->path);
    }
}

static int bind_socket(int fd, const struct pfdd_address *address,
                       unsigned mode)
{
    union any at;
    int yes = 1;
    socklen_t n = fill_address(&at, address);
    if (!address->is_unix) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        return bind(fd, &at.any, n);
    }
    remove_stale(address);
    /* No peer may connect before the mode is set. */
    mode_t before = umask(0177);
    int rc = bind(fd, &at.any, n);
    umask(before);
    return rc == 0 ? chmod(address->path, mode) : rc;
}

/* Makes a non-blocking listening socket. A socket file without a listener is
 * replaced. Below 0: err [n_err] says why. */
static int socket_listen(const struct pfdd_address *address, unsigned mode,
                         char *err, size_t n_err)
{
    union any at;
    fill_address(&at, address);
    int fd =
        socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind_socket(fd, address, mode) == 0 &&
        listen(fd, BACKLOG) == 0)
        return fd;
    snprintf(err, n_err, "%s: %s", address->text, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

void pfdd_socket_refuse(int fd, const char *why)
{
    enum {
        WHY_MAX = 256
    };
    static const char begin[] = "{\"type\":\"error\",\"text\":\"";
    char line[sizeof begin + 6 * WHY_MAX + 4];
    size_t n = sizeof begin - 1;
    memcpy(line, begin, n);
    n += pfd_escape_for_json(line + n, why, strnlen(why, WHY_MAX));
    memcpy(line + n, "\"}\n", 3);
    if (send(fd, line, n + 3, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        pfdd_log(PFDD_DEBUG, "a refused client is gone");
}

static bool has_id(const struct pfdd_ids *ids, unsigned id)
{
    for (size_t i = 0; i < ids->n; i++) {
        if (ids->items[i] == id)
            return true;
    }
    return false;
}

static bool may_connect(struct pfdd_listener *l, int fd)
{
    const struct pfdd_access *access = l->access;
    struct ucred peer;
    socklen_t n = sizeof peer;
    if (!l->address.is_unix || (!access->uids.n && !access->gids.n))
        return true;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) != 0)
        return false;
    if (has_id(&access->uids, peer.uid) || has_id(&access->gids, peer.gid))
        return true;
    pfdd_log_about(&l->told, PFDD_WARNING,
                   "%s: refused user %u, group %u, process %d", l->address.path,
                   peer.uid, peer.gid, peer.pid);
    return false;
}

static void let_in(struct pfdd_listener *l, int fd)
{
    if (l->tls) {
        pfdd_tls_begin(l->tls, fd);
    } else {
        l->accept(l, fd);
    }
}

/* ---- waiting for admission ---- */

static void refuse(struct pfdd_listener *l, int fd)
{
    ++*l->refused;
    close(fd);
}

/* The peer's process, if it is on this machine; else 0. */
static pid_t process_of(const struct pfdd_listener *l, int fd)
{
    struct ucred peer = { .pid = 0 };
    socklen_t n = sizeof peer;
    if (!l->address.is_unix ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) != 0)
        return 0;
    return peer.pid;
}

static void wait_for_admission(struct pfdd_listener *l, int fd)
{
    struct pfdd_peer_key user = pfdd_peer_key(fd);
    int last = fd;
    pfdd_admission_queue_push(&l->admission_queue, &user, process_of(l, fd), fd,
                              &last);
    if (last >= 0) {
        pfdd_log_about(&l->told_waiting, PFDD_WARNING,
                       "%s: more wait than there are places; refused the last "
                       "connection of process %d, which has the most",
                       l->address.text, process_of(l, last));
        refuse(l, last);
    }
}

/* Updates the count of all listeners. */
static void count_waiting(struct pfdd_listener *l)
{
    if (!l->waits)
        return;
    *l->n_waiting += (uint64_t)l->admission_queue.n - l->n_counted;
    l->n_counted = l->admission_queue.n;
}

static void on_room(uv_timer_t *timer)
{
    struct pfdd_listener *l = timer->data;
    for (int i = 0; i < AT_ONCE && l->admission_queue.n; i++) {
        if (l->waits(l->user)) {
            uv_timer_start(timer, on_room, WAIT_MS, 0);
            break;
        }
        let_in(l, pfdd_admission_queue_pop(&l->admission_queue));
    }
    count_waiting(l);
    if (l->admission_queue.n && !uv_is_active((uv_handle_t *)timer))
        uv_timer_start(timer, on_room, GO_ON_MS, 0);
}

/* ---- accepting ---- */

static void on_connection(uv_poll_t *poll, int status, int events);

static void on_retry(uv_timer_t *timer)
{
    struct pfdd_listener *l = timer->data;
    uv_poll_start(&l->poll, UV_READABLE, on_connection);
}

/* Further connections wait in the kernel's backlog. */
static void pause_for(struct pfdd_listener *l, uint64_t ms)
{
    uv_poll_stop(&l->poll);
    uv_timer_start(&l->retry, on_retry, ms, 0);
}

/* Below 0: none now. */
static int accept_one(struct pfdd_listener *l)
{
    if (l->waits && !pfdd_admission_queue_has_place(&l->admission_queue)) {
        pause_for(l, WAIT_MS);
        return -1;
    }
    int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0 && pfdd_descriptor_limit_is_spare(fd))
        return fd;
    if (fd >= 0) {
        close(fd);
        errno = EMFILE;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
        errno == ENOBUFS) {
        ++*l->out_of_fds;
        pfdd_log_about(&l->told_lacking, PFDD_WARNING, "cannot accept: %s",
                       strerror(errno));
        pause_for(l, RETRY_MS);
    }
    return -1;
}

/* False: none is there now. */
static bool take_connection(struct pfdd_listener *l)
{
    int fd = accept_one(l);
    if (fd < 0)
        return false;
    if (!may_connect(l, fd)) {
        refuse(l, fd);
    } else if (l->waits) {
        wait_for_admission(l, fd);
    } else {
        let_in(l, fd);
    }
    return true;
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
    struct pfdd_listener *l = poll->data;
    /* A few at a time: other handles get their turn. */
    for (int i = 0; i < AT_ONCE && take_connection(l); i++)
        ;
    count_waiting(l);
    if (l->admission_queue.n && !uv_is_active((uv_handle_t *)&l->room))
        on_room(&l->room);
}

void pfdd_listener_accept_rest(struct pfdd_listener *l)
{
    for (int i = 0; !l->tls && i < SOMAXCONN && take_connection(l); i++)
        ;
    while (l->admission_queue.n && !l->waits(l->user))
        let_in(l, pfdd_admission_queue_pop(&l->admission_queue));
}

static void on_known(void *user, int fd)
{
    struct pfdd_listener *l = user;
    l->accept(l, fd);
}

static void on_unknown(void *user)
{
    struct pfdd_listener *l = user;
    ++*l->refused;
}

static void one_closed(struct pfdd_listener *l)
{
    if (--l->n_open == 0 && l->closed)
        l->closed(l->user);
}

static void on_tls_closed(void *user)
{
    one_closed(user);
}

static bool open_tls(struct pfdd_listener *l, uv_loop_t *loop, char *err,
                     size_t n_err)
{
    struct pfdd_tls_options options = {
        .loop = loop,
        .config = &l->access->tls,
        .label = l->label,
        .max_known = (unsigned)l->access->max_clients + SPARE,
        .ready = on_known,
        .failed = on_unknown,
        .closed = on_tls_closed,
        .user = l,
    };
    snprintf(l->label, sizeof l->label, "tcp:%s:%u", l->address.host,
             l->address.port);
    if (!l->access->tls.certificate)
        return true;
    l->tls = pfdd_tls_new(&options, err, n_err);
    return l->tls != NULL;
}

bool pfdd_listener_open(struct pfdd_listener *l, uv_loop_t *loop,
                        const struct pfdd_address *address,
                        const struct pfdd_access *access, char *err,
                        size_t n_err)
{
    l->address = *address;
    l->access = access;
    l->tls = NULL;
    if (!open_tls(l, loop, err, n_err))
        return false;
    l->n_open = l->tls != NULL;
    l->fd = pfdd_systemd_socket(address);
    l->inherited = l->fd >= 0;
    if (l->fd < 0)
        l->fd = socket_listen(address, access->mode, err, n_err);
    int rc = l->fd < 0 ? 0 : uv_poll_init(loop, &l->poll, l->fd);
    if (rc != 0) {
        snprintf(err, n_err, "%s", uv_strerror(rc));
        close(l->fd);
    }
    if (l->fd < 0 || rc != 0) {
        l->closed = NULL;
        if (l->tls)
            pfdd_tls_close(l->tls);
        return false;
    }
    uv_timer_init(loop, &l->retry);
    uv_timer_init(loop, &l->room);
    l->poll.data = l;
    l->retry.data = l;
    l->room.data = l;
    l->n_open += 3;
    uv_poll_start(&l->poll, UV_READABLE, on_connection);
    return true;
}

static void on_closed(uv_handle_t *handle)
{
    one_closed(handle->data);
}

void pfdd_listener_close(struct pfdd_listener *l)
{
    uv_poll_stop(&l->poll);
    if (l->address.is_unix && !l->inherited)
        unlink(l->address.path);
    close(l->fd);
    uv_close((uv_handle_t *)&l->poll, on_closed);
    uv_close((uv_handle_t *)&l->retry, on_closed);
    uv_close((uv_handle_t *)&l->room, on_closed);
    while (l->admission_queue.n)
        refuse(l, pfdd_admission_queue_pop(&l->admission_queue));
    count_waiting(l);
    if (l->tls)
        pfdd_tls_close(l->tls);
    l->tls = NULL;
}

size_t pfdd_listener_memory(const struct pfdd_listener *l)
{
    return pfdd_tls_memory(l->tls);
}

struct pfdd_peer_key pfdd_listener_peer(struct pfdd_listener *l, int fd)
{
    struct pfdd_peer_key each = { { 't' } };
    if (!l->tls)
        return pfdd_peer_key(fd);
    /* A tunnel's end: its peer was identified before. */
    l->n_tunnels++;
    memcpy(each.bytes + 1, &l->n_tunnels, sizeof l->n_tunnels);
    return each;
}
