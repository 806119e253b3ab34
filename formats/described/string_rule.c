/* SPDX-License-Identifier: MIT */
/* The rule for messages in other files: its keys, its row, and the rows that
 * come of it. */
#include "string_rule.h"

#include <string.h>

#include "brace_text.h"
#include "description.h"

/* ---- keys ---- */

enum {
    RECORD_MAX = 4096,
};

struct word {
    const char *word;
    uint64_t value;
};

static const struct word froms[] = { { "spirv", FROM_SPIRV },
                                     { "source", FROM_SOURCE },
                                     { "llpc", FROM_LLPC },
                                     { "messages", FROM_MESSAGES },
                                     { NULL, 0 } };

static const struct word pointers[] = { { "addresses", 0 },
                                        { "offsets", 1 },
                                        { NULL, 0 } };

static const struct word ids[] = {
    { "index", ID_INDEX },     { "offset", ID_OFFSET },
    { "address", ID_ADDRESS }, { "sdbm", ID_SDBM },
    { "fnv1a", ID_FNV1A },     { "crc32", ID_CRC32 },
    { "xxh32", ID_XXH32 },     { NULL, 0 },
};

/* A rule while it is read. */
struct reader {
    struct description *r;
    uint64_t numbers[RULE_NUMBERS];
    bool has_from;
    struct pfd_text name; /* "section", a NUL, the name of the texts' section */
    const char *texts;    /* [n_texts] */
    size_t n_texts;
};

static bool take_word(struct reader *s, const struct word *words,
                      uint64_t *value, const char *what)
{
    size_t n;
    const char *text = description_read_text(s->r, &n);
    for (const struct word *w = words; text && w->word; w++) {
        if (description_is_key(text, n, w->word)) {
            *value = w->value;
            return true;
        }
    }
    return description_mistake(s->r, s->r->source, what);
}

static bool take_name(struct reader *s, enum rule_from from)
{
    size_t n;
    const char *text = description_read_text(s->r, &n);
    if (!text || !n || (from == FROM_PART && n != 4)) {
        return description_mistake(s->r, s->r->source,
                                   "a section has a name, a part one of four "
                                   "letters");
    }
    s->numbers[RULE_FROM] = from;
    s->has_from = true;
    s->name.n = 0;
    pfd_text_add(&s->name, text, n);
    return true;
}

static bool take_count(struct reader *s, enum rule_number number, uint64_t most)
{
    if (description_read_number(s->r, &s->numbers[number]) &&
        s->numbers[number] <= most)
        return true;
    return description_mistake(s->r, s->r->source,
                               "'record', 'at' and 'bits' need numbers, of "
                               "4096 bytes at most");
}

static bool take_key(struct reader *s, const char *key, size_t n)
{
    if (description_is_key(key, n, "section"))
        return take_name(s, FROM_SECTION);
    if (description_is_key(key, n, "part"))
        return take_name(s, FROM_PART);
    if (description_is_key(key, n, "from")) {
        s->has_from = true;
        return take_word(s, froms, &s->numbers[RULE_FROM],
                         "'from' is spirv, source, llpc or messages");
    }
    if (description_is_key(key, n, "id")) {
        return take_word(s, ids, &s->numbers[RULE_ID],
                         "'id' is index, offset, address, sdbm, fnv1a, crc32 "
                         "or xxh32");
    }
    if (description_is_key(key, n, "texts")) {
        s->texts = description_read_text(s->r, &s->n_texts);
        return s->texts || description_mistake(s->r, s->r->source,
                                               "'texts' is a section's name");
    }
    if (description_is_key(key, n, "pointers")) {
        return take_word(s, pointers, &s->numbers[RULE_OFFSETS],
                         "'pointers' are addresses or offsets");
    }
    if (description_is_key(key, n, "record"))
        return take_count(s, RULE_RECORD, RECORD_MAX);
    if (description_is_key(key, n, "at"))
        return take_count(s, RULE_AT, RECORD_MAX);
    if (description_is_key(key, n, "bits"))
        return take_count(s, RULE_BITS, 64);
    return description_mistake_at(s->r, "no key is called ", key, n, " here");
}

