/* SPDX-License-Identifier: MIT */
/* One entry of a described ring. */
#include "arguments.h"
#include "walk.h"

/* ---- its length ---- */

static bool is_mark(const struct pfd_walk *w, const struct ring *st,
                    uint64_t at, enum ring_number field, enum ring_number value)
{
    return ring_has(st, field) &&
           ring_field(w, st, at, field) == st->number[value];
}

bool ring_is_full_at(const struct pfd_walk *w, const struct ring *st,
                     uint64_t at, uint64_t n)
{
    const uint64_t *v = st->number + RING_FULL;
    uint64_t top = v[FIELD_SHIFT] + v[FIELD_BITS];
    return v[FIELD_AT] + (top + 7) / 8 <= n &&
           is_mark(w, st, at, RING_FULL, RING_FULL_VALUE);
}

/* Bytes from a place on that lie in one piece, and are in view. */
static uint64_t piece(const struct pfd_walk *w, const struct ring *st,
                      uint64_t at)
{
    uint64_t end = at < st->fold ? st->fold : UINT64_MAX;
    uint64_t in_view = pfd_walk_end(w) - ring_place(st, at);
    uint64_t ret = end - at < in_view ? end - at : in_view;
    if (ret > RING_RANGE)
        ret = RING_RANGE;
    return ret < st->end - at ? ret : st->end - at;
}

static const uint8_t *bytes_at(const struct pfd_walk *w, const struct ring *st,
                               uint64_t at)
{
    return pfd_byte_reader_peek(&w->view,
                                (size_t)(ring_place(st, at) - w->base));
}

/* The bytes of an entry [n] that its arguments alone tell; 0: they do not. */
static uint64_t measure_bytes(const struct pfd_walk *w, const struct ring *st,
                              const uint8_t *entry, uint64_t n,
                              const struct pfd_string *s)
{
    uint64_t n_header = st->number[RING_HEADER];
    if (n < n_header)
        return 0;
    struct arguments a = {
        .payload = entry + n_header,
        .n_payload = (uint32_t)(n - n_header),
        .carried = (uint32_t)(n - n_header),
        .n_carried = (uint32_t)(n - n_header),
        .n_header = (uint32_t)n_header,
    };
    return described_lay_out(&a, w->table, s, NULL)
               ? n_header + arguments_end(&a)
               : 0;
}

static void copy_bytes(struct pfd_walk *w, const struct ring *st, uint64_t at,
                       uint64_t n_bytes)
{
    for (uint64_t done = 0; done < n_bytes;) {
        uint64_t n = piece(w, st, at + done);
        n = n < n_bytes - done ? n : n_bytes - done;
        pfd_walk_copy_add(w, bytes_at(w, st, at + done), (size_t)n);
        done += n;
    }
}

/* Likewise of the entry at a place, also across the end of the ring. */
static uint64_t measure(const struct pfd_walk *w, const struct ring *st,
                        uint64_t at, const struct pfd_string *s)
{
    struct pfd_walk own = *w;
    struct pfd_text *bytes = &w->batch->bytes;
    uint64_t n = piece(w, st, at);
    uint64_t most = st->end - at < RING_RANGE ? st->end - at : RING_RANGE;
    uint64_t ret = measure_bytes(w, st, bytes_at(w, st, at), n, s);
    if (ret || at >= st->fold || at + n != st->fold)
        return ret;
    size_t from = bytes->n;
    copy_bytes(&own, st, at, most);
    if (!bytes->failed) {
        ret =
            measure_bytes(w, st, (const uint8_t *)bytes->data + from, most, s);
        bytes->n = from;
    }
    return ret;
}

static bool is_measured(const struct ring *st, const struct pfd_string *s)
{
    return st->number[RING_TAG_BYTES] || ring_has(st, RING_TEXT) ||
           (s && described_facts(s) & (FACT_VARIABLE | FACT_OFFSETS));
}

static uint64_t length_of(const struct pfd_walk *w, const struct ring *st,
                          uint64_t at, const struct ring_entry *e)
{
    const uint64_t *v = st->number;
    const struct pfd_string *s = e->string;
    uint64_t ret = 0;
    if (v[RING_SLOT_BYTES])
        return v[RING_SLOT_BYTES];
    if (ring_has(st, RING_LENGTH)) {
        ret = e->stated * v[RING_LENGTH_UNIT] + v[RING_LENGTH_PLUS];
        if (ret < v[RING_HEADER] || ret > UINT32_MAX || e->stated > UINT32_MAX)
            ret = 0;
    } else if (is_measured(st, s)) {
        ret = measure(w, st, at, s);
    } else if (s) {
        ret = v[RING_HEADER] + s->n_payload;
    }
    return ring_aligned(ret, v[RING_ALIGN]);
}

