/* SPDX-License-Identifier: MIT */
/*
 * The debugPrintf buffer of the Vulkan validation layer: which layout it has,
 * and the walk over its records.
 */
#include "debugprintf.h"

#include <string.h>

#include "khronos.h"
#include "shaders.h"

#define FINDING(kind) (UINT64_C(1) << PFD_FINDING_##kind)

enum {
    DWORD = 4,
    /* Bytes and records that decide on a layout. */
    CHOICE_BYTES = 1 << 16,
    CHOICE_RECORDS = 256,
    /* Calls that share a format string, looked at for one that fits. */
    SAME_FORMAT_MAX = 64,
    /* Bytes behind a record that the layer's formatter may read. */
    READ_ON_MAX = 1 << 16,
};

struct state {
    const struct debugprintf_shape *shape; /* NULL: not chosen yet */
    uint32_t wanted;                       /* dwords that shaders asked for */
    bool wrapped;                          /* more are stored than that */
    bool closed;
    bool is_lost;
    uint64_t from;        /* where the way was lost */
    uint64_t next;        /* next place to try */
    bool saw_data;        /* on the way there */
    uint32_t bad;         /* the size word that led nowhere */
    uint64_t end_of_last; /* record */
    uint32_t same_size;   /* of all records so far; 0: they differ */
    bool any;
};

struct head {
    uint32_t size; /* dwords */
    uint32_t shader;
    uint32_t position; /* as it stands there */
    uint32_t format;
};

/* ---- records and calls ---- */

static struct head read_head(const struct pfd_walk *w,
                             const struct debugprintf_shape *s, uint64_t at)
{
    return (struct head){
        .size = pfd_walk_u32(w, at),
        .shader = pfd_walk_u32(w, at + DEBUGPRINTF_AT_SHADER * DWORD),
        .position = pfd_walk_u32(w, at + DEBUGPRINTF_AT_POSITION * DWORD),
        .format = pfd_walk_u32(w, at + (uint64_t)s->format * DWORD),
    };
}

/* A record and the calls that it can be of. */
struct match {
    const struct pfd_table *table;
    const struct pfd_shader *shader;
    const struct debugprintf_shape *shape;
    const struct head *head;
    size_t call;
    const struct pfd_string *string;
};

static uint32_t call_offset(const struct pfd_spirv *m, size_t call)
{
    return pfd_spirv_offset(m, pfd_spirv_call_instruction(m, call));
}

/* Do the values of this string have the record's size? */
static bool fits(const struct pfd_string *s,
                 const struct debugprintf_shape *shape, uint32_t size)
{
    uint64_t n = size - shape->header;
    return s->n_payload == n * DWORD || debugprintf_dwords(s, true) == n;
}

/* Takes a call if it has the record's format string. */
static bool try_call(struct match *m, size_t call)
{
    const struct pfd_spirv *module = m->shader->module;
    if (call >= pfd_spirv_call_count(module) ||
        pfd_spirv_call_format(module, call) != m->head->format)
        return false;
    const struct pfd_string *s = pfd_table_find(
        m->table, debugprintf_key(m->shader->id, call_offset(module, call)));
    if (!s)
        return false;
    m->call = call;
    m->string = s;
    return true;
}

static bool try_instruction(struct match *m, uint32_t k)
{
    return k != PFD_SPIRV_NONE &&
           try_call(m, debugprintf_call_at(m->shader->module, k));
}

/*
 * The call of a record by its position, in any of the three numberings that
 * the layout can mean.
 */
static bool match_position(struct match *m)
{
    const struct pfd_spirv *module = m->shader->module;
    uint32_t position = debugprintf_offset_of(m->shape, m->head->position);
    if (m->shape->has_offsets &&
        try_instruction(m, pfd_spirv_by_offset(module, position)))
        return true;
    return m->shape->has_ordinals &&
           (try_instruction(m, pfd_spirv_by_counted(module, position)) ||
            try_instruction(m, position));
}

