/* SPDX-License-Identifier: MIT */
#include "outputs/database_rows.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <printfdecode/convert.h>

#include "base/digits.h"
#include "core/decode/inspect.h"
#include "core/output/json.h"

const struct pfdd_row_column pfdd_row_columns[PFDD_ROW_COLUMNS] = {
    { "time", "INTEGER" },   { "sequence", "INTEGER" },
    { "type", "TEXT" },      { "severity", "TEXT" },
    { "source", "TEXT" },    { "generation", "INTEGER" },
    { "index", "INTEGER" },  { "id", "TEXT" },
    { "format_string", "" }, { "message", "" },
    { "args", "TEXT" },      { "stream", "TEXT" },
    { "origin", "TEXT" },    { "findings", "TEXT" },
};

/* ---- values: a byte for the kind, then a number, or a length and bytes
 * ---- */

static void put_null(struct pfd_text *out)
{
    const char kind = PFDD_VALUE_NULL;
    pfd_text_add(out, &kind, 1);
}

/* The caller appends the value's bytes. */
static void put_head(struct pfd_text *out, enum pfdd_value_kind kind, size_t n)
{
    char head[1 + sizeof(uint32_t)] = { (char)kind };
    uint32_t length = (uint32_t)n;
    memcpy(head + 1, &length, sizeof length);
    pfd_text_add(out, head, sizeof head);
}

static void put_bytes(struct pfd_text *out, enum pfdd_value_kind kind,
                      const char *at, size_t n)
{
    put_head(out, kind, n);
    pfd_text_add(out, at, n);
}

static void put_text(struct pfd_text *out, const char *text)
{
    if (text) {
        put_bytes(out, PFDD_VALUE_TEXT, text, strlen(text));
    } else {
        put_null(out);
    }
}

/* For texts that are built in place: end_text() sets the length. */
static size_t begin_text(struct pfd_text *out)
{
    put_head(out, PFDD_VALUE_TEXT, 0);
    return out->n;
}

static void end_text(struct pfd_text *out, size_t begin)
{
    uint32_t length = (uint32_t)(out->n - begin);
    if (!out->failed)
        memcpy(out->data + begin - sizeof length, &length, sizeof length);
}

/* SQL integers are signed: a larger number becomes a text of digits. */
static void put_number(struct pfd_text *out, uint64_t value)
{
    char bytes[1 + sizeof value] = { PFDD_VALUE_INTEGER };
    if (value > INT64_MAX) {
        size_t begin = begin_text(out);
        pfdd_text_number(out, value);
        end_text(out, begin);
        return;
    }
    memcpy(bytes + 1, &value, sizeof value);
    pfd_text_add(out, bytes, sizeof bytes);
}

size_t pfdd_row_value(const char *bytes, size_t n, struct pfdd_value *ret)
{
    uint32_t length = 0;
    assert(n > 0);
    *ret = (struct pfdd_value){ .kind = (enum pfdd_value_kind)bytes[0] };
    if (ret->kind == PFDD_VALUE_NULL)
        return 1;
    if (ret->kind == PFDD_VALUE_INTEGER) {
        assert(n > sizeof ret->number);
        memcpy(&ret->number, bytes + 1, sizeof ret->number);
        return 1 + sizeof ret->number;
    }
    assert(n > sizeof length);
    memcpy(&length, bytes + 1, sizeof length);
    ret->at = bytes + 1 + sizeof length;
    ret->n = length;
    assert(length <= n - 1 - sizeof length);
    return 1 + sizeof length + length;
}

/* ---- texts of programs ---- */

static bool is_ascii(const char *at, size_t n)
{
    unsigned char none = 0; /* NUL becomes 0xff there */
    for (size_t i = 0; i < n; i++)
        none |= (unsigned char)at[i] | (unsigned char)(at[i] - 1);
    return none < 0x80;
}

/* Bytes of the UTF-8 character at [n]; 0: it is invalid. */
static size_t character(const unsigned char *at, size_t n)
{
    static const struct {
        unsigned char mask;
        unsigned char head;
        unsigned char n;
        uint32_t min;
    } kinds[] = {
        { 0x80, 0x00, 1, 1 },
        { 0xe0, 0xc0, 2, 0x80 },
        { 0xf0, 0xe0, 3, 0x800 },
        { 0xf8, 0xf0, 4, 0x10000 },
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if ((at[0] & kinds[k].mask) != kinds[k].head || n < kinds[k].n)
            continue;
        uint32_t c = at[0] & (unsigned char)~kinds[k].mask;
        for (size_t i = 1; i < kinds[k].n; i++) {
            if ((at[i] & 0xc0) != 0x80)
                return 0;
            c = c << 6 | (at[i] & 0x3f);
        }
        bool is_surrogate = c >= 0xd800 && c < 0xe000;
        return c >= kinds[k].min && c < 0x110000 && !is_surrogate ? kinds[k].n
                                                                  : 0;
    }
    return 0;
}

static bool is_utf8(const char *at, size_t n)
{
    size_t i = 0;
    size_t step = 1;
    for (; i < n && step; i += step)
        step = character((const unsigned char *)at + i, n - i);
    return step;
}

/* Text if it is valid UTF-8 without NUL, bytes otherwise. */
static void put_foreign(struct pfd_text *out, const char *at, size_t n)
{
    bool is_text = is_ascii(at, n) || is_utf8(at, n);
    put_bytes(out, is_text ? PFDD_VALUE_TEXT : PFDD_VALUE_BYTES, at, n);
}

