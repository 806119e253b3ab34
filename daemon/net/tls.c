/* SPDX-License-Identifier: MIT */
#include "net/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/peer_limit.h"
#include "remote/tls_context.h"

enum {
    PIECE = 16 * 1024,     /* of a TLS record */
    HANDSHAKE_MS = 5000,   /* for the handshake */
    STRANGERS = 32,        /* unauthenticated peers at a time */
    LINGER_MS = 2000,      /* to send the rest, when closing */
    SSL_BYTES = 64 * 1024, /* memory of OpenSSL for a connection, about */
};

struct flow {
    char bytes[PIECE];
    size_t at;
    size_t n;
    bool ended; /* its source has ended */
};

struct tunnel {
    struct tunnel *next;
    struct pfdd_limited_peer limited_peer; /* silent: not authenticated yet */
    struct pfdd_tls *of;
    uv_poll_t outer_poll; /* of the socket to the network */
    uv_poll_t inner_poll; /* of our end of the pair */
    uv_timer_t timer;
    unsigned n_open; /* open handles */
    int outer;
    int inner; /* -1: the peer is not authenticated yet */
    int outer_events;
    int inner_events;
    SSL *ssl;
    bool connecting;
    bool wants_write; /* of the handshake, or of SSL_write() */
    bool told_end;    /* the inner side was shut down */
    bool closing;
    struct flow in;  /* from the network */
    struct flow out; /* to the network */
};

struct pfdd_tls {
    struct pfdd_tls_options options;
    SSL_CTX *context;
    struct stat certificate; /* as of the last reading */
    struct tunnel *tunnels;
    unsigned n_tunnels; /* includes closing ones */
    struct pfdd_peer_limit strangers;
    struct pfdd_peer_limit known;
    struct pfdd_log_topic told_strangers;
    struct pfdd_log_topic told_known;
    bool closing;
};

/* ---- contexts ---- */

static const char *reason(void)
{
    unsigned long code = ERR_peek_last_error();
    const char *text = code ? ERR_reason_error_string(code) : NULL;
    return text ? text : "no reason is known";
}

static SSL_CTX *make_context(const struct pfdd_tls_options *options, char *err,
                             size_t n_err)
{
    const struct pfdd_tls_config *config = options->config;
    const struct remote_tls_files files = { config->authority,
                                            config->certificate, config->key };
    SSL_CTX *context = remote_tls_context(options->peer ? TLS_client_method()
                                                        : TLS_server_method(),
                                          &files, err, n_err);
    if (context) {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_num_tickets(context, 0);
    }
    return context;
}