/* Otherwise the first call of the format string that fits the size; returns
 * finding bits. */
static uint64_t match_format(struct match *m)
{
    const struct pfd_spirv *module = m->shader->module;
    size_t first = pfd_spirv_calls_of(module, m->head->format);
    size_t n = 0;
    struct match best = *m;
    for (; n < SAME_FORMAT_MAX; n++) {
        if (!try_call(m, pfd_spirv_call_ranked(module, first + n)))
            break;
        if (!best.string)
            best = *m;
        if (fits(m->string, m->shape, m->head->size)) {
            if (!fits(best.string, m->shape, m->head->size))
                best = *m;
        }
    }
    *m = best;
    return n > 1 ? FINDING(ambiguous) : 0;
}

static struct match find_match(const struct pfd_walk *w,
                               const struct debugprintf_shape *shape,
                               const struct head *head, uint64_t *findings)
{
    struct match m = { .table = w->table,
                       .shader = pfd_shaders_find(w->shaders, head->shader),
                       .shape = shape,
                       .head = head };
    if (m.shader && !match_position(&m))
        *findings |= match_format(&m);
    return m;
}

/* Is there a record at `at`, beyond doubt: a known shader, one of its format
 * strings, the size that its values take? */
static bool is_lawful(const struct pfd_walk *w,
                      const struct debugprintf_shape *s, uint64_t at,
                      uint64_t end)
{
    uint64_t findings = 0;
    if (end - at < (uint64_t)s->header * DWORD)
        return false;
    struct head h = read_head(w, s, at);
    if (h.size < s->header || h.size > (end - at) / DWORD)
        return false;
    struct match m = find_match(w, s, &h, &findings);
    return m.string && fits(m.string, s, h.size);
}

/* ---- which layout ---- */

struct score {
    unsigned lawful; /* records */
    bool sound;      /* the sizes lead to the end */
};

static struct score score_shape(const struct pfd_walk *w,
                                const struct debugprintf_shape *s)
{
    struct score ret = { 0 };
    uint64_t n = w->view.n / DWORD;
    if (n < s->data || (s->data == 2 && pfd_walk_u32(w, 0) > 1))
        return ret;
    uint64_t wanted = pfd_walk_u32(w, (s->data - 1u) * (uint64_t)DWORD);
    uint64_t at = s->data;
    for (unsigned i = 0; wanted && i < CHOICE_RECORDS; i++) {
        if (at == s->data + wanted || at >= n)
            break;
        uint32_t size = pfd_walk_u32(w, at * DWORD);
        if (size == 0)
            break;
        if (size < s->header || (size > n - at && w->last))
            return ret;
        ret.lawful += is_lawful(w, s, at * DWORD, n * DWORD);
        at += size;
    }
    ret.sound = wanted != 0;
    return ret;
}

static void report_choice(struct pfd_walk *w,
                          const struct debugprintf_shape *chosen,
                          const bool *sound)
{
    char others[64] = "";
    size_t n = 0;
    for (size_t i = 0; i < DEBUGPRINTF_N_SHAPES; i++) {
        if (!sound[i] || !strcmp(debugprintf_shapes[i].name, chosen->name) ||
            strstr(others, debugprintf_shapes[i].name))
            continue;
        memcpy(others + n, ", ", 2);
        memcpy(others + n + 2, debugprintf_shapes[i].name, 3);
        n += 4;
    }
    if (n) {
        pfd_walk_finding(w, PFD_FINDING_format_choice, 0,
                         "read as layout %s, %s %s possible as well: the "
                         "records' shaders would decide, or --layout",
                         chosen->name, others + 2, n > 4 ? "are" : "is");
    }
}

/* The layout whose records are what their shaders say; else one whose sizes
 * lead to the end. */
