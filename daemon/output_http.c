/* SPDX-License-Identifier: MIT */
/*
 * HTTP: /metrics, /healthz, /readyz, and the lines as they come: /events as
 * server-sent events (Last-Event-ID resumes), /lines as ?output= says. ?from=
 * says where to begin, ?match=, ?source= and ?entries_only= choose.
 * libwebsockets runs on the daemon's own loop.
 */
#include <errno.h>
#include <fcntl.h>
#include <libwebsockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon.h"
#include "log.h"
#include "reader.h"
#include "socket.h"

enum {
    PIECE = 32 * 1024, /* bytes written at once */
    END_TURNS = 5,     /* of the loop, for libwebsockets to let go of all: */
    TURN_MS = 10,      /* its handles close one after another */
    FDS_NEEDED = 8,    /* by a context, with some to spare */
};

/* One connection; libwebsockets owns and zeroes it. */
struct client {
    struct lws *wsi;
    struct http_output *of;
    struct client *next;
    struct pfdd_reader reader;
    bool streaming;
    char *body; /* [n], of a page */
    size_t n;
    size_t at;
};

struct http_output;

/* On a loop that is not its own, libwebsockets is let go of twice: the first
 * time it only closes its handles. */
struct ending {
    uv_timer_t timer;
    struct lws_context *context;
    struct http_output *of; /* NULL: it was never open */
    unsigned turns;         /* left */
    int pipe;               /* the number of its descriptor; -1: not known */
    struct stat stand_in;   /* for it; all zero: there is none */
};

struct http_output {
    struct pfdd_output base;
    struct lws_context *context;
    struct lws_vhost *vhost;
    struct pfdd_listener listener;
    bool listener_closed;
    bool ended;
    char label[160]; /* of a stream, for the log */
    struct client *streams;
    unsigned n_streams;
    struct ending *ending;
};

static void stop_stream(struct client *c)
{
    struct http_output *o = c->of;
    struct client **at = &o->streams;
    if (!c->streaming)
        return;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    o->n_streams--;
    o->base.d->count.missed += c->reader.missed;
    pfdd_reader_deinit(&c->reader);
    c->streaming = false;
}

static int put_head(struct client *c, unsigned status, const char *type,
                    lws_filepos_t n)
{
    uint8_t head[LWS_PRE + 1024];
    uint8_t *start = head + LWS_PRE;
    uint8_t *at = start;
    uint8_t *end = head + sizeof head - 1;
    if (lws_add_http_common_headers(c->wsi, status, type, n, &at, end) ||
        lws_add_http_header_by_name(
            c->wsi, (const unsigned char *)"cache-control:",
            (const unsigned char *)"no-store", 8, &at, end) ||
        lws_finalize_write_http_header(c->wsi, start, &at, end))
        return -1;
    return 0;
}

/* body is taken over. */
static int give_page(struct client *c, unsigned status, const char *type,
                     char *body, size_t n)
{
    c->body = body;
    c->n = n;
    c->at = 0;
    if (!body || put_head(c, status, type, n))
        return -1;
    lws_callback_on_writable(c->wsi);
    return 0;
}

static int give_text(struct client *c, unsigned status, const char *text)
{
    return give_page(c, status, "text/plain; charset=utf-8", strdup(text),
                     strlen(text));
}

static bool has_lagged(struct client *c)
{
    struct pfdd_output *o = &c->of->base;
    if (o->config->on_lag != PFDD_DISCONNECT ||
        !pfdd_reader_has_missed(&c->reader))
        return false;
    o->d->count.disconnected++;
    return true;
}

static void on_lines(struct pfdd_reader *reader)
{
    struct client *c = reader->user;
    if (has_lagged(c)) {
        stop_stream(c);
        lws_set_timeout(c->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
    } else {
        lws_callback_on_writable(c->wsi);
    }
}

static bool is_digits(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text) &&
           strlen(text) < 20;
}

/* The value of ?name=, or NULL. */
static const char *query(struct client *c, const char *name, char *room,
                         size_t n_room)
{
    const char *at = lws_get_urlarg_by_name(c->wsi, name, room, (int)n_room);
    return at && *at == '=' ? at + 1 : at;
}

/* Keeps what *ret has when it is not given; false: it is no such word. */
static bool query_bool(struct client *c, const char *name, bool *ret)
{
    char room[300];
    const char *value = query(c, name, room, sizeof room);
    if (!value)
        return true;
    *ret = !strcmp(value, "true");
    return *ret || !strcmp(value, "false");
}

