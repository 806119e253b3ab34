/* SPDX-License-Identifier: MIT */
/* The debugPrintf buffer of the Vulkan validation layer: the walk over its
 * records. */
#include <string.h>

#include "core/decode/inspect.h"
#include "core/decode/validation_chain.h"
#include "core/spirv/khronos.h"
#include "core/spirv/shader_table.h"
#include "layout.h"

enum {
    DWORD = 4,
    READ_ON_MAX = DEBUGPRINTF_READ_ON_MAX,
};

struct state {
    struct debugprintf_detection evidence; /* shape NULL: not decided yet */
    struct pfd_validation_chain validation_chain;
};

static const struct debugprintf_shape *shape_of(const struct state *st)
{
    return st->evidence.shape;
}

/* Does the visible part fit a record of a call of its shader? */
static bool is_sound(struct pfd_walk *w, struct state *st,
                     const struct debugprintf_head *h)
{
    uint64_t left = pfd_walk_end(w) / DWORD * DWORD - h->at;
    uint64_t n = (uint64_t)h->size * DWORD;
    return h->size >= shape_of(st)->header &&
           h->size <= DEBUGPRINTF_RECORD_MAX &&
           debugprintf_is_sound(w, &st->evidence, h, n < left ? n : left);
}

static uint32_t record_at(struct pfd_walk *w, uint64_t at)
{
    struct state *st = w->state;
    struct debugprintf_head h = debugprintf_head_at(w, shape_of(st), at);
    return is_sound(w, st, &h) ? h.size : 0;
}

/* ---- opening ---- */

static void report_layouts(struct pfd_walk *w,
                           const struct debugprintf_detection *e)
{
    char others[64] = "";
    size_t n = 0;
    for (size_t i = 0; i < e->n_others; i++) {
        memcpy(others + n, ", ", 2);
        memcpy(others + n + 2, e->others[i], 3);
        n += 4;
    }
    if (n) {
        pfd_walk_finding(w, PFD_FINDING_format_choice, 0,
                         "read as layout %s, %s %s possible as well: the "
                         "records' shaders would decide, or --layout",
                         e->shape->name, others + 2, n > 4 ? "are" : "is");
    }
}

static enum pfd_status open_buffer(struct pfd_walk *w, struct state *st)
{
    if (!w->last && w->view.n < DEBUGPRINTF_EVIDENCE_BYTES)
        return PFD_MORE;
    if (!pfd_validation_chain_has_header(w))
        return PFD_END;
    debugprintf_decide(w, &st->evidence);
    const struct debugprintf_shape *s = shape_of(st);
    st->validation_chain = (struct pfd_validation_chain){
        .data = s->data,
        .wanted = pfd_walk_u32(w, (s->data - 1u) * (uint64_t)DWORD),
        .header = s->header,
        .is_printf = true,
        .record_at = record_at,
    };
    pfd_validation_chain_open(&st->validation_chain, w);
    if (!st->evidence.n_bounds &&
        !pfd_validation_chain_is_likely(&st->validation_chain))
        return PFD_OK; /* no such buffer, which is told at the end */
    report_layouts(w, &st->evidence);
    uint32_t flags = pfd_walk_u32(w, 0);
    if (s->data == 2 && flags) {
        pfd_walk_finding(w, PFD_FINDING_reserved, 0,
                         "the flags are 0x%x, expected 0", flags);
    }
    return PFD_OK;
}

/* ---- records ---- */

/* Reports the decision about a shader's module, once. */
static void report_bound(struct pfd_walk *w, struct debugprintf_bound *b,
                         uint64_t at)
{
    const char *source = b->n ? b->readings[0].shader->source : "";
    const char *more = b->n > 1 ? " or another one" : "";
    bool was_told = b->is_told;
    b->is_told = true;
    if (was_told || b->trust == DEBUGPRINTF_UNTOLD || b->is_late)
        return;
    if (b->trust == DEBUGPRINTF_WRONG && b->is_loose && !b->sound) {
        pfd_walk_finding(w, PFD_FINDING_wrong_module, at,
                         "no loaded module is that of shader %u: none of its "
                         "%u records here is of their calls",
                         b->id, b->n_records);
    } else if (b->trust == DEBUGPRINTF_WRONG) {
        pfd_walk_finding(w, PFD_FINDING_wrong_module, at,
                         "'%s' is not the module of shader %u: %u of %u "
                         "records here are of its calls",
                         source, b->id, b->sound, b->n_records);
    } else if (b->trust == DEBUGPRINTF_DOUBTED) {
        pfd_walk_finding(w, PFD_FINDING_wrong_module, at,
                         "'%s'%s may not be the module of shader %u: %u of %u "
                         "records here are of its calls",
                         source, more, b->id, b->sound, b->n_records);
    } else if (b->is_loose) {
        pfd_walk_finding(w, PFD_FINDING_module_choice, at,
                         "shader %u is '%s'%s: %u of %u records here are of "
                         "its calls",
                         b->id, source, more, b->sound, b->n_records);
    }
}

