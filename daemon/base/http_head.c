/* SPDX-License-Identifier: MIT */
#include "base/http_head.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

static const char *const field_names[] = {
    [PFDD_HTTP_HOST] = "host",
    [PFDD_HTTP_ORIGIN] = "origin",
    [PFDD_HTTP_SITE] = "sec-fetch-site",
    [PFDD_HTTP_LAST_EVENT_ID] = "last-event-id",
    [PFDD_HTTP_CONNECTION] = "connection",
    [PFDD_HTTP_CONTENT_LENGTH] = "content-length",
    [PFDD_HTTP_TRANSFER_ENCODING] = "transfer-encoding",
};

/* A lone newline ends a line, too (RFC 9112, 2.2). */
size_t pfdd_http_head(const char *bytes, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (bytes[i] == '\n' &&
            (bytes[i - 1] == '\n' ||
             (i > 1 && bytes[i - 1] == '\r' && bytes[i - 2] == '\n')))
            return i + 1;
    }
    return 0;
}

static bool is_text(char c)
{
    return ((unsigned char)c >= ' ' && c != 0x7f) || c == '\t';
}

bool pfdd_http_is_text(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_text(bytes[i]) && bytes[i] != '\r' && bytes[i] != '\n')
            return false;
    }
    return true;
}

/* The next line, without its end; NULL: it has an invalid byte. */
static char *take_line(char **at, const char *end)
{
    char *line = *at;
    char *newline = memchr(line, '\n', (size_t)(end - line));
    *at = newline + 1;
    *newline = '\0';
    if (newline > line && newline[-1] == '\r')
        *--newline = '\0';
    for (const char *c = line; c < newline; c++) {
        if (!is_text(*c))
            return NULL;
    }
    return line;
}

/* ---- the first line ---- */

static unsigned fail(unsigned status, const char **why, const char *text)
{
    *why = text;
    return status;
}

/* Ends the text at c and returns the text after it; NULL: there is no c. */
static char *cut(char *text, char c)
{
    char *at = strchr(text, c);
    if (!at)
        return NULL;
    *at = '\0';
    return at + 1;
}

static unsigned read_first(struct pfdd_http_request *ret, char *line,
                           char **target, const char **why)
{
    *target = line ? cut(line, ' ') : NULL;
    const char *version = *target ? cut(*target, ' ') : NULL;
    if (!version || strncmp(version, "HTTP/", 5) != 0)
        return fail(400, why, "this is no request of HTTP/1.1");
    ret->keeps = !strcmp(version, "HTTP/1.1");
    if (!ret->keeps && strcmp(version, "HTTP/1.0") != 0)
        return fail(505, why, "HTTP/1.1 is spoken here, and no other one");
    ret->is_head = !strcmp(line, "HEAD");
    if (!ret->is_head && strcmp(line, "GET") != 0)
        return fail(405, why, "GET and HEAD are all that is done here");
    if (**target != '/' || strchr(*target, '#'))
        return fail(400, why, "a path begins with / and has no #");
    return 0;
}

/* ---- the query ---- */

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : 0;
    return at ? (int)(at - digits) : -1;
}

/* The byte of %XX; 0: it is invalid, or NUL, which would end a text. */
static char byte_of(const char *c)
{
    int high = hex_digit(c[1]);
    int low = high < 0 ? -1 : hex_digit(c[2]);
    return low < 0 ? '\0' : (char)(high * 16 + low);
}

/* Decodes %XX, and + for a space, in place. */
static bool decode(char *text)
{
    char *out = text;
    for (const char *c = text; *c; c++) {
        bool is_coded = *c == '%';
        char byte = is_coded ? byte_of(c) : *c == '+' ? ' ' : *c;
        if (!byte)
            return false;
        *out++ = byte;
        c += is_coded ? 2 : 0;
    }
    *out = '\0';
    json_t *valid = json_string(text);
    json_decref(valid);
    return valid != NULL;
}

static unsigned read_query(struct pfdd_http_request *ret, char *query,
                           const char **why)
{
    char *next = NULL;
    for (char *name = query; name; name = next) {
        next = cut(name, '&');
        char *value = cut(name, '=');
        if (!*name && !value)
            continue;
        if (ret->n_args == PFDD_HTTP_ARGS)
            return fail(400, why, "more than 16 parameters");
        if (!decode(name) || (value && !decode(value)))
            return fail(400, why, "a parameter is no percent-encoded UTF-8");
        ret->args[ret->n_args++] =
            (struct pfdd_http_arg){ name, value ? value : "" };
    }
    return 0;
}

/* ---- the fields ---- */

static char *trim(char *text)
{
    text += strspn(text, " \t");
    for (size_t n = strlen(text); n && strchr(" \t", text[n - 1]); n--)
        text[n - 1] = '\0';
    return text;
}

