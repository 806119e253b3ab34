/* SPDX-License-Identifier: MIT */
#include "outputs/otlp_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "analysis/trace/protobuf.h"

/* ---- JSON ---- */

/* A number, or the text of one, as the mapping has it. */
static uint64_t number_of(const json_t *value, uint64_t max)
{
    const char *text = json_string_value(value);
    char *end = NULL;
    json_int_t number = json_integer_value(value);
    if (text && *text >= '0' && *text <= '9') {
        unsigned long long n = strtoull(text, &end, 10);
        return *end ? 0 : n < max ? n : max;
    }
    return number <= 0 ? 0 : (uint64_t)number < max ? (uint64_t)number : max;
}

static bool parse_json(const char *bytes, size_t n_bytes, uint64_t n,
                       struct pfdd_otlp_answer *ret)
{
    json_t *root = json_loadb(bytes, n_bytes, 0, NULL);
    bool ok = json_is_object(root);
    const json_t *partial = json_object_get(root, "partialSuccess");
    const char *text =
        json_string_value(json_object_get(partial, "errorMessage"));
    ret->n_rejected =
        number_of(json_object_get(partial, "rejectedLogRecords"), n);
    snprintf(ret->why, sizeof ret->why, "%s", text ? text : "");
    json_decref(root);
    return ok;
}

/* ---- protobuf ---- */

struct view {
    const char *at;
    const char *end;
};

struct field {
    uint64_t number;
    uint64_t value;    /* of a varint */
    struct view bytes; /* of a field with a length */
};

static bool take_varint(struct view *v, uint64_t *ret)
{
    *ret = 0;
    for (unsigned i = 0; i < PFD_PROTOBUF_VARINT_MAX && v->at < v->end; i++) {
        unsigned char c = (unsigned char)*v->at++;
        *ret |= (uint64_t)(c & 0x7f) << 7 * i;
        if (c < 0x80)
            return true;
    }
    return false;
}

static bool take_bytes(struct view *v, uint64_t n, struct view *ret)
{
    if (n > (uint64_t)(v->end - v->at))
        return false;
    *ret = (struct view){ v->at, v->at + n };
    v->at += n;
    return true;
}

static bool take_field(struct view *v, struct field *ret)
{
    uint64_t key = 0;
    uint64_t n = 0;
    *ret = (struct field){ 0 };
    if (!take_varint(v, &key))
        return false;
    ret->number = key >> 3;
    switch (key & 7) {
    case PFD_PROTOBUF_VARINT:
        return take_varint(v, &ret->value);
    case PFD_PROTOBUF_I64:
        return take_bytes(v, 8, &ret->bytes);
    case PFD_PROTOBUF_LEN:
        return take_varint(v, &n) && take_bytes(v, n, &ret->bytes);
    default:
        return false;
    }
}

/* ExportLogsPartialSuccess: 1, how many; 2, why. */
static bool parse_partial(struct view v, uint64_t n,
                          struct pfdd_otlp_answer *ret)
{
    struct field f;
    while (v.at < v.end) {
        if (!take_field(&v, &f))
            return false;
        if (f.number == 1) {
            ret->n_rejected = f.value > INT64_MAX ? 0
                              : f.value < n       ? f.value
                                                  : n;
        }
        if (f.number == 2 && f.bytes.at) {
            snprintf(ret->why, sizeof ret->why, "%.*s",
                     (int)(f.bytes.end - f.bytes.at), f.bytes.at);
        }
    }
    return true;
}

/* ExportLogsServiceResponse: 1, the partial success. */
static bool parse_protobuf(const char *bytes, size_t n_bytes, uint64_t n,
                           struct pfdd_otlp_answer *ret)
{
    struct view v = { bytes, bytes + n_bytes };
    struct field f;
    while (v.at < v.end) {
        if (!take_field(&v, &f) ||
            (f.number == 1 && f.bytes.at && !parse_partial(f.bytes, n, ret)))
            return false;
    }
    return true;
}

void pfdd_otlp_answer_parse(const char *type, const char *bytes, size_t n_bytes,
                            uint64_t n, struct pfdd_otlp_answer *ret)
{
    static const char protobuf[] = "application/x-protobuf";
    *ret = (struct pfdd_otlp_answer){ .is_success = n_bytes == 0 };
    if (!n_bytes)
        return;
    if (type && !strncasecmp(type, protobuf, sizeof protobuf - 1)) {
        ret->is_success = parse_protobuf(bytes, n_bytes, n, ret);
    } else {
        ret->is_success = parse_json(bytes, n_bytes, n, ret);
    }
    if (!ret->is_success)
        *ret = (struct pfdd_otlp_answer){ 0 };
}