/* The same where each of several lanes has arguments of the length. */
static void look_at_lanes(const struct pfd_walk *w, const struct ring *st,
                          uint64_t at, struct ring_entry *e)
{
    const uint64_t *v = st->number;
    uint64_t n = e->stated;
    uint64_t slot = v[RING_SLOT_BYTES];
    e->lanes = ring_field(w, st, at, RING_LANES);
    if (!e->lanes || e->lanes > RING_LANES_LIMIT || n > RING_LANE_LIMIT)
        return;
    e->lane = n * v[RING_LENGTH_UNIT] + v[RING_LENGTH_PLUS];
    if (!ring_has(st, RING_LENGTH)) {
        e->lane = e->string ? e->string->n_payload : slot - v[RING_HEADER];
        e->lanes = e->string ? e->lanes : 1; /* how long each is is unknown */
    }
    n = v[RING_HEADER] + e->lanes * e->lane;
    if (!slot) {
        e->n = ring_aligned(n, v[RING_ALIGN]);
    } else if (n <= slot) {
        e->n = slot;
    }
}

struct ring_entry ring_look(const struct pfd_walk *w, const struct ring *st,
                            uint64_t at)
{
    const uint64_t *v = st->number;
    struct ring_entry e = { .id = 0 };
    bool has_marks = v[RING_WRAP_BITS] | v[RING_FULL_BITS] | v[RING_PASS_BITS] |
                     v[RING_PROGRAM_BITS];
    if (has_marks && is_mark(w, st, at, RING_FULL, RING_FULL_VALUE)) {
        e.kind = RING_NONE;
        return e;
    }
    if (has_marks && is_mark(w, st, at, RING_WRAP, RING_WRAP_VALUE)) {
        e.kind = RING_AGAIN;
        e.n = at < st->fold && st->fold != UINT64_MAX ? st->fold - at : 0;
        return e;
    }
    if (has_marks && is_mark(w, st, at, RING_PASS, RING_PASS_VALUE)) {
        e.kind = RING_FREE;
        e.n = v[RING_PASS_BYTES];
        return e;
    }
    if (has_marks && is_mark(w, st, at, RING_PROGRAM, RING_PROGRAM_VALUE)) {
        e.kind = RING_OTHER;
        e.n = v[RING_PROGRAM_BYTES];
        return e;
    }
    if (!ring_has(st, RING_TEXT)) {
        e.id = ring_field(w, st, at, RING_ID);
        e.key = described_key(st->program, e.id);
        e.string =
            e.key < RESERVED_KEY ? pfd_table_find(w->table, e.key) : NULL;
    }
    if (v[RING_SLOT_BYTES] && e.id == v[RING_SLOT_EMPTY]) {
        e.kind = RING_FREE;
        e.n = v[RING_SLOT_BYTES];
        return e;
    }
    if (ring_has(st, RING_LENGTH))
        e.stated = ring_field(w, st, at, RING_LENGTH);
    if (ring_has(st, RING_LANES)) {
        look_at_lanes(w, st, at, &e);
        return e;
    }
    e.n = length_of(w, st, at, &e);
    return e;
}

/* ---- its record ---- */

/* Values of one entry whose text stands elsewhere; further ones have none. */
enum {
    VALUES_MAX = 64
};

struct values {
    struct described_type type[VALUES_MAX];
    uint64_t value[VALUES_MAX];
    size_t n;
};

static void carry(struct pfd_walk *w, const char *text, uint64_t n)
{
    uint32_t n_text = text && n < PFD_TEXT_MAX ? (uint32_t)n : UINT32_MAX;
    pfd_walk_copy_add(w, &n_text, sizeof n_text);
    if (n_text != UINT32_MAX)
        pfd_walk_copy_add(w, text, n_text);
}