struct pfdd_tls *pfdd_tls_new(const struct pfdd_tls_options *options, char *err,
                              size_t n_err)
{
    struct pfdd_tls *tls = calloc(1, sizeof *tls);
    if (!tls) {
        snprintf(err, n_err, "out of memory");
        return NULL;
    }
    tls->options = *options;
    tls->context = make_context(options, err, n_err);
    if (!tls->context) {
        free(tls);
        return NULL;
    }
    stat(options->config->certificate, &tls->certificate);
    return tls;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Reads a renewed certificate. Existing connections keep the old one. */
static void renew(struct pfdd_tls *tls)
{
    struct stat now;
    char err[256];
    if (stat(tls->options.config->certificate, &now) != 0 ||
        is_same_file(&now, &tls->certificate))
        return;
    tls->certificate = now;
    SSL_CTX *context = make_context(&tls->options, err, sizeof err);
    if (!context) {
        pfdd_log(PFDD_ERROR, "%s: the old certificate stays: %s",
                 tls->options.label, err);
        return;
    }
    SSL_CTX_free(tls->context);
    tls->context = context;
    pfdd_log(PFDD_INFO, "%s: a new certificate", tls->options.label);
}

/* ---- closing a tunnel ---- */

static void finish_close(struct pfdd_tls *tls)
{
    if (!tls->closing || tls->tunnels)
        return;
    void (*closed)(void *) = tls->options.closed;
    void *user = tls->options.user;
    SSL_CTX_free(tls->context);
    free(tls);
    closed(user);
}

static void on_closed(uv_handle_t *handle)
{
    struct tunnel *t = handle->data;
    struct pfdd_tls *tls = t->of;
    struct tunnel **at = &tls->tunnels;
    if (--t->n_open > 0)
        return;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    tls->n_tunnels--;
    free(t);
    finish_close(tls);
}

static struct pfdd_peer_limit *limit_of(const struct tunnel *t)
{
    return t->limited_peer.is_silent ? &t->of->strangers : &t->of->known;
}

static void close_tunnel(struct tunnel *t)
{
    if (t->closing)
        return;
    t->closing = true;
    pfdd_peer_limit_leave(limit_of(t), &t->limited_peer);
    SSL_free(t->ssl);
    uv_poll_stop(&t->outer_poll);
    uv_close((uv_handle_t *)&t->outer_poll, on_closed);
    uv_close((uv_handle_t *)&t->timer, on_closed);
    close(t->outer);
    if (t->inner >= 0) {
        uv_poll_stop(&t->inner_poll);
        uv_close((uv_handle_t *)&t->inner_poll, on_closed);
        close(t->inner);
    }
}

static void drop(struct tunnel *t)
{
    struct pfdd_tls *tls = t->of;
    bool is_known = t->inner >= 0;
    close_tunnel(t);
    if (!is_known && tls->options.failed)
        tls->options.failed(tls->options.user);
}

static void fail(struct tunnel *t, const char *why)
{
    struct pfdd_tls *tls = t->of;
    bool is_known = t->inner >= 0;
    pfdd_log_about(is_known ? &tls->told_known : &tls->told_strangers,
                   is_known ? PFDD_INFO : PFDD_WARNING, "%s: TLS: %s",
                   tls->options.label, why);
    drop(t);
}

/* Memory or descriptors lack: not the peer's mistake. */
static void lack(struct tunnel *t, const char *why)
{
    pfdd_log(PFDD_ERROR, "%s: TLS: %s", t->of->options.label, why);
    drop(t);
}

static void on_late(uv_timer_t *timer)
{
    struct tunnel *t = timer->data;
    if (t->inner < 0) {
        fail(t, "the peer does not say who it is");
    } else {
        close_tunnel(t);
    }
}

/* ---- bytes ---- */

static void on_outer(uv_poll_t *poll, int status, int events);
static void on_inner(uv_poll_t *poll, int status, int events);

static void watch(uv_poll_t *poll, int *now, int events, uv_poll_cb cb)
{
    if (*now == events)
        return;
    *now = events;
    if (events) {
        uv_poll_start(poll, events, cb);
    } else {
        uv_poll_stop(poll);
    }
}

static void watch_both(struct tunnel *t)
{
    int outer = t->in.n || t->in.ended ? 0 : UV_READABLE;
    int inner = t->out.n || t->out.ended ? 0 : UV_READABLE;
    if (t->wants_write)
        outer |= UV_WRITABLE;
    if (t->in.n)
        inner |= UV_WRITABLE;
    watch(&t->outer_poll, &t->outer_events, outer, on_outer);
    watch(&t->inner_poll, &t->inner_events, inner, on_inner);
}

/* True: bytes or the end were received. */
static bool receive(struct tunnel *t)
{
    if (t->in.n || t->in.ended)
        return false;
    ERR_clear_error();
    int n = SSL_read(t->ssl, t->in.bytes, PIECE);
    if (n > 0) {
        t->in.at = 0;
        t->in.n = (size_t)n;
        return true;
    }
    int why = SSL_get_error(t->ssl, n);
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
        return false;
    if (why != SSL_ERROR_ZERO_RETURN && ERR_peek_last_error()) {
        fail(t, reason());
        return false;
    }
    t->in.ended = true;
    return true;
}

static bool send_on(struct tunnel *t)
{
    if (!t->out.n)
        return false;
    ERR_clear_error();
    int n = SSL_write(t->ssl, t->out.bytes + t->out.at, (int)t->out.n);
    if (n > 0) {
        t->out.at += (size_t)n;
        t->out.n -= (size_t)n;
        t->wants_write = false;
        return true;
    }
    int why = SSL_get_error(t->ssl, n);
    t->wants_write = why == SSL_ERROR_WANT_WRITE;
    if (!t->wants_write && why != SSL_ERROR_WANT_READ)
        close_tunnel(t);
    return false;
}

/* Reads from the inner side, and writes to it. */
static bool take(struct tunnel *t)
{
    if (t->out.n || t->out.ended)
        return false;
    ssize_t n = recv(t->inner, t->out.bytes, PIECE, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    t->out.at = 0;
    t->out.n = n > 0 ? (size_t)n : 0;
    t->out.ended = n <= 0;
    return true;
}

static bool give(struct tunnel *t)
{
    if (!t->in.n) {
        if (t->in.ended && !t->told_end)
            shutdown(t->inner, SHUT_WR);
        t->told_end = t->in.ended;
        return false;
    }
    ssize_t n = send(t->inner, t->in.bytes + t->in.at, t->in.n,
                     MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        /* The inner side reads no more: discard the rest. */
        t->in.n = 0;
        t->in.ended = true;
        return true;
    }
    if (n <= 0)
        return false;
    t->in.at += (size_t)n;
    t->in.n -= (size_t)n;
    return true;
}

static void pump(struct tunnel *t)
{
    bool moved = true;
    for (int i = 0; i < 64 && moved && !t->closing; i++) {
        moved = receive(t);
        if (!t->closing)
            moved |= give(t);
        if (!t->closing)
            moved |= take(t);
        if (!t->closing)
            moved |= send_on(t);
    }
    if (t->closing)
        return;
    if (t->out.ended && !t->out.n) {
        SSL_shutdown(t->ssl);
        close_tunnel(t);
        return;
    }
    if (t->out.ended && !uv_is_active((uv_handle_t *)&t->timer))
        uv_timer_start(&t->timer, on_late, LINGER_MS, 0);
    watch_both(t);
    /* Lets other handles have their turn, then goes on. */
    if (moved) {
        watch(&t->outer_poll, &t->outer_events, t->outer_events | UV_WRITABLE,
              on_outer);
    }
}

static void on_inner(uv_poll_t *poll, int status, int events)
{
    pump(poll->data);
}

/* ---- handshakes ---- */

static void hand_out(struct tunnel *t)
{
    struct pfdd_tls *tls = t->of;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                   pair) != 0) {
        lack(t, strerror(errno));
        return;
    }
    if (uv_poll_init(tls->options.loop, &t->inner_poll, pair[0]) != 0) {
        close(pair[0]);
        close(pair[1]);
        lack(t, "out of memory");
        return;
    }
    pfdd_peer_limit_leave(&tls->strangers, &t->limited_peer);
    pfdd_peer_limit_join(&tls->known, &t->limited_peer, &t->limited_peer.key,
                         uv_now(tls->options.loop));
    t->limited_peer.is_silent = false;
    t->inner = pair[0];
    t->inner_poll.data = t;
    t->n_open++;
    t->wants_write = false;
    uv_timer_stop(&t->timer);
    tls->options.ready(tls->options.user, pair[1]);
    pump(t);
}

