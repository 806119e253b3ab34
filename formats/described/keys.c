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

static bool is_section(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

bool description_take_number(struct description *r, const char *section,
                             const char *key, size_t n)
{
    uint64_t value;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        if (!is_section(row->section, section) ||
            !description_is_key(key, n, row->key))
            continue;
        if (!description_read_number(r, &value))
            return description_mistake_at(r, "", key, n, " needs a number");
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
            return description_mistake_at(r, "", key, n, behind);
        }
        r->numbers[row->number] = value;
        r->sources[row->number] = r->source;
        return true;
    }
    return description_mistake_at(r, "no key is called ", key, n, " here");
}

bool description_take_section(struct description *r, const char *section)
{
    uint64_t n = 0;
    if (!description_enter(r, true, &n)) {
        return description_mistake_at(r, "", section, strlen(section),
                                      " needs keys of its own");
    }
    for (uint64_t i = 0; i < n; i++) {
        size_t n_key;
        const char *key = description_read_text(r, &n_key);
        if (!key)
            return description_mistake(r, r->source, "a key is a word");
        if (!strcmp(section, "entry") &&
            (description_is_key(key, n_key, "id") ||
             description_is_key(key, n_key, "length"))) {
            if (!description_take_section(r, key[0] == 'i' ? "id" : "length"))
                return false;
        } else if (!description_take_number(r, section, key, n_key)) {
            return false;
        }
    }
    return true;
}

void description_start(struct description *r)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        r->numbers[rows[i].number] = rows[i].initial;
}

/* Is a field of bits within the header? */
static bool is_within(const struct description *r, enum ring_number at,
                      enum ring_number bits, enum ring_number shift)
{
    const uint64_t *v = r->numbers;
    uint64_t top = v[shift] + v[bits];
    return top <= 64 && v[at] + (top > 32 ? 8 : 4) <= v[RING_HEADER];
}

static size_t stated(const struct description *r, enum ring_number a,
                     enum ring_number b)
{
    return r->sources[a] > r->sources[b] ? r->sources[a] : r->sources[b];
}

bool description_check(struct description *r)
{
    uint64_t *v = r->numbers;
    if (v[RING_COUNTER_BITS] && v[RING_COUNTER_BITS] != 32 &&
        v[RING_COUNTER_BITS] != 64) {
        return description_mistake(r, r->sources[RING_COUNTER_BITS],
                                   "a counter has 32 or 64 bits");
    }
    if (!is_within(r, RING_ID_AT, RING_ID_BITS, RING_ID_SHIFT)) {
        return description_mistake(r, stated(r, RING_ID_AT, RING_ID_BITS),
                                   "the id is not within the entry's header");
    }
    if (v[RING_LENGTH_BITS] &&
        !is_within(r, RING_LENGTH_AT, RING_LENGTH_BITS, RING_LENGTH_SHIFT)) {
        return description_mistake(
            r, stated(r, RING_LENGTH_AT, RING_LENGTH_BITS),
            "the length is not within the entry's header");
    }
    if (v[RING_SLOT_BYTES] && v[RING_SLOT_BYTES] < v[RING_HEADER]) {
        return description_mistake(r, r->sources[RING_SLOT_BYTES],
                                   "a slot is shorter than an entry's header");
    }
    return true;
}
