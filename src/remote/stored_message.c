/* SPDX-License-Identifier: MIT */
#include "stored_message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

enum {
    SUBJECT = 400, /* of a question */
    QUESTION = SUBJECT + 80,
    WAIT_MS = 5000, /* for an answer */
    NOT_FOUND = 404,
};

void pfd_stored_message_deinit(struct pfd_stored_message *m)
{
    free(m->subject);
    free(m->headers);
    free(m->bytes);
    *m = (struct pfd_stored_message){ 0 };
}

/* ---- base64 ---- */

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static void make_digits(int digits[256])
{
    for (int c = 0; c < 256; c++)
        digits[c] = digit((char)c);
}

/* Decodes text [n]: bytes [*n_ret], allocated, with a NUL behind them. NULL:
 * malformed, or out of memory. */
static char *decode(const char *text, size_t n, size_t *n_ret)
{
    int digits[256];
    const unsigned char *at = (const unsigned char *)text;
    while (n && text[n - 1] == '=')
        n--;
    char *ret = n % 4 == 1 ? NULL : malloc(n / 4 * 3 + 3);
    int wrong = 0;
    uint32_t bits = 0;
    *n_ret = 0;
    if (!ret)
        return NULL;
    make_digits(digits);
    for (size_t i = 0; i < n; i++) {
        int value = digits[at[i]];
        wrong |= value;
        bits = bits << 6 | (uint32_t)(value & 63);
        if (i % 4 > 0)
            ret[(*n_ret)++] = (char)(bits >> (2 * (3 - i % 4)));
    }
    ret[*n_ret] = '\0';
    if (wrong >= 0)
        return ret;
    free(ret);
    return NULL;
}

/* ---- answers ---- */

/* Finds the payload, which is most of an answer and has no escapes in base64,
 * so that the rest can be parsed without it. Quotation marks within strings are
 * escaped, so the key cannot be found in one. */
static const char *find_data(const char *text, size_t n, size_t *n_data)
{
    static const char key[] = "\"data\":\"";
    const char *at = memmem(text, n, key, sizeof key - 1);
    if (!at)
        return NULL;
    at += sizeof key - 1;
    const char *end = memchr(at, '"', (size_t)(text + n - at));
    *n_data = end ? (size_t)(end - at) : 0;
    return end ? at : NULL;
}

static json_t *parse_without(const char *text, size_t n, const char *data,
                             size_t n_data)
{
    size_t before = data ? (size_t)(data - text) : n;
    char *rest = malloc(n - n_data + 1);
    if (!rest)
        return NULL;
    memcpy(rest, text, before);
    if (data)
        memcpy(rest + before, data + n_data, n - before - n_data);
    json_t *ret = json_loadb(rest, n - n_data, JSON_ALLOW_NUL, NULL);
    free(rest);
    return ret;
}

/* Reads 2001-02-03T04:05:06.789Z as ns since 1970; 0: invalid. */
static uint64_t time_of(const char *text)
{
    struct tm tm = { 0 };
    const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
    uint64_t unit = 1000000000;
    time_t seconds = rest ? timegm(&tm) : 0;
    uint64_t ret = seconds > 0 ? (uint64_t)seconds * unit : 0;
    if (ret && *rest == '.')
        rest++;
    for (; ret && *rest >= '0' && *rest <= '9' && unit > 1; rest++) {
        unit /= 10;
        ret += unit * (uint64_t)(*rest - '0');
    }
    return ret;
}

static bool take_headers(const json_t *message, struct pfd_stored_message *ret)
{
    const json_t *headers = json_object_get(message, "hdrs");
    if (!headers)
        return true;
    ret->headers = decode(json_string_value(headers),
                          json_string_length(headers), &ret->n_headers);
    return ret->headers;
}

static natsStatus take_message(const json_t *root, const char *data,
                               size_t n_data, struct pfd_stored_message *ret)
{
    const json_t *message = json_object_get(root, "message");
    const char *subject =
        json_string_value(json_object_get(message, "subject"));
    json_int_t number = json_integer_value(json_object_get(message, "seq"));
    if (!subject || number <= 0)
        return NATS_ERR;
    ret->number = (uint64_t)number;
    ret->time = time_of(json_string_value(json_object_get(message, "time")));
    ret->subject = strdup(subject);
    if (data)
        ret->bytes = decode(data, n_data, &ret->n);
    return ret->subject && (!data || ret->bytes) && take_headers(message, ret)
               ? NATS_OK
               : NATS_ERR;
}