static const struct debugprintf_shape *choose(struct pfd_walk *w)
{
    enum pfd_printf_layout forced = w->options->printf_layout;
    const struct debugprintf_shape *best = NULL;
    struct score best_score = { 0 };
    bool sound[DEBUGPRINTF_N_SHAPES] = { false };
    for (size_t i = 0; i < DEBUGPRINTF_N_SHAPES; i++) {
        const struct debugprintf_shape *s = &debugprintf_shapes[i];
        if (forced != PFD_PRINTF_LAYOUT_AUTO && s->layout != forced)
            continue;
        struct score score = score_shape(w, s);
        sound[i] = score.sound;
        if (!best || score.lawful > best_score.lawful ||
            (score.sound && !best_score.sound && !best_score.lawful)) {
            best = s;
            best_score = score;
        }
    }
    if (!best_score.lawful && best_score.sound)
        report_choice(w, best, sound);
    return best;
}

static enum pfd_status open_buffer(struct pfd_walk *w, struct state *st)
{
    if (!w->last && w->view.n < CHOICE_BYTES)
        return PFD_MORE;
    if (w->view.n < 2 * DWORD) {
        pfd_walk_finding(w, PFD_FINDING_no_header, 0,
                         "%zu bytes, a buffer's header needs 4 or 8",
                         w->view.n);
        w->batch->skipped_bytes += w->view.n;
        w->at = w->view.n;
        return PFD_END;
    }
    st->shape = choose(w);
    st->wanted = pfd_walk_u32(w, (st->shape->data - 1u) * (uint64_t)DWORD);
    w->at = st->shape->data * (uint64_t)DWORD;
    st->end_of_last = w->at;
    uint32_t flags = pfd_walk_u32(w, 0);
    if (st->shape->data == 2 && flags) {
        pfd_walk_finding(w, PFD_FINDING_reserved, 0,
                         "the flags are 0x%x, expected 0", flags);
    }
    return PFD_OK;
}

/* ---- the walk ---- */

/* The first byte that no record can have, as far as it is known. */
static uint64_t limit_of(const struct pfd_walk *w, const struct state *st)
{
    uint64_t limit = (st->shape->data + (uint64_t)st->wanted) * DWORD;
    if (w->last) {
        uint64_t end = pfd_walk_end(w) / DWORD * DWORD;
        return st->wrapped || end < limit ? end : limit;
    }
    return st->wrapped ? UINT64_MAX : limit;
}

/* Bytes behind the record that the layer would read, too. */
static uint64_t reads_on(const struct pfd_walk *w, const struct head *h,
                         const struct match *m)
{
    size_t n = 0;
    const char *text =
        m->shader ? pfd_spirv_string(m->shader->module, h->format, &n) : NULL;
    if (w->options->compat != PFD_COMPAT_KHRONOS || !text)
        return 0;
    uint64_t reads = pfd_khronos_reads(text, n);
    uint64_t has = ((uint64_t)h->size - m->shape->header) * DWORD;
    uint64_t more = reads > has ? reads - has : 0;
    return more < READ_ON_MAX ? more : READ_ON_MAX;
}

/* How the record departs from its call, as finding and layout. */
static void compare_sizes(struct pfd_record *r, const struct match *m)
{
    const struct pfd_string *s = r->string;
    uint64_t n = (r->n_bytes - r->n_header) / DWORD;
    if (s->n_payload == n * DWORD)
        return;
    if (debugprintf_dwords(s, true) == n) {
        r->layout = DEBUGPRINTF_NO_16;
        return;
    }
    r->layout = DEBUGPRINTF_CUT;
    if (s->n_payload < n * DWORD)
        r->findings |= FINDING(payload_long);
}

/* Copies a record with the bytes behind it. */
static void copy_on(struct pfd_walk *w, struct pfd_record *r, uint64_t more)
{
    uint64_t left = pfd_walk_end(w) - r->offset;
    uint64_t n = r->n_bytes + more < left ? r->n_bytes + more : left;
    struct pfd_cursor c = w->view;
    pfd_cursor_seek(&c, r->offset - w->base);
    const uint8_t *bytes = pfd_cursor_bytes(&c, (size_t)n);
    if (!bytes)
        return;
    pfd_walk_copy_add(w, bytes, (size_t)n);
    pfd_walk_copy_done(w, r);
}

