/* SPDX-License-Identifier: MIT */
/*
 * The layer's formatter. It cuts a format string into pieces of one
 * conversion and the text around it, and passes each with one value to
 * snprintf. This file has both parts: how pieces are cut and assigned values,
 * in both generations, and the result of glibc's snprintf for a piece.
 */
#include <string.h>

#include "core/print/number.h"
#include "core/spirv/khronos.h"

enum {
    /* The layer has no limit for vN; a record's values have. */
    VECTOR_MAX = 4096,
    /* Bytes of ", %..." that the layer keeps for components 1 and on. */
    COMPONENT_MAX = 31,
    /* The layer printed a longer result a second time, wrongly. */
    OLD_BUFFER = 1024,
};

enum type {
    TYPE_NONE,
    TYPE_SIGNED,
    TYPE_UNSIGNED,
    TYPE_FLOAT,
};

struct piece {
    const char *text; /* [n] */
    size_t n;
    const char *tail; /* [n_tail]: behind it, the letters of a vector */
    size_t n_tail;
    enum type type;
    bool is_wide; /* 64 bits; since 1.3.296 only */
};

struct printer {
    struct pfd_text *out;
    const struct pfd_khronos_values *values;
    enum pfd_khronos_age age;
    size_t next;    /* dword of the values */
    unsigned index; /* of the piece */
    uint64_t *findings;
};

/* The one value of a piece, as an integer or as a float; the other kind reads
 * as 0. */
struct value {
    uint64_t u;
    double f;
};

/* ---- snprintf ---- */

struct spec {
    struct pfd_spec spec;
    int length; /* 0, 1 h, 2 hh, 3 l and longer */
    size_t end;
    bool star;
    bool star_precision;
};

/* A piece can be in two parts. */
static char at(const struct piece *p, size_t i)
{
    if (i < p->n)
        return p->text[i];
    return i - p->n < p->n_tail ? p->tail[i - p->n] : '\0';
}

static size_t length_of(const struct piece *p)
{
    return p->n + p->n_tail;
}

static size_t read_count(const struct piece *p, size_t i, int16_t *ret,
                         bool *star, uint64_t *findings)
{
    int sum = 0;
    if (at(p, i) == '*') {
        *star = true;
        return i + 1;
    }
    for (; at(p, i) >= '0' && at(p, i) <= '9'; i++) {
        sum = sum * 10 + (at(p, i) - '0');
        if (sum > PFD_WIDTH_MAX) {
            *findings |= PFD_FINDING_BIT(width_clamped);
            sum = PFD_WIDTH_MAX;
        }
    }
    *ret = (int16_t)sum;
    return i;
}

static size_t read_length(const struct piece *p, size_t i, int *ret)
{
    for (; at(p, i) && strchr("hlqjztL", at(p, i)); i++) {
        if (at(p, i) == 'h') {
            *ret = *ret == 1 ? 2 : 1;
        } else {
            *ret = 3;
        }
    }
    return i;
}

/* Reads the conversion at i; false: the piece ends in it. */
static bool read_spec(const struct piece *p, size_t i, struct spec *ret,
                      uint64_t *findings)
{
    static const char flags[] = "-+ #0";
    const char *flag;
    *ret = (struct spec){ .spec = { .precision = -1 } };
    for (i++; at(p, i); i++) {
        flag = strchr(flags, at(p, i));
        if (!flag && at(p, i) != '\'')
            break;
        if (flag)
            ret->spec.flags |= (uint8_t)(1u << (flag - flags));
    }
    i = read_count(p, i, &ret->spec.width, &ret->star, findings);
    if (at(p, i) == '.') {
        i = read_count(p, i + 1, &ret->spec.precision, &ret->star_precision,
                       findings);
    }
    i = read_length(p, i, &ret->length);
    ret->spec.conv = at(p, i);
    ret->end = i + 1;
    return i < length_of(p) && ret->spec.conv;
}

static uint64_t narrowed(const struct spec *s, uint64_t u, bool is_signed)
{
    switch (s->length) {
    case 0:
        return is_signed ? (uint64_t)(int64_t)(int32_t)u : (uint32_t)u;
    case 1:
        return is_signed ? (uint64_t)(int64_t)(int16_t)u : (uint16_t)u;
    case 2:
        return is_signed ? (uint64_t)(int64_t)(int8_t)u : (uint8_t)u;
    default:
        return u;
    }
}

static void put_pointer(struct pfd_text *out, struct pfd_spec *spec, uint64_t u)
{
    if (u || spec->width > 4096) {
        char *to = pfd_text_reserve(out, pfd_number_room(spec));
        if (to)
            out->n += (size_t)(pfd_number_int(to, spec, u) - to);
        return;
    }
    int fill = spec->width > 5 ? spec->width - 5 : 0;
    pfd_text_printf(out, "%*s(nil)%*s", spec->flags & PFD_SPEC_MINUS ? 0 : fill,
                    "", spec->flags & PFD_SPEC_MINUS ? fill : 0, "");
}

