/* SPDX-License-Identifier: MIT */
/*
 * Makes strings of the debugPrintf calls of a shader. The types of operands say
 * how values are stored and what they are; conversions only say how to print
 * them.
 *
 * Layout words of a string: the number of operands and the kinds of types among
 * them, then a byte for each operand: its type, and its number of components
 * less one in the upper half.
 */
#include <string.h>

#include "core/spirv/module_texts.h"
#include "core/spirv/shader_table.h"
#include "layout.h"

enum type {
    TYPE_OTHER, /* the layer skips the call */
    TYPE_BOOL,
    TYPE_I8,
    TYPE_U8,
    TYPE_I16,
    TYPE_U16,
    TYPE_I32,
    TYPE_U32,
    TYPE_I64,
    TYPE_U64,
    TYPE_F16, /* written as binary32 */
    TYPE_F32,
    TYPE_F64,
    TYPE_POINTER,
};

enum {
    OPERANDS_MAX = 8 * (PFD_LAYOUT_MAX - 1),
};

/* Bits of the first layout word. */
#define HAS_MASKED  (UINT64_C(1) << 32) /* types that masks name */
#define HAS_NARROW  (UINT64_C(1) << 33) /* types that do not use all bits */
#define HAS_POINTER (UINT64_C(1) << 34)
#define HAS_OTHER   (UINT64_C(1) << 35)
/* Types whose values a signed conversion may print as negative. */
#define HAS_UNSIGNED (UINT64_C(1) << 36)

struct operand {
    enum type type;
    unsigned n; /* components */
};

/* ---- types ---- */

static bool is_wide(enum type t)
{
    return t == TYPE_I64 || t == TYPE_U64 || t == TYPE_F64 || t == TYPE_POINTER;
}

static bool is_float(enum type t)
{
    return t == TYPE_F16 || t == TYPE_F32 || t == TYPE_F64;
}

static bool is_signed(enum type t)
{
    return t == TYPE_I8 || t == TYPE_I16 || t == TYPE_I32 || t == TYPE_I64;
}

static enum pfd_store store_of(enum type t)
{
    if (is_wide(t))
        return PFD_STORE_QWORD;
    /* Signed values are zero-extended. */
    return t == TYPE_I8    ? PFD_STORE_BYTE32
           : t == TYPE_I16 ? PFD_STORE_WORD32
                           : PFD_STORE_DWORD;
}

static unsigned dwords_of(enum type t, bool no_16)
{
    if (t == TYPE_OTHER || (no_16 && (t == TYPE_I16 || t == TYPE_U16)))
        return 0;
    return is_wide(t) ? 2 : 1;
}

static enum type integer_type(const struct pfd_spirv_type *t)
{
    bool minus = t->kind == PFD_SPIRV_INT;
    switch (t->width) {
    case 8:
        return minus ? TYPE_I8 : TYPE_U8;
    case 16:
        return minus ? TYPE_I16 : TYPE_U16;
    case 32:
        return minus ? TYPE_I32 : TYPE_U32;
    case 64:
        return minus ? TYPE_I64 : TYPE_U64;
    default:
        return TYPE_OTHER;
    }
}

static enum type type_of(const struct pfd_spirv_type *t)
{
    if (t->n > 16)
        return TYPE_OTHER;
    switch ((enum pfd_spirv_kind)t->kind) {
    case PFD_SPIRV_BOOL:
        return TYPE_BOOL;
    case PFD_SPIRV_POINTER:
        return TYPE_POINTER;
    case PFD_SPIRV_FLOAT:
        return t->width == 16   ? TYPE_F16
               : t->width == 32 ? TYPE_F32
               : t->width == 64 ? TYPE_F64
                                : TYPE_OTHER;
    case PFD_SPIRV_INT:
    case PFD_SPIRV_UINT:
        return integer_type(t);
    case PFD_SPIRV_OTHER:
        break;
    }
    return TYPE_OTHER;
}

/* ---- layout words ---- */

static size_t n_operands(const uint64_t *words, size_t n_words)
{
    return n_words ? (uint32_t)words[0] : 0;
}

static struct operand operand_at(const uint64_t *words, size_t i)
{
    unsigned byte = words[1 + i / 8] >> (i % 8 * 8) & 0xff;
    return (struct operand){ (enum type)(byte & 15), (byte >> 4) + 1 };
}