/* Adds the record at w->at; n_bytes of it are there. */
static void add_record(struct pfd_walk *w, struct state *st,
                       const struct head *h, const struct match *m,
                       uint64_t n_bytes, uint64_t findings)
{
    const struct debugprintf_shape *s = st->shape;
    struct pfd_record *r = pfd_walk_record(w);
    *r = (struct pfd_record){
        .offset = w->at,
        .string = m->string,
        .key =
            debugprintf_key(h->shader, debugprintf_offset_of(s, h->position)),
        .findings = findings,
        .n_bytes = (uint32_t)n_bytes,
        .n_header = (uint8_t)(s->header * DWORD),
        .flags = s->flag,
        .kind = PFD_RECORD_ENTRY,
    };
    size_t n = 0;
    bool has_text =
        m->shader && pfd_spirv_string(m->shader->module, h->format, &n);
    if (m->string && m->shader) {
        r->key =
            debugprintf_key(h->shader, call_offset(m->shader->module, m->call));
        compare_sizes(r, m);
    } else if (has_text) {
        r->flags |= PFD_RECORD_MADE;
        r->findings |= FINDING(types_guessed);
    } else {
        r->findings |= FINDING(unknown_id);
    }
    if (w->options->compat == PFD_COMPAT_KHRONOS && m->shader) {
        r->flags |= PFD_RECORD_MADE;
        r->layout = m->string ? r->layout : 0;
        uint64_t more = reads_on(w, h, m);
        if (more)
            copy_on(w, r, more);
    }
    if (!st->any) {
        st->same_size = h->size;
    } else if (st->same_size != h->size) {
        st->same_size = 0;
    }
    st->any = true;
    w->at += n_bytes;
    st->end_of_last = w->at;
}

static void lose_way(const struct pfd_walk *w, struct state *st, uint32_t size)
{
    st->is_lost = true;
    st->from = w->at;
    st->next = w->at + DWORD;
    st->bad = size;
    st->saw_data = size != 0;
}

/* Says what was found where no record was; to: where one is again. */
static void report_gap(struct pfd_walk *w, struct state *st, uint64_t to,
                       bool found)
{
    struct pfd_walk_gap gap;
    if (!st->saw_data && !found)
        return; /* the zeros behind the last record */
    w->batch->skipped_bytes += to - st->from;
    pfd_walk_describe_gap(&gap, st->from, to, found ? UINT64_MAX : to);
    if (!st->bad) {
        pfd_walk_finding(w, PFD_FINDING_unwritten, st->from,
                         "a record of size 0, not written yet or lost; %s",
                         gap.text);
    } else if (st->bad < st->shape->header) {
        pfd_walk_finding(w, PFD_FINDING_bad_size, st->from,
                         "a record of %u dwords, at least %u expected; %s",
                         st->bad, st->shape->header, gap.text);
    } else {
        pfd_walk_finding(w, PFD_FINDING_size_past_end, st->from,
                         "a record of %u dwords runs over the end; %s", st->bad,
                         gap.text);
    }
    st->end_of_last = to;
}