/* ---- JSON ---- */

static void put_args(struct pfd_text *out, struct pfd_entry *entry)
{
    size_t begin = begin_text(out);
    char *at = pfd_text_reserve(out, pfd_entry_args_room(entry));
    if (at)
        out->n += pfd_entry_args(at, entry);
    end_text(out, begin);
}

static void put_parts(struct pfd_text *out, const struct pfd_origin *o)
{
    for (uint32_t i = 0; i < o->n && i < 3; i++) {
        uint32_t bits = (uint32_t)o->value[i];
        float real;
        memcpy(&real, &bits, sizeof real);
        pfd_text_puts(out, i ? "," : "[");
        if (o->type == PFD_ORIGIN_COORDS) {
            pfdd_text_number(out, o->value[i]);
        } else if (real - real == 0) {
            pfd_text_printf(out, "%.9g", (double)real);
        } else {
            pfd_text_printf(out, "\"%g\"", (double)real);
        }
    }
    pfd_text_puts(out, "]");
}

static void put_origin(struct pfd_text *out, const struct pfd_origin *o)
{
    char *at;
    pfd_text_puts(out, "\"");
    pfd_text_puts(out, o->name);
    pfd_text_puts(out, "\":");
    switch (o->type) {
    case PFD_ORIGIN_NUMBER:
        pfdd_text_number(out, o->value[0]);
        break;
    case PFD_ORIGIN_HEX:
        pfd_text_puts(out, "\"");
        pfdd_text_hex(out, o->value[0], 1);
        pfd_text_puts(out, "\"");
        break;
    case PFD_ORIGIN_COORDS:
    case PFD_ORIGIN_FLOATS:
        put_parts(out, o);
        break;
    case PFD_ORIGIN_TEXT:
        pfd_text_puts(out, "\"");
        at = pfd_text_reserve(out, 6 * (size_t)o->n);
        if (at)
            out->n += pfd_escape_for_json(at, o->text, o->n);
        pfd_text_puts(out, "\"");
        break;
    }
    pfd_text_puts(out, ",");
}

/* {"host":...,"lane":...}. Each member appends a comma; the last comma becomes
 * the closing brace. */
static void put_origins(struct pfd_text *out,
                        const struct pfdd_log_record *log_record)
{
    size_t n = 0;
    const struct pfd_origin *origins =
        log_record->entry ? pfd_entry_origins(log_record->entry, &n) : NULL;
    const char *of_buffer =
        log_record->buffer ? log_record->buffer->origin : NULL;
    size_t before = out->n;
    size_t begin = begin_text(out);
    pfd_text_puts(out, "{");
    pfd_text_puts(out, of_buffer ? of_buffer : "");
    for (size_t i = 0; i < n; i++)
        put_origin(out, &origins[i]);
    if (out->failed)
        return;
    bool is_empty = out->n == begin + 1;
    out->data[out->n - 1] = '}';
    end_text(out, begin);
    if (is_empty) {
        out->n = before;
        put_null(out);
    }
}

static void put_findings(struct pfd_text *out, uint64_t findings)
{
    size_t begin = 0;
    if (!findings) {
        put_null(out);
        return;
    }
    begin = begin_text(out);
    for (uint64_t left = findings; left; left &= left - 1) {
        unsigned kind = (unsigned)__builtin_ctzll(left);
        pfd_text_printf(out, "%s\"%s\"", left == findings ? "[" : ",",
                        pfd_finding_name((enum pfd_finding_kind)kind));
    }
    pfd_text_puts(out, "]");
    end_text(out, begin);
}

/* ---- rows ---- */

static void put_string(struct pfd_text *out, const struct pfd_entry *entry)
{
    size_t n = 0;
    const char *text = pfd_entry_format_string(entry, &n);
    if (text) {
        put_foreign(out, text, n);
    } else {
        put_null(out);
    }
}

/* index, id, format_string, message, args, stream */
static void put_entry(struct pfd_text *out,
                      const struct pfdd_log_record *log_record)
{
    struct pfd_entry *entry = log_record->entry;
    size_t begin = 0;
    if (!entry) {
        for (unsigned i = 0; i < 3; i++)
            put_null(out);
        put_foreign(out, log_record->text, log_record->n);
        put_null(out);
        put_null(out);
        return;
    }
    put_number(out, entry->index);
    begin = begin_text(out);
    pfdd_text_hex(out, entry->id, 12);
    end_text(out, begin);
    put_string(out, entry);
    put_foreign(out, log_record->text, log_record->n);
    put_args(out, entry);
    put_text(out, pfd_stream_name((enum pfd_stream)entry->stream));
}

static void put(struct pfd_text *out, const struct pfdd_log_record *log_record)
{
    put_number(out, log_record->time);
    put_number(out, log_record->sequence);
    put_text(out, log_record->type);
    put_text(out, pfdd_severity_name(log_record->severity));
    if (log_record->buffer) {
        put_foreign(out, log_record->buffer->name,
                    strlen(log_record->buffer->name));
    } else {
        put_null(out);
    }
    put_number(out, log_record->generation);
    put_entry(out, log_record);
    put_origins(out, log_record);
    put_findings(out, log_record->findings);
}

const struct pfdd_encoding pfdd_row_encoding = { .put = put };