uint64_t debugprintf_dwords(const struct pfd_string *s, bool no_16)
{
    const uint64_t *words = pfd_string_layout(s);
    uint64_t n = 0;
    if (words[0] & HAS_OTHER)
        return UINT64_MAX;
    for (size_t i = 0; i < n_operands(words, s->n_layout); i++) {
        struct operand o = operand_at(words, i);
        n += (uint64_t)o.n * dwords_of(o.type, no_16);
    }
    return n;
}

/* Bits of the first layout word for an operand of this type. */
static uint64_t facts_of(enum type t)
{
    switch (t) {
    case TYPE_OTHER:
        return HAS_OTHER;
    case TYPE_BOOL:
    case TYPE_U8:
    case TYPE_U16:
    case TYPE_F16:
        return HAS_NARROW;
    case TYPE_I8:
    case TYPE_I16:
        return HAS_NARROW | HAS_MASKED;
    case TYPE_F64:
        return HAS_MASKED;
    case TYPE_POINTER:
        return HAS_POINTER;
    case TYPE_U32:
    case TYPE_U64:
        return HAS_UNSIGNED;
    case TYPE_I32:
    case TYPE_I64:
    case TYPE_F32:
        break;
    }
    return 0;
}

/* The masks that the layer writes for the operands; a pointer counts as
 * `pointer` scalars. Only the first 32 scalars have bits. */
static struct debugprintf_masks expected_masks(const uint64_t *words, size_t n,
                                               unsigned pointer)
{
    struct debugprintf_masks ret = { 0 };
    unsigned bit = 0;
    for (size_t i = 0; i < n && bit < 32; i++) {
        struct operand o = operand_at(words, i);
        for (unsigned k = 0; k < o.n && bit < 32; k++) {
            ret.doubles |= (uint32_t)(o.type == TYPE_F64) << bit;
            ret.signed8 |= (uint32_t)(o.type == TYPE_I8) << bit;
            ret.signed16 |= (uint32_t)(o.type == TYPE_I16) << bit;
            bit += o.type == TYPE_POINTER ? pointer : 1;
        }
    }
    return ret;
}

static bool same_masks(const struct debugprintf_masks *a,
                       const struct debugprintf_masks *expected)
{
    return (a->n < 1 || a->doubles == expected->doubles) &&
           (a->n < 2 || a->signed8 == expected->signed8) &&
           (a->n < 3 || a->signed16 == expected->signed16);
}

/* The shader counts a pointer as two scalars. One scalar is accepted as well,
 * as the layer's host reads it so. */
bool debugprintf_masks_fit(const struct pfd_string *s,
                           const struct debugprintf_masks *masks)
{
    const uint64_t *words = pfd_string_layout(s);
    size_t n = n_operands(words, s->n_layout);
    if (!(words[0] & HAS_MASKED))
        return !masks->doubles && !masks->signed8 && !masks->signed16;
    struct debugprintf_masks expected = expected_masks(words, n, 2);
    if (same_masks(masks, &expected))
        return true;
    expected = expected_masks(words, n, 1);
    return words[0] & HAS_POINTER && same_masks(masks, &expected);
}

/* Can the word be a value of this type? Types narrower than a dword are
 * zero-extended; sign extension occurs as well. */
static bool is_value(enum type t, uint32_t word)
{
    switch ((int)t) {
    case TYPE_BOOL:
        return word <= 1;
    case TYPE_U8:
        return word <= UINT8_MAX;
    case TYPE_I8:
        return word <= UINT8_MAX || word >= (uint32_t)INT8_MIN;
    case TYPE_U16:
        return word <= UINT16_MAX;
    case TYPE_I16:
        return word <= UINT16_MAX || word >= (uint32_t)INT16_MIN;
    case TYPE_F16: /* stored as a binary32, whose lower bits are zero then */
        return (word & 0x1fff) == 0;
    default:
        return true;
    }
}

