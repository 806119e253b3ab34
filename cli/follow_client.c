/* SPDX-License-Identifier: MIT */
/*
 * printfdecode follow SOCKET, address or URL: lines of a running
 * printfdecoded. The daemon decodes, chooses messages and numbers them; what
 * comes is dealt with in follow_lines.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "connection.h"
#include "follow_lines.h"
#include "options.h"
#include "output.h"
#include "tell.h"

enum {
    NS_PER_MS = 1000000,
    REQUEST = 4096,
    BYTES = 64 * 1024,
    HOST = 256,
};

/* What the daemon is asked to match; NULL: nothing. */
static const char *pattern_of(const struct options *o)
{
    return o->matches.n ? o->matches.all[0] : NULL;
}

static const struct scheme {
    const char *prefix;
    const char *port; /* NULL: it has to be given */
    bool is_url;
    bool is_tls;
} schemes[] = {
    { "http://", "80", true, false },
    { "https://", "443", true, true },
    { "tcp:", NULL, false, false },
    { "tls:", NULL, false, true },
};

struct client {
    const struct options *o;
    const char *name;            /* the address, as it was given */
    const struct scheme *scheme; /* NULL: a unix socket */
    bool is_url;
    struct connection connection;
    char host[HOST]; /* as it was given, with its port */
    char bare[HOST]; /* the name in it */
    struct follow_lines lines;
};

static const struct scheme *find_scheme(const char *name)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (!strncmp(name, schemes[i].prefix, strlen(schemes[i].prefix)))
            return &schemes[i];
    }
    return NULL;
}

/* A socket's path may have the daemon's word for it before it. */
static const char *socket_path(const char *name)
{
    static const char prefix[] = "unix:";
    size_t n = sizeof prefix - 1;
    return strncmp(name, prefix, n) != 0 ? name : name + n;
}

static bool is_socket(const char *name)
{
    struct stat st;
    const char *path = socket_path(name);
    return path != name || (stat(path, &st) == 0 && S_ISSOCK(st.st_mode));
}

