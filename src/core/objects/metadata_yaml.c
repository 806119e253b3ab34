/* SPDX-License-Identifier: MIT */
/*
 * libyaml's events are read one by one: no tree of unwanted values is built,
 * and a document with a fault in the middle keeps its beginning. Its marks
 * count characters; they are converted to bytes as they come.
 */
#include "core/objects/metadata_yaml.h"

#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "core/base/dynamic_library.h"

#define CALLS(X)           \
    X(event_delete)        \
    X(parser_delete)       \
    X(parser_initialize)   \
    X(parser_parse)        \
    X(parser_set_encoding) \
    X(parser_set_input_string)
#define POINTER(name) __typeof__(yaml_##name) *(name);
#define NAME(name)    "yaml_" #name "\0"

static struct {
    CALLS(POINTER)
} yaml;

PFD_DYNAMIC_LIBRARY(yaml, "libyaml-0.so.2", CALLS(NAME), &yaml,
                    "metadata of code objects V2");

enum {
    LEVELS_MAX = 64,
    /* https://github.com/msgpack/msgpack/blob/master/spec.md */
    MSGPACK_NIL = 0xc0,
    MSGPACK_FALSE = 0xc2,
    MSGPACK_TRUE = 0xc3,
    MSGPACK_UINT64 = 0xcf,
    MSGPACK_INT64 = 0xd3,
    MSGPACK_STR32 = 0xdb,
    MSGPACK_ARRAY32 = 0xdd,
    MSGPACK_MAP32 = 0xdf,
};

/* A container that is not closed yet. */
struct level {
    size_t at; /* of its count */
    size_t n;  /* values so far; of a map keys count as well */
    bool is_map;
};

struct reader {
    struct pfd_byte_reader text;
    struct pfd_yaml *yaml;
    struct level levels[LEVELS_MAX];
    size_t depth;
    size_t depth_max;
    size_t n_roots;
    size_t mark_chars; /* this many characters of the text ... */
    size_t mark_bytes; /* ... are this many bytes */
    struct pfd_error *problem;
};

/* The byte offset of a character. Marks rise but for a few steps back. */
static size_t byte_of(struct reader *r, size_t chars)
{
    if (chars < r->mark_chars)
        r->mark_chars = r->mark_bytes = 0;
    while (r->mark_chars < chars && r->mark_bytes < r->text.n) {
        r->mark_bytes++;
        while (r->mark_bytes < r->text.n &&
               (r->text.base[r->mark_bytes] & 0xc0) == 0x80)
            r->mark_bytes++;
        r->mark_chars++;
    }
    return r->mark_bytes;
}

static void put_byte(struct reader *r, unsigned byte)
{
    uint8_t b = (uint8_t)byte;
    pfd_text_add(&r->yaml->encoded, &b, 1);
}

static void write_big_endian(uint8_t *to, uint64_t number, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (uint8_t)(number >> 8 * (n - 1 - i));
}

static void put_number(struct reader *r, unsigned form, uint64_t number, int n)
{
    uint8_t bytes[8];
    put_byte(r, form);
    write_big_endian(bytes, number, n);
    pfd_text_add(&r->yaml->encoded, bytes, (size_t)n);
}

static void put_text(struct reader *r, const void *text, size_t n,
                     size_t source)
{
    put_number(r, MSGPACK_STR32, n, 4);
    struct pfd_yaml_place place = { r->yaml->encoded.n, source };
    pfd_text_add(&r->yaml->places, &place, sizeof place);
    pfd_text_add(&r->yaml->encoded, text, n);
}

static void open_level(struct reader *r, bool is_map)
{
    put_number(r, is_map ? MSGPACK_MAP32 : MSGPACK_ARRAY32, 0, 4);
    r->levels[r->depth++] = (struct level){
        .at = r->yaml->encoded.n - 4,
        .is_map = is_map,
    };
}

static void close_level(struct reader *r)
{
    struct level *level = &r->levels[--r->depth];
    if (level->is_map && level->n % 2 == 1) { /* a key without its value */
        put_byte(r, MSGPACK_NIL);
        level->n++;
    }
    if (r->yaml->encoded.failed)
        return;
    write_big_endian((uint8_t *)r->yaml->encoded.data + level->at,
                     level->is_map ? level->n / 2 : level->n, 4);
}

static bool is_one_of(const char *text, const char *const *names)
{
    for (; *names; names++) {
        if (!strcmp(text, *names))
            return true;
    }
    return false;
}

/* Decimal, 0x and 0o digits with an optional sign; nothing else is a number:
 * metadata has none, and "1e5" is as likely a name. */
static bool read_integer(const char *text, bool *negative, uint64_t *ret)
{
    unsigned base = 10;
    uint64_t number = 0;
    *negative = *text == '-';
    text += *text == '-' || *text == '+';
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'o')) {
        base = text[1] == 'x' ? 16 : 8;
        text += 2;
    }
    if (!*text)
        return false;
    for (; *text; text++) {
        unsigned digit = *text >= '0' && *text <= '9'   ? (unsigned)*text - '0'
                         : *text >= 'a' && *text <= 'f' ? (unsigned)*text - 87
                         : *text >= 'A' && *text <= 'F' ? (unsigned)*text - 55
                                                        : 99;
        if (digit >= base || number > (UINT64_MAX - digit) / base)
            return false;
        number = number * base + digit;
    }
    *ret = number;
    return !*negative || number <= UINT64_C(1) << 63;
}

