/* SPDX-License-Identifier: MIT */
/*
 * Reads a description: docs/describe.md has its keys. YAML becomes MessagePack
 * by core/objects/metadata_yaml.c, which keeps the place of each text.
 */
#include <string.h>

#include "core/base/msgpack.h"
#include "core/objects/metadata_yaml.h"
#include "layout.h"

enum {
    LEVELS = 8,
    TYPES_MAX = PFD_LAYOUT_MAX - 1,
};

struct reader {
    const struct pfd_format *format;
    struct pfd_strings *strings;
    struct pfd_report *report;
    struct pfd_error *err;
    const char *text; /* [n], the description */
    size_t n;
    struct pfd_yaml yaml;
    struct pfd_byte_reader c;
    size_t source; /* of the newest text */
    uint64_t numbers[RING_NUMBERS];
    size_t sources[RING_NUMBERS]; /* where they are stated */
    struct pfd_quoted quoted;
    struct pfd_text translated;
};

/* A key with a number. */
struct row {
    const char *section; /* NULL: of the description itself */
    const char *key;
    enum ring_number number;
    uint64_t initial;
    uint64_t least;
    uint64_t most;
};

static const struct row rows[] = {
    { "counter", "at", RING_COUNTER_AT, 0, 0, RING_DATA_MAX - 8 },
    { "counter", "bits", RING_COUNTER_BITS, 0, 32, 64 },
    { "counter", "unit", RING_COUNTER_UNIT, 1, 1, RING_UNIT_MAX },
    { "counter", "from", RING_COUNTER_FROM, 0, 0, RING_DATA_MAX },
    { NULL, "data", RING_DATA, 0, 0, RING_DATA_MAX },
    { "slots", "bytes", RING_SLOT_BYTES, 0, 4, RING_DATA_MAX },
    { "slots", "empty", RING_SLOT_EMPTY, 0, 0, UINT64_MAX },
    { "entry", "header", RING_HEADER, 4, 1, RING_HEADER_MAX },
    { "entry", "align", RING_ALIGN, 4, 1, RING_UNIT_MAX },
    { "id", "at", RING_ID_AT, 0, 0, RING_HEADER_MAX },
    { "id", "bits", RING_ID_BITS, 32, 1, 64 },
    { "id", "shift", RING_ID_SHIFT, 0, 0, 63 },
    { "length", "at", RING_LENGTH_AT, 0, 0, RING_HEADER_MAX },
    { "length", "bits", RING_LENGTH_BITS, 0, 1, 32 },
    { "length", "shift", RING_LENGTH_SHIFT, 0, 0, 63 },
    { "length", "unit", RING_LENGTH_UNIT, 1, 1, RING_UNIT_MAX },
    { "length", "plus", RING_LENGTH_PLUS, 0, 0, RING_DATA_MAX },
};

/* ---- mistakes ---- */

/* Fails at a place of the description, with its line and column. */
static bool mistake(struct reader *r, size_t source, const char *what)
{
    size_t line = 1;
    size_t column = 1;
    for (size_t i = 0; i < source && i < r->n; i++) {
        column++;
        if (r->text[i] == '\n') {
            line++;
            column = 1;
        }
    }
    pfd_fail(r->err, PFD_ERR_CORRUPT, source, "line %zu, column %zu: %s", line,
             column, what);
    return false;
}

static bool mistake_at(struct reader *r, const char *before, const char *text,
                       size_t n, const char *behind)
{
    char what[256];
    struct pfd_text all = { 0 };
    pfd_quote(&r->quoted, text, n);
    pfd_text_printf(&all, "%s'%s'%s", before, r->quoted.text, behind);
    size_t n_what = all.n < sizeof what ? all.n : sizeof what - 1;
    if (n_what)
        memcpy(what, all.data, n_what);
    what[n_what] = '\0';
    pfd_text_free(&all);
    return mistake(r, r->source, what);
}

/* ---- values ---- */