bool follow_client_wants(const struct options *options)
{
    return options->n_files == 1 && (find_scheme(options->files[0].path) ||
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
    if (pattern_of(o))
        put_json(match, pattern_of(o));
    if (o->from && is_number(o->from)) {
        snprintf(from, sizeof from, "%.20s", o->from);
    } else if (o->from) {
        put_json(from, o->from);
    }
    return snprintf(ret, REQUEST, "{\"output\":\"json\"%s%s%s%s}\n",
                    pattern_of(o) ? ",\"match\":" : "", match,
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
    if (pattern_of(o))
        put_percent(match, pattern_of(o));
    if (o->from)
        put_percent(from, o->from);
    return snprintf(ret, REQUEST,
                    "GET /lines?output=json%s%s%s%s HTTP/1.1\r\n"
                    "Host: %.200s\r\nConnection: close\r\n\r\n",
                    pattern_of(o) ? "&match=" : "", match,
                    o->from ? "&from=" : "", from, host);
}

static enum outcome take(struct client *c, const char *bytes, size_t n)
{
    enum outcome outcome = follow_lines_take(&c->lines, bytes, n);
    return outcome == OUTCOME_FAILED
               ? connection_fail(&c->connection, "%s", c->lines.why)
               : outcome;
}

/* Reads up to the empty line; behind it lines begin. */
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
    return take(c, end, n - (size_t)(end - head));
}

/* ---- lines ---- */

/* Only what has left this process is acknowledged. */
static enum outcome acknowledge(struct client *c, uint64_t before)
{
    char line[64];
    if (!c->o->ack || c->lines.sequence == before)
        return OUTCOME_DONE;
    int n = snprintf(line, sizeof line, "{\"ack\":%llu}\n",
                     (unsigned long long)c->lines.sequence);
    return connection_send(&c->connection, line, (size_t)n);
}

static enum outcome pass_on(struct client *c)
{
    char bytes[BYTES];
    enum outcome outcome = OUTCOME_DONE;
    while (outcome == OUTCOME_DONE) {
        size_t n = 0;
        uint64_t before = c->lines.sequence;
        outcome = connection_receive(&c->connection, bytes, sizeof bytes, &n);
        if (outcome != OUTCOME_DONE)
            break;
        outcome = take(c, bytes, n);
        if (outcome == OUTCOME_FAILED || c->lines.is_closed)
            break;
        enum outcome told = acknowledge(c, before);
        outcome = told == OUTCOME_DONE ? outcome : told;
    }
    if (outcome != OUTCOME_END)
        return outcome;
    outcome = follow_lines_end(&c->lines);
    return outcome == OUTCOME_FAILED
               ? connection_fail(&c->connection, "%s", c->lines.why)
               : outcome;
}

/* ---- all of it ---- */

/* What is found out from entries, which a daemon does not send. */
static bool wants_too_much(const struct options *o)
{
    return o->matches.n > 1 || o->ignore_case || o->invert || o->where ||
           o->format_strings.n || o->sources.n;
}

static bool is_possible(const struct client *c)
{
    const struct options *o = c->o;
    bool is_json = o->output && !strcmp(o->output, "json");
    bool is_tls = c->scheme && c->scheme->is_tls;
    if (pattern_of(o) && strlen(pattern_of(o)) > 256) {
        tell_error("--match: a daemon takes at most 256 bytes");
    } else if (o->from && strlen(o->from) > 64) {
        tell_error("--from: a daemon takes at most 64 bytes");
    } else if (wants_too_much(o)) {
        tell_error("of a daemon, one --match, --id and --limit can be asked");
    } else if (o->ack && (c->is_url || !is_json)) {
        tell_error("--ack wants a socket and --output json");
    } else if (o->ack && (o->n_ids || o->no_findings)) {
        tell_error("--ack is for all lines: without --id and --findings no");
    } else if (options_have_tls(o) && !is_tls) {
        tell_error("--tls-... are for tls:HOST:PORT and https:// URLs");
    } else if (!o->tls.certificate != !o->tls.key) {
        tell_error("--tls-certificate and --tls-key go together");
    } else {
        return true;
    }
    return false;
}

/* The host is "name:port", "name" or "[address]:port". */
static bool read_host(struct client *c, struct peer *ret)
{
    snprintf(c->host, sizeof c->host, "%s",
             c->name + strlen(c->scheme->prefix));
    if (c->is_url)
        c->host[strcspn(c->host, "/")] = '\0';
    memcpy(c->bare, c->host, sizeof c->bare);
    char *end = strrchr(c->bare, ']');
    char *colon = strrchr(end ? end : c->bare, ':');
    if (colon)
        *colon = '\0';
    if (end)
        *end = '\0';
    *ret = (struct peer){
        .name = end ? c->bare + 1 : c->bare,
        .port = colon ? colon + 1 : c->scheme->port,
        .tls = c->scheme->is_tls ? &c->o->tls : NULL,
    };
    if (ret->port && *ret->port)
        return true;
    tell_error("%s: the port is missing", c->name);
    return false;
}

/* Who does not want us may be gone before it has read this: it is heard out. */
static enum outcome ask(struct client *c)
{
    char request[REQUEST];
    int n =
        c->is_url ? put_get(request, c->o, c->host) : put_line(request, c->o);
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
        .scheme = find_scheme(o->files[0].path),
    };
    struct peer peer = { .path = socket_path(c.name) };
    follow_lines_init(&c.lines, o);
    c.is_url = c.scheme && c.scheme->is_url;
    if (!is_possible(&c) || (c.scheme && !read_host(&c, &peer)))
        return EXIT_ERROR;
    enum outcome outcome = connection_open(&c.connection, &peer);
    if (o->has_until_idle)
        c.connection.idle_ns = o->until_idle_ms * NS_PER_MS;
    if (outcome == OUTCOME_DONE)
        outcome = ask(&c);
    if (outcome == OUTCOME_DONE)
        outcome = pass_on(&c);
    if (outcome == OUTCOME_FAILED)
        tell_error("%s: %s", c.name, c.connection.why);
    if (outcome == OUTCOME_FAILED && o->is_default_daemon) {
        tell_hint("no file is given, and no printfdecoded of yours is there: "
                  "start one, or name a buffer, a socket or an address");
    }
    if (outcome == OUTCOME_END)
        tell_hint("%s: the daemon has ended the connection", c.name);
    connection_close(&c.connection);
    follow_lines_deinit(&c.lines);
    if (outcome == OUTCOME_FAILED || output_failed())
        return EXIT_ERROR;
    if (c.lines.is_doubtful)
        return EXIT_FINDINGS;
    bool nothing = (o->n_ids || pattern_of(o)) && c.lines.n_entries == 0;
    return nothing ? EXIT_NOTHING : EXIT_CLEAN;
}