/* Reports an error of the peer's certificate as such. */
static void fail_handshake(struct tunnel *t, int why)
{
    long verified = SSL_get_verify_result(t->ssl);
    if (verified != X509_V_OK) {
        fail(t, X509_verify_cert_error_string(verified));
    } else if (why == SSL_ERROR_SYSCALL && !ERR_peek_last_error()) {
        fail(t, "the peer has gone");
    } else {
        fail(t, reason());
    }
}

static void shake_hands(struct tunnel *t)
{
    ERR_clear_error();
    int rc = SSL_do_handshake(t->ssl);
    int why = SSL_get_error(t->ssl, rc);
    if (rc == 1) {
        hand_out(t);
    } else if (why == SSL_ERROR_WANT_READ) {
        watch(&t->outer_poll, &t->outer_events, UV_READABLE, on_outer);
    } else if (why == SSL_ERROR_WANT_WRITE) {
        watch(&t->outer_poll, &t->outer_events, UV_WRITABLE, on_outer);
    } else {
        fail_handshake(t, why);
    }
}

static void on_outer(uv_poll_t *poll, int status, int events)
{
    struct tunnel *t = poll->data;
    int error = 0;
    socklen_t n = sizeof error;
    if (t->connecting) {
        t->connecting = false;
        getsockopt(t->outer, SOL_SOCKET, SO_ERROR, &error, &n);
        if (error) {
            fail(t, strerror(error));
            return;
        }
    }
    if (t->inner < 0) {
        shake_hands(t);
    } else {
        pump(t);
    }
}