/* Prints one conversion, which takes the value. False: glibc prints it as
 * written. */
static bool put_spec(struct pfd_text *out, struct spec *s, struct value *value)
{
    char conv = s->spec.conv;
    if (s->star) { /* no width was passed: it takes the value */
        int32_t width = (int32_t)value->u;
        if (width < 0) {
            s->spec.flags |= PFD_SPEC_MINUS;
            width = width == INT32_MIN ? INT32_MAX : -width;
        }
        s->spec.width =
            (int16_t)(width > PFD_WIDTH_MAX ? PFD_WIDTH_MAX : width);
        value->u = 0;
    }
    if (s->star_precision) {
        int32_t precision = (int32_t)value->u;
        s->spec.precision = (int16_t)(precision > PFD_WIDTH_MAX ? PFD_WIDTH_MAX
                                      : precision < 0           ? -1
                                                                : precision);
        value->u = 0;
    }
    if (conv == 'p') {
        put_pointer(out, &s->spec, value->u);
    } else if (strchr("diouxXc", conv)) {
        uint64_t u = narrowed(s, value->u, conv == 'd' || conv == 'i');
        char *to = pfd_text_reserve(out, pfd_number_room(&s->spec));
        if (to)
            out->n += (size_t)(pfd_number_int(to, &s->spec, u) - to);
    } else if (strchr("fFeEgGaA", conv)) {
        char *to = pfd_text_reserve(out, pfd_number_room(&s->spec));
        if (to)
            out->n += (size_t)(pfd_number_double(to, &s->spec, value->f) - to);
    } else {
        return false;
    }
    *value = (struct value){ 0 };
    return true;
}

/* snprintf of a piece and one value; false: it failed, and the text before
 * the fault is in out. */
static bool print_piece(struct pfd_text *out, const struct piece *p,
                        struct value value, uint64_t *findings)
{
    size_t n = length_of(p);
    for (size_t i = 0; i < n && at(p, i);) {
        struct spec s;
        char c = at(p, i);
        if (c != '%') {
            pfd_text_add(out, &c, 1);
            i++;
            continue;
        }
        if (!read_spec(p, i, &s, findings))
            return false;
        if (s.spec.conv == '%') {
            pfd_text_puts(out, "%");
        } else if (!put_spec(out, &s, &value)) {
            *findings |= PFD_FINDING_BIT(bad_conversion);
            for (size_t k = i; k < s.end; k++) {
                c = at(p, k);
                pfd_text_add(out, &c, 1);
            }
        }
        i = s.end;
    }
    return true;
}

/* ---- values ---- */

static uint32_t dword(const struct printer *pr, size_t i)
{
    uint32_t v = 0;
    if (i < pr->values->n / 4)
        memcpy(&v, pr->values->bytes + 4 * i, sizeof v);
    return v;
}

static uint64_t qword(const struct printer *pr, size_t i)
{
    return dword(pr, i) | (uint64_t)dword(pr, i + 1) << 32;
}