/* Finds the calls that a record may belong to, the likeliest first; returns
 * their number. */
static size_t find_calls(const struct pfd_walk *w, const struct state *st,
                         const struct debugprintf_head *h,
                         const struct debugprintf_bound *b, uint64_t left,
                         const struct pfd_string **ret)
{
    size_t n = 0;
    if (b->trust < DEBUGPRINTF_DOUBTED)
        return 0;
    for (size_t i = 0; i < b->n; i++) {
        const struct pfd_string *s =
            debugprintf_call_of(w, shape_of(st), h, &b->readings[i], left);
        bool is_new = s != NULL;
        for (size_t k = 0; k < n; k++)
            is_new &= ret[k] != s;
        if (is_new)
            ret[n++] = s;
    }
    return n;
}

/* Bytes after the record that the layer would read as well. */
static uint64_t reads_on(const struct pfd_walk *w, const struct state *st,
                         const struct debugprintf_head *h,
                         const struct pfd_string *s)
{
    if (w->options->compat != PFD_COMPAT_KHRONOS || !s)
        return 0;
    uint64_t reads = pfd_khronos_reads(pfd_string_text(s), s->n_text);
    uint64_t has = ((uint64_t)h->size - shape_of(st)->header) * DWORD;
    uint64_t more = reads > has ? reads - has : 0;
    return more < READ_ON_MAX ? more : READ_ON_MAX;
}

/* Copies a record together with the bytes after it. */
static void copy_on(struct pfd_walk *w, struct pfd_record *r, uint64_t more)
{
    uint64_t left = pfd_walk_end(w) - r->offset;
    uint64_t n = r->n_bytes + more < left ? r->n_bytes + more : left;
    struct pfd_byte_reader c = w->view;
    pfd_byte_reader_seek(&c, r->offset - w->base);
    const uint8_t *bytes = pfd_byte_reader_bytes(&c, (size_t)n);
    if (!bytes)
        return;
    pfd_walk_copy_add(w, bytes, (size_t)n);
    pfd_walk_copy_done(w, r);
}

/* The finding for unsigned values that a signed conversion prints as
 * negative. */
static uint64_t find_minus(const struct pfd_walk *w, const struct pfd_record *r)
{
    struct pfd_byte_reader c = w->view;
    pfd_byte_reader_seek(&c, r->offset - w->base + r->n_header);
    struct pfd_byte_reader values =
        pfd_byte_reader_sub(&c, r->n_bytes - r->n_header);
    bool no_16 = r->layout & DEBUGPRINTF_NO_16;
    return debugprintf_shows_minus(r->string, no_16, &values)
               ? PFD_FINDING_BIT(type_mismatch)
               : 0;
}

/* Sets the record's call; string NULL: the call is unknown. */
static void set_call(const struct pfd_walk *w, const struct state *st,
                     const struct debugprintf_head *h,
                     const struct pfd_string *string, struct pfd_record *r)
{
    const struct debugprintf_shape *s = shape_of(st);
    uint32_t offset = debugprintf_offset_of(s, h->position);
    r->string = string;
    r->layout = 0;
    if (string) {
        offset = (uint32_t)string->key;
        r->layout |= debugprintf_dwords(string, false) != h->size - s->header
                         ? DEBUGPRINTF_NO_16
                         : 0;
        r->layout |=
            r->n_bytes < (uint64_t)h->size * DWORD ? DEBUGPRINTF_CUT : 0;
        r->findings &= ~PFD_FINDING_BIT(type_mismatch);
        if (w->options->compat == PFD_COMPAT_KHRONOS) {
            r->flags |= PFD_RECORD_SYNTHESIZED;
        } else {
            r->findings |= find_minus(w, r);
        }
    }
    r->key = debugprintf_key(h->shader, offset);
}