static bool prepare(struct tunnel *t)
{
    const struct pfdd_tls_options *options = &t->of->options;
    t->ssl = SSL_new(t->of->context);
    if (!t->ssl || SSL_set_fd(t->ssl, t->outer) != 1)
        return false;
    if (!options->peer) {
        SSL_set_accept_state(t->ssl);
        return true;
    }
    SSL_set_connect_state(t->ssl);
    if (options->config->name)
        return SSL_set1_host(t->ssl, options->config->name) == 1;
    if (options->is_name)
        return SSL_set1_host(t->ssl, options->peer) == 1;
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(t->ssl),
                                         options->peer) == 1;
}

/* Checks the limits; called before any cryptography. */
static bool may_come(const struct pfdd_tls *tls,
                     const struct pfdd_peer_key *key)
{
    struct pfdd_limited_peer *silent = NULL; /* known peers never are */
    unsigned n_max = tls->options.max_known;
    return tls->options.peer ||
           (tls->n_tunnels < 2 * n_max + STRANGERS &&
            pfdd_peer_limit_evict(&tls->known, key, n_max, &silent));
}

static void make_place(struct pfdd_tls *tls, const struct pfdd_peer_key *key)
{
    struct pfdd_limited_peer *silent = NULL;
    pfdd_peer_limit_evict(&tls->strangers, key, STRANGERS, &silent);
    for (struct tunnel *t = tls->tunnels; silent && t; t = t->next) {
        if (&t->limited_peer == silent) {
            fail(t, "makes way for another stranger");
            break;
        }
    }
}

void pfdd_tls_begin(struct pfdd_tls *tls, int fd)
{
    struct pfdd_peer_key key = pfdd_peer_key(fd);
    bool may = may_come(tls, &key);
    if (may) {
        make_place(tls, &key);
        renew(tls);
    }
    struct tunnel *t = may ? calloc(1, sizeof *t) : NULL;
    if (!t || uv_poll_init(tls->options.loop, &t->outer_poll, fd) != 0) {
        free(t);
        close(fd);
        if (tls->options.failed)
            tls->options.failed(tls->options.user);
        return;
    }
    uv_timer_init(tls->options.loop, &t->timer);
    t->of = tls;
    t->outer = fd;
    t->inner = -1;
    t->n_open = 2;
    t->outer_poll.data = t;
    t->timer.data = t;
    t->connecting = tls->options.peer != NULL;
    t->next = tls->tunnels;
    tls->tunnels = t;
    tls->n_tunnels++;
    pfdd_peer_limit_join(&tls->strangers, &t->limited_peer, &key,
                         uv_now(tls->options.loop));
    if (!prepare(t)) {
        fail(t, reason());
        return;
    }
    watch(&t->outer_poll, &t->outer_events,
          t->connecting ? UV_WRITABLE : UV_READABLE, on_outer);
    uv_timer_start(&t->timer, on_late, HANDSHAKE_MS, 0);
}

void pfdd_tls_close(struct pfdd_tls *tls)
{
    tls->closing = true;
    for (struct tunnel *t = tls->tunnels; t; t = t->next) {
        if (t->inner < 0) {
            close_tunnel(t);
        } else if (!t->closing) {
            uv_timer_start(&t->timer, on_late, LINGER_MS, 0);
        }
    }
    finish_close(tls);
}

size_t pfdd_tls_memory(const struct pfdd_tls *tls)
{
    return tls ? sizeof *tls +
                     tls->n_tunnels * (sizeof(struct tunnel) + SSL_BYTES)
               : 0;
}
