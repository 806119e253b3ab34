/* SPDX-License-Identifier: MIT */
#include "nats/nats_get.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

enum {
    QUESTION = PFDD_SUBJECT + 80,
    NOT_FOUND = 404,
};

void pfdd_nats_stored_message_deinit(struct pfdd_nats_stored_message *m)
{
    free(m->subject);
    free(m->headers);
    free(m->bytes);
    *m = (struct pfdd_nats_stored_message){ 0 };
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

static bool take_headers(const json_t *message,
                         struct pfdd_nats_stored_message *ret)
{
    const json_t *headers = json_object_get(message, "hdrs");
    if (!headers)
        return true;
    ret->headers = decode(json_string_value(headers),
                          json_string_length(headers), &ret->n_headers);
    return ret->headers;
}

static natsStatus take_message(const json_t *root, const char *data,
                               size_t n_data,
                               struct pfdd_nats_stored_message *ret)
{
    const json_t *message = json_object_get(root, "message");
    const char *subject =
        json_string_value(json_object_get(message, "subject"));
    json_int_t number = json_integer_value(json_object_get(message, "seq"));
    if (!subject || number <= 0)
        return NATS_ERR;
    ret->number = (uint64_t)number;
    ret->subject = strdup(subject);
    if (data)
        ret->bytes = decode(data, n_data, &ret->n);
    return ret->subject && (!data || ret->bytes) && take_headers(message, ret)
               ? NATS_OK
               : NATS_ERR;
}

natsStatus pfdd_nats_answer(const char *text, size_t n,
                            struct pfdd_nats_stored_message *ret)
{
    size_t n_data = 0;
    const char *data = find_data(text, n, &n_data);
    json_t *root = parse_without(text, n, data, n_data);
    const json_t *error = json_object_get(root, "error");
    *ret = (struct pfdd_nats_stored_message){ 0 };
    natsStatus s = take_message(root, data, n_data, ret);
    if (s != NATS_OK) {
        pfdd_nats_stored_message_deinit(ret);
        if (json_integer_value(json_object_get(error, "code")) == NOT_FOUND)
            s = NATS_NOT_FOUND;
    }
    json_decref(root);
    return s;
}

static natsStatus ask(struct pfdd_nats *line, const char *stream,
                      const char *question,
                      struct pfdd_nats_stored_message *ret)
{
    char subject[PFDD_SUBJECT];
    natsMsg *answer = NULL;
    *ret = (struct pfdd_nats_stored_message){ 0 };
    snprintf(subject, sizeof subject, "$JS.API.STREAM.MSG.GET.%s", stream);
    natsStatus s = natsConnection_RequestString(&answer, line->nc, subject,
                                                question, PFDD_NATS_WAIT_MS);
    if (s == NATS_OK) {
        s = pfdd_nats_answer(natsMsg_GetData(answer),
                             (size_t)natsMsg_GetDataLength(answer), ret);
    }
    natsMsg_Destroy(answer);
    return s;
}

/* Subjects are our own: they need no escapes. */
natsStatus pfdd_nats_get_next(struct pfdd_nats *line, const char *stream,
                              const char *subject, uint64_t number,
                              struct pfdd_nats_stored_message *ret)
{
    char question[QUESTION];
    snprintf(question, sizeof question,
             "{\"seq\":%" PRIu64 ",\"next_by_subj\":\"%s\"}", number, subject);
    return ask(line, stream, question, ret);
}

natsStatus pfdd_nats_get_last(struct pfdd_nats *line, const char *stream,
                              const char *subject,
                              struct pfdd_nats_stored_message *ret)
{
    char question[QUESTION];
    snprintf(question, sizeof question, "{\"last_by_subj\":\"%s\"}", subject);
    return ask(line, stream, question, ret);
}

/* ---- headers ---- */

/* Lines end with CR and LF; the first one is no header. */
bool pfdd_nats_header(const struct pfdd_nats_stored_message *m,
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