static bool check(struct reader *s, size_t source)
{
    const uint64_t *v = s->numbers;
    bool has_hash = v[RULE_ID] >= ID_SDBM;
    if (!s->has_from) {
        return description_mistake(s->r, source,
                                   "'strings' needs 'section', 'part' or "
                                   "'from'");
    }
    if (v[RULE_BITS] != 32 && v[RULE_BITS] != 64)
        return description_mistake(s->r, source, "a pointer has 32 or 64 bits");
    if (v[RULE_RECORD] && (v[RULE_FROM] != FROM_SECTION ||
                           v[RULE_AT] + v[RULE_BITS] / 8 > v[RULE_RECORD])) {
        return description_mistake(s->r, source,
                                   "records are in sections, and hold their "
                                   "pointer");
    }
    if (v[RULE_OFFSETS] && !s->n_texts) {
        return description_mistake(s->r, source,
                                   "offsets need 'texts', a section");
    }
    if ((v[RULE_FROM] == FROM_SOURCE || v[RULE_FROM] == FROM_MESSAGES) &&
        !has_hash) {
        return description_mistake(s->r, source,
                                   "messages of sources and of lists have the "
                                   "hash of their text as 'id'");
    }
    return true;
}

static bool add_rule(struct reader *s)
{
    struct description *r = s->r;
    pfd_text_add(&s->name, "", 1);
    if (s->n_texts)
        pfd_text_add(&s->name, s->texts, s->n_texts);
    struct pfd_string_row row = {
        .key = RULE_KEY,
        .text = s->name.data,
        .n_text = s->name.n,
        .layout = s->numbers,
        .n_layout = RULE_NUMBERS,
        .literal = true,
    };
    return !s->name.failed &&
           pfd_strings_add_row(r->strings, &r->format->strings, &row, r->report,
                               0, r->err) == PFD_OK;
}

bool description_take_strings(struct description *r)
{
    struct reader s = { .r = r, .numbers = { [RULE_BITS] = 32 } };
    size_t source = r->source;
    uint64_t n = 0;
    bool ok = description_enter(r, true, &n) ||
              description_mistake(r, r->source, "'strings' needs keys");
    for (uint64_t i = 0; i < n && ok; i++) {
        size_t n_key;
        const char *key = description_read_text(r, &n_key);
        ok = key ? take_key(&s, key, n_key)
                 : description_mistake(r, r->source, "a key is a word");
    }
    ok = ok && check(&s, source) && add_rule(&s);
    if (s.numbers[RULE_FROM] == FROM_LLPC)
        r->wants_printf = source;
    pfd_text_free(&s.name);
    return ok;
}

/* ---- its row ---- */

bool string_rule_find(const struct pfd_format *format,
                      const struct pfd_strings *strings,
                      struct string_rule *ret)
{
    const struct pfd_table *table =
        pfd_strings_table(strings, &format->strings);
    const struct pfd_string *rule = pfd_table_find(table, RULE_KEY);
    const struct pfd_string *ring = pfd_table_find(table, RING_KEY);
    if (!rule || !ring || rule->n_layout != RULE_NUMBERS ||
        ring->n_layout < RING_NUMBERS)
        return false;
    *ret = (struct string_rule){
        .numbers = pfd_string_layout(rule),
        .name = pfd_string_text(rule),
        .n_name = strnlen(pfd_string_text(rule), rule->n_text),
        .ring = pfd_string_layout(ring),
    };
    if (ret->n_name + 1 < rule->n_text) {
        ret->texts = ret->name + ret->n_name + 1;
        ret->n_texts = rule->n_text - ret->n_name - 1;
    }
    return true;
}

bool described_reads_files(const struct pfd_format *self,
                           const struct pfd_strings *strings)
{
    struct string_rule rule;
    return string_rule_find(self, strings, &rule);
}

/* ---- rows of messages ---- */

bool string_taker_start(struct string_taker *t, const struct pfd_format *self,
                        struct pfd_strings *strings, struct pfd_report *report,
                        struct pfd_error *err)
{
    *t = (struct string_taker){
        .format = self,
        .strings = strings,
        .report = report,
        .err = err,
        .status = PFD_OK,
    };
    return string_rule_find(self, strings, &t->rule);
}

bool string_rule_hash(const struct string_rule *rule, const char *text,
                      size_t n, uint64_t *ret)
{
    enum rule_id kind = (enum rule_id)rule->numbers[RULE_ID];
    uint64_t bits = rule->ring[RING_ID_BITS];
    if (kind < ID_SDBM)
        return false;
    *ret = string_hash(kind, bits > 32, text, n);
    if (bits && bits < 64)
        *ret &= (UINT64_C(1) << bits) - 1;
    return true;
}

static uint64_t id_of(const struct string_taker *t, uint64_t id,
                      const char *text, size_t n)
{
    string_rule_hash(&t->rule, text, n, &id);
    return id;
}

/* Has the description a message of this text, whose types then count? It has
 * numbers for names in {}, so that such texts differ. */