static bool read_query(struct client *c, enum pfdd_form form,
                       struct pfdd_request *request, char *err, size_t n_err)
{
    char room[300];
    static const char id[] = "last-event-id:";
    struct pfdd_from *from = &request->from;
    bool findings = true;
    *request = (struct pfdd_request){ .form = form };
    const char *value = query(c, "output", room, sizeof room);
    if (value && form != PFDD_SSE && !pfdd_form_find(value, &request->form)) {
        snprintf(err, n_err, "'output' is json, text or raw\n");
        return false;
    }
    value = query(c, "from", room, sizeof room);
    if (value) {
        from->is_seq = is_digits(value);
        from->value = strtoull(value, NULL, 10);
        if (!from->is_seq && !pfdd_from_read(from, value)) {
            snprintf(err, n_err,
                     "'from' is a sequence number, a time such as "
                     "2026-11-20T20:09:49Z, 'oldest' or 'now'\n");
            return false;
        }
    }
    int n = lws_hdr_custom_copy(c->wsi, room, sizeof room, id, sizeof id - 1);
    if (n > 0 && is_digits(room)) {
        from->is_seq = true;
        from->value = strtoull(room, NULL, 10) + 1;
    }
    value = query(c, "source", room, sizeof room);
    if (value)
        request->filter.source = strdup(value);
    if (!query_bool(c, "entries_only", &request->filter.entries_only) ||
        !query_bool(c, "findings", &findings)) {
        snprintf(err, n_err,
                 "'entries_only' and 'findings' are true or false\n");
        return false;
    }
    request->filter.no_findings = !findings;
    value = query(c, "match", room, sizeof room);
    return !value || pfdd_filter_match(&request->filter, value, err, n_err);
}

static int start_stream(struct client *c, enum pfdd_form form)
{
    struct http_output *o = c->of;
    struct pfdd_request request;
    char err[200] = "";
    if (o->n_streams >= o->base.config->access.max_clients)
        return give_text(c, 503, "too many streams\n");
    if (!read_query(c, form, &request, err, sizeof err)) {
        pfdd_filter_deinit(&request.filter);
        return give_text(c, 400, err);
    }
    pfdd_reader_init(&c->reader, &o->base.d->ring, &request);
    c->reader.wake = on_lines;
    c->reader.user = c;
    c->reader.name = o->label;
    c->reader.source_name = pfdd_source_name;
    c->reader.source_user = o->base.d;
    c->streaming = true;
    c->next = o->streams;
    o->streams = c;
    o->n_streams++;
    lws_set_timeout(c->wsi, NO_PENDING_TIMEOUT, 0);
    static const char *const types[] = { "application/x-ndjson",
                                         "text/plain; charset=utf-8",
                                         "application/octet-stream",
                                         "text/event-stream" };
    if (put_head(c, 200, types[c->reader.form], LWS_ILLEGAL_HTTP_CONTENT_LEN))
        return -1;
    lws_callback_on_writable(c->wsi);
    return 0;
}

static int answer(struct client *c, const char *path)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it has one */
    struct pfdd *d = c->of->base.d;
    size_t n = 0;
    d->count.requests++;
    if (!strcmp(path, "/metrics")) {
        char *page = pfdd_metrics(d, &n);
        return give_page(c, 200, "text/plain; version=0.0.4; charset=utf-8",
                         page, n);
    }
    if (!strcmp(path, "/healthz"))
        return give_text(c, 200, "ok\n");
    if (!strcmp(path, "/readyz")) {
        bool ready = pfdd_is_ready(d);
        return give_text(c, ready ? 200 : 503,
                         ready ? "ready\n" : "not ready\n");
    }
    if (!strcmp(path, "/events"))
        return start_stream(c, PFDD_SSE);
    if (!strcmp(path, "/lines"))
        return start_stream(c, PFDD_JSON);
    return give_text(c, 404,
                     "there are /metrics, /healthz, /readyz, /events "
                     "and /lines\n");
}

static int write_stream(struct client *c)
{
    uint8_t piece[LWS_PRE + PIECE];
    const char *bytes = NULL;
    size_t n = 0;
    if (!pfdd_reader_peek(&c->reader, &bytes, &n))
        return 0;
    if (has_lagged(c))
        return -1;
    n = n < PIECE ? n : PIECE;
    memcpy(piece + LWS_PRE, bytes, n);
    if (lws_write(c->wsi, piece + LWS_PRE, n, LWS_WRITE_HTTP) < (int)n)
        return -1;
    pfdd_reader_take(&c->reader, n);
    lws_callback_on_writable(c->wsi);
    return 0;
}

