/* SPDX-License-Identifier: MIT */
/* The keys of a description that are numbers of its ring. */
#include <string.h>

#include "description.h"

/* A key with a number. */
struct row {
    const char *section; /* NULL: of the description itself */
    const char *key;
    enum ring_number number;
    uint64_t initial;
    uint64_t least;
    uint64_t most;
};

/* The keys of a field; bits that are not stated are 32 where the field is
 * there. */
#define FIELD(section, number, most)                  \
    { section, "at", number, 0, 0, most },            \
        { section, "bits", number##_BITS, 0, 1, 64 }, \
    {                                                 \
        section, "shift", number##_SHIFT, 0, 0, 63    \
    }

static const struct row rows[] = {
    FIELD("counter", RING_COUNTER, RING_DATA_MAX),
    { "counter", "unit", RING_COUNTER_UNIT, 1, 1, RING_UNIT_MAX },
    { "counter", "from", RING_COUNTER_FROM, 0, 0, RING_DATA_MAX },
    { "counter", "file", RING_COUNTER_FILE, 0, 0, 1 },
    { NULL, "data", RING_DATA, 0, 0, RING_DATA_MAX },
    { NULL, "capacity", RING_CAPACITY_BYTES, 0, 1, UINT32_MAX },
    FIELD("capacity", RING_CAPACITY, RING_DATA_MAX),
    { "capacity", "unit", RING_CAPACITY_UNIT, 1, 1, RING_UNIT_MAX },
    { "capacity", "from", RING_CAPACITY_FROM, 0, 0, RING_DATA_MAX },
    FIELD("write", RING_WRITE, RING_DATA_MAX),
    FIELD("read", RING_READ, RING_DATA_MAX),
    { "positions", "unit", RING_POSITION_UNIT, 1, 1, RING_UNIT_MAX },
    { "positions", "grow", RING_POSITION_GROWS, 0, 0, 1 },
    { "positions", "whole", RING_POSITION_WHOLE, 0, 0, 1 },
    FIELD("stall", RING_STALL, RING_DATA_MAX),
    { "stall", "value", RING_STALL_VALUE, 1, 0, UINT64_MAX },
    { "slots", "bytes", RING_SLOT_BYTES, 0, 4, RING_DATA_MAX },
    { "slots", "empty", RING_SLOT_EMPTY, 0, 0, UINT64_MAX },
    { "entry", "header", RING_HEADER, 4, 1, RING_HEADER_MAX },
    { "entry", "align", RING_ALIGN, 4, 1, RING_UNIT_MAX },
    FIELD("entry.id", RING_ID, RING_HEADER_MAX),
    FIELD("entry.length", RING_LENGTH, RING_HEADER_MAX),
    { "entry.length", "unit", RING_LENGTH_UNIT, 1, 1, RING_UNIT_MAX },
    { "entry.length", "plus", RING_LENGTH_PLUS, 0, 0, RING_DATA_MAX },
    FIELD("entry.lanes", RING_LANES, RING_HEADER_MAX),
    FIELD("entry.count", RING_COUNT, RING_HEADER_MAX),
    FIELD("entry.text", RING_TEXT, RING_HEADER_MAX),
    FIELD("entry.wrap", RING_WRAP, RING_HEADER_MAX),
    { "entry.wrap", "value", RING_WRAP_VALUE, 0, 0, UINT64_MAX },
    FIELD("entry.full", RING_FULL, RING_HEADER_MAX),
    { "entry.full", "value", RING_FULL_VALUE, 0, 0, UINT64_MAX },
    FIELD("entry.pass", RING_PASS, RING_HEADER_MAX),
    { "entry.pass", "value", RING_PASS_VALUE, 0, 0, UINT64_MAX },
    { "entry.pass", "bytes", RING_PASS_BYTES, 4, 1, RING_DATA_MAX },
    FIELD("entry.program", RING_PROGRAM, RING_HEADER_MAX),
    { "entry.program", "value", RING_PROGRAM_VALUE, 0, 0, UINT64_MAX },
    { "entry.program", "bytes", RING_PROGRAM_BYTES, 4, 1, RING_DATA_MAX },
    { "arguments", "align", RING_ARGUMENT_ALIGN, 4, 0, 64 },
    { "tags", "bytes", RING_TAG_BYTES, 4, 1, RING_TAG_MAX },
    FIELD("tags.type", RING_TAG_TYPE, RING_TAG_MAX),
    FIELD("tags.rows", RING_TAG_ROWS, RING_TAG_MAX),
    FIELD("tags.columns", RING_TAG_COLUMNS, RING_TAG_MAX),
    FIELD("tags.size", RING_TAG_SIZE, RING_TAG_MAX),
};

enum {
    N_ROWS = sizeof rows / sizeof *rows,
    PATH_MAX_BYTES = 32,
};

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool is_section(const char *path)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        if (is_same(rows[i].section, path))
            return true;
    }
    return false;
}