/* Looks for the next record beyond doubt. */
static enum pfd_status find_way(struct pfd_walk *w, struct state *st)
{
    uint64_t limit = limit_of(w, st);
    uint64_t end = pfd_walk_end(w);
    uint64_t at = st->next;
    uint64_t header = st->shape->header * (uint64_t)DWORD;
    for (; at < limit && limit - at >= header; at += DWORD) {
        if (at + header > end)
            break;
        uint32_t size = pfd_walk_u32(w, at);
        st->saw_data |= size != 0;
        if (size < st->shape->header || size > (limit - at) / DWORD)
            continue;
        if (at + (uint64_t)size * DWORD > end && !w->last)
            break;
        if (is_lawful(w, st->shape, at, limit < end ? limit : end))
            break;
    }
    bool at_end = at >= limit || limit - at < header;
    if (!at_end && at + header > end && !w->last) {
        st->next = at;
        w->at = at;
        return PFD_MORE;
    }
    if (!at_end && !w->last && at + header <= end &&
        at + (uint64_t)pfd_walk_u32(w, at) * DWORD > end &&
        pfd_walk_u32(w, at)) {
        st->next = at;
        w->at = at;
        return PFD_MORE;
    }
    bool found = !at_end && at + header <= end;
    if (!found)
        at = limit < end ? limit : end / DWORD * DWORD;
    st->is_lost = false;
    report_gap(w, st, at, found);
    w->at = at;
    return PFD_OK;
}

/* What was lost, and how large a buffer would have had to be. */
static void report_loss(struct pfd_walk *w, const struct state *st)
{
    const struct debugprintf_shape *s = st->shape;
    uint64_t stored = st->end_of_last / DWORD - s->data;
    uint64_t wanted = st->wanted;
    if (wanted == stored)
        return;
    if (stored > wanted) {
        pfd_walk_finding(
            w, PFD_FINDING_overflow, (s->data - 1u) * (uint64_t)DWORD,
            "the count says %u dwords and %llu are stored: it "
            "wrapped at 2^32, so at least %llu dwords are lost",
            st->wanted, (unsigned long long)stored,
            (unsigned long long)((UINT64_C(1) << 32) + wanted - stored));
        w->batch->lost_bytes += ((UINT64_C(1) << 32) + wanted - stored) * DWORD;
        return;
    }
    uint64_t lost = wanted - stored;
    uint64_t n_lost = st->same_size ? lost / st->same_size : 0;
    bool exact = n_lost && n_lost * st->same_size == lost;
    w->batch->lost_bytes += lost * DWORD;
    if (exact) {
        pfd_walk_finding(
            w, PFD_FINDING_overflow, st->end_of_last,
            "shaders wrote %llu dwords, %llu are stored: %llu dwords (%llu "
            "bytes) lost, which are %llu records if all have %u dwords; a "
            "buffer of %llu bytes would have held everything",
            (unsigned long long)wanted, (unsigned long long)stored,
            (unsigned long long)lost, (unsigned long long)lost * DWORD,
            (unsigned long long)n_lost, st->same_size,
            ((unsigned long long)wanted + s->data) * DWORD);
    } else {
        pfd_walk_finding(
            w, PFD_FINDING_overflow, st->end_of_last,
            "shaders wrote %llu dwords, %llu are stored: %llu dwords (%llu "
            "bytes) lost; a buffer of %llu bytes would have held everything",
            (unsigned long long)wanted, (unsigned long long)stored,
            (unsigned long long)lost, (unsigned long long)lost * DWORD,
            ((unsigned long long)wanted + s->data) * DWORD);
    }
}

static enum pfd_status finish(struct pfd_walk *w, struct state *st)
{
    uint64_t end = pfd_walk_end(w);
    if (!w->last) {
        if (end > w->at)
            w->at = end;
        return PFD_MORE;
    }
    if (!st->closed) {
        st->closed = true;
        if (end % DWORD) {
            pfd_walk_finding(w, PFD_FINDING_odd_size, end / DWORD * DWORD,
                             "the buffer ends in %u bytes that are no whole "
                             "dword",
                             (unsigned)(end % DWORD));
        }
        report_loss(w, st);
    }
    w->at = end;
    return PFD_END;
}

/* A record that the buffer's end cuts: since SDK 1.4.350 shaders may write
 * one dword too far, and a dump can be shorter than its buffer. */
