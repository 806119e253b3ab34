/* SPDX-License-Identifier: MIT */
#include "net/http_client.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONNECT_MS = 10000,
    RETRY_MAX_MS = 600000, /* limit of a server's Retry-After */
    EASY = 64 * 1024,      /* bytes of memory of a request, about */
};

/* A socket of libcurl. */
struct watch {
    uv_poll_t poll;
    struct pfdd_http_client *of;
    struct watch *next;
};

struct pfdd_http_client {
    struct pfdd_http_client_options options;
    CURLM *multi;
    struct curl_slist *headers;
    struct curl_slist *gzip_headers;
    uv_timer_t timer;
    struct watch *watches;
    struct pfdd_http_post *http_posts[64]; /* in flight */
    unsigned n_open;                       /* open handles */
    bool closing;
};

#define N_POSTS \
    (sizeof((struct pfdd_http_client *)0)->http_posts / sizeof(void *))

/* ---- URLs ---- */

static bool is_loopback(const char *host)
{
    struct in_addr ip;
    return !strcmp(host, "localhost") || !strcmp(host, "[::1]") ||
           (inet_pton(AF_INET, host, &ip) == 1 &&
            ntohl(ip.s_addr) >> 24 == IN_LOOPBACKNET);
}

static bool has_part(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    bool ret = curl_url_get(url, part, &text, 0) == CURLUE_OK;
    curl_free(text);
    return ret;
}

static const char *check_parts(CURLU *url, bool *is_https)
{
    char *scheme = NULL;
    char *host = NULL;
    const char *why = NULL;
    if (curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK) {
        why = "it is no URL such as https://HOST:PORT/PATH";
    } else if (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0) {
        why = "it is a URL of http or https";
    } else if (has_part(url, CURLUPART_USER) ||
               has_part(url, CURLUPART_PASSWORD)) {
        why = "secrets do not stand in it: give 'headers_file'";
    } else if (!strcmp(scheme, "http") && !is_loopback(host)) {
        why = "beyond this machine it has to be https";
    } else {
        *is_https = !strcmp(scheme, "https");
    }
    curl_free(scheme);
    curl_free(host);
    return why;
}

const char *pfdd_http_post_check(const char *text, bool *is_https)
{
    CURLU *url = curl_url();
    const char *why = "out of memory";
    if (url) {
        why = curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK
                  ? check_parts(url, is_https)
                  : "it is no URL such as https://HOST:PORT/PATH";
    }
    curl_url_cleanup(url);
    return why;
}

/* ---- on the loop ---- */

static void finish_close(struct pfdd_http_client *p)
{
    if (!p->closing || p->n_open)
        return;
    curl_slist_free_all(p->gzip_headers);
    curl_slist_free_all(p->headers);
    p->options.closed(p->options.user);
    free(p);
}

/* The server's Retry-After in ms; 0: none. */
static uint64_t retry_of(CURL *easy)
{
    curl_off_t seconds = 0;
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds);
    if (seconds <= 0)
        return 0;
    return seconds > RETRY_MAX_MS / 1000 ? RETRY_MAX_MS
                                         : (uint64_t)seconds * 1000;
}

static void forget(struct pfdd_http_client *p, struct pfdd_http_post *http_post)
{
    for (size_t i = 0; i < N_POSTS; i++) {
        if (p->http_posts[i] == http_post)
            p->http_posts[i] = NULL;
    }
    curl_multi_remove_handle(p->multi, http_post->easy);
    curl_easy_cleanup(http_post->easy);
    http_post->easy = NULL;
}

static void note_type(struct pfdd_http_post *http_post)
{
    char *type = NULL;
    curl_easy_getinfo(http_post->easy, CURLINFO_CONTENT_TYPE, &type);
    snprintf(http_post->type, sizeof http_post->type, "%s", type ? type : "");
}