static bool is_listed(const struct string_taker *t,
                      const struct pfd_string_row *row, bool is_readable)
{
    const struct pfd_table *table =
        pfd_strings_table(t->strings, &t->format->strings);
    const struct pfd_string *s =
        row->key < RESERVED_KEY ? pfd_table_find(table, row->key) : NULL;
    return s && (!is_readable ||
                 (s->n_text == row->n_text &&
                  !memcmp(pfd_string_text(s), row->text, row->n_text)));
}

bool string_spend(struct string_taker *t, uint64_t n)
{
    if (t->is_over)
        return false;
    t->is_over = n > t->left;
    t->left -= t->is_over ? t->left : n;
    if (t->is_over) {
        pfd_report_add(t->report, PFD_FINDING_too_large, PFD_NO_OFFSET,
                       "the file's records or parts lead to its texts again "
                       "and again: not all of them are read");
    }
    return !t->is_over;
}

static void add(struct string_taker *t, const struct pfd_string_row *row,
                uint64_t offset)
{
    if (t->status != PFD_OK || row->key >= RESERVED_KEY)
        return;
    t->status = pfd_strings_add_row(t->strings, &t->format->strings, row,
                                    t->report, offset, t->err);
    t->n_rows++;
}

/* The facts and types of a row's text, into words; NULL, or why it is no
 * message. */
static const char *find_types(const struct string_taker *t,
                              struct pfd_string_row *row, uint64_t *words)
{
    const uint64_t *ring = t->rule.ring;
    size_t n_types = 0;
    const char *why = row->n_text > PFD_TEXT_MAX ? "it is too long" : NULL;
    bool has_braces = row->own && ring[RING_GRAMMAR] != GRAMMAR_NONE;
    if (!why && has_braces) {
        why =
            braces_types(row->text, row->n_text,
                         t->rule.numbers[RULE_BITS] == 64, words + 1, &n_types);
    }
    for (size_t i = 0; i < n_types; i++) {
        struct described_type type = described_unpack(words[1 + i]);
        words[0] |= described_facts_of(&type);
    }
    words[0] |= described_common_facts(ring, row->own);
    row->n_layout = 1 + n_types;
    if (!why && has_braces) {
        why = braces_check(row->text, row->n_text, words + 1, n_types,
                           !(words[0] & FACT_TAGS), words);
    }
    return why;
}

/* A text of a source is a message only if it can be one. */
static void take_literal(struct string_taker *t,
                         const struct pfd_string_row *row, const char *why,
                         uint64_t offset)
{
    uint64_t facts = 0;
    if (is_listed(t, row, !why)) {
        t->n_typed++;
    } else if (!why) {
        t->n_typed += row->n_layout > 1;
        add(t, row, offset);
    } else if (row->n_layout == 1 &&
               !braces_check(row->text, row->n_text, NULL, 0, false, &facts) &&
               !t->n_untyped++) {
        t->untyped_at = offset;
    }
}

void string_take(struct string_taker *t, uint64_t id, const char *text,
                 size_t n, uint64_t offset)
{
    uint64_t words[1 + BRACES_TAKEN_MAX] = { 0 };
    const uint64_t *ring = t->rule.ring;
    struct pfd_string_row row = {
        .key = id_of(t, id, text, n),
        .text = text,
        .n_text = n,
        .counted = true,
        .layout = words,
        .own = described_has_braces(ring[RING_GRAMMAR]),
        .has_origin = described_has_origins(ring),
    };
    const char *why = find_types(t, &row, words);
    if (t->rule.numbers[RULE_FROM] == FROM_SOURCE) {
        take_literal(t, &row, why, offset);
    } else if (is_listed(t, &row, true)) {
        t->n_rows++;
    } else if (!why) {
        add(t, &row, offset);
    } else {
        pfd_report_add(t->report, PFD_FINDING_bad_string_row, offset,
                       "the message with id 0x%llx cannot be read: %s",
                       (unsigned long long)row.key, why);
    }
}

void string_take_typed(struct string_taker *t, const struct pfd_string *s,
                       uint64_t *words, size_t n_types)
{
    const char *text = pfd_string_text(s);
    struct pfd_string_row row = {
        .key = id_of(t, s->key, text, s->n_text),
        .text = text,
        .n_text = s->n_text,
        .counted = true,
        .layout = words,
        .n_layout = 1 + n_types,
        .has_origin = described_has_origins(t->rule.ring),
        .tight = s->steps[0].tight,
    };
    words[0] = described_common_facts(t->rule.ring, true);
    add(t, &row, PFD_NO_OFFSET);
}

void string_take_text(struct string_taker *t, uint64_t id, const char *text,
                      size_t n, uint64_t offset)
{
    struct pfd_string_row row = {
        .key = id,
        .text = text,
        .n_text = n,
        .literal = true,
    };
    if (n <= PFD_TEXT_MAX)
        add(t, &row, offset);
}
