/* SPDX-License-Identifier: MIT */
/*
 * printfdecode follow SOCKET or URL: lines of a running printfdecoded. The
 * daemon decodes, chooses and numbers; here bytes are passed on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "connection.h"
#include "options.h"
#include "output.h"
#include "tell.h"

enum {
    NS_PER_MS = 1000000,
    REQUEST = 4096,
    BYTES = 64 * 1024,
    HOST = 256,
};

static const char scheme[] = "http://";

struct client {
    const struct options *o;
    const char *name; /* the socket or URL, as it was given */
    bool is_url;
    struct connection connection;
};

static bool is_url(const char *name)
{
    return !strncmp(name, scheme, strlen(scheme));
}

static bool is_socket(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

bool follow_client_wants(const struct options *options)
{
    return options->n_files == 1 && (is_url(options->files[0].path) ||
                                     is_socket(options->files[0].path));
}

/* ---- the request ---- */

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

static int put_line(char *ret, const struct options *o)
{
    char match[6 * 256 + 3] = "";
    char from[6 * 64 + 3] = "";
    if (o->match_text)
        put_json(match, o->match_text);
    if (o->from && is_number(o->from)) {
        snprintf(from, sizeof from, "%.20s", o->from);
    } else if (o->from) {
        put_json(from, o->from);
    }
    return snprintf(ret, REQUEST, "{\"output\":\"%s\"%s%s%s%s}\n",
                    o->output ? o->output : "text",
                    o->match_text ? ",\"match\":" : "", match,
                    o->from ? ",\"from\":" : "", from);
}

static void put_percent(char *ret, const char *text)
{
    for (; *text; text++)
        ret += sprintf(ret, "%%%02x", (unsigned char)*text);
}

static int put_get(char *ret, const struct options *o, const char *host)
{
    char match[3 * 256 + 1] = "";
    char from[3 * 64 + 1] = "";
    if (o->match_text)
        put_percent(match, o->match_text);
    if (o->from)
        put_percent(from, o->from);
    return snprintf(ret, REQUEST,
                    "GET /lines?output=%s%s%s%s%s HTTP/1.1\r\n"
                    "Host: %.200s\r\nConnection: close\r\n\r\n",
                    o->output ? o->output : "text",
                    o->match_text ? "&match=" : "", match,
                    o->from ? "&from=" : "", from, host);
}

/* Reads up to the empty line; what came behind it goes to output. */
static enum outcome read_head(struct client *c)
{
    char head[REQUEST];
    size_t n = 0;
    char *end = NULL;
    while (!end) {
        size_t got = 0;
        enum outcome outcome = OUTCOME_END;
        if (n + 1 < sizeof head) {
            outcome = connection_receive(&c->connection, head + n,
                                         sizeof head - 1 - n, &got);
        }
        if (outcome == OUTCOME_END)
            return connection_fail(&c->connection, "no answer of HTTP");
        if (outcome != OUTCOME_DONE)
            return outcome;
        n += got;
        head[n] = '\0';
        end = strstr(head, "\r\n\r\n");
    }
    end += 4;
    if (strncmp(head, "HTTP/1.", 7) != 0 ||
        strncmp(head + 8, " 200 ", 5) != 0) {
        head[strcspn(head, "\r\n")] = '\0';
        return connection_fail(&c->connection, "%s %s", head, end);
    }
    size_t n_rest = n - (size_t)(end - head);
    bool ok =
        n_rest == 0 || (output_write(NULL, end, n_rest) && output_flush());
    return ok ? OUTCOME_DONE : OUTCOME_STOPPED;
}

/* ---- lines ---- */

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
static enum outcome acknowledge(struct client *c, struct written *w,
                                const char *bytes, size_t n)
{
    char line[64];
    unsigned long long before = w->seq;
    note_lines(w, bytes, n);
    if (w->seq == before)
        return OUTCOME_DONE;
    int length = snprintf(line, sizeof line, "{\"ack\":%llu}\n", w->seq);
    return connection_send(&c->connection, line, (size_t)length);
}

static enum outcome pass_on(struct client *c)
{
    char bytes[BYTES];
    struct written written = { .n = 0 };
    enum outcome outcome = OUTCOME_DONE;
    while (outcome == OUTCOME_DONE) {
        size_t n = 0;
        outcome = connection_receive(&c->connection, bytes, sizeof bytes, &n);
        if (outcome != OUTCOME_DONE)
            break;
        if (!output_write(NULL, bytes, n) || !output_flush())
            return OUTCOME_STOPPED;
        if (c->o->ack)
            outcome = acknowledge(c, &written, bytes, n);
    }
    return outcome;
}

static bool is_possible(const struct client *c)
{
    const struct options *o = c->o;
    bool is_json = o->output && !strcmp(o->output, "json");
    if (o->match_text && strlen(o->match_text) > 256) {
        tell_error("--match: a daemon takes at most 256 bytes");
    } else if (o->from && strlen(o->from) > 64) {
        tell_error("--from: a daemon takes at most 64 bytes");
    } else if (o->ack && (c->is_url || !is_json)) {
        tell_error("--ack wants a socket and --output json");
    } else {
        return true;
    }
    return false;
}

/* host is "name:port", "name" or "[address]:port". */
static void split_host(char *host, struct peer *ret)
{
    char *end = strrchr(host, ']');
    char *colon = strrchr(end ? end : host, ':');
    if (colon) {
        *colon = '\0';
        ret->port = colon + 1;
    }
    if (end)
        *end = '\0';
    ret->name = end ? host + 1 : host;
}

static enum outcome open_connection(struct client *c, const char *host)
{
    char copy[HOST];
    struct peer peer = { .port = "80" };
    if (c->is_url) {
        memcpy(copy, host, sizeof copy);
        split_host(copy, &peer);
    } else {
        peer.path = c->name;
    }
    enum outcome outcome = connection_open(&c->connection, &peer);
    if (c->o->has_until_idle)
        c->connection.idle_ns = c->o->until_idle_ms * NS_PER_MS;
    return outcome;
}

/* Who does not want us may be gone before it has read this: it is heard out. */
static enum outcome ask(struct client *c, const char *host)
{
    char request[REQUEST];
    int n = c->is_url ? put_get(request, c->o, host) : put_line(request, c->o);
    enum outcome outcome = connection_send(&c->connection, request, (size_t)n);
    if (outcome == OUTCOME_END)
        outcome = OUTCOME_DONE;
    if (outcome == OUTCOME_DONE && c->is_url)
        outcome = read_head(c);
    return outcome;
}

int follow_client_run(const struct options *o)
{
    struct client c = {
        .o = o,
        .name = o->files[0].path,
        .is_url = is_url(o->files[0].path),
    };
    char host[HOST] = "";
    if (!is_possible(&c))
        return EXIT_ERROR;
    if (c.is_url) {
        snprintf(host, sizeof host, "%s", c.name + strlen(scheme));
        host[strcspn(host, "/")] = '\0';
    }
    enum outcome outcome = open_connection(&c, host);
    if (outcome == OUTCOME_DONE)
        outcome = ask(&c, host);
    if (outcome == OUTCOME_DONE)
        outcome = pass_on(&c);
    if (outcome == OUTCOME_FAILED)
        tell_error("%s: %s", c.name, c.connection.why);
    if (outcome == OUTCOME_END)
        tell_hint("%s: the daemon has ended the connection", c.name);
    connection_close(&c.connection);
    return outcome == OUTCOME_FAILED || output_failed() ? EXIT_ERROR
                                                        : EXIT_CLEAN;
}