static bool add_cut(struct pfd_walk *w, struct state *st, const struct head *h,
                    uint64_t left)
{
    uint64_t findings = FINDING(truncated_entry);
    if (!w->last || left < st->shape->header * (uint64_t)DWORD)
        return false;
    struct match m = find_match(w, st->shape, h, &findings);
    if (!m.string || !fits(m.string, st->shape, h->size))
        return false;
    add_record(w, st, h, &m, left, findings);
    return true;
}

static enum pfd_status step(struct pfd_walk *w, struct state *st)
{
    const struct debugprintf_shape *s = st->shape;
    uint64_t limit = limit_of(w, st);
    uint64_t end = pfd_walk_end(w);
    uint64_t header = s->header * (uint64_t)DWORD;
    if (w->at >= limit) {
        uint64_t whole = end / DWORD * DWORD;
        if (w->last && !st->wrapped && w->at < whole && st->any &&
            is_lawful(w, s, w->at, whole)) {
            st->wrapped = true; /* more than the count says */
            return PFD_OK;
        }
        return finish(w, st);
    }
    if (end - w->at < header) {
        if (!w->last)
            return PFD_MORE;
        if (end - w->at < DWORD)
            return finish(w, st);
        lose_way(w, st, pfd_walk_u32(w, w->at));
        return PFD_OK;
    }
    struct head h = read_head(w, s, w->at);
    uint64_t n_bytes = (uint64_t)h.size * DWORD;
    if (h.size < s->header || n_bytes > limit - w->at) {
        if (h.size < s->header || !add_cut(w, st, &h, limit - w->at))
            lose_way(w, st, h.size);
        return PFD_OK;
    }
    uint64_t findings = 0;
    struct match m = find_match(w, s, &h, &findings);
    uint64_t more = reads_on(w, &h, &m);
    if (n_bytes + more > end - w->at && !w->last)
        return PFD_MORE;
    add_record(w, st, &h, &m, n_bytes, findings);
    return PFD_OK;
}

static enum pfd_status debugprintf_walk(struct pfd_walk *w)
{
    struct state *st = w->state;
    if (!st->shape) {
        enum pfd_status status = open_buffer(w, st);
        if (status != PFD_OK)
            return status;
    }
    while (pfd_walk_has_room(w)) {
        enum pfd_status status = st->is_lost ? find_way(w, st) : step(w, st);
        if (status != PFD_OK)
            return status;
    }
    return PFD_OK;
}

/* ---- the format ---- */

static int debugprintf_probe(const struct pfd_cursor *first, uint64_t n_buffer)
{
    struct pfd_cursor c = *first;
    uint32_t w[4];
    for (size_t i = 0; i < 4; i++)
        w[i] = pfd_cursor_u32(&c);
    if (!pfd_cursor_ok(&c))
        return 0;
    bool fits_one = w[0] >= w[1] && w[1] >= 4 && w[1] < 4096;
    bool fits_two = !w[0] && w[1] >= w[2] && w[2] >= 4 && w[2] < 4096;
    if (fits_one || fits_two)
        return w[0] == w[1] || w[1] == w[2] ? 55 : 50;
    return 15;
}

static const char *const header_words[] = {
    "the number of dwords shaders asked for, or flags and then that number",
};

static const char *const entry_words[] = {
    "record: its size in dwords",
    "shader id",
    "instruction position (and stage)",
};

const struct pfd_format pfd_format_debugprintf = {
    .info = {
        .name = "debugprintf",
        .title = "debugPrintf of the Vulkan validation layer",
        .header_words = header_words,
        .n_header_words = sizeof header_words / sizeof *header_words,
        .entry_words = entry_words,
        .n_entry_words = sizeof entry_words / sizeof *entry_words,
    },
    .state_size = sizeof(struct state),
    .strings = { "debugprintf", 8, false, debugprintf_adapt,
                 debugprintf_layout },
    .reads_shaders = true,
    .shader = debugprintf_shader,
    .probe = debugprintf_probe,
    .walk = debugprintf_walk,
    .slots = debugprintf_slots,
    .make = debugprintf_make,
    .origin = debugprintf_origin,
};