static int write_page(struct client *c)
{
    uint8_t piece[LWS_PRE + PIECE];
    size_t n = c->n - c->at < PIECE ? c->n - c->at : PIECE;
    bool last = c->at + n == c->n;
    if (!c->body)
        return 0;
    memcpy(piece + LWS_PRE, c->body + c->at, n);
    if (lws_write(c->wsi, piece + LWS_PRE, n,
                  last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < (int)n)
        return -1;
    c->at += n;
    if (!last) {
        lws_callback_on_writable(c->wsi);
        return 0;
    }
    free(c->body);
    c->body = NULL;
    return lws_http_transaction_completed(c->wsi) ? -1 : 0;
}

static int on_http(struct lws *wsi, enum lws_callback_reasons reason,
                   void *user, void *in, size_t n)
{
    struct client *c = user;
    struct lws_context *context = lws_get_context(wsi);
    struct http_output *o = context ? lws_context_user(context) : NULL;
    char path[256];
    if (reason == LWS_CALLBACK_HTTP) {
        if (n >= sizeof path)
            return -1;
        memcpy(path, in, n);
        path[n] = '\0';
        c->wsi = wsi;
        c->of = o;
        return answer(c, path);
    }
    if (reason == LWS_CALLBACK_HTTP_WRITEABLE && c && c->of)
        return c->streaming ? write_stream(c) : write_page(c);
    if (reason == LWS_CALLBACK_CLOSED_HTTP && c && c->of) {
        stop_stream(c);
        free(c->body);
        c->body = NULL;
    }
    if (reason == LWS_CALLBACK_HTTP_WRITEABLE ||
        reason == LWS_CALLBACK_CLOSED_HTTP)
        return 0;
    return lws_callback_http_dummy(wsi, reason, user, in, n);
}

static const struct lws_protocols protocols[] = {
    { "http", on_http, sizeof(struct client), 0, 0, NULL, 0 },
    { NULL, NULL, 0, 0, 0, NULL, 0 },
};

static void tell_log(int level, const char *line)
{
    pfdd_log(PFDD_WARNING, "libwebsockets: %s", line);
}

/* libwebsockets closes fd when it fails. */
static void on_accept(struct pfdd_listener *l, int fd)
{
    struct http_output *o = l->user;
    lws_adopt_socket_vhost(o->vhost, fd);
}

static void finish_close(struct http_output *o)
{
    if (o->ended && o->listener_closed)
        pfdd_output_closed(&o->base);
}

static void on_listener_closed(void *user)
{
    struct http_output *o = user;
    o->listener_closed = true;
    finish_close(o);
}

static void on_end_closed(uv_handle_t *handle)
{
    struct ending *e = handle->data;
    struct http_output *o = e->of;
    free(e);
    if (!o)
        return;
    o->ended = true;
    finish_close(o);
}

/*
 * The pipe by which a context wakes its loop is closed when the context is let
 * go of, and once more when the loop has let go of its handle (libwebsockets
 * 4.1). In between its number could be another file's: something that nobody
 * needs stands there.
 */
static void put_stand_in(struct ending *e)
{
    int fd = memfd_create("http", MFD_CLOEXEC);
    if (fd < 0)
        return;
    fstat(fd, &e->stand_in);
    if (fd == e->pipe)
        return;
    int copy = e->pipe >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, e->pipe) : -1;
    if (copy >= 0 && copy != e->pipe)
        close(copy);
    close(fd);
}

/* If it was not closed, as it should not have been. */
static void drop_stand_in(const struct ending *e)
{
    struct stat st;
    if (e->stand_in.st_ino && fstat(e->pipe, &st) == 0 &&
        st.st_dev == e->stand_in.st_dev && st.st_ino == e->stand_in.st_ino)
        close(e->pipe);
}

static void on_end(uv_timer_t *timer)
{
    struct ending *e = timer->data;
    if (--e->turns > 0)
        return;
    lws_context_destroy(e->context);
    drop_stand_in(e);
    uv_close((uv_handle_t *)timer, on_end_closed);
}

static void begin_end(struct ending *e, struct http_output *of)
{
    e->of = of;
    lws_context_destroy(e->context);
    put_stand_in(e);
    /* Turns, not only time: a process may be kept from running for long. */
    e->turns = END_TURNS;
    uv_timer_start(&e->timer, on_end, TURN_MS, TURN_MS);
}