/* The findings for a record with this number of readings. */
static uint64_t findings_of(const struct debugprintf_bound *b, size_t n_calls)
{
    uint64_t ret = n_calls > 1 ? PFD_FINDING_BIT(ambiguous) : 0;
    if (b->trust == DEBUGPRINTF_UNTOLD)
        return PFD_FINDING_BIT(unknown_id);
    if (!n_calls || b->trust == DEBUGPRINTF_DOUBTED)
        ret |= PFD_FINDING_BIT(wrong_module);
    return ret;
}

/* Adds the record at w->at, of which n_bytes are present. */
static void add_record(struct pfd_walk *w, struct state *st,
                       const struct debugprintf_head *h, uint64_t n_bytes,
                       uint64_t findings)
{
    const struct pfd_string *calls[DEBUGPRINTF_READINGS_MAX] = { NULL };
    struct debugprintf_bound *b = debugprintf_bound_of(w, &st->evidence, h);
    report_bound(w, b, h->at);
    size_t n = find_calls(w, st, h, b, n_bytes, calls);
    struct pfd_record *r = pfd_walk_record(w);
    *r = (struct pfd_record){
        .offset = h->at,
        .findings = findings | findings_of(b, n),
        .n_bytes = (uint32_t)n_bytes,
        .n_header = (uint8_t)(shape_of(st)->header * DWORD),
        .flags = shape_of(st)->flag,
        .kind = PFD_RECORD_ENTRY,
    };
    set_call(w, st, h, calls[0], r);
    uint64_t more = reads_on(w, st, h, calls[0]);
    if (more)
        copy_on(w, r, more);
    struct pfd_record other = *r;
    other.flags &= (uint8_t)~PFD_RECORD_COPIED; /* it uses the entry's bytes */
    for (size_t i = 1; i < n; i++) {
        set_call(w, st, h, calls[i], &other);
        pfd_walk_alternative(w, &other);
    }
    pfd_validation_chain_pass(&st->validation_chain, w, h->size, n_bytes);
}

/* ---- the walk ---- */

/* Is the record followed by another record or by zeros? */
static bool leads_on(const struct pfd_walk *w, const struct state *st,
                     uint64_t at)
{
    uint64_t left = pfd_walk_end(w) / DWORD * DWORD - at;
    if (left < shape_of(st)->header * (uint64_t)DWORD)
        return true;
    struct debugprintf_head h = debugprintf_head_at(w, shape_of(st), at);
    return h.size == 0 ||
           (h.size >= shape_of(st)->header && h.size <= left / DWORD &&
            debugprintf_is_plausible(w, shape_of(st), &h));
}

/* Is a whole record beyond the count to be believed? The count wraps at 2^32,
 * and may be damaged. */
static bool is_credible(struct pfd_walk *w, struct state *st,
                        const struct debugprintf_head *h)
{
    return is_sound(w, st, h) ||
           (debugprintf_is_plausible(w, shape_of(st), h) &&
            leads_on(w, st, h->at + (uint64_t)h->size * DWORD));
}

/* Does a record of no known call contain other records? Then its size is
 * damaged. */
static bool hides_records(struct pfd_walk *w, struct state *st,
                          const struct debugprintf_head *h)
{
    uint64_t end = h->at + (uint64_t)h->size * DWORD;
    uint64_t header = shape_of(st)->header * (uint64_t)DWORD;
    if (!w->shader_table->n || is_sound(w, st, h))
        return false;
    for (uint64_t at = h->at + DWORD; at + header <= end; at += DWORD) {
        struct debugprintf_head inner =
            debugprintf_head_at(w, shape_of(st), at);
        if (inner.size <= (end - at) / DWORD && is_sound(w, st, &inner))
            return true;
    }
    return false;
}

/* Takes a record that the buffer's end cuts: since SDK 1.4.350 shaders may
 * write one dword too far, and a dump may be shorter than its buffer. */
static enum pfd_status take_cut(struct pfd_walk *w, struct state *st,
                                const struct debugprintf_head *h)
{
    uint64_t left = pfd_walk_end(w) / DWORD * DWORD - h->at;
    if (!is_sound(w, st, h)) {
        return pfd_validation_chain_lose(&st->validation_chain, w, h->size,
                                         PFD_VALIDATION_CHAIN_PAST_END);
    }
    add_record(w, st, h, left, PFD_FINDING_BIT(truncated_entry));
    return PFD_OK;
}