bool debugprintf_values_fit(const struct pfd_string *s,
                            struct pfd_byte_reader *values, size_t n_words,
                            bool no_16)
{
    const uint64_t *words = pfd_string_layout(s);
    if (!(words[0] & HAS_NARROW))
        return true;
    for (size_t i = 0; i < n_operands(words, s->n_layout); i++) {
        struct operand o = operand_at(words, i);
        unsigned n = o.n * dwords_of(o.type, no_16);
        for (unsigned k = 0; k < n; k++) {
            if (n_words-- == 0)
                return true;
            if (!is_value(o.type, pfd_byte_reader_u32(values)))
                return false;
        }
    }
    return true;
}

/* *left: of PFD_MODULE_TEXTS_MAX. PFD_END: they are too few. */
static enum pfd_status add_call(const struct pfd_format *self,
                                struct pfd_strings *strings,
                                const struct pfd_shader *shader, size_t i,
                                uint64_t *left, struct pfd_report *report,
                                struct pfd_error *err)
{
    uint64_t words[PFD_LAYOUT_MAX] = { 0 };
    struct pfd_spirv_call call;
    pfd_spirv_call_get(shader->module, i, &call);
    if (!call.text) {
        pfd_report_add(report, PFD_FINDING_bad_spirv, (uint64_t)call.offset * 4,
                       "a debugPrintf call whose format, %%%u, is no OpString",
                       call.format_id);
        return PFD_OK;
    }
    if (!pfd_module_texts_take(left, call.n_text))
        return PFD_END;
    struct pfd_string_row row = {
        .key = debugprintf_key(shader->id, call.offset),
        .text = call.text,
        .n_text = call.n_text,
        .layout = words,
    };
    size_t n = call.n_operands < OPERANDS_MAX ? call.n_operands : OPERANDS_MAX;
    words[0] = n;
    row.n_layout = 1 + (n + 7) / 8;
    for (size_t k = 0; k < n; k++) {
        struct pfd_spirv_type t = pfd_spirv_value_type(
            shader->module,
            pfd_spirv_call_operand(shader->module, i, (uint32_t)k));
        enum type type = type_of(&t);
        uint64_t byte = type | (type == TYPE_OTHER ? 0 : (t.n - 1) << 4);
        words[1 + k / 8] |= byte << (k % 8 * 8);
        words[0] |= facts_of(type);
        row.n_arguments += type == TYPE_OTHER ? 0 : t.n;
    }
    return pfd_strings_add_row(strings, &self->strings, &row, report,
                               (uint64_t)call.offset * 4, err);
}

enum pfd_status debugprintf_shader(const struct pfd_format *self,
                                   struct pfd_strings *strings,
                                   const struct pfd_shader *shader,
                                   struct pfd_report *report,
                                   struct pfd_error *err)
{
    enum pfd_status status = PFD_OK;
    uint64_t left = PFD_MODULE_TEXTS_MAX;
    size_t n = pfd_spirv_call_count(shader->module);
    for (size_t i = 0; i < n && status == PFD_OK; i++)
        status = add_call(self, strings, shader, i, &left, report, err);
    return pfd_module_texts_end(status, "debugPrintf calls", report);
}

/* ---- conversions and operands ---- */

/* The steps of one conversion: its stars, then its components [main, end). */
struct group {
    size_t start;
    size_t main;
    size_t end;
};

static bool serves(const struct pfd_step *s)
{
    return s->conv == PFD_CONV_STAR || s->conv == PFD_CONV_LENGTH;
}

/* Finds the next conversion that takes a value, from step i on. */
static bool next_group(const struct pfd_step *steps, size_t n_steps, size_t i,
                       struct group *ret)
{
    while (i < n_steps && (!steps[i].conv || steps[i].conv == 'm' ||
                           steps[i].op == PFD_OP_END))
        i++;
    if (i >= n_steps)
        return false;
    ret->start = i;
    while (i + 1 < n_steps && serves(&steps[i]))
        i++;
    ret->main = i;
    for (i++; i < n_steps && steps[i].flags & PFD_STEP_JOIN; i++)
        ;
    ret->end = i;
    return true;
}

static bool is_letter_of(char c, const char *letters)
{
    return c && strchr(letters, c);
}

/* Removes the first byte of a step's literal, which belongs to a conversion. */
static void eat(struct pfd_step *s)
{
    for (unsigned mode = 0; mode < 2; mode++) {
        s->literal[mode]++;
        s->n_literal[mode]--;
    }
}