static void put_plain(struct reader *r, const char *text, size_t n,
                      size_t source)
{
    static const char *const nils[] = { "", "~", "null", "Null", "NULL", NULL };
    static const char *const trues[] = { "true", "True", "TRUE", NULL };
    static const char *const falses[] = { "false", "False", "FALSE", NULL };
    bool negative;
    uint64_t number;
    if (is_one_of(text, nils)) {
        put_byte(r, MSGPACK_NIL);
    } else if (is_one_of(text, trues)) {
        put_byte(r, MSGPACK_TRUE);
    } else if (is_one_of(text, falses)) {
        put_byte(r, MSGPACK_FALSE);
    } else if (!read_integer(text, &negative, &number)) {
        put_text(r, text, n, source);
    } else if (negative && number > 0) {
        put_number(r, MSGPACK_INT64, UINT64_C(0) - number, 8);
    } else {
        put_number(r, MSGPACK_UINT64, number, 8);
    }
}

static void put_scalar(struct reader *r, const yaml_event_t *event,
                       size_t source)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t n = event->data.scalar.length;
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
        !memchr(text, 0, n)) {
        put_plain(r, text, n, source);
    } else {
        put_text(r, text, n, source);
    }
}

/* Checks a value before it is added: false when it is rejected, and problem has
 * the reason. */
static bool admit(struct reader *r, bool has_anchor, bool container,
                  size_t source)
{
    if (has_anchor) {
        pfd_fail(r->problem, PFD_ERR_UNSUPPORTED, source,
                 "anchor or alias at %zu of the document: they are not "
                 "expanded",
                 source);
        return false;
    }
    if (container && (r->depth == r->depth_max || r->depth == LEVELS_MAX)) {
        pfd_fail(r->problem, PFD_ERR_UNSUPPORTED, source,
                 "nested deeper than %zu levels at %zu of the document",
                 r->depth, source);
        return false;
    }
    if (r->depth > 0) {
        r->levels[r->depth - 1].n++;
    } else {
        r->n_roots++;
    }
    return true;
}

/* False: the document ends here. */
static bool take_event(struct reader *r, const yaml_event_t *event)
{
    size_t source = byte_of(r, event->start_mark.index);
    switch ((int)event->type) {
    case YAML_ALIAS_EVENT:
        return admit(r, true, false, source);
    case YAML_SCALAR_EVENT:
        if (!admit(r, event->data.scalar.anchor != NULL, false, source))
            return false;
        put_scalar(r, event, source);
        return true;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT: {
        bool is_map = event->type == YAML_MAPPING_START_EVENT;
        bool has_anchor = is_map ? event->data.mapping_start.anchor != NULL
                                 : event->data.sequence_start.anchor != NULL;
        if (!admit(r, has_anchor, true, source))
            return false;
        open_level(r, is_map);
        return true;
    }
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        close_level(r);
        return true;
    case YAML_DOCUMENT_START_EVENT:
        if (r->n_roots == 0)
            return true;
        pfd_fail(r->problem, PFD_ERR_CORRUPT, source,
                 "a second document at %zu, of which one was expected", source);
        return false;
    default:
        return event->type != YAML_STREAM_END_EVENT;
    }
}

static void report_problem(struct reader *r, const yaml_parser_t *parser)
{
    size_t at = parser->error == YAML_READER_ERROR
                    ? parser->problem_offset
                    : byte_of(r, parser->problem_mark.index);
    pfd_fail(r->problem, PFD_ERR_CORRUPT, at, "%s at %zu of the document",
             parser->problem ? parser->problem : "an error", at);
}

/* False: out of memory. */
static bool read_events(struct reader *r, yaml_parser_t *parser)
{
    bool more = true;
    while (more) {
        yaml_event_t event;
        if (!yaml.parser_parse(parser, &event)) {
            if (parser->error == YAML_MEMORY_ERROR)
                return false;
            report_problem(r, parser);
            break;
        }
        more = take_event(r, &event);
        yaml.event_delete(&event);
        if (r->yaml->encoded.failed || r->yaml->places.failed)
            return false;
    }
    while (r->depth > 0)
        close_level(r);
    if (r->n_roots == 0)
        put_byte(r, MSGPACK_NIL);
    return !r->yaml->encoded.failed;
}

/* False: out of memory. */
static bool read_document(struct reader *r)
{
    yaml_parser_t parser;
    if (pfd_dynamic_library_load(&pfd_library_yaml, r->problem) != PFD_OK) {
        r->problem->offset = 0;
        put_byte(r, MSGPACK_NIL);
        return !r->yaml->encoded.failed;
    }
    if (!yaml.parser_initialize(&parser))
        return false;
    yaml.parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml.parser_set_input_string(&parser, r->text.base, r->text.n);
    bool ok = read_events(r, &parser);
    yaml.parser_delete(&parser);
    return ok;
}

enum pfd_status pfd_yaml_encode(struct pfd_byte_reader doc, size_t depth_max,
                                struct pfd_yaml *ret, struct pfd_error *problem,
                                struct pfd_error *err)
{
    size_t n = pfd_byte_reader_left(&doc);
    const uint8_t *text = pfd_byte_reader_bytes(&doc, n);
    *ret = (struct pfd_yaml){ 0 };
    problem->code = PFD_OK;
    while (n > 0 && text[n - 1] == 0)
        n--;
    if (n > PFD_YAML_MAX) {
        pfd_fail(problem, PFD_ERR_UNSUPPORTED, 0,
                 "document of %zu bytes, of which at most %d are read", n,
                 PFD_YAML_MAX);
        n = 0;
    }
    struct reader r = {
        .text = pfd_byte_reader(text, n),
        .yaml = ret,
        .depth_max = depth_max,
        .problem = problem,
    };
    if (read_document(&r))
        return PFD_OK;
    pfd_yaml_free(ret);
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

void pfd_yaml_free(struct pfd_yaml *document)
{
    pfd_text_free(&document->encoded);
    pfd_text_free(&document->places);
}