static void take_results(struct pfdd_http_client *p)
{
    int n_left = 0;
    CURLMsg *message = NULL;
    while (!p->closing && (message = curl_multi_info_read(p->multi, &n_left))) {
        struct pfdd_http_post *http_post = NULL;
        CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
                          (char **)(void *)&http_post);
        http_post->status = 0;
        *http_post->type = '\0';
        if (code == CURLE_OK) {
            curl_easy_getinfo(http_post->easy, CURLINFO_RESPONSE_CODE,
                              &http_post->status);
            http_post->retry_ms = retry_of(http_post->easy);
            note_type(http_post);
        }
        snprintf(http_post->why, sizeof http_post->why, "%s",
                 curl_easy_strerror(code));
        forget(p, http_post);
        http_post->done(http_post);
    }
}

static void act(struct pfdd_http_client *p, curl_socket_t fd, int events)
{
    int n_running = 0;
    curl_multi_socket_action(p->multi, fd, events, &n_running);
    take_results(p);
}

static void on_timer(uv_timer_t *timer)
{
    act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timeout(CURLM *multi, long ms, void *user)
{
    struct pfdd_http_client *p = user;
    if (ms < 0) {
        uv_timer_stop(&p->timer);
    } else if (!p->closing) {
        uv_timer_start(&p->timer, on_timer, (uint64_t)ms, 0);
    }
    return 0;
}

static void on_socket(uv_poll_t *poll, int status, int events)
{
    struct watch *w = poll->data;
    uv_os_fd_t fd = -1;
    uv_fileno((uv_handle_t *)poll, &fd);
    int flags = status < 0 ? CURL_CSELECT_ERR
                : (events & UV_READABLE) && (events & UV_WRITABLE)
                    ? CURL_CSELECT_IN | CURL_CSELECT_OUT
                : events & UV_READABLE ? CURL_CSELECT_IN
                                       : CURL_CSELECT_OUT;
    act(w->of, fd, flags);
}

static void on_watch_closed(uv_handle_t *handle)
{
    struct watch *w = handle->data;
    struct pfdd_http_client *p = w->of;
    free(w);
    p->n_open--;
    finish_close(p);
}

static void end_watch(struct pfdd_http_client *p, struct watch *w)
{
    struct watch **at = &p->watches;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    uv_poll_stop(&w->poll);
    uv_close((uv_handle_t *)&w->poll, on_watch_closed);
}

static struct watch *begin_watch(struct pfdd_http_client *p, curl_socket_t fd)
{
    struct watch *w = calloc(1, sizeof *w);
    if (!w || uv_poll_init(p->options.loop, &w->poll, fd) != 0) {
        free(w);
        return NULL;
    }
    w->of = p;
    w->poll.data = w;
    w->next = p->watches;
    p->watches = w;
    p->n_open++;
    curl_multi_assign(p->multi, fd, w);
    return w;
}

static int on_wish(CURL *easy, curl_socket_t fd, int what, void *user,
                   void *of_socket)
{
    struct pfdd_http_client *p = user;
    struct watch *w = of_socket;
    int events = (what != CURL_POLL_OUT ? UV_READABLE : 0) |
                 (what != CURL_POLL_IN ? UV_WRITABLE : 0);
    if (what == CURL_POLL_REMOVE) {
        if (w)
            end_watch(p, w);
        curl_multi_assign(p->multi, fd, NULL);
        return 0;
    }
    w = w ? w : begin_watch(p, fd);
    return w && uv_poll_start(&w->poll, events, on_socket) == 0 ? 0 : -1;
}

/* ---- requests ---- */

/* Keeps the beginning of an answer, and discards the rest. */
static size_t on_answer(char *bytes, size_t size, size_t n, void *user)
{
    struct pfdd_http_post *http_post = user;
    size_t room = sizeof http_post->answer - http_post->n_answer;
    size_t more = size * n < room ? size * n : room;
    memcpy(http_post->answer + http_post->n_answer, bytes, more);
    http_post->n_answer += more;
    return size * n;
}

static bool set_tls(CURL *easy, const struct pfdd_tls_config *tls)
{
    bool ok = true;
    if (tls->authority)
        ok = curl_easy_setopt(easy, CURLOPT_CAINFO, tls->authority) == CURLE_OK;
    if (tls->certificate) {
        ok = ok &&
             curl_easy_setopt(easy, CURLOPT_SSLCERT, tls->certificate) ==
                 CURLE_OK &&
             curl_easy_setopt(easy, CURLOPT_SSLKEY, tls->key) == CURLE_OK;
    }
    return ok;
}

static bool set_request(struct pfdd_http_client *p,
                        struct pfdd_http_post *http_post)
{
    CURL *easy = http_post->easy;
    const struct curl_slist *headers =
        http_post->is_gzip ? p->gzip_headers : p->headers;
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)p->options.timeout_ms);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, http_post->body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     (curl_off_t)http_post->n);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_answer);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, http_post);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, http_post);
    return curl_easy_setopt(easy, CURLOPT_URL, p->options.url) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") ==
               CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
           set_tls(easy, p->options.tls);
}