/* The next text, if the next value is one; its place is then r->source. */
static const char *read_text(struct reader *r, size_t *n)
{
    struct pfd_byte_reader c = r->c;
    const char *text = pfd_msgpack_read_bytes(&c, n);
    const struct pfd_yaml_place *places =
        (const struct pfd_yaml_place *)(const void *)r->yaml.places.data;
    size_t n_places = r->yaml.places.n / sizeof *places;
    if (!text)
        return NULL;
    r->c = c;
    size_t at = c.at - *n;
    size_t low = 0;
    size_t high = n_places;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (places[middle].encoded <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    r->source = n_places ? places[low].source : 0;
    return text;
}

static bool read_number(struct reader *r, uint64_t *ret)
{
    struct pfd_byte_reader c = r->c;
    if (!pfd_msgpack_read_number(&c, ret))
        return false;
    r->c = c;
    return true;
}

/* Enters a map or a list; false: the next value is none. */
static bool enter(struct reader *r, bool is_map, uint64_t *n)
{
    struct pfd_byte_reader c = r->c;
    struct pfd_msgpack m = pfd_msgpack_read(&c);
    if (m.kind != PFD_MSGPACK_ITEMS || m.is_map != is_map)
        return false;
    *n = is_map ? m.n_follow / 2 : m.n_follow;
    r->c = c;
    return true;
}

static bool is_key(const char *text, size_t n, const char *key)
{
    return n == strlen(key) && !memcmp(text, key, n);
}

/* ---- numbers of the ring ---- */

static bool is_section(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool take_number(struct reader *r, const char *section, const char *key,
                        size_t n)
{
    uint64_t value;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        if (!is_section(row->section, section) || !is_key(key, n, row->key))
            continue;
        if (!read_number(r, &value))
            return mistake_at(r, "", key, n, " needs a number");
        if (value < row->least || value > row->most) {
            char behind[96];
            struct pfd_text all = { 0 };
            pfd_text_printf(&all, " is from %llu to %llu",
                            (unsigned long long)row->least,
                            (unsigned long long)row->most);
            size_t n_all = all.n < sizeof behind ? all.n : sizeof behind - 1;
            if (n_all)
                memcpy(behind, all.data, n_all);
            behind[n_all] = '\0';
            pfd_text_free(&all);
            return mistake_at(r, "", key, n, behind);
        }
        r->numbers[row->number] = value;
        r->sources[row->number] = r->source;
        return true;
    }
    return mistake_at(r, "no key is called ", key, n, " here");
}

static bool take_section(struct reader *r, const char *section)
{
    uint64_t n = 0;
    if (!enter(r, true, &n)) {
        return mistake_at(r, "", section, strlen(section),
                          " needs keys of its own");
    }
    for (uint64_t i = 0; i < n; i++) {
        size_t n_key;
        const char *key = read_text(r, &n_key);
        if (!key)
            return mistake(r, r->source, "a key is a word");
        if (!strcmp(section, "entry") &&
            (is_key(key, n_key, "id") || is_key(key, n_key, "length"))) {
            if (!take_section(r, key[0] == 'i' ? "id" : "length"))
                return false;
        } else if (!take_number(r, section, key, n_key)) {
            return false;
        }
    }
    return true;
}

/* ---- messages ---- */

struct message {
    const char *text; /* [n] */
    size_t n;
    size_t source;
    bool has_types;
    uint64_t words[PFD_LAYOUT_MAX]; /* the number of types, then these */
};

static bool take_types(struct reader *r, struct message *m)
{
    uint64_t n = 0;
    if (!enter(r, false, &n) || n > TYPES_MAX)
        return mistake(r, r->source, "'types' needs a list of types");
    m->has_types = true;
    m->words[0] = 1 + n;
    for (uint64_t i = 0; i < n; i++) {
        struct described_type type;
        size_t n_text;
        const char *text = read_text(r, &n_text);
        if (!text)
            return mistake(r, r->source, "a type is a word, as u32 or f32x3");
        if (!described_type_of(text, n_text, &type))
            return mistake_at(r, "no type is called ", text, n_text, "");
        m->words[1 + i] = described_pack(&type);
    }
    return true;
}

static bool take_message(struct reader *r, struct message *m)
{
    uint64_t n = 0;
    m->text = read_text(r, &m->n);
    m->source = r->source;
    m->has_types = false;
    m->words[0] = 0;
    if (m->text)
        return true;
    if (!enter(r, true, &n))
        return mistake(r, r->source, "a message is a text, or has keys");
    for (uint64_t i = 0; i < n; i++) {
        size_t n_key;
        const char *key = read_text(r, &n_key);
        bool is_text = key && is_key(key, n_key, "text");
        if (!is_text && !(key && is_key(key, n_key, "types")))
            return mistake(r, r->source, "a message has 'text' and 'types'");
        if (is_text) {
            m->text = read_text(r, &m->n);
            m->source = r->source;
        }
        if (is_text ? !m->text : !take_types(r, m))
            return is_text && mistake(r, r->source, "'text' needs a text");
    }
    return m->text || mistake(r, r->source, "a message needs 'text'");
}

static bool add_row(struct reader *r, uint64_t id, struct message *m)
{
    struct pfd_string_row row = {
        .key = id,
        .text = m->text,
        .n_text = m->n,
        .counted = true,
        .layout = m->words,
        .n_layout = m->has_types ? m->words[0] : 0,
        .own = false,
    };
    if (r->numbers[RING_GRAMMAR] == GRAMMAR_BRACES) {
        r->translated.n = 0;
        const char *why = described_translate(
            m->text, m->n, m->words + 1, m->has_types ? m->words[0] - 1 : 0,
            &r->translated);
        if (why)
            return mistake(r, m->source, why);
        row.text = r->translated.n ? r->translated.data : "";
        row.n_text = r->translated.n;
        row.own = described_has_shortest(row.text, row.n_text);
    }
    return !r->translated.failed &&
           pfd_strings_add_row(r->strings, &r->format->strings, &row, r->report,
                               m->source, r->err) == PFD_OK;
}

static bool take_messages(struct reader *r)
{
    struct message m = { 0 };
    uint64_t n = 0;
    bool is_map = enter(r, true, &n);
    if (!is_map && !enter(r, false, &n))
        return mistake(r, r->source, "'messages' needs ids and texts");
    for (uint64_t i = 0; i < n; i++) {
        uint64_t id = i;
        if (is_map && !read_number(r, &id))
            return mistake(r, r->source, "the id of a message is a number");
        if (id == RING_KEY)
            return mistake(r, r->source, "an id is below 2^64 - 1");
        if (!take_message(r, &m) || !add_row(r, id, &m))
            return false;
    }
    return true;
}

/* ---- the whole ---- */

static bool take_grammar(struct reader *r)
{
    size_t n;
    const char *word = read_text(r, &n);
    if (word && is_key(word, n, "braces")) {
        r->numbers[RING_GRAMMAR] = GRAMMAR_BRACES;
    } else if (!word || !is_key(word, n, "printf")) {
        return mistake(r, r->source, "'text' is printf or braces");
    }
    return true;
}

static bool take_key(struct reader *r, const char *key, size_t n,
                     struct pfd_string_row *ring,
                     struct pfd_byte_reader *messages, size_t *source)
{
    static const char *const sections[] = { "counter", "slots", "entry" };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (is_key(key, n, sections[i]))
            return take_section(r, sections[i]);
    }
    if (is_key(key, n, "ring")) {
        ring->text = read_text(r, &ring->n_text);
        return ring->text || mistake(r, r->source, "'ring' needs a name");
    }
    if (is_key(key, n, "text"))
        return take_grammar(r);
    if (!is_key(key, n, "messages"))
        return take_number(r, NULL, key, n);
    *messages = r->c; /* read when the grammar is known */
    *source = r->source;
    uint64_t left = 1;
    while (left-- && pfd_byte_reader_ok(&r->c)) {
        struct pfd_msgpack m = pfd_msgpack_read(&r->c);
        if (m.kind == PFD_MSGPACK_ITEMS) {
            left += m.n_follow;
        } else {
            pfd_byte_reader_skip(&r->c, (size_t)m.n_follow);
        }
    }
    return true;
}