/* The kind of error of a size that no record can have. */
static enum pfd_validation_chain_break why_bad(const struct state *st,
                                               uint32_t size)
{
    return size == 0                     ? PFD_VALIDATION_CHAIN_ZERO
           : size < shape_of(st)->header ? PFD_VALIDATION_CHAIN_BAD_SIZE
                                         : PFD_VALIDATION_CHAIN_PAST_END;
}

static enum pfd_status step(struct pfd_walk *w, struct state *st)
{
    uint64_t left = pfd_walk_end(w) - w->at;
    if (left < shape_of(st)->header * (uint64_t)DWORD)
        return pfd_validation_chain_end(&st->validation_chain, w);
    struct debugprintf_head h = debugprintf_head_at(w, shape_of(st), w->at);
    uint64_t n = (uint64_t)h.size * DWORD;
    if (h.size < shape_of(st)->header || h.size > DEBUGPRINTF_RECORD_MAX) {
        return pfd_validation_chain_lose(&st->validation_chain, w, h.size,
                                         why_bad(st, h.size));
    }
    /* The layer reads beyond the record, and the bytes after it help to
     * decide. */
    if (n + READ_ON_MAX > left && !w->last)
        return PFD_MORE;
    if (n > left)
        return take_cut(w, st, &h);
    if (w->at + n > pfd_validation_chain_limit(&st->validation_chain) &&
        !is_credible(w, st, &h)) {
        return pfd_validation_chain_lose(&st->validation_chain, w, h.size,
                                         PFD_VALIDATION_CHAIN_PAST_END);
    }
    if (hides_records(w, st, &h)) {
        return pfd_validation_chain_lose(&st->validation_chain, w, h.size,
                                         PFD_VALIDATION_CHAIN_HIDING);
    }
    add_record(w, st, &h, n, 0);
    return PFD_OK;
}

static enum pfd_status debugprintf_walk(struct pfd_walk *w)
{
    struct state *st = w->state;
    if (!shape_of(st)) {
        enum pfd_status status = open_buffer(w, st);
        if (status != PFD_OK)
            return status;
    }
    while (pfd_walk_has_room(w)) {
        enum pfd_status status =
            st->validation_chain.is_lost
                ? pfd_validation_chain_find(&st->validation_chain, w)
                : step(w, st);
        if (status != PFD_OK)
            return status;
    }
    return PFD_OK;
}

/* ---- the format ---- */

static bool debugprintf_buffer_word(const struct pfd_walk *w, uint64_t at,
                                    struct pfd_word *ret)
{
    const struct state *st = w->state;
    return pfd_validation_chain_word(&st->validation_chain, at, ret);
}

static const char *const origin_names[] = {
    "shader", "module", "stage", "position", "instruction", PFD_KHRONOS_ORIGINS,
    NULL,
};

static const char *const layout_words[] = {
    "auto", "p1", "p2", "p3", "p4", "p5", "p6",
};

static const struct pfd_format_option layout_option = {
    .info = {
        .name = "layout",
        .value = "NAME",
        .words = layout_words,
        .n_words = sizeof layout_words / sizeof *layout_words,
        .help = "of debugprintf buffers: auto (default), p1 to p6",
    },
    .member = offsetof(struct pfd_options, printf_layout),
};

static const struct pfd_format_option *const options[] = {
    &layout_option,
    &pfd_option_compat,
    NULL,
};

const struct pfd_format pfd_format_debugprintf = {
    .info = {
        .name = "debugprintf",
        .title = "debugPrintf of the Vulkan validation layer",
    },
    .options = options,
    .state_size = sizeof(struct state),
    .strings = { .name = "debugprintf",
                 .adapt = debugprintf_adapt,
                 .layout = debugprintf_layout },
    .reads_shaders = true,
    .shader = debugprintf_shader,
    .probe = debugprintf_probe,
    .walk = debugprintf_walk,
    .is_record = debugprintf_is_record,
    .slots = debugprintf_slots,
    .make = debugprintf_make,
    .origins = { .list = debugprintf_origin, .names = origin_names },
    .buffer_word = debugprintf_buffer_word,
    .find = debugprintf_find,
    .entry_word = debugprintf_entry_word,
};