/* Handles are walked from the oldest to the newest. */
static void note_poll(uv_handle_t *handle, void *user)
{
    struct ending *e = user;
    uv_os_fd_t fd = -1;
    if (handle->type == UV_POLL && uv_fileno(handle, &fd) == 0)
        e->pipe = fd;
}

/*
 * A context that gets no descriptor for its pipe is made all the same, and
 * leaves a timer on the loop when it goes (libwebsockets 4.1): the loop then
 * calls what is gone. So see first that there are some.
 */
static bool has_descriptors(const uv_loop_t *loop)
{
    int fds[FDS_NEEDED];
    int n = 0;
    while (n < FDS_NEEDED) {
        fds[n] = fcntl(uv_backend_fd(loop), F_DUPFD_CLOEXEC, 3);
        if (fds[n] < 0)
            break;
        n++;
    }
    for (int i = 0; i < n; i++)
        close(fds[i]);
    return n == FDS_NEEDED;
}

static struct lws_context *make_context(struct http_output *o)
{
    void *loops[] = { o->base.d->loop };
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .protocols = protocols,
        .foreign_loops = loops,
        .user = o,
        .options =
            LWS_SERVER_OPTION_LIBUV |
            LWS_SERVER_OPTION_HTTP_HEADERS_SECURITY_BEST_PRACTICES_ENFORCE,
        .keepalive_timeout = 30,
        .timeout_secs = 10,
        .pt_serv_buf_size = 16 * 1024,
    };
    info.gid = -1;
    info.uid = -1;
    lws_set_log_level(LLL_ERR, tell_log);
    return lws_create_context(&info);
}

static bool listen_for(struct http_output *o, char *err, size_t n_err)
{
    struct pfdd_output *output = &o->base;
    o->listener.user = o;
    o->listener.accept = on_accept;
    o->listener.closed = on_listener_closed;
    o->listener.refused = &output->d->count.refused;
    o->listener.out_of_fds = &output->d->count.out_of_fds;
    return pfdd_listener_open(&o->listener, output->d->loop,
                              &output->config->address, &output->config->access,
                              err, n_err);
}

static bool open_output(struct pfdd_output *output, char *err, size_t n_err)
{
    struct http_output *o = (struct http_output *)output;
    if (!has_descriptors(output->d->loop)) {
        snprintf(err, n_err, "%s: %s", output->config->address_text,
                 strerror(EMFILE));
        return false;
    }
    struct ending *e = calloc(1, sizeof *e);
    o->context = e ? make_context(o) : NULL;
    if (!o->context) {
        free(e);
        snprintf(err, n_err,
                 "%s: cannot serve HTTP (is "
                 "libwebsockets-evlib-uv installed?)",
                 output->config->address_text);
        return false;
    }
    uv_timer_init(output->d->loop, &e->timer);
    e->timer.data = e;
    e->context = o->context;
    e->pipe = -1;
    uv_walk(output->d->loop, note_poll, e);
    o->ending = e;
    o->vhost = lws_get_vhost_by_name(o->context, "default");
    snprintf(err, n_err, "%s: cannot serve HTTP", output->config->address_text);
    if (!o->vhost || !listen_for(o, err, n_err)) {
        begin_end(e, NULL);
        return false;
    }
    snprintf(o->label, sizeof o->label, "a subscriber of %s",
             output->config->address_text);
    pfdd_log(PFDD_INFO, "http: %s", output->config->address_text);
    return true;
}

static void close_output(struct pfdd_output *output)
{
    struct http_output *o = (struct http_output *)output;
    while (o->streams)
        stop_stream(o->streams);
    pfdd_listener_close(&o->listener);
    begin_end(o->ending, o);
}

static bool is_drained(const struct pfdd_output *output)
{
    const struct http_output *o = (const struct http_output *)output;
    for (const struct client *c = o->streams; c; c = c->next) {
        if (pfdd_reader_seq(&c->reader) < output->d->ring.next_seq)
            return false;
    }
    return true;
}

static size_t memory(const struct pfdd_output *output)
{
    const struct http_output *o = (const struct http_output *)output;
    size_t n = sizeof *o + pfdd_listener_memory(&o->listener);
    for (const struct client *c = o->streams; c; c = c->next)
        n += sizeof *c + pfdd_reader_memory(&c->reader);
    return n;
}

const struct pfdd_output_class pfdd_output_http = {
    "http", sizeof(struct http_output), open_output, close_output, is_drained,
    memory,
};
