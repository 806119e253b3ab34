/* SPDX-License-Identifier: MIT */
/* The messages of a description. */
#include <string.h>

#include "brace_text.h"
#include "description.h"
#include "string_rule.h"

enum {
    MESSAGE_TYPES_MAX = PFD_LAYOUT_MAX - 1,
};

struct message {
    const char *text; /* [n] */
    size_t n;
    size_t source;
    bool has_types;
    size_t n_types;
    uint64_t words[PFD_LAYOUT_MAX]; /* facts, then the types */
    struct braces_names names;
};

static bool take_types(struct description *r, struct message *m)
{
    uint64_t n = 0;
    bool is_named = description_enter(r, true, &n);
    if ((!is_named && !description_enter(r, false, &n)) ||
        n > MESSAGE_TYPES_MAX) {
        return description_mistake(
            r, r->source, "'types' needs a list of types, or names with types");
    }
    m->has_types = true;
    m->n_types = m->names.n = (size_t)n;
    for (uint64_t i = 0; i < n; i++) {
        struct described_type type;
        size_t n_text;
        struct pfd_brace_name *name = &m->names.names[i];
        *name = (struct pfd_brace_name){ .n = 0 };
        if (is_named)
            name->text = description_read_text(r, &name->n);
        if (is_named && !name->text) {
            return description_mistake(r, r->source,
                                       "the name of an argument is a word");
        }
        const char *text = description_read_text(r, &n_text);
        if (!text) {
            return description_mistake(r, r->source,
                                       "a type is a word, as u32 or f32x3");
        }
        if (!description_find_type(r, text, n_text, &type))
            return false;
        m->words[0] |= described_facts_of(&type);
        m->words[1 + i] = described_pack(&type);
    }
    if (m->words[0] & FACT_VARIABLE &&
        r->numbers[RING_ARGUMENT_ORDER] == ORDER_SIZE) {
        return description_mistake(r, r->source,
                                   "texts in the entry have no size to order "
                                   "by");
    }
    return true;
}

static bool take_message(struct description *r, struct message *m)
{
    uint64_t n = 0;
    m->text = description_read_text(r, &m->n);
    m->source = r->source;
    m->has_types = false;
    m->names.n = 0;
    m->n_types = 0;
    m->words[0] = 0;
    if (m->text)
        return true;
    if (!description_enter(r, true, &n)) {
        return description_mistake(r, r->source,
                                   "a message is a text, or has keys");
    }
    for (uint64_t i = 0; i < n; i++) {
        size_t n_key;
        const char *key = description_read_text(r, &n_key);
        bool is_text = key && description_is_key(key, n_key, "text");
        if (!is_text && !(key && description_is_key(key, n_key, "types"))) {
            return description_mistake(r, r->source,
                                       "a message has 'text' and 'types'");
        }
        if (is_text) {
            m->text = description_read_text(r, &m->n);
            m->source = r->source;
        }
        if (is_text ? !m->text : !take_types(r, m)) {
            return is_text &&
                   description_mistake(r, r->source, "'text' needs a text");
        }
    }
    return m->text ||
           description_mistake(r, r->source, "a message needs 'text'");
}

/* Takes the types that a text itself states. */
static const char *state_types(struct message *m, struct pfd_string_row *row)
{
    const char *why =
        braces_types(row->text, row->n_text, true, m->words + 1, &m->n_types);
    for (size_t i = 0; i < m->n_types; i++) {
        struct described_type type = described_unpack(m->words[1 + i]);
        m->words[0] |= described_facts_of(&type);
    }
    row->n_layout = 1 + m->n_types;
    return why;
}

/* Are messages plain texts, to which each entry adds its values? */
static bool is_joined_later(const struct description *r)
{
    return r->numbers[RING_GRAMMAR] == GRAMMAR_NONE &&
           r->numbers[RING_TAG_BYTES];
}

/* The text of a message with {}, in r->translated: those of a ring without a
 * grammar get one for each argument, if entries do not say these. NULL, or a
 * mistake. */
static const char *make_braces(struct description *r, struct message *m)
{
    r->translated.n = 0;
    if (r->numbers[RING_GRAMMAR] == GRAMMAR_BRACES)
        return braces_number(m->text, m->n, &m->names, &r->translated);
    if (is_joined_later(r)) {
        pfd_text_add(&r->translated, m->text, m->n);
    } else {
        m->has_types = true;
        braces_join(m->text, m->n, m->n_types, &r->translated);
    }
    return NULL;
}

static void add_names(struct message *m, struct pfd_string_row *row)
{
    size_t n_types = m->n_types;
    if (!m->names.n || !m->names.names[0].n || m->words[0] & FACT_TAGS)
        return;
    braces_put_names(row->text, row->n_text, &m->names, m->words,
                     &row->n_layout, PFD_LAYOUT_MAX);
    if (row->n_layout > 1 + n_types)
        m->words[0] |= (uint64_t)n_types << FACT_NAMED;
}

static bool add_row(struct description *r, uint64_t id, struct message *m)
{
    struct pfd_string_row row = {
        .key = id,
        .text = m->text,
        .n_text = m->n,
        .counted = true,
        .layout = m->words,
        .n_layout = 1 + m->n_types,
        .has_origin = described_has_origins(r->numbers),
    };
    m->words[0] |= described_common_facts(
        r->numbers,
        m->has_types || described_has_braces(r->numbers[RING_GRAMMAR]));
    if (described_has_braces(r->numbers[RING_GRAMMAR])) {
        const char *why = make_braces(r, m);
        if (r->translated.failed) {
            pfd_fail(r->err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
            return false;
        }
        row.text = r->translated.n ? r->translated.data : "";
        row.n_text = r->translated.n;
        row.own = true;
        if (!why && !m->has_types && !is_joined_later(r))
            why = state_types(m, &row);
        if (!why && !is_joined_later(r)) {
            why = braces_check(row.text, row.n_text, m->words + 1, m->n_types,
                               !(m->words[0] & FACT_TAGS), m->words);
        }
        if (why)
            return description_mistake(r, m->source, why);
        add_names(m, &row);
    }
    return pfd_strings_add_row(r->strings, &r->format->strings, &row, r->report,
                               m->source, r->err) == PFD_OK;
}

bool description_take_messages(struct description *r)
{
    struct message m = { 0 };
    struct string_rule rule;
    uint64_t n = 0;
    bool is_map = description_enter(r, true, &n);
    bool has_rule = string_rule_find(r->format, r->strings, &rule);
    if (!is_map && !description_enter(r, false, &n)) {
        return description_mistake(r, r->source,
                                   "'messages' needs ids and texts");
    }
    if (is_map && has_rule && rule.numbers[RULE_FROM] == FROM_MESSAGES) {
        return description_mistake(r, r->source,
                                   "'messages' with hashes as ids is a list");
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t id = i;
        if (is_map && !description_read_number(r, &id)) {
            return description_mistake(r, r->source,
                                       "the id of a message is a number");
        }
        size_t source = r->source;
        if (!take_message(r, &m))
            return false;
        if (!is_map && has_rule)
            string_rule_hash(&rule, m.text, m.n, &id);
        if (id >= RESERVED_KEY) {
            return description_mistake(r, source, "an id is below 2^64 - 68");
        }
        if (!add_row(r, id, &m))
            return false;
    }
    return true;
}