static bool out_of_range(struct description *r, const struct row *row)
{
    char behind[96];
    struct pfd_text all = { 0 };
    pfd_text_printf(&all, " is from %llu to %llu",
                    (unsigned long long)row->least,
                    (unsigned long long)row->most);
    size_t n = all.n < sizeof behind ? all.n : sizeof behind - 1;
    if (n)
        memcpy(behind, all.data, n);
    behind[n] = '\0';
    pfd_text_free(&all);
    return description_mistake_at(r, "", row->key, strlen(row->key), behind);
}

static bool take_number(struct description *r, const char *section,
                        const char *key, size_t n)
{
    uint64_t value;
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct row *row = &rows[i];
        if (!is_same(row->section, section) ||
            !description_is_key(key, n, row->key))
            continue;
        if (!description_read_number(r, &value))
            return description_mistake_at(r, "", key, n, " needs a number");
        if (value < row->least || value > row->most)
            return out_of_range(r, row);
        r->numbers[row->number] = value;
        r->sources[row->number] = r->source;
        return true;
    }
    return description_mistake_at(r, "no key is called ", key, n, " here");
}

/* What a section has unless it says something else. */
static void begin_section(struct description *r, const char *path)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        if (!is_same(rows[i].section, path))
            continue;
        if (!strcmp(rows[i].key, "bits"))
            r->numbers[rows[i].number] = 32;
        if (!strcmp(path, "tags") && !strcmp(rows[i].key, "bytes"))
            r->numbers[rows[i].number] = 4;
        if (!r->sources[rows[i].number])
            r->sources[rows[i].number] = r->source;
    }
}

static bool take_section(struct description *r, const char *path)
{
    uint64_t n = 0;
    begin_section(r, path);
    if (!description_enter(r, true, &n)) {
        const char *last = strrchr(path, '.');
        last = last ? last + 1 : path;
        return description_mistake_at(r, "", last, strlen(last),
                                      " needs keys of its own");
    }
    for (uint64_t i = 0; i < n; i++) {
        size_t n_key;
        const char *key = description_read_text(r, &n_key);
        if (!key)
            return description_mistake(r, r->source, "a key is a word");
        if (!description_take_number(r, path, key, n_key))
            return false;
    }
    return true;
}

bool description_take_number(struct description *r, const char *section,
                             const char *key, size_t n)
{
    char path[PATH_MAX_BYTES];
    size_t at = section ? strlen(section) + 1 : 0;
    if (at + n < sizeof path && !memchr(key, 0, n)) {
        if (section) {
            memcpy(path, section, at - 1);
            path[at - 1] = '.';
        }
        memcpy(path + at, key, n);
        path[at + n] = '\0';
        struct pfd_byte_reader next = r->c;
        bool is_map = pfd_msgpack_read(&next).kind == PFD_MSGPACK_ITEMS;
        bool is_both = !strcmp(path, "capacity");
        if (!strcmp(path, "entry.origin"))
            return description_take_origins(r);
        if (!strcmp(path, "tags.types"))
            return description_take_tag_types(r);
        if (!strcmp(path, "arguments.order"))
            return description_take_order(r);
        if (!strcmp(path, "arguments.vectors"))
            return description_take_vectors(r);
        if (is_section(path) && (is_map || !is_both))
            return take_section(r, path);
    }
    return take_number(r, section, key, n);
}

void description_start(struct description *r)
{
    for (size_t i = 0; i < N_ROWS; i++)
        r->numbers[rows[i].number] = rows[i].initial;
    r->numbers[RING_ID_BITS] = 32;
    r->numbers[RING_TAG_BYTES] = 0;
}

/* ---- whether they fit together ---- */

/* Is a field of bits, if it is there, within so many bytes? */
static bool is_within(const struct description *r, size_t number, uint64_t n)
{
    const uint64_t *v = r->numbers + number;
    uint64_t top = v[FIELD_SHIFT] + v[FIELD_BITS];
    return !v[FIELD_BITS] || (top <= 64 && v[FIELD_AT] + (top + 7) / 8 <= n);
}

static size_t stated(const struct description *r, size_t number)
{
    size_t ret = 0;
    for (size_t i = 0; i < FIELD_NUMBERS; i++) {
        if (r->sources[number + i] > ret)
            ret = r->sources[number + i];
    }
    return ret;
}