bool pfdd_http_client_send(struct pfdd_http_client *p,
                           struct pfdd_http_post *http_post)
{
    size_t i = 0;
    while (i < N_POSTS && p->http_posts[i])
        i++;
    http_post->of = p;
    http_post->n_answer = 0;
    http_post->retry_ms = 0;
    http_post->easy = i < N_POSTS ? curl_easy_init() : NULL;
    if (http_post->easy && set_request(p, http_post) &&
        curl_multi_add_handle(p->multi, http_post->easy) == CURLM_OK) {
        p->http_posts[i] = http_post;
        return true;
    }
    curl_easy_cleanup(http_post->easy);
    http_post->easy = NULL;
    return false;
}

/* ---- init and close ---- */

static bool add_header(struct curl_slist **list, const char *line)
{
    struct curl_slist *more = curl_slist_append(*list, line);
    *list = more ? more : *list;
    return more;
}

static bool add_headers(struct pfdd_http_client *p)
{
    bool ok = add_header(&p->headers, "Expect:");
    for (size_t i = 0; ok && i < p->options.n_headers; i++)
        ok = add_header(&p->headers, p->options.headers[i]);
    for (struct curl_slist *h = p->headers; ok && h; h = h->next)
        ok = add_header(&p->gzip_headers, h->data);
    return ok && add_header(&p->gzip_headers, "Content-Encoding: gzip");
}

struct pfdd_http_client *pfdd_http_client_new(
    const struct pfdd_http_client_options *options, char *err, size_t n_err)
{
    struct pfdd_http_client *p = calloc(1, sizeof *p);
    snprintf(err, n_err, "out of memory");
    if (!p || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(p);
        return NULL;
    }
    p->options = *options;
    p->multi = curl_multi_init();
    if (!p->multi || !add_headers(p)) {
        curl_multi_cleanup(p->multi);
        curl_slist_free_all(p->gzip_headers);
        curl_slist_free_all(p->headers);
        free(p);
        return NULL;
    }
    curl_multi_setopt(p->multi, CURLMOPT_SOCKETFUNCTION, on_wish);
    curl_multi_setopt(p->multi, CURLMOPT_SOCKETDATA, p);
    curl_multi_setopt(p->multi, CURLMOPT_TIMERFUNCTION, on_timeout);
    curl_multi_setopt(p->multi, CURLMOPT_TIMERDATA, p);
    uv_timer_init(options->loop, &p->timer);
    p->timer.data = p;
    p->n_open = 1;
    return p;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct pfdd_http_client *p = handle->data;
    p->n_open--;
    finish_close(p);
}

void pfdd_http_client_close(struct pfdd_http_client *p)
{
    p->closing = true;
    for (size_t i = 0; i < N_POSTS; i++) {
        if (p->http_posts[i])
            forget(p, p->http_posts[i]);
    }
    curl_multi_cleanup(p->multi);
    p->multi = NULL;
    while (p->watches)
        end_watch(p, p->watches);
    uv_close((uv_handle_t *)&p->timer, on_timer_closed);
}

size_t pfdd_http_client_memory(const struct pfdd_http_client *p)
{
    size_t n = sizeof *p;
    for (size_t i = 0; i < N_POSTS; i++)
        n += p->http_posts[i] ? EASY : 0;
    return n;
}
