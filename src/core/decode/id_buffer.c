/* SPDX-License-Identifier: MIT */
#include "core/decode/id_buffer.h"

#include <string.h>

#include "core/base/escape.h"
#include "core/decode/inspect.h"

enum {
    DWORD = 4,
    HEADER = PFD_ID_HEADER,
    /* Bytes that decide a question about the bytes before them. */
    RANGE_BYTES = 64 * 1024,
    /* Entries that are followed to accept a place. */
    CHAIN_DEPTH = 8,
    /* Spaces that are tried. */
    SPACES_MAX = 1024,
    /* More than this, and so many times the bytes there: an absurd counter. */
    WANTED_MAX = 1 << 26,
    TIMES_MAX = 64,
};

static uint64_t size_of(const struct pfd_string *s)
{
    return HEADER + (uint64_t)s->n_payload;
}

static const struct pfd_string *string_of(const struct pfd_table *table,
                                          uint32_t space, uint32_t id)
{
    return id > PFD_ID_MAX ? NULL
                           : pfd_table_find(table, pfd_id_key(space, id));
}

/* The string of the id at a place whose dword is in view. */
static const struct pfd_string *string_in(const struct pfd_walk *w,
                                          uint32_t space, uint64_t at)
{
    return string_of(w->table, space, pfd_walk_u32(w, at));
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- the space of a buffer ---- */

/* How far entries of a space lead from the first one on. */
static uint64_t reach(const struct pfd_walk *w, const struct pfd_id_buffer *b,
                      uint32_t space)
{
    uint64_t end = least(b->end, pfd_walk_end(w));
    uint64_t limit = least(end, HEADER + RANGE_BYTES);
    uint64_t at = HEADER;
    while (at < limit && end - at >= HEADER) {
        const struct pfd_string *s = string_in(w, space, at);
        if (!s || size_of(s) > b->end - at)
            break;
        at += size_of(s);
    }
    return at;
}

static bool add_space(uint32_t *spaces, size_t *n, uint32_t space)
{
    for (size_t i = 0; i < *n; i++) {
        if (spaces[i] == space)
            return true;
    }
    if (*n == SPACES_MAX)
        return false;
    spaces[(*n)++] = space;
    return true;
}

/* The spaces of the loaded strings, from the lowest on. */
static size_t list_spaces(const struct pfd_table *table, uint32_t *ret)
{
    size_t n = 0;
    bool ok = true;
    for (size_t i = 0; i <= table->mask && ok; i++) {
        const struct pfd_string *s = pfd_table_at(table, i);
        ok = !s || add_space(ret, &n, (uint32_t)(s->key >> PFD_ID_BITS));
    }
    for (size_t i = 1; i < n; i++) {
        for (size_t k = i; k > 0 && ret[k] < ret[k - 1]; k--) {
            uint32_t other = ret[k];
            ret[k] = ret[k - 1];
            ret[k - 1] = other;
        }
    }
    return n;
}

static void choose_space(struct pfd_walk *w, struct pfd_id_buffer *b,
                         const struct pfd_id_buffer_kind *kind)
{
    uint32_t spaces[SPACES_MAX];
    uint64_t best = 0;
    size_t n = kind->chosen ? kind->chosen(w, spaces, SPACES_MAX) : SIZE_MAX;
    if (n == SIZE_MAX)
        n = list_spaces(w->table, spaces);
    for (size_t i = 0; i < n; i++) {
        uint64_t to = reach(w, b, spaces[i]);
        if (to > best)
            b->n_spaces = 0;
        if (to >= best && b->n_spaces <= PFD_ALTERNATIVES_MAX)
            b->spaces[b->n_spaces++] = spaces[i];
        best = to > best ? to : best;
    }
    if (best == HEADER)
        b->n_spaces = n > 0; /* no evidence; no entry is known anyway */
}

/* ---- the header ---- */

static bool is_absurd(const struct pfd_walk *w, const struct pfd_id_buffer *b)
{
    return b->wanted > WANTED_MAX && b->wanted / TIMES_MAX > pfd_walk_end(w);
}

static enum pfd_status begin(struct pfd_walk *w, struct pfd_id_buffer *b,
                             const struct pfd_id_buffer_kind *kind)
{
    uint64_t n = pfd_walk_end(w);
    if (n < HEADER) {
        if (!w->last)
            return PFD_MORE;
        pfd_walk_finding(w, PFD_FINDING_no_header, 0,
                         "%llu bytes, %s begins with a counter of %d",
                         (unsigned long long)n, kind->what, HEADER);
        w->batch->skipped_bytes += n;
        w->at = n;
        return PFD_END;
    }
    b->counter = pfd_walk_u32(w, 0);
    b->wanted = kind->from + (uint64_t)b->counter * kind->unit;
    b->room = b->end = UINT64_MAX;
    if (b->wanted < HEADER)
        b->wanted = HEADER;
    b->end = b->wanted;
    if (!w->last && n < least(b->wanted, HEADER + RANGE_BYTES))
        return PFD_MORE;
    choose_space(w, b, kind);
    if (kind->room && b->n_spaces)
        b->room = kind->room(w, (int)b->spaces[0]);
    if (b->room < HEADER)
        b->room = UINT64_MAX;
    b->end = least(b->wanted, b->room);
    b->is_open = true;
    w->at = HEADER;
    return PFD_OK;
}

/* ---- where the way is lost ---- */

static bool is_zero(const struct pfd_walk *w, uint64_t from, uint64_t to)
{
    for (uint64_t at = from; at + DWORD <= to; at += DWORD) {
        if (pfd_walk_u32(w, at))
            return false;
    }
    return true;
}

/* Is there an entry, followed by known ones up to the limit? Zeros are none:
 * there may be an id 0. */
static bool leads_on(const struct pfd_walk *w, const struct pfd_id_buffer *b,
                     uint64_t at)
{
    uint64_t limit = least(at + RANGE_BYTES, b->end);
    for (unsigned i = 0; i <= CHAIN_DEPTH && at != b->end; i++) {
        if (limit - at < HEADER)
            return i > 0 && limit < b->end;
        const struct pfd_string *s = string_in(w, b->spaces[0], at);
        if (!s)
            return false;
        if (size_of(s) > limit - at)
            return i > 0;
        if (i == 0 && is_zero(w, at, at + size_of(s)))
            return false;
        at += size_of(s);
    }
    return true;
}

static bool sees_enough(const struct pfd_walk *w, const struct pfd_id_buffer *b,
                        uint64_t at)
{
    uint64_t end = pfd_walk_end(w);
    return w->last || at + RANGE_BYTES <= end || b->end <= end;
}

static void report_gap(struct pfd_walk *w, struct pfd_id_buffer *b, uint64_t to)
{
    struct pfd_walk_gap then;
    uint32_t id = b->lost_id;
    const struct pfd_string *s =
        b->n_spaces ? string_of(w->table, b->spaces[0], id) : NULL;
    w->batch->skipped_bytes += to - b->from;
    b->is_none = b->from == HEADER && to == b->end && is_absurd(w, b);
    if (b->is_none)
        return;
    pfd_walk_describe_gap(&then, b->from, to, b->end);
    if (!s) {
        pfd_walk_finding(w, PFD_FINDING_unknown_id, b->from,
                         "no string has id %u, so where its entry ends is not "
                         "known; %s",
                         id, then.text);
        return;
    }
    struct pfd_quoted text;
    pfd_quote(&text, pfd_string_text(s), s->n_text);
    pfd_walk_finding(w, PFD_FINDING_truncated_entry, b->from,
                     "id %u ('%s') takes %llu bytes, only %llu are left; %s",
                     id, text.text, (unsigned long long)size_of(s),
                     (unsigned long long)(b->end - b->from), then.text);
}

static enum pfd_status find_way(struct pfd_walk *w, struct pfd_id_buffer *b)
{
    uint64_t end = b->end;
    while (b->next < end && end - b->next >= HEADER) {
        if (!sees_enough(w, b, b->next)) {
            w->at = b->next;
            return PFD_MORE;
        }
        b->next = pfd_walk_pass(w, b->next, end);
        if (b->n_spaces && leads_on(w, b, b->next))
            break;
        b->next += DWORD;
    }
    if (b->next > end || end - b->next < HEADER)
        b->next = end;
    report_gap(w, b, b->next);
    b->is_lost = false;
    w->at = b->next;
    return PFD_OK;
}

/* ---- entries ---- */

/* Appends the entry's bytes and the texts of its %s. */
static void copy_texts(struct pfd_walk *w, struct pfd_record *r,
                       const struct pfd_id_buffer_kind *kind)
{
    struct pfd_id_argument a = { 0 };
    struct pfd_byte_reader c = w->view;
    pfd_byte_reader_seek(&c, r->offset - w->base);
    const uint8_t *bytes = pfd_byte_reader_bytes(&c, r->n_bytes);
    pfd_walk_copy_add(w, bytes, r->n_bytes);
    while (pfd_id_next_argument(r->string, &a)) {
        uint64_t value = 0;
        size_t n = 0;
        if (!a.is_text)
            continue;
        if (a.size <= 8 && a.at + a.size <= r->n_bytes - HEADER)
            memcpy(&value, bytes + HEADER + a.at, a.size);
        const char *text = kind->text(w->table, r->string, value, &n);
        uint32_t n_text = text && n < PFD_TEXT_MAX ? (uint32_t)n : UINT32_MAX;
        pfd_walk_copy_add(w, &n_text, sizeof n_text);
        if (n_text != UINT32_MAX)
            pfd_walk_copy_add(w, text, n);
    }
    pfd_walk_copy_done(w, r);
    r->layout = 1;
}

static bool prints_text(const struct pfd_string *s)
{
    struct pfd_id_argument a = { 0 };
    bool ret = false;
    while (s->flags & PFD_STRING_CHAR && !ret && pfd_id_next_argument(s, &a))
        ret = a.is_text;
    return ret;
}

static bool is_alike(const struct pfd_string *a, const struct pfd_string *b)
{
    return a->n_text == b->n_text && a->n_payload == b->n_payload &&
           !memcmp(pfd_string_text(a), pfd_string_text(b), a->n_text);
}

/* Adds the readings of the newest entry by spaces that are as likely. */
static void add_others(struct pfd_walk *w, const struct pfd_id_buffer *b,
                       struct pfd_record *r)
{
    for (size_t i = 1; i < b->n_spaces; i++) {
        const struct pfd_string *s = string_in(w, b->spaces[i], r->offset);
        if (!s || is_alike(s, r->string) || size_of(s) > r->n_bytes ||
            prints_text(s) || r->layout)
            continue;
        struct pfd_record other = *r;
        other.string = s;
        other.key = s->key;
        r->findings |= PFD_FINDING_BIT(ambiguous);
        other.findings |= PFD_FINDING_BIT(ambiguous);
        pfd_walk_alternative(w, &other);
    }
}

static void add_entry(struct pfd_walk *w, const struct pfd_id_buffer *b,
                      const struct pfd_string *s,
                      const struct pfd_id_buffer_kind *kind)
{
    struct pfd_record *r = pfd_walk_record(w);
    *r = (struct pfd_record){
        .offset = w->at,
        .string = s,
        .key = s->key,
        .n_bytes = (uint32_t)size_of(s),
        .n_header = HEADER,
        .kind = PFD_RECORD_ENTRY,
    };
    if (s->next)
        r->findings |= PFD_FINDING_BIT(ambiguous);
    if (prints_text(s))
        copy_texts(w, r, kind);
    add_others(w, b, r);
    w->at += size_of(s);
}

/* ---- the end ---- */

static void report_loss(struct pfd_walk *w, const struct pfd_id_buffer *b)
{
    uint64_t room = least(b->room, pfd_walk_end(w));
    if (b->is_none) {
        pfd_walk_finding(w, PFD_FINDING_bad_header, 0,
                         "the counter says that %llu bytes are used, and no "
                         "entry is in the %llu that are here: it is damaged, "
                         "or this is another file",
                         (unsigned long long)b->wanted,
                         (unsigned long long)pfd_walk_end(w));
        return;
    }
    if (b->wanted <= room)
        return;
    pfd_walk_report_overflow(w, "calls asked for", b->wanted, room);
}

static enum pfd_status finish(struct pfd_walk *w, struct pfd_id_buffer *b)
{
    uint64_t left = b->end - w->at;
    if (left && b->end <= pfd_walk_end(w)) {
        pfd_walk_finding(w, PFD_FINDING_stray_dword, w->at,
                         "%llu used bytes are left, no room for an id",
                         (unsigned long long)left);
        w->batch->skipped_bytes += left;
    }
    /* The bytes behind are of an earlier use, and are not read. */
    if (pfd_walk_end(w) > w->at)
        w->at = pfd_walk_end(w);
    b->end = w->at;
    if (!w->last)
        return PFD_MORE;
    report_loss(w, b);
    return PFD_END;
}

/* A call that found no room: its id may be there, and the bytes behind it are
 * older. */
static bool is_cut_call(struct pfd_walk *w, struct pfd_id_buffer *b,
                        const struct pfd_string *s,
                        const struct pfd_id_buffer_kind *kind)
{
    uint64_t n = b->end - w->at;
    if (b->wanted <= b->end || n > RANGE_BYTES || b->end > pfd_walk_end(w))
        return false;
    if (!kind->writes_cut_id) {
        if (!is_zero(w, w->at, b->end))
            return false;
        b->room = w->at; /* the rest was reserved, not written */
        return true;
    }
    if (!s || size_of(s) <= n)
        return false;
    struct pfd_quoted text;
    pfd_quote(&text, pfd_string_text(s), s->n_text);
    pfd_walk_finding(w, PFD_FINDING_truncated_entry, w->at,
                     "the message '%s' found no room: its %u bytes of values "
                     "were not written",
                     text.text, s->n_payload);
    w->batch->skipped_bytes += n;
    return true;
}

static enum pfd_status step(struct pfd_walk *w, struct pfd_id_buffer *b,
                            const struct pfd_id_buffer_kind *kind)
{
    if (w->at >= b->end || b->end - w->at < HEADER)
        return finish(w, b);
    if (!sees_enough(w, b, w->at))
        return PFD_MORE;
    uint64_t next = pfd_walk_pass(w, w->at, b->end);
    if (next > w->at) {
        pfd_walk_report_hole(w, w->at, next);
        w->at = next;
        return PFD_OK;
    }
    const struct pfd_string *s =
        b->n_spaces ? string_in(w, b->spaces[0], w->at) : NULL;
    if (s && size_of(s) <= b->end - w->at) {
        if (w->at + size_of(s) > pfd_walk_end(w))
            return PFD_MORE;
        add_entry(w, b, s, kind);
        return PFD_OK;
    }
    if (is_cut_call(w, b, s, kind)) {
        w->at = b->end;
        return PFD_OK;
    }
    b->is_lost = true;
    b->from = w->at;
    b->lost_id = pfd_walk_u32(w, w->at);
    b->next = w->at + DWORD;
    return PFD_OK;
}

enum pfd_status pfd_id_buffer_walk(struct pfd_walk *w,
                                   const struct pfd_id_buffer_kind *kind)
{
    struct pfd_id_buffer *b = w->state;
    enum pfd_status status = b->is_open ? PFD_OK : begin(w, b, kind);
    if (w->last && b->end > pfd_walk_end(w))
        b->end = pfd_walk_end(w);
    while (status == PFD_OK && pfd_walk_has_room(w))
        status = b->is_lost ? find_way(w, b) : step(w, b, kind);
    return status;
}

/* ---- what a buffer looks like ---- */

int pfd_id_buffer_probe(const struct pfd_byte_reader *first,
                        const struct pfd_id_buffer_kind *kind)
{
    struct pfd_byte_reader c = *first;
    uint32_t counter = pfd_byte_reader_u32(&c);
    uint32_t id = pfd_byte_reader_u32(&c);
    uint64_t wanted = kind->from + (uint64_t)counter * kind->unit;
    bool is_whole = wanted >= HEADER && wanted % DWORD == 0;
    if (!pfd_byte_reader_ok(&c) || !is_whole || wanted == HEADER ||
        id > PFD_ID_MAX)
        return 0;
    return 20;
}

bool pfd_id_buffer_word(const struct pfd_walk *w, uint64_t at,
                        const struct pfd_id_buffer_kind *kind,
                        struct pfd_word *ret)
{
    if (at < HEADER || w->view.n < HEADER)
        return false;
    uint64_t wanted = kind->from + (uint64_t)pfd_walk_u32(w, 0) * kind->unit;
    return at >= wanted && pfd_word_set_unused(ret);
}