static double float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static double double_of(uint64_t bits)
{
    double f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* ---- printing a piece, since 1.3.296 ---- */

/* Finds three letters in a piece; SIZE_MAX: absent. */
static size_t find_three(const struct piece *p, const char *three)
{
    size_t n = length_of(p);
    for (size_t i = 0; i + 3 <= n; i++) {
        if (at(p, i) == three[0] && at(p, i + 1) == three[1] &&
            at(p, i + 2) == three[2])
            return i;
    }
    return SIZE_MAX;
}

/* Inserts "lx" or "lu" behind the % of the first %ul, %lu or %lx, in the copy
 * of a piece; false: there is none. */
static bool rewrite_wide(struct piece *p, struct pfd_text *copy)
{
    static const char *const from[] = { "%ul", "%lu", "%lx" };
    for (size_t k = 0; k < 3; k++) {
        size_t i = find_three(p, from[k]);
        if (i == SIZE_MAX)
            continue;
        pfd_text_add(copy, p->text, p->n);
        pfd_text_add(copy, p->tail, p->n_tail);
        if (copy->failed)
            return false;
        memcpy(copy->data + i + 1, k == 1 ? "lu" : "lx", 2);
        *p = (struct piece){ copy->data, copy->n, NULL, 0, p->type, true };
        return true;
    }
    return false;
}

static bool mask_bit(uint32_t mask, unsigned i)
{
    return mask >> (i % 32) & 1; /* as x86 shifts */
}

static struct value take_now(struct printer *pr, const struct piece *p)
{
    const struct pfd_khronos_values *v = pr->values;
    struct value ret = { 0 };
    size_t i = pr->next;
    if (p->type == TYPE_NONE)
        return ret;
    bool is_double = p->type == TYPE_FLOAT && mask_bit(v->doubles, pr->index);
    pr->next += p->is_wide || is_double ? 2 : 1;
    if (p->is_wide) {
        ret.u = qword(pr, i);
    } else if (is_double) {
        ret.f = double_of(qword(pr, i));
    } else if (p->type == TYPE_FLOAT) {
        ret.f = float_of(dword(pr, i));
    } else {
        ret.u = dword(pr, i);
    }
    if (p->type != TYPE_SIGNED || p->is_wide)
        return ret;
    if (mask_bit(v->signed8, pr->index)) {
        ret.u = (uint64_t)(int64_t)(int8_t)ret.u;
    } else if (mask_bit(v->signed16, pr->index)) {
        ret.u = (uint64_t)(int64_t)(int16_t)ret.u;
    }
    return ret;
}

static void print_now(struct printer *pr, struct piece *p)
{
    struct pfd_text copy = { 0 };
    size_t before = pr->out->n;
    struct value value = take_now(pr, p);
    if (p->is_wide && p->type == TYPE_FLOAT)
        return; /* the layer does not handle it */
    if (p->is_wide && p->type == TYPE_UNSIGNED)
        rewrite_wide(p, &copy);
    if (!print_piece(pr->out, p, value, pr->findings))
        pr->out->n = before;
    pr->out->failed |= copy.failed;
    pfd_text_free(&copy);
}

/* ---- printing a piece, until 1.3.290 ---- */

static struct value value_old(const struct printer *pr, const struct piece *p,
                              size_t i, uint32_t less)
{
    struct value ret = { 0 };
    if (p->type == TYPE_FLOAT) {
        ret.f = float_of(dword(pr, i)) - less;
    } else if (p->type != TYPE_NONE) {
        ret.u = (uint32_t)(dword(pr, i) - less);
    }
    return ret;
}

static void print_old(struct printer *pr, struct piece *p)
{
    struct pfd_text copy = { 0 };
    struct pfd_text *out = pr->out;
    size_t before = out->n;
    struct value value = { 0 };
    bool is_wide = rewrite_wide(p, &copy);
    if (is_wide) {
        value.u = qword(pr, pr->next);
        pr->next += 2;
    } else if (p->type != TYPE_NONE) {
        value = value_old(pr, p, pr->next, 0);
        pr->next++;
    }
    bool ok = print_piece(out, p, value, pr->findings);
    if (!ok || out->n - before >= OLD_BUFFER) {
        /* The layer printed once more, with the next dword less one, into a
         * buffer that is a byte too short. */
        if (!is_wide)
            value = value_old(pr, p, pr->next, 1);
        size_t n = out->n - before;
        out->n = before;
        print_piece(out, p, value, pr->findings);
        if (ok && out->n - before > n - 1)
            out->n = before + n - 1;
    }
    out->failed |= copy.failed;
    pfd_text_free(&copy);
}

/* ---- cutting ---- */

static enum type type_of(char c)
{
    if (c == 'd' || c == 'i')
        return TYPE_SIGNED;
    return c && strchr("fFaAeEgG", c) ? TYPE_FLOAT : TYPE_UNSIGNED;
}

struct cutter {
    const char *text;
    size_t n;
    size_t begin; /* of the next piece */
    enum pfd_khronos_age age;
};

static char char_at(const struct cutter *c, size_t i)
{
    return i < c->n ? c->text[i] : '\0';
}

/* The number behind a v, as atoi reads it. */
static unsigned read_vector(const struct cutter *c, size_t i)
{
    unsigned n = 0;
    while (char_at(c, i) == ' ' ||
           (char_at(c, i) >= '\t' && char_at(c, i) <= '\r'))
        i++;
    if (char_at(c, i) == '+')
        i++;
    for (; char_at(c, i) >= '0' && char_at(c, i) <= '9'; i++) {
        n = n * 10 + (unsigned)(char_at(c, i) - '0');
        if (n > VECTOR_MAX)
            n = VECTOR_MAX;
    }
    return n;
}

/* The letters of the vector conversion whose v is at i: one, or two where one
 * of them is an l. */
static size_t vector_letters(const struct cutter *c, size_t i)
{
    char first = char_at(c, i + 2);
    char second = char_at(c, i + 3);
    if (!first)
        return 0;
    return second == 'l' ||
                   (c->age == PFD_KHRONOS_NOW && first == 'l' && second)
               ? 2
               : 1;
}

/* Cuts the piece whose % is at `percent` and whose letter at `letter`;
 * returns how many times its conversion is printed, the first one in *ret. */
static unsigned cut_vector(struct cutter *c, size_t percent, size_t letter,
                           struct piece *ret)
{
    size_t n = vector_letters(c, letter);
    unsigned count = read_vector(c, letter + 1);
    ret->text = c->text + c->begin;
    ret->n = letter - c->begin;
    ret->tail = c->text + (n ? letter + 2 : c->n);
    ret->n_tail = n;
    ret->is_wide = n == 2;
    ret->type = type_of(n ? ret->tail[n - 1] : '\0');
    c->begin = letter + 2 + n < c->n ? letter + 2 + n : c->n;
    return count ? count : 1;
}

static void cut_scalar(struct cutter *c, size_t percent, size_t letter,
                       struct piece *ret)
{
    bool before = letter > percent && char_at(c, letter - 1) == 'l';
    bool after =
        char_at(c, letter + 1) == 'l' && !(before && c->age == PFD_KHRONOS_NOW);
    char conv = after ? 'l' : char_at(c, letter);
    size_t end = letter + 1 + after;
    *ret = (struct piece){
        .text = c->text + c->begin,
        .n = end - c->begin,
        .type = type_of(conv),
        .is_wide = before || after || conv == 'p',
    };
    c->begin = end;
}

/* Finds the next conversion: its % and its letter, with any text between. */
static bool find(const struct cutter *c, size_t *percent, size_t *letter)
{
    const char *letters =
        c->age == PFD_KHRONOS_NOW ? "diouxXaAeEfFgGvp" : "diouxXaAeEfFgGv";
    size_t i = c->begin;
    while (i < c->n) {
        const char *p = memchr(c->text + i, '%', c->n - i);
        if (!p)
            return false;
        i = (size_t)(p - c->text) + 1;
        if (char_at(c, i) == '%') {
            i++;
            continue;
        }
        *percent = i - 1;
        while (i < c->n && (!c->text[i] || !strchr(letters, c->text[i])))
            i++;
        *letter = i;
        return i < c->n;
    }
    return false;
}

static void print_cut(struct printer *pr, struct piece *p)
{
    struct piece copy = *p;
    if (pr->age == PFD_KHRONOS_NOW) {
        print_now(pr, &copy);
    } else {
        print_old(pr, &copy);
    }
    pr->index++;
}

/* Components 1 and on: ", " and the conversion, cut short. */
static void print_components(struct printer *pr, const struct piece *first,
                             const char *spec, size_t n_spec, unsigned count)
{
    char text[COMPONENT_MAX] = ", ";
    size_t n = n_spec < COMPONENT_MAX - 2 ? n_spec : COMPONENT_MAX - 2;
    struct piece p = *first;
    memcpy(text + 2, spec, n);
    p.text = text;
    p.n = n + 2;
    if (p.n + p.n_tail > COMPONENT_MAX)
        p.n_tail = COMPONENT_MAX - p.n;
    /* Values behind the last byte are zero, and need not all be printed. */
    for (unsigned i = 1; i < count; i++)
        print_cut(pr, &p);
}

void pfd_khronos_print(struct pfd_text *out, const char *format, size_t n,
                       const struct pfd_khronos_values *values,
                       enum pfd_khronos_age age, uint64_t *findings)
{
    struct cutter c = { format, n, 0, age };
    struct printer pr = { out, values, age, 0, 0, findings };
    size_t percent = 0;
    size_t letter = 0;
    while (c.begin < c.n && find(&c, &percent, &letter)) {
        struct piece p = { 0 };
        unsigned count = 1;
        if (char_at(&c, letter) == 'v') {
            count = cut_vector(&c, percent, letter, &p);
        } else {
            cut_scalar(&c, percent, letter, &p);
        }
        print_cut(&pr, &p);
        if (count > 1) {
            print_components(&pr, &p, format + percent, letter - percent,
                             count);
        }
    }
    if (c.begin < c.n) {
        struct piece rest = { .text = format + c.begin, .n = c.n - c.begin };
        print_cut(&pr, &rest);
    }
}

size_t pfd_khronos_reads(const char *format, size_t n)
{
    struct cutter c = { format, n, 0, PFD_KHRONOS_NOW };
    size_t percent = 0;
    size_t letter = 0;
    size_t n_values = 1;
    while (c.begin < c.n && find(&c, &percent, &letter)) {
        struct piece p;
        if (char_at(&c, letter) == 'v') {
            n_values += cut_vector(&c, percent, letter, &p);
        } else {
            cut_scalar(&c, percent, letter, &p);
            n_values++;
        }
    }
    return 8 * (n_values + 1);
}