/* Is a field of bits within the header? */
static bool is_within(const struct reader *r, enum ring_number at,
                      enum ring_number bits, enum ring_number shift)
{
    const uint64_t *v = r->numbers;
    uint64_t top = v[shift] + v[bits];
    return top <= 64 && v[at] + (top > 32 ? 8 : 4) <= v[RING_HEADER];
}

static size_t stated(const struct reader *r, enum ring_number a,
                     enum ring_number b)
{
    return r->sources[a] > r->sources[b] ? r->sources[a] : r->sources[b];
}

static bool check(struct reader *r)
{
    uint64_t *v = r->numbers;
    if (v[RING_COUNTER_BITS] && v[RING_COUNTER_BITS] != 32 &&
        v[RING_COUNTER_BITS] != 64) {
        return mistake(r, r->sources[RING_COUNTER_BITS],
                       "a counter has 32 or 64 bits");
    }
    if (!is_within(r, RING_ID_AT, RING_ID_BITS, RING_ID_SHIFT)) {
        return mistake(r, stated(r, RING_ID_AT, RING_ID_BITS),
                       "the id is not within the entry's header");
    }
    if (v[RING_LENGTH_BITS] &&
        !is_within(r, RING_LENGTH_AT, RING_LENGTH_BITS, RING_LENGTH_SHIFT)) {
        return mistake(r, stated(r, RING_LENGTH_AT, RING_LENGTH_BITS),
                       "the length is not within the entry's header");
    }
    if (v[RING_SLOT_BYTES] && v[RING_SLOT_BYTES] < v[RING_HEADER]) {
        return mistake(r, r->sources[RING_SLOT_BYTES],
                       "a slot is shorter than an entry's header");
    }
    return true;
}