static void set_conversion(struct pfd_step *steps, const struct group *g,
                           char conv, int precision)
{
    for (size_t i = g->main; i < g->end; i++) {
        steps[i].conv = conv;
        steps[i].precision = (int16_t)precision;
        steps[i].length = PFD_LENGTH_NONE;
    }
}

/* If conversion and value are of different kinds (integer, float), the value's
 * kind is printed. */
static bool adapt_kind(struct pfd_step *steps, const struct group *g,
                       enum type t)
{
    const struct pfd_step *s = &steps[g->main];
    bool floats = is_letter_of(s->conv, "fFeEgGaA");
    if (is_float(t) && is_letter_of(s->conv, "diouxXpc")) {
        set_conversion(steps, g, 'g', s->precision < 0 ? 6 : s->precision);
    } else if (t != TYPE_OTHER && !is_float(t) && floats) {
        set_conversion(steps, g,
                       t == TYPE_POINTER ? 'p'
                       : is_signed(t)    ? 'd'
                                         : 'u',
                       -1);
    } else {
        return false;
    }
    return true;
}

/* %ul of 64 bits prints hexadecimal, and its l is part of the conversion. */
static void adapt_ul(const struct pfd_string_row *row, struct pfd_step *steps,
                     size_t n_steps, const struct group *g, enum type t)
{
    const struct pfd_step *s = &steps[g->main];
    if (s->conv != 'u' || s->length != PFD_LENGTH_NONE || !is_wide(t) ||
        is_float(t) || g->end >= n_steps)
        return;
    struct pfd_step *next = &steps[g->end];
    if (next->n_literal[0] == 0 || row->text[next->literal[0]] != 'l')
        return;
    set_conversion(steps, g, 'x', s->precision);
    eat(next);
}

/* Components that the value lacks are not printed. */
static bool adapt_size(struct pfd_step *steps, const struct group *g,
                       unsigned n)
{
    for (size_t i = g->main + n; i < g->end; i++) {
        steps[i].conv = '\0';
        steps[i].op = PFD_OP_LITERAL;
        steps[i].flags = 0;
    }
    return g->end - g->main != n;
}

uint64_t debugprintf_adapt(const struct pfd_string_row *row,
                           struct pfd_step *steps, size_t n_steps)
{
    struct group g = { 0 };
    size_t n = n_operands(row->layout, row->n_layout);
    size_t next = 0;
    bool differs = false;
    while (next_group(steps, n_steps, g.end, &g)) {
        for (size_t i = g.start; i < g.main; i++)
            next += steps[i].conv == PFD_CONV_STAR;
        if (next >= n)
            break;
        struct operand o = operand_at(row->layout, next++);
        adapt_ul(row, steps, n_steps, &g, o.type);
        differs |= adapt_kind(steps, &g, o.type);
        differs |= adapt_size(steps, &g, o.n);
    }
    return differs ? PFD_FINDING_BIT(type_mismatch) : 0;
}

/* ---- slots ---- */

/* The operands in the order of a payload. */
struct reader {
    const uint64_t *words;
    size_t n;       /* operands */
    size_t next;    /* index of the next operand */
    uint32_t at;    /* offset of the next operand, bytes */
    uint32_t limit; /* bytes in the payload */
    bool no_16;
    struct pfd_slot *slots;
    size_t n_slots;
    size_t n_rest; /* components at the end that no conversion takes */
    struct pfd_slot rest[64];
};

static void add_slot(struct reader *r, struct pfd_slot slot)
{
    if (r->n_slots < PFD_ARGUMENTS_MAX)
        r->slots[r->n_slots++] = slot;
}

/* The slot of component i of the operand at r->at. */
static struct pfd_slot slot_of(const struct reader *r, const struct operand *o,
                               unsigned i)
{
    uint32_t n_bytes = 4 * dwords_of(o->type, r->no_16);
    uint32_t at = r->at + i * n_bytes;
    if (!n_bytes || at > r->limit || r->limit - at < n_bytes)
        return (struct pfd_slot){ 0 };
    return (struct pfd_slot){ .at = at, .store = store_of(o->type) & 15u };
}

