/* SPDX-License-Identifier: MIT */
/* The messages of a description. */
#include <string.h>

#include "description.h"

enum {
    TYPES_MAX = PFD_LAYOUT_MAX - 1,
};

struct message {
    const char *text; /* [n] */
    size_t n;
    size_t source;
    bool has_types;
    uint64_t words[PFD_LAYOUT_MAX]; /* the number of types, then these */
};

static bool take_types(struct description *r, struct message *m)
{
    uint64_t n = 0;
    if (!description_enter(r, false, &n) || n > TYPES_MAX)
        return description_mistake(r, r->source,
                                   "'types' needs a list of types");
    m->has_types = true;
    m->words[0] = 1 + n;
    for (uint64_t i = 0; i < n; i++) {
        struct described_type type;
        size_t n_text;
        const char *text = description_read_text(r, &n_text);
        if (!text)
            return description_mistake(r, r->source,
                                       "a type is a word, as u32 or f32x3");
        if (!described_type_of(text, n_text, &type))
            return description_mistake_at(r, "no type is called ", text, n_text,
                                          "");
        m->words[1 + i] = described_pack(&type);
    }
    return true;
}

static bool take_message(struct description *r, struct message *m)
{
    uint64_t n = 0;
    m->text = description_read_text(r, &m->n);
    m->source = r->source;
    m->has_types = false;
    m->words[0] = 0;
    if (m->text)
        return true;
    if (!description_enter(r, true, &n))
        return description_mistake(r, r->source,
                                   "a message is a text, or has keys");
    for (uint64_t i = 0; i < n; i++) {
        size_t n_key;
        const char *key = description_read_text(r, &n_key);
        bool is_text = key && description_is_key(key, n_key, "text");
        if (!is_text && !(key && description_is_key(key, n_key, "types")))
            return description_mistake(r, r->source,
                                       "a message has 'text' and 'types'");
        if (is_text) {
            m->text = description_read_text(r, &m->n);
            m->source = r->source;
        }
        if (is_text ? !m->text : !take_types(r, m))
            return is_text &&
                   description_mistake(r, r->source, "'text' needs a text");
    }
    return m->text ||
           description_mistake(r, r->source, "a message needs 'text'");
}

static bool add_row(struct description *r, uint64_t id, struct message *m)
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
            return description_mistake(r, m->source, why);
        row.text = r->translated.n ? r->translated.data : "";
        row.n_text = r->translated.n;
        row.own = described_has_shortest(row.text, row.n_text);
    }
    return !r->translated.failed &&
           pfd_strings_add_row(r->strings, &r->format->strings, &row, r->report,
                               m->source, r->err) == PFD_OK;
}

bool description_take_messages(struct description *r)
{
    struct message m = { 0 };
    uint64_t n = 0;
    bool is_map = description_enter(r, true, &n);
    if (!is_map && !description_enter(r, false, &n))
        return description_mistake(r, r->source,
                                   "'messages' needs ids and texts");
    for (uint64_t i = 0; i < n; i++) {
        uint64_t id = i;
        if (is_map && !description_read_number(r, &id))
            return description_mistake(r, r->source,
                                       "the id of a message is a number");
        if (id == RING_KEY)
            return description_mistake(r, r->source, "an id is below 2^64 - 1");
        if (!take_message(r, &m) || !add_row(r, id, &m))
            return false;
    }
    return true;
}