static bool read_all(struct reader *r)
{
    struct pfd_string_row ring = { .key = RING_KEY, .literal = true };
    struct pfd_byte_reader messages = { .failed = true };
    uint64_t n = 0;
    size_t source = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        r->numbers[rows[i].number] = rows[i].initial;
    if (!enter(r, true, &n))
        return mistake(r, 0, "a description begins with 'ring: NAME'");
    for (uint64_t i = 0; i < n; i++) {
        size_t n_key;
        const char *key = read_text(r, &n_key);
        if (!key)
            return mistake(r, r->source, "a key is a word");
        if (!take_key(r, key, n_key, &ring, &messages, &source))
            return false;
    }
    if (!check(r))
        return false;
    ring.layout = r->numbers;
    ring.n_layout = RING_NUMBERS;
    if (!ring.text)
        return mistake(r, 0, "a description begins with 'ring: NAME'");
    if (pfd_strings_add_row(r->strings, &r->format->strings, &ring, r->report,
                            0, r->err) != PFD_OK)
        return false;
    r->c = messages;
    r->source = source;
    return !pfd_byte_reader_ok(&messages) || take_messages(r);
}

bool described_is_description(const void *bytes, size_t n)
{
    static const char word[] = "ring";
    const char *text = bytes;
    size_t at = 0;
    while (at < n && strchr(" \t\r\n#{\"", text[at]) && text[at]) {
        if (text[at] == '#') {
            const char *end = memchr(text + at, '\n', n - at);
            at = end ? (size_t)(end - text) : n - 1;
        }
        at++;
    }
    if (n - at < sizeof word || memcmp(text + at, word, sizeof word - 1) != 0)
        return false;
    at += sizeof word - 1;
    at += text[at] == '"';
    return at < n && text[at] == ':';
}

enum pfd_status described_describe(const struct pfd_format *self,
                                   const void *bytes, size_t n,
                                   struct pfd_strings *strings,
                                   struct pfd_report *report,
                                   struct pfd_error *err)
{
    struct pfd_error problem = { .code = PFD_OK };
    struct pfd_error own = { .code = PFD_OK };
    struct reader r = {
        .format = self,
        .strings = strings,
        .report = report,
        .err = err ? err : &own,
        .text = bytes,
        .n = n,
    };
    enum pfd_status status = pfd_yaml_encode(pfd_byte_reader(bytes, n), LEVELS,
                                             &r.yaml, &problem, r.err);
    if (status != PFD_OK)
        return status;
    r.c = pfd_byte_reader(r.yaml.encoded.data, r.yaml.encoded.n);
    r.err->code = PFD_ERR_NOMEM;
    bool ok = problem.code == PFD_OK
                  ? read_all(&r)
                  : mistake(&r, (size_t)problem.offset, problem.text);
    status = ok ? PFD_OK : r.err->code;
    pfd_yaml_free(&r.yaml);
    pfd_text_free(&r.translated);
    return status;
}
