/* SPDX-License-Identifier: MIT */
/* Compiling and binding; program_print.c prints. */
#include "core/print/program.h"

#include <string.h>

#include "core/base/escape.h"
#include "core/print/braces.h"
#include "core/print/steps.h"

enum {
    VECTOR_MAX = 16,
    WIDE_MAX = 8, /* columns: one word of eight digits is stored */
};

/* One conversion as it is written. */
struct spec {
    size_t end; /* offset after it */
    char conv;
    uint8_t flags;
    uint8_t length;
    uint8_t vector; /* scalars; 1 without vN */
    bool star_width;
    bool star_precision;
    int width;
    int precision;
};

struct compiler {
    struct pfd_steps to;
    struct pfd_program_facts *facts;
};

static uint8_t flag_of(char c)
{
    switch (c) {
    case '-':
        return PFD_SPEC_MINUS;
    case '+':
        return PFD_SPEC_PLUS;
    case ' ':
        return PFD_SPEC_SPACE;
    case '#':
        return PFD_SPEC_HASH;
    case '0':
        return PFD_SPEC_ZERO;
    default:
        return 0;
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_float(char c)
{
    c |= 'a' - 'A';
    return c == 'f' || c == 'e' || c == 'g' || c == 'a';
}

static bool is_integer(char c)
{
    return c == 'd' || c == 'i' || c == 'u' || c == 'x' || c == 'X' || c == 'o';
}

/* The text at `at`, or NUL beyond its end: no byte of a conversion is NUL. */
static char peek(const struct compiler *c, size_t at)
{
    return at < c->to.n ? c->to.text[at] : '\0';
}

/* Reads digits or a star, and clamps with a finding. Without digits *value
 * stays as it is. */
static size_t parse_count(struct compiler *c, size_t at, int *value, bool *star)
{
    if (peek(c, at) == '*') {
        *star = true;
        return at + 1;
    }
    if (!is_digit(peek(c, at)))
        return at;
    int sum = 0;
    for (; is_digit(peek(c, at)); at++) {
        if (sum <= PFD_WIDTH_MAX)
            sum = sum * 10 + (c->to.text[at] - '0');
    }
    if (sum > PFD_WIDTH_MAX) {
        c->facts->findings |= PFD_FINDING_BIT(width_clamped);
        sum = PFD_WIDTH_MAX;
    }
    *value = sum;
    return at;
}

static size_t parse_vector(const struct compiler *c, size_t at, uint8_t *ret)
{
    if (*ret != 1 || peek(c, at) != 'v')
        return at;
    char digit = peek(c, at + 1);
    if (digit == '1' && peek(c, at + 2) == '6') {
        *ret = VECTOR_MAX;
        return at + 3;
    }
    if (digit != '2' && digit != '3' && digit != '4' && digit != '8')
        return at;
    *ret = (uint8_t)(digit - '0');
    return at + 2;
}

static size_t parse_length(const struct compiler *c, size_t at, uint8_t *ret)
{
    char next = peek(c, at + 1);
    *ret = PFD_LENGTH_LONG;
    switch (peek(c, at)) {
    case 'h':
        *ret = next == 'h'   ? PFD_LENGTH_HH
               : next == 'l' ? PFD_LENGTH_HL
                             : PFD_LENGTH_H;
        return at + 1 + (next == 'h' || next == 'l');
    case 'l':
        return at + 1 + (next == 'l');
    case 'j':
    case 'z':
    case 't':
    case 'q':
        return at + 1;
    case 'L':
        *ret = PFD_LENGTH_LONGF;
        return at + 1;
    case 'Z': /* the old name of z, where an integer follows */
        if (is_integer(next))
            return at + 1;
        __attribute__((fallthrough));
    default:
        *ret = PFD_LENGTH_NONE;
        return at;
    }
}

/* Reads the conversion whose % is at `at`; false when the text ends in it. */
static bool parse_spec(struct compiler *c, size_t at, struct spec *ret)
{
    *ret = (struct spec){ .vector = 1, .precision = -1 };
    uint64_t before = c->facts->findings;
    /* ' groups nothing in C's locale */
    for (at++; flag_of(peek(c, at)) || peek(c, at) == '\''; at++)
        ret->flags |= flag_of(peek(c, at));
    at = parse_count(c, at, &ret->width, &ret->star_width);
    at = parse_vector(c, at, &ret->vector);
    if (peek(c, at) == '.') {
        ret->precision = 0;
        at = parse_count(c, at + 1, &ret->precision, &ret->star_precision);
    }
    at = parse_vector(c, at, &ret->vector);
    at = parse_length(c, at, &ret->length);
    if (at >= c->to.n) {
        c->facts->findings = before; /* literal text after all */
        return false;
    }
    ret->conv = c->to.text[at];
    if (ret->conv == 'C' && ret->length == PFD_LENGTH_NONE) {
        ret->conv = 'c'; /* the old name of %lc */
        ret->length = PFD_LENGTH_LONG;
    }
    /* A whole character: half of one would escape differently. */
    size_t n_character = pfd_utf8_length(c->to.text + at, c->to.n - at);
    ret->end = at + (n_character ? n_character : 1);
    return true;
}

/* Bytes other than letters never print and take no argument, and the text shows
 * them. `*` and `#` have another meaning in a step. */
static char conversion_letter(char c)
{
    return is_letter(c) ? c : '?';
}

static void add_spec(struct compiler *c, size_t at, const struct spec *spec)
{
    bool takes = is_letter(spec->conv) && spec->conv != 'm';
    pfd_steps_add_long_literal(&c->to, at);
    for (int star = 0; star < 2; star++) {
        if (!(star ? spec->star_precision : spec->star_width))
            continue;
        struct pfd_step *s = pfd_steps_add(&c->to, at, PFD_OP_VERBATIM);
        s->conv = PFD_CONV_STAR;
        c->facts->n_scalars++;
        c->facts->n_cut_scalars++;
    }
    if (spec->conv == 's')
        pfd_steps_add(&c->to, at, PFD_OP_VERBATIM)->conv = PFD_CONV_LENGTH;
    uint8_t flags = spec->flags;
    if (spec->star_width)
        flags |= PFD_STEP_STAR_WIDTH;
    if (spec->star_precision)
        flags |= PFD_STEP_STAR_PRECISION;
    unsigned n = takes ? spec->vector : 1;
    for (unsigned i = 0; i < n; i++) {
        struct pfd_step *s = pfd_steps_add(&c->to, at, PFD_OP_VERBATIM);
        s->conv = conversion_letter(spec->conv);
        s->flags = (uint8_t)(flags | (i ? PFD_STEP_JOIN : 0));
        s->length = (uint8_t)(spec->length & 7);
        s->width = (int16_t)spec->width;
        s->precision = (int16_t)spec->precision;
        if (s->precision < 0 && is_float(s->conv) && s->conv != 'a' &&
            s->conv != 'A')
            s->precision = 6; /* the default of these */
    }
    if (takes) {
        c->facts->n_scalars += n;
        c->facts->n_cut_scalars++;
    }
    pfd_steps_pass(&c->to, spec->end);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A conversion takes a step; so does each of its stars, a string's length, and
 * each further component of its vector. */
size_t pfd_program_steps_max(const char *text, size_t n)
{
    size_t n_percent = 0;
    size_t n_star = 0;
    size_t n_string = 0;
    size_t n_vector = 0;
    for (size_t at = 0; at < n;) { /* small counters: many at once */
        size_t to = n - at < UINT8_MAX ? n : at + UINT8_MAX;
        uint8_t percent = 0;
        uint8_t star = 0;
        uint8_t string = 0;
        uint8_t vector = 0;
        for (; at < to; at++) {
            percent = (uint8_t)(percent + (text[at] == '%'));
            star = (uint8_t)(star + (text[at] == '*'));
            string = (uint8_t)(string + (text[at] == 's'));
            vector = (uint8_t)(vector + (text[at] == 'v'));
        }
        n_percent += percent;
        n_star += star;
        n_string += string;
        n_vector += vector;
    }
    return pfd_steps_of_literals(n) + n_percent + n_star +
           least(n_string, n_percent) +
           least(n_vector, n_percent) * (VECTOR_MAX - 1);
}

size_t pfd_program_compile(const char *text, size_t n, struct pfd_step *ret,
                           struct pfd_program_facts *facts)
{
    struct compiler c = {
        .to = { .text = text, .n = n, .steps = ret },
        .facts = facts,
    };
    *facts = (struct pfd_program_facts){ 0 };
    for (size_t at = 0; at < n;) {
        const char *percent = memchr(text + at, '%', n - at);
        struct spec spec;
        if (!percent)
            break;
        at = (size_t)(percent - text);
        if (peek(&c, at + 1) == '%') {
            pfd_steps_add_long_literal(&c.to, at + 1);
            pfd_steps_add(&c.to, at + 1, PFD_OP_LITERAL);
            pfd_steps_pass(&c.to, at + 2);
            at += 2;
            continue;
        }
        if (!parse_spec(&c, at, &spec))
            break;
        add_spec(&c, at, &spec);
        at = spec.end;
    }
    return pfd_steps_end(&c.to);
}

size_t pfd_program_literal(const char *text, size_t n, struct pfd_step *ret)
{
    struct pfd_steps to = { .text = text, .n = n, .steps = ret };
    return pfd_steps_end(&to);
}

void pfd_program_join_tight(struct pfd_step *steps, size_t n_steps)
{
    for (size_t i = 0; i < n_steps; i++)
        steps[i].tight = 1;
}

/* ---- binding ---- */

/* True: a conversion that prints its slot. */
static bool prints(const struct pfd_step *s)
{
    if (s->conv == 's')
        return s->store == PFD_STORE_STRING;
    return is_integer(s->conv) || is_float(s->conv) || s->conv == 'p' ||
           (s->conv == 'c' &&
            (s->length == PFD_LENGTH_NONE || s->length == PFD_LENGTH_LONG));
}

static enum pfd_op plain_op(const struct pfd_step *s)
{
    bool wide = s->store == PFD_STORE_QWORD;
    switch (s->conv) {
    case 'd':
    case 'i':
        return wide ? PFD_OP_I64 : PFD_OP_I32;
    case 'u':
        return wide ? PFD_OP_U64 : PFD_OP_U32;
    case 'x':
        return wide ? PFD_OP_X64 : PFD_OP_X32;
    default:
        return PFD_OP_INT;
    }
}

/* Integers that are padded to a few columns only: %5d, and %08x. */
static enum pfd_op wide_op(const struct pfd_step *s)
{
    unsigned flags = s->flags & ~(unsigned)PFD_STEP_JOIN;
    if (s->precision >= 0 || s->width > WIDE_MAX || s->store != PFD_STORE_DWORD)
        return PFD_OP_INT;
    if (!flags && (s->conv == 'd' || s->conv == 'i' || s->conv == 'u'))
        return PFD_OP_WIDE32;
    return flags == PFD_SPEC_ZERO && s->conv == 'x' ? PFD_OP_ZEROS_X32
                                                    : PFD_OP_INT;
}

static enum pfd_op op_of(const struct pfd_step *s)
{
    bool bare = !(s->flags & ~PFD_STEP_JOIN) && !s->width;
    bool narrow = s->length == PFD_LENGTH_HH || s->length == PFD_LENGTH_H;
    if (s->store == PFD_STORE_STRING)
        return PFD_OP_STRING;
    if (s->store > PFD_STORE_QWORD)
        return is_float(s->conv) ? PFD_OP_DOUBLE : PFD_OP_INT;
    bool wide = s->store == PFD_STORE_QWORD;
    if (bare && s->conv == 'f')
        return wide ? PFD_OP_FIXED64 : PFD_OP_FIXED32;
    if (bare && s->conv == 'g')
        return wide ? PFD_OP_GENERAL64 : PFD_OP_GENERAL32;
    if (is_float(s->conv))
        return PFD_OP_DOUBLE;
    if (narrow)
        return PFD_OP_INT;
    return bare && s->precision < 0 ? plain_op(s) : wide_op(s);
}

static size_t spec_room(const struct pfd_step *s, const struct pfd_slot *slot,
                        const struct pfd_step *brace)
{
    struct pfd_spec spec = {
        .conv = s->conv,
        .flags = s->flags & 31,
        .width = s->flags & PFD_STEP_STAR_WIDTH ? PFD_WIDTH_MAX : s->width,
        .precision =
            s->flags & PFD_STEP_STAR_PRECISION ? PFD_WIDTH_MAX : s->precision,
    };
    size_t room = 64; /* joins, and the writers' overshoot */
    if (brace)
        return room + pfd_brace_room(brace, &spec, pfd_slot_bytes(slot));
    if (slot->store == PFD_STORE_STRING)
        return room + pfd_slot_bytes(slot) + (size_t)spec.width;
    return room + pfd_number_room(&spec);
}

/* The end of the conversion at step i: its stars, length and components. */
static size_t conversion_end(const struct pfd_step *steps, size_t i)
{
    while (pfd_step_serves(&steps[i]))
        i++;
    for (i++; steps[i].flags & PFD_STEP_JOIN; i++)
        ;
    return i;
}

struct binder {
    struct pfd_step *steps;
    const struct pfd_slot *slots;
    size_t n_slots;
    size_t next; /* slot */
    bool cut;
    uint64_t findings;
    size_t room;
};

/* brace: the conversion's, or NULL. False: it cannot print its slot. */
static bool bind_slot(struct binder *b, struct pfd_step *s,
                      const struct pfd_step *brace)
{
    const struct pfd_slot *slot = &b->slots[b->next++];
    bool is_string = slot->store == PFD_STORE_STRING;
    /* Only the step of a single %s has its string's length before it. */
    if (is_string && (s->conv != 's' || s->flags & PFD_STEP_JOIN))
        return false;
    s->at = slot->at;
    s->store = (uint8_t)(slot->store & 15);
    if (s->conv == PFD_CONV_STAR) {
        s->op = PFD_OP_STAR;
        return true;
    }
    if (is_string)
        s[-1].at = slot->n_bytes;
    s->op = (uint8_t)(brace ? PFD_OP_BRACE : op_of(s));
    b->room += spec_room(s, slot, brace);
    return prints(s);
}

/*
 * Binds one conversion, steps [i, end). When a scalar is missing, the whole
 * conversion is shown as written, and the scalars that exist stay taken: no
 * conversion is printed by halves.
 */
static void bind_conversion(struct binder *b, size_t i, size_t end)
{
    bool missing = false;
    bool bad = false;
    size_t shown = i;
    const struct pfd_step *brace = NULL;
    for (size_t k = i; k < end; k++) {
        struct pfd_step *s = &b->steps[k];
        if (s->conv == PFD_CONV_BRACE)
            brace = s;
        bool idle =
            !pfd_step_takes(s) || (b->cut && (s->flags & PFD_STEP_JOIN));
        s->store = PFD_STORE_NONE;
        s->op = PFD_OP_SKIP;
        if (!pfd_step_serves(s) && !(s->flags & PFD_STEP_JOIN))
            shown = k;
        if (idle)
            continue;
        if (b->next < b->n_slots && b->slots[b->next].store == PFD_STORE_NONE) {
            missing = true;
            b->next++;
            continue;
        }
        if (missing || b->next >= b->n_slots) {
            missing = true;
            continue;
        }
        bad |= !bind_slot(b, s, brace);
    }
    bad |= !prints(&b->steps[shown]);
    if (missing && pfd_step_takes(&b->steps[shown])) {
        b->findings |= PFD_FINDING_BIT(payload_short);
    } else if (bad) {
        b->findings |= PFD_FINDING_BIT(bad_conversion);
    } else {
        return;
    }
    for (size_t k = i; k < end; k++)
        b->steps[k].op = PFD_OP_SKIP;
    b->steps[shown].op = PFD_OP_VERBATIM;
}

uint64_t pfd_program_bind(struct pfd_step *steps, size_t n_steps,
                          const struct pfd_slot *slots, size_t n_slots,
                          bool cut, size_t *room)
{
    struct binder b = { steps, slots, n_slots, 0, cut, 0, 64 };
    for (size_t i = 0; i < n_steps;) {
        if (!steps[i].conv && steps[i].op != PFD_OP_VERBATIM) {
            i++;
            continue;
        }
        size_t end = conversion_end(steps, i);
        bind_conversion(&b, i, end);
        i = end;
    }
    if (b.next < n_slots)
        b.findings |= PFD_FINDING_BIT(unused_arguments);
    *room = b.room;
    return b.findings;
}

size_t pfd_program_suggest(const struct pfd_step *steps, size_t n_steps,
                           bool cut, uint64_t *ret, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < n_steps; i++) {
        const struct pfd_step *s = &steps[i];
        if (!pfd_step_takes(s) || (cut && (s->flags & PFD_STEP_JOIN)))
            continue;
        bool wide =
            (s->length == PFD_LENGTH_LONG && s->conv != 'c') || /* a wint_t */
            s->length == PFD_LENGTH_LONGF;
        if (n < max)
            ret[n / 64] |= (uint64_t)wide << (n % 64);
        n++;
    }
    return n;
}