static void carry_digits(struct pfd_walk *w, uint64_t value)
{
    char digits[20];
    size_t i = sizeof digits;
    do {
        digits[--i] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    carry(w, digits + i, sizeof digits - i);
}

/* The name of a value: the rows of an enumeration are its values, and its text
 * their names, with a zero byte behind each. */
static void carry_name(struct pfd_walk *w, uint32_t names, uint64_t value)
{
    const struct pfd_string *s = pfd_table_find(w->table, ENUM_KEY(names));
    const char *text = s ? pfd_string_text(s) : "";
    const char *end = s ? text + s->n_text : text;
    for (size_t i = 0; s && i < s->n_layout && text < end; i++) {
        size_t n = strnlen(text, (size_t)(end - text));
        if (pfd_string_layout(s)[i] == value) {
            carry(w, text, n);
            return;
        }
        text += n + 1;
    }
    carry_digits(w, value);
}

static void carry_value(struct pfd_walk *w, const struct ring *st,
                        const struct described_type *t, uint64_t value)
{
    if (t->text == TEXT_ID) {
        bool is_id = !st->program || value <= UINT32_MAX;
        uint64_t key = described_key(st->program, value);
        const struct pfd_string *s =
            is_id && key < RESERVED_KEY ? pfd_table_find(w->table, key) : NULL;
        carry(w, s ? pfd_string_text(s) : NULL, s ? s->n_text : 0);
    } else if (t->text == TEXT_NAME && t->names == ENUMS_MAX) {
        carry(w, value ? "true" : "false", value ? 4 : 5);
    } else if (t->text == TEXT_NAME) {
        carry_name(w, t->names, value);
    }
}

static void note_value(void *user, const struct described_type *t,
                       uint64_t value)
{
    struct values *all = user;
    if (all->n == VALUES_MAX || t->text == TEXT_OFFSET)
        return;
    all->type[all->n] = *t;
    all->value[all->n++] = value;
}

/* Appends the entry's bytes, and the texts that its values stand for. */
static void copy(struct pfd_walk *w, const struct ring *st, uint64_t at,
                 struct pfd_record *r)
{
    struct values all = { .n = 0 };
    uint32_t n_payload = r->n_bytes - r->n_header;
    size_t from = w->batch->bytes.n;
    copy_bytes(w, st, at, r->n_bytes);
    if (!w->batch->bytes.failed) {
        struct arguments a = {
            .payload =
                (const uint8_t *)w->batch->bytes.data + from + r->n_header,
            .n_payload = n_payload,
            .carried = n_payload,
            .n_carried = n_payload,
            .n_header = r->n_header,
            .on_text = note_value,
            .user = &all,
        };
        described_lay_out(&a, w->table, r->string, NULL);
    }
    for (size_t i = 0; i < all.n; i++)
        carry_value(w, st, &all.type[i], all.value[i]);
    pfd_walk_copy_done(w, r);
    r->layout = 1;
}

/* A record of one message: its header, of an entry's first lane, and payload. */
struct message {
    uint64_t at;
    uint64_t n_header;
    uint64_t n_payload;
};

static bool is_straight(const struct ring *st, const struct message *m)
{
    return m->at >= st->fold || m->n_header + m->n_payload <= st->fold - m->at;
}

static void add_message(struct pfd_walk *w, struct ring *st,
                        const struct ring_entry *e, const struct message *m)
{
    const uint64_t *v = st->number;
    const struct pfd_string *s = e->string;
    struct pfd_record *r = pfd_walk_record(w);
    *r = (struct pfd_record){
        .offset = ring_place(st, m->at),
        .string = s,
        .key = e->key,
        .n_bytes = (uint32_t)(m->n_header + m->n_payload),
        .n_header = (uint8_t)m->n_header,
        .kind = PFD_RECORD_ENTRY,
    };
    bool is_made = s ? described_facts(s) & FACT_TAGS : ring_has(st, RING_TEXT);
    bool has_texts = is_made || (s && s->flags & PFD_STRING_CHAR);
    if (is_made)
        r->flags |= PFD_RECORD_SYNTHESIZED;
    if (s && !is_made && (is_measured(st, s) || s->n_payload > m->n_payload))
        r->layout = 1;
    if (!is_straight(st, m) ||
        (has_texts && described_has_texts(w->table, s))) {
        r->flags |= PFD_RECORD_COPIED;
        copy(w, st, m->at, r);
    }
    if (!s && !is_made) {
        r->findings |= PFD_FINDING_BIT(unknown_id);
    } else if (s && s->next) {
        r->findings |= PFD_FINDING_BIT(ambiguous);
    }
    if (s && !v[RING_SLOT_BYTES] && !is_measured(st, s) &&
        m->n_payload >=
            ring_aligned(v[RING_HEADER] + s->n_payload, v[RING_ALIGN]) -
                v[RING_HEADER] + v[RING_ALIGN])
        r->findings |= PFD_FINDING_BIT(payload_long);
}

/* The first lane's message begins with the header. */
static void add_lane(struct pfd_walk *w, struct ring *st,
                     const struct ring_entry *e)
{
    uint64_t n_header = st->number[RING_HEADER];
    struct message m = { st->at, n_header, e->lane };
    if (st->n_lanes) {
        m.at += n_header + st->n_lanes * e->lane;
        m.n_header = 0;
    }
    uint64_t rest = e->n - n_header - e->lanes * e->lane;
    bool is_last = ++st->n_lanes == e->lanes;
    bool is_slot = st->number[RING_SLOT_BYTES] != 0;
    if (is_last && is_slot)
        m.n_payload += rest;
    add_message(w, st, e, &m);
    if (is_last) {
        w->batch->skipped_bytes += is_slot ? 0 : rest;
        st->n_lanes = 0;
        st->at += e->n;
    }
}

void ring_add_entry(struct pfd_walk *w, struct ring *st,
                    const struct ring_entry *e)
{
    uint64_t n_header = st->number[RING_HEADER];
    st->n_entries++;
    st->n_own++;
    if (e->lanes) {
        add_lane(w, st, e);
        return;
    }
    add_message(w, st, e,
                &(struct message){ st->at, n_header, e->n - n_header });
    st->at += e->n;
}