static unsigned read_field(struct pfdd_http_request *ret, char *line,
                           const char **why)
{
    char *value = line ? cut(line, ':') : NULL;
    if (!value || !*line || line[strcspn(line, " \t")])
        return fail(400, why, "a header field that is none");
    for (int i = 0; i < PFDD_HTTP_N_FIELDS; i++) {
        if (strcasecmp(line, field_names[i]) != 0)
            continue;
        if (ret->fields[i])
            return fail(400, why, "a header field is given twice");
        ret->fields[i] = trim(value);
    }
    return 0;
}

/* "keep-alive, close" */
static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    while (list && *list) {
        list += strspn(list, ", \t");
        if (!strncasecmp(list, word, n) && strchr(", \t", list[n]))
            return true;
        list += strcspn(list, ",");
    }
    return false;
}

static unsigned check_fields(struct pfdd_http_request *ret, const char **why)
{
    const char *length = ret->fields[PFDD_HTTP_CONTENT_LENGTH];
    const char *connection = ret->fields[PFDD_HTTP_CONNECTION];
    if (ret->fields[PFDD_HTTP_TRANSFER_ENCODING] ||
        (length && strcmp(length, "0") != 0))
        return fail(400, why, "a request has no body here");
    if (ret->keeps && !ret->fields[PFDD_HTTP_HOST])
        return fail(400, why, "'Host' is missing");
    ret->keeps = ret->keeps ? !has_word(connection, "close")
                            : has_word(connection, "keep-alive");
    return 0;
}

unsigned pfdd_http_read(struct pfdd_http_request *ret, char *head, size_t n,
                        const char **why)
{
    char *at = head;
    char *target = NULL;
    const char *end = head + n;
    *ret = (struct pfdd_http_request){ 0 };
    unsigned status = read_first(ret, take_line(&at, end), &target, why);
    while (!status && at < end) {
        char *line = take_line(&at, end);
        if (line && !*line)
            break;
        status = read_field(ret, line, why);
    }
    if (status)
        return status;
    char *query = cut(target, '?');
    ret->path = target;
    status = read_query(ret, query, why);
    return status ? status : check_fields(ret, why);
}

/* ---- origin ---- */

/* Browsers send where the requesting page is from: as Origin, with the scheme,
 * or at least whether it is from another site. */
bool pfdd_http_is_same_origin(const struct pfdd_http_request *request)
{
    const char *origin = request->fields[PFDD_HTTP_ORIGIN];
    const char *host = request->fields[PFDD_HTTP_HOST];
    const char *site = request->fields[PFDD_HTTP_SITE];
    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return false;
    const char *behind = origin ? strstr(origin, "://") : NULL;
    return !origin || (behind && host && !strcasecmp(behind + 3, host));
}

/* Against DNS rebinding: a page of a name that its owner points to this machine
 * is of the same origin for the browser, but Host is that name. */
bool pfdd_http_is_local(const struct pfdd_http_request *request)
{
    const char *host = request->fields[PFDD_HTTP_HOST];
    char name[64];
    unsigned char address[4];
    if (!host)
        return true;
    const char *end = host[0] == '[' ? strchr(host, ']') : strchr(host, ':');
    size_t n = !end             ? strlen(host)
               : host[0] == '[' ? (size_t)(end - host) + 1
                                : (size_t)(end - host);
    const char *port = host + n;
    if (n >= sizeof name ||
        (*port && (*port != ':' || port[1 + strspn(port + 1, "0123456789")])))
        return false;
    memcpy(name, host, n);
    name[n] = '\0';
    return !strcasecmp(name, "localhost") || !strcmp(name, "[::1]") ||
           (inet_pton(AF_INET, name, address) == 1 && address[0] == 127);
}

const char *pfdd_http_phrase(unsigned status)
{
    static const struct {
        unsigned status;
        const char *phrase;
    } phrases[] = {
        { 200, "OK" },
        { 400, "Bad Request" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 408, "Request Timeout" },
        { 414, "URI Too Long" },
        { 431, "Request Header Fields Too Large" },
        { 503, "Service Unavailable" },
        { 505, "HTTP Version Not Supported" },
    };
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++) {
        if (phrases[i].status == status)
            return phrases[i].phrase;
    }
    return "Internal Server Error";
}

size_t pfdd_http_put_head(char *ret, size_t n_ret, unsigned status,
                          const char *type, const char *policy, long long n,
                          bool keeps)
{
    char length[40] = "";
    if (n >= 0)
        snprintf(length, sizeof length, "Content-Length: %lld\r\n", n);
    int n_head = snprintf(ret, n_ret,
                          "HTTP/1.1 %u %s\r\n"
                          "Content-Type: %s\r\n%s%s"
                          "Cache-Control: no-store\r\n"
                          "X-Content-Type-Options: nosniff\r\n"
                          "Cross-Origin-Resource-Policy: same-origin\r\n"
                          "Referrer-Policy: no-referrer\r\n"
                          "Content-Security-Policy: %s\r\n"
                          "Connection: %s\r\n\r\n",
                          status, pfdd_http_phrase(status), type, length,
                          status == 405 ? "Allow: GET, HEAD\r\n" : "", policy,
                          keeps ? "keep-alive" : "close");
    return n_head > 0 && (size_t)n_head < n_ret ? (size_t)n_head : 0;
}