/* Fields, and the number that says how many bytes they are within. */
static const struct {
    enum ring_number field;
    enum ring_number within; /* RING_NUMBERS: of the buffer */
    const char *why;
} fields[] = {
    { RING_COUNTER, RING_NUMBERS, "the counter is no field of 64 bits" },
    { RING_CAPACITY, RING_NUMBERS, "the capacity is no field of 64 bits" },
    { RING_WRITE, RING_NUMBERS, "the position is no field of 64 bits" },
    { RING_READ, RING_NUMBERS, "the position is no field of 64 bits" },
    { RING_STALL, RING_NUMBERS, "the flag is no field of 64 bits" },
    { RING_ID, RING_HEADER, "the id is not within the entry's header" },
    { RING_LENGTH, RING_HEADER, "the length is not within the entry's header" },
    { RING_LANES, RING_HEADER, "the lanes are not within the entry's header" },
    { RING_COUNT, RING_HEADER, "the count is not within the entry's header" },
    { RING_TEXT, RING_HEADER,
      "the text's length is not within the entry's "
      "header" },
    { RING_WRAP, RING_HEADER, "this mark is not within the entry's header" },
    { RING_FULL, RING_HEADER, "this mark is not within the entry's header" },
    { RING_PASS, RING_HEADER, "this mark is not within the entry's header" },
    { RING_PROGRAM, RING_HEADER, "this mark is not within the entry's header" },
    { RING_TAG_TYPE, RING_TAG_BYTES, "the type is not within the tag" },
    { RING_TAG_ROWS, RING_TAG_BYTES, "the rows are not within the tag" },
    { RING_TAG_COLUMNS, RING_TAG_BYTES, "the columns are not within the tag" },
    { RING_TAG_SIZE, RING_TAG_BYTES, "the size is not within the tag" },
};

static bool check_fields(struct description *r)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        uint64_t n = fields[i].within == RING_NUMBERS
                         ? UINT32_MAX
                         : r->numbers[fields[i].within];
        if (!is_within(r, fields[i].field, n)) {
            return description_mistake(r, stated(r, fields[i].field),
                                       fields[i].why);
        }
    }
    for (size_t i = RING_ORIGINS; i < RING_TAGS; i += 1 + FIELD_NUMBERS) {
        if (!is_within(r, i + 1, r->numbers[RING_HEADER])) {
            return description_mistake(r, stated(r, i + 1),
                                       "the origin is not within the entry's "
                                       "header");
        }
    }
    return true;
}

/* Numbers that exclude each other. */
bool description_check(struct description *r)
{
    const uint64_t *v = r->numbers;
    bool has_tags = v[RING_TAG_BYTES] != 0;
    bool has_length = v[RING_LENGTH_BITS] || v[RING_SLOT_BYTES];
    if (v[RING_COUNTER_BITS] && v[RING_COUNTER_BITS] != 32 &&
        v[RING_COUNTER_BITS] != 64) {
        return description_mistake(r, r->sources[RING_COUNTER_BITS],
                                   "a counter has 32 or 64 bits");
    }
    if (!check_fields(r))
        return false;
    if (v[RING_SLOT_BYTES] && v[RING_SLOT_BYTES] < v[RING_HEADER]) {
        return description_mistake(r, r->sources[RING_SLOT_BYTES],
                                   "a slot is shorter than an entry's header");
    }
    if (v[RING_READ_BITS] && !v[RING_WRITE_BITS]) {
        return description_mistake(r, r->sources[RING_READ],
                                   "'read' needs 'write', too");
    }
    if (v[RING_WRITE_BITS] && (v[RING_COUNTER_BITS] || v[RING_SLOT_BYTES])) {
        return description_mistake(r, r->sources[RING_WRITE],
                                   "a ring with positions has no counter and "
                                   "no slots");
    }
    if (v[RING_WRAP_BITS] && !v[RING_WRITE_BITS]) {
        return description_mistake(r, r->sources[RING_WRAP],
                                   "only a ring with positions begins anew");
    }
    if (v[RING_PROGRAM_BITS] && v[RING_ID_BITS] > 32) {
        return description_mistake(r, r->sources[RING_PROGRAM],
                                   "ids of several programs have up to 32 "
                                   "bits");
    }
    if (v[RING_LANES_BITS] && (has_tags || v[RING_TEXT_BITS] || !has_length)) {
        return description_mistake(r, r->sources[RING_LANES],
                                   "entries of several lanes have a length or "
                                   "slots, and no tags or text");
    }
    if (has_tags && !v[RING_TAG_TYPE_BITS]) {
        return description_mistake(r, r->sources[RING_TAG_BYTES],
                                   "'tags' needs 'type'");
    }
    if (has_tags && !has_length && !v[RING_COUNT_BITS]) {
        return description_mistake(r, r->sources[RING_TAG_BYTES],
                                   "entries with tags need a length or a "
                                   "count");
    }
    if (r->wants_printf && v[RING_GRAMMAR] != GRAMMAR_PRINTF) {
        return description_mistake(r, r->wants_printf,
                                   "messages of llpc have printf's grammar");
    }
    if (v[RING_TEXT_BITS] && !has_tags && !has_length) {
        return description_mistake(r, r->sources[RING_TEXT],
                                   "entries with their text need a length or "
                                   "tags");
    }
    if (v[RING_TEXT_BITS] && !has_tags &&
        described_has_braces(v[RING_GRAMMAR])) {
        return description_mistake(r, r->sources[RING_TEXT],
                                   "{} of a text in the entry needs tags");
    }
    return true;
}
