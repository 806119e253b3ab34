/* SPDX-License-Identifier: MIT */
/*
 * Reads a description: docs/describe.md has its keys. YAML becomes MessagePack
 * by core/objects/metadata_yaml.c, which keeps the place of each text.
 */
#include <string.h>

#include "core/base/crc32c.h"
#include "description.h"

enum {
    LEVELS = 8,
};

/* The only key of a description that has the counter of another one. */
#define COUNTER_WORD "ring counter"

static bool take_grammar(struct description *r)
{
    size_t n;
    const char *word = description_read_text(r, &n);
    if (word && description_is_key(word, n, "braces")) {
        r->numbers[RING_GRAMMAR] = GRAMMAR_BRACES;
    } else if (word && description_is_key(word, n, "none")) {
        r->numbers[RING_GRAMMAR] = GRAMMAR_NONE;
    } else if (!word || !description_is_key(word, n, "printf")) {
        return description_mistake(r, r->source,
                                   "'text' is printf, braces or none");
    }
    return true;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* The counter in the bytes of another file, hexadecimal. */
static bool take_counter(struct description *r)
{
    const struct pfd_string *ring = pfd_table_find(
        pfd_strings_table(r->strings, &r->format->strings), RING_KEY);
    const uint64_t *v = ring ? pfd_string_layout(ring) : NULL;
    uint64_t value = 0;
    size_t n = 0;
    const char *text = description_read_text(r, &n);
    if (!v || ring->n_layout < RING_NUMBERS || !v[RING_COUNTER_FILE]) {
        return description_mistake(r, r->source,
                                   "no description before says 'counter: "
                                   "{file: true}'");
    }
    uint64_t from = 2 * v[RING_COUNTER];
    uint64_t n_digits = v[RING_COUNTER_BITS] / 4;
    if (!text || n < from + n_digits) {
        return description_mistake(r, r->source,
                                   "the file ends before the counter");
    }
    for (uint64_t i = n_digits; i > 0; i -= 2) {
        int high = digit_of(text[from + i - 2]);
        int low = digit_of(text[from + i - 1]);
        if (high < 0 || low < 0)
            return description_mistake(r, r->source, "no hexadecimal digit");
        value = value << 8 | (uint64_t)(high * 16 + low);
    }
    struct pfd_string_row row = {
        .key = COUNTER_KEY,
        .text = "",
        .literal = true,
        .layout = &value,
        .n_layout = 1,
    };
    return pfd_strings_add_row(r->strings, &r->format->strings, &row, r->report,
                               0, r->err) == PFD_OK;
}

static bool take_key(struct description *r, const char *key, size_t n,
                     struct pfd_string_row *ring,
                     struct pfd_byte_reader *messages, size_t *source)
{
    if (description_is_key(key, n, "ring")) {
        ring->text = description_read_text(r, &ring->n_text);
        return ring->text ||
               description_mistake(r, r->source, "'ring' needs a name");
    }
    if (description_is_key(key, n, "text"))
        return take_grammar(r);
    if (description_is_key(key, n, "strings"))
        return description_take_strings(r);
    if (description_is_key(key, n, "enums"))
        return description_take_enums(r);
    if (!description_is_key(key, n, "messages"))
        return description_take_number(r, NULL, key, n);
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

/* Is another description loaded? Rings of one set are read by one. */
static bool is_second(const struct description *r)
{
    const struct pfd_string *ring = pfd_table_find(
        pfd_strings_table(r->strings, &r->format->strings), RING_KEY);
    return ring && ring->n_layout >= RING_NUMBERS &&
           pfd_string_layout(ring)[RING_CRC] != r->numbers[RING_CRC];
}

static bool refuse_second(struct description *r)
{
    pfd_fail(r->err, PFD_ERR_USAGE, PFD_NO_OFFSET,
             "another description is loaded: buffers that are read together "
             "have one");
    return false;
}

static bool read_all(struct description *r)
{
    struct pfd_string_row ring = { .key = RING_KEY, .literal = true };
    struct pfd_byte_reader messages = { .failed = true };
    uint64_t n = 0;
    size_t source = 0;
    description_start(r);
    r->numbers[RING_CRC] = pfd_crc32c(0, r->text, r->n);
    if (!description_enter(r, true, &n)) {
        return description_mistake(r, 0,
                                   "a description begins with 'ring: NAME'");
    }
    for (uint64_t i = 0; i < n; i++) {
        size_t n_key;
        const char *key = description_read_text(r, &n_key);
        if (!key)
            return description_mistake(r, r->source, "a key is a word");
        if (n == 1 && description_is_key(key, n_key, COUNTER_WORD))
            return take_counter(r);
        if (i == 0 && is_second(r))
            return refuse_second(r);
        if (!take_key(r, key, n_key, &ring, &messages, &source))
            return false;
    }
    if (!description_check(r))
        return false;
    ring.layout = r->numbers;
    ring.n_layout = RING_NUMBERS + 2 * r->n_tags;
    if (!ring.text) {
        return description_mistake(r, 0,
                                   "a description begins with 'ring: NAME'");
    }
    if (pfd_strings_add_row(r->strings, &r->format->strings, &ring, r->report,
                            0, r->err) != PFD_OK)
        return false;
    r->c = messages;
    r->source = source;
    return !pfd_byte_reader_ok(&messages) || description_take_messages(r);
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
    static const char counter[] = COUNTER_WORD ":";
    if (n - at < sizeof word || memcmp(text + at, word, sizeof word - 1) != 0)
        return false;
    if (n - at >= sizeof counter &&
        !memcmp(text + at, counter, sizeof counter - 1))
        return true;
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
    struct description r = {
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
    /* Unless something else is said. */
    pfd_fail(r.err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    bool ok =
        problem.code == PFD_OK
            ? read_all(&r)
            : description_mistake(&r, (size_t)problem.offset, problem.text);
    status = ok ? PFD_OK : r.err->code;
    pfd_yaml_free(&r.yaml);
    pfd_text_free(&r.translated);
    return status;
}
