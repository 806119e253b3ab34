/* SPDX-License-Identifier: MIT */
/*
 * printfdecode follow SOCKET or URL: lines of a running printfdecoded. The
 * daemon decodes, chooses and numbers; here bytes are passed on.
 */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "options.h"
#include "output.h"
#include "tell.h"

enum {
    REQUEST = 4096,
    BYTES = 64 * 1024,
};

static const char scheme[] = "http://";

static bool is_socket(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

bool follow_client_wants(const struct options *options)
{
    return options->n_files == 1 &&
           (!strncmp(options->files[0].path, scheme, strlen(scheme)) ||
            is_socket(options->files[0].path));
}

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

/* read() and connect() come back when a signal says so. */
static void catch_signals(void)
{
    struct sigaction action = { .sa_handler = on_signal };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int connect_unix(const char *path)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof at.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(at.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* host is "name:port", "name" or "[address]:port". */
static int connect_tcp(const char *host, const char **why)
{
    char name[256];
    const char *port = "80";
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    snprintf(name, sizeof name, "%s", host);
    char *end = strrchr(name, ']');
    char *colon = strrchr(end ? end : name, ':');
    if (colon) {
        *colon = '\0';
        port = colon + 1;
    }
    if (end)
        *end = '\0';
    int rc = getaddrinfo(end ? name + 1 : name, port, &hints, &found);
    if (rc != 0) {
        *why = gai_strerror(rc);
        return -1;
    }
    int fd = -1;
    for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            *why = strerror(errno);
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    return fd;
}

static bool send_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t done = send(fd, bytes, n, MSG_NOSIGNAL);
        if (done < 0)
            return false;
        bytes += done;
        n -= (size_t)done;
    }
    return true;
}

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

static void put_json(char *ret, const char *text)
{
    *ret++ = '"';
    ret += pfd_escape_for_json(ret, text, strlen(text));
    memcpy(ret, "\"", 2);
}

static bool ask_socket(int fd, const struct options *o)
{
    char request[REQUEST];
    char match[6 * 256 + 3] = "";
    char from[6 * 64 + 3] = "";
    if (o->match_text)
        put_json(match, o->match_text);
    if (o->from && is_number(o->from)) {
        snprintf(from, sizeof from, "%.20s", o->from);
    } else if (o->from) {
        put_json(from, o->from);
    }
    int n = snprintf(request, sizeof request, "{\"output\":\"%s\"%s%s%s%s}\n",
                     o->output ? o->output : "text",
                     o->match_text ? ",\"match\":" : "", match,
                     o->from ? ",\"from\":" : "", from);
    return send_all(fd, request, (size_t)n);
}

static void put_percent(char *ret, const char *text)
{
    for (; *text; text++)
        ret += sprintf(ret, "%%%02x", (unsigned char)*text);
}

static bool ask_http(int fd, const struct options *o, const char *host)
{
    char request[REQUEST];
    char match[3 * 256 + 1] = "";
    char from[3 * 64 + 1] = "";
    if (o->match_text)
        put_percent(match, o->match_text);
    if (o->from)
        put_percent(from, o->from);
    int n =
        snprintf(request, sizeof request,
                 "GET /lines?output=%s%s%s%s%s HTTP/1.1\r\n"
                 "Host: %.200s\r\nConnection: close\r\n\r\n",
                 o->output ? o->output : "text", o->match_text ? "&match=" : "",
                 match, o->from ? "&from=" : "", from, host);
    return send_all(fd, request, (size_t)n);
}

/* Reads up to the empty line; what came behind it goes to output. */
static bool read_head(int fd, const char *url)
{
    char head[REQUEST];
    size_t n = 0;
    char *end = NULL;
    while (!end) {
        ssize_t got =
            n + 1 < sizeof head ? read(fd, head + n, sizeof head - 1 - n) : 0;
        if (got <= 0) {
            if (!stopped)
                tell_error("%s: no answer of HTTP", url);
            return false;
        }
        n += (size_t)got;
        head[n] = '\0';
        end = strstr(head, "\r\n\r\n");
    }
    if (strncmp(head, "HTTP/1.", 7) != 0 ||
        strncmp(head + 8, " 200 ", 5) != 0) {
        head[strcspn(head, "\r\n")] = '\0';
        tell_error("%s: %s %s", url, head, end + 4);
        return false;
    }
    end += 4;
    size_t n_rest = n - (size_t)(end - head);
    return n_rest == 0 || (output_write(NULL, end, n_rest) && output_flush());
}

/* What is known of the lines that were written. */
struct written {
    char head[64]; /* [n] of the line that is not whole yet, NUL behind it */
    size_t n;
    unsigned long long seq; /* of the last whole line */
};

static void note_lines(struct written *w, const char *bytes, size_t n)
{
    static const char key[] = ",\"sequence\":";
    while (n) {
        const char *newline = memchr(bytes, '\n', n);
        size_t n_line = newline ? (size_t)(newline - bytes) : n;
        size_t room = sizeof w->head - 1 - w->n;
        size_t n_head = n_line < room ? n_line : room;
        memcpy(w->head + w->n, bytes, n_head);
        w->n += n_head;
        w->head[w->n] = '\0';
        if (!newline)
            return;
        const char *at = strstr(w->head, key);
        w->seq = at ? strtoull(at + strlen(key), NULL, 10) : w->seq;
        w->n = 0;
        bytes += n_line + 1;
        n -= n_line + 1;
    }
}

/* Only what has left this process is acknowledged. */
static bool acknowledge(int fd, struct written *w, const char *bytes, size_t n)
{
    char line[64];
    unsigned long long before = w->seq;
    note_lines(w, bytes, n);
    if (w->seq == before)
        return true;
    int length = snprintf(line, sizeof line, "{\"ack\":%llu}\n", w->seq);
    return send_all(fd, line, (size_t)length);
}

static int pass_on(int fd, const struct options *o)
{
    char bytes[BYTES];
    const char *name = o->files[0].path;
    struct written written = { .n = 0 };
    ssize_t n = 0;
    while (!stopped && (n = read(fd, bytes, sizeof bytes)) > 0) {
        if (!output_write(NULL, bytes, (size_t)n) || !output_flush() ||
            (o->ack && !acknowledge(fd, &written, bytes, (size_t)n)))
            break;
    }
    if (n < 0 && !stopped) {
        tell_error("%s: %s", name, strerror(errno));
        return EXIT_ERROR;
    }
    if (n == 0 && !stopped)
        tell_hint("%s: the daemon has ended the connection", name);
    return output_failed() ? EXIT_ERROR : EXIT_CLEAN;
}

static bool is_possible(const struct options *o, bool is_url)
{
    bool is_json = o->output && !strcmp(o->output, "json");
    if (o->match_text && strlen(o->match_text) > 256) {
        tell_error("--match: a daemon takes at most 256 bytes");
    } else if (o->from && strlen(o->from) > 64) {
        tell_error("--from: a daemon takes at most 64 bytes");
    } else if (o->ack && (is_url || !is_json)) {
        tell_error("--ack wants a socket and --output json");
    } else {
        return true;
    }
    return false;
}

int follow_client_run(const struct options *o)
{
    char host[256];
    const char *name = o->files[0].path;
    bool is_url = !strncmp(name, scheme, strlen(scheme));
    const char *why = NULL;
    if (!is_possible(o, is_url))
        return EXIT_ERROR;
    if (is_url) {
        snprintf(host, sizeof host, "%s", name + strlen(scheme));
        host[strcspn(host, "/")] = '\0';
    }
    catch_signals();
    int fd = is_url ? connect_tcp(host, &why) : connect_unix(name);
    bool asked =
        fd >= 0 && (is_url ? ask_http(fd, o, host) : ask_socket(fd, o));
    if (!asked) {
        tell_error("%s: %s", name, why ? why : strerror(errno));
        if (fd >= 0)
            close(fd);
        return EXIT_ERROR;
    }
    int status = !is_url || read_head(fd, name) ? pass_on(fd, o) : EXIT_ERROR;
    close(fd);
    return status;
}