/* Takes the next operand for a conversion of n components. */
static void take(struct reader *r, unsigned n)
{
    struct operand o = { TYPE_OTHER, 1 };
    if (r->next < r->n)
        o = operand_at(r->words, r->next);
    for (unsigned i = 0; i < n; i++)
        add_slot(r, i < o.n ? slot_of(r, &o, i) : (struct pfd_slot){ 0 });
    for (unsigned i = n; r->next < r->n && i < o.n; i++) {
        struct pfd_slot slot = slot_of(r, &o, i);
        slot.n_bytes = is_float(o.type) ? 'g' : is_signed(o.type) ? 'd' : 0;
        if (slot.store && r->n_rest < 64)
            r->rest[r->n_rest++] = slot;
    }
    r->next++;
    r->at += 4 * o.n * dwords_of(o.type, r->no_16);
}

/* Adds a slot for each value that the steps take, then slots for the rest. */
static void read_slots(struct reader *r, const struct pfd_step *steps,
                       size_t n_steps)
{
    struct group g = { 0 };
    while (next_group(steps, n_steps, g.end, &g)) {
        for (size_t i = g.start; i < g.main; i++) {
            if (steps[i].conv == PFD_CONV_STAR)
                take(r, 1);
        }
        take(r, (unsigned)(g.end - g.main));
    }
    for (size_t i = 0; i < r->n_rest; i++)
        add_slot(r, r->rest[i]);
    r->n_rest = 0;
    while (r->next < r->n) {
        take(r, 0);
        for (size_t i = 0; i < r->n_rest; i++)
            add_slot(r, r->rest[i]);
        r->n_rest = 0;
    }
}

void debugprintf_layout(const struct pfd_string *s,
                        const struct pfd_program_facts *facts,
                        struct pfd_layout *ret)
{
    uint64_t n_bytes = 4 * debugprintf_dwords(s, false);
    struct reader r = {
        .words = pfd_string_layout(s),
        .n = n_operands(pfd_string_layout(s), s->n_layout),
        .limit = UINT32_MAX,
        .slots = ret->slots,
    };
    read_slots(&r, s->steps, s->n_steps);
    ret->n_slots = r.n_slots;
    ret->n_payload = n_bytes < UINT32_MAX ? (uint32_t)n_bytes : UINT32_MAX;
}

size_t debugprintf_slots(const struct pfd_record_view *record_view,
                         struct pfd_slot *ret, uint64_t *findings)
{
    const struct pfd_string *s = record_view->record->string;
    struct reader r = {
        .words = pfd_string_layout(s),
        .n = n_operands(pfd_string_layout(s), s->n_layout),
        .limit = (uint32_t)pfd_byte_reader_left(&record_view->bytes),
        .no_16 = record_view->record->layout & DEBUGPRINTF_NO_16,
        .slots = ret,
    };
    read_slots(&r, s->steps, s->n_steps);
    return r.n_slots;
}

/* ---- signs ---- */

/* Is one of the first n components an unsigned value with its highest bit
 * set? */
static bool is_minus(const struct operand *o, uint32_t at, size_t n,
                     const struct pfd_byte_reader *values)
{
    size_t n_bytes = 4 * (size_t)dwords_of(o->type, false);
    if (o->type != TYPE_U32 && o->type != TYPE_U64)
        return false;
    for (size_t i = 1; i <= n && i <= o->n; i++) {
        size_t end = at + i * n_bytes;
        if (end <= values->n && pfd_byte_reader_peek_u32(values, end - 4) >> 31)
            return true;
    }
    return false;
}

bool debugprintf_shows_minus(const struct pfd_string *s, bool no_16,
                             const struct pfd_byte_reader *values)
{
    const uint64_t *words = pfd_string_layout(s);
    size_t n = n_operands(words, s->n_layout);
    size_t next = 0;
    uint32_t at = 0;
    struct group g = { 0 };
    if (!n || !(words[0] & HAS_UNSIGNED))
        return false;
    while (next_group(s->steps, s->n_steps, g.end, &g)) {
        for (size_t i = g.start; i <= g.main && next < n; i++) {
            if (i < g.main && s->steps[i].conv != PFD_CONV_STAR)
                continue;
            struct operand o = operand_at(words, next++);
            if (i == g.main && is_letter_of(s->steps[i].conv, "di") &&
                is_minus(&o, at, g.end - g.main, values))
                return true;
            at += 4 * o.n * dwords_of(o.type, no_16);
        }
    }
    return false;
}