natsStatus pfd_stored_message_parse(const char *text, size_t n,
                                    struct pfd_stored_message *ret)
{
    size_t n_data = 0;
    const char *data = find_data(text, n, &n_data);
    json_t *root = parse_without(text, n, data, n_data);
    const json_t *error = json_object_get(root, "error");
    *ret = (struct pfd_stored_message){ 0 };
    natsStatus s = take_message(root, data, n_data, ret);
    if (s != NATS_OK) {
        pfd_stored_message_deinit(ret);
        if (json_integer_value(json_object_get(error, "code")) == NOT_FOUND)
            s = NATS_NOT_FOUND;
    }
    json_decref(root);
    return s;
}

static natsStatus ask(natsConnection *nc, const char *stream,
                      const char *question, struct pfd_stored_message *ret)
{
    char subject[SUBJECT];
    natsMsg *answer = NULL;
    *ret = (struct pfd_stored_message){ 0 };
    snprintf(subject, sizeof subject, "$JS.API.STREAM.MSG.GET.%s", stream);
    natsStatus s =
        natsConnection_RequestString(&answer, nc, subject, question, WAIT_MS);
    if (s == NATS_OK) {
        s = pfd_stored_message_parse(natsMsg_GetData(answer),
                                     (size_t)natsMsg_GetDataLength(answer),
                                     ret);
    }
    natsMsg_Destroy(answer);
    return s;
}

/* Subjects are our own: they need no escapes. */
natsStatus pfd_stored_message_next(natsConnection *nc, const char *stream,
                                   const char *subject, uint64_t number,
                                   struct pfd_stored_message *ret)
{
    char question[QUESTION];
    snprintf(question, sizeof question,
             "{\"seq\":%" PRIu64 ",\"next_by_subj\":\"%s\"}", number, subject);
    return ask(nc, stream, question, ret);
}

natsStatus pfd_stored_message_last(natsConnection *nc, const char *stream,
                                   const char *subject,
                                   struct pfd_stored_message *ret)
{
    char question[QUESTION];
    snprintf(question, sizeof question, "{\"last_by_subj\":\"%s\"}", subject);
    return ask(nc, stream, question, ret);
}

/* ---- headers ---- */

/* Lines end with CR and LF; the first one is no header. */
bool pfd_stored_message_header(const struct pfd_stored_message *m,
                               const char *name, char *ret, size_t n_ret)
{
    size_t n_name = strlen(name);
    const char *at = m->headers;
    size_t n = m->n_headers;
    while (n) {
        const char *end = memchr(at, '\n', n);
        size_t n_line = end ? (size_t)(end - at) : n;
        if (n_line > n_name && !memcmp(at, name, n_name) && at[n_name] == ':') {
            const char *value = at + n_name + 1;
            size_t n_value = n_line - n_name - 1;
            for (; n_value && *value == ' '; n_value--)
                value++;
            n_value -= n_value && value[n_value - 1] == '\r';
            if (n_value >= n_ret || memchr(value, '\0', n_value))
                return false;
            memcpy(ret, value, n_value);
            ret[n_value] = '\0';
            return true;
        }
        at += n_line + (end != NULL);
        n -= n_line + (end != NULL);
    }
    return false;
}

const char *pfd_nats_why(natsStatus status)
{
    const char *last = nats_GetLastError(NULL);
    const char *place = last && *last == '(' ? strstr(last, "): ") : NULL;
    if (place)
        last = place + strlen("): ");
    return last && *last ? last : natsStatus_GetText(status);
}

void pfd_nats_failure(natsConnection *nc, natsStatus status, const char *text,
                      char ret[PFD_NATS_FAILURE])
{
    const char *said = NULL;
    int n = snprintf(ret, PFD_NATS_FAILURE, "%.200s", text);
    if (status == NATS_TIMEOUT && nc &&
        natsConnection_GetLastError(nc, &said) == NATS_NOT_PERMITTED) {
        snprintf(ret + n, PFD_NATS_FAILURE - (size_t)n,
                 ": the server said %.160s", said);
    }
}
