/* SPDX-License-Identifier: MIT */
/* Reads placeholders, and compiles them to steps. */
#include "core/print/braces.h"

#include <string.h>

#include "core/base/escape.h"
#include "core/print/steps.h"

enum {
    /* Steps of a placeholder beside its components: two stars, the brace's, and
     * a string's length. */
    SERVING_STEPS = 4,
    COMPONENTS_MAX = 64,
};

struct scanner {
    const char *text; /* [n] */
    size_t n;
    size_t at;
};

/* The next byte, or NUL at the end: no part of a placeholder is NUL. */
static char peek(const struct scanner *s)
{
    return s->at < s->n ? s->text[s->at] : '\0';
}

static bool take(struct scanner *s, char c)
{
    bool ret = peek(s) == c && s->at < s->n;
    s->at += ret;
    return ret;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(char c, bool is_first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!is_first && is_digit(c));
}

/* ---- reading ---- */

/* A name, a number or nothing. */
static struct pfd_brace_name read_name(struct scanner *s)
{
    struct pfd_brace_name ret = { .text = s->text + s->at };
    if (is_digit(peek(s))) {
        while (is_digit(peek(s)))
            s->at++;
    } else if (is_name(peek(s), true)) {
        while (is_name(peek(s), false))
            s->at++;
    }
    ret.n = (size_t)(s->text + s->at - ret.text);
    return ret;
}

static enum pfd_align align_of(char c)
{
    switch (c) {
    case '<':
        return PFD_ALIGN_LEFT;
    case '>':
        return PFD_ALIGN_RIGHT;
    case '^':
        return PFD_ALIGN_CENTER;
    case '=':
        return PFD_ALIGN_NUMERIC;
    default:
        return PFD_ALIGN_NONE;
    }
}

/* A fill is one character before an alignment. */
static const char *read_align(struct scanner *s, struct pfd_placeholder *p)
{
    size_t left = s->n - s->at;
    size_t n_fill = pfd_utf8_length(s->text + s->at, left);
    p->fill = ' ';
    if (n_fill && n_fill < left &&
        align_of(s->text[s->at + n_fill]) != PFD_ALIGN_NONE) {
        if (peek(s) == '{')
            return "'{' cannot fill a placeholder";
        p->fill = 0;
        memcpy(&p->fill, s->text + s->at, n_fill);
        s->at += n_fill;
    }
    p->align = align_of(peek(s));
    s->at += p->align != PFD_ALIGN_NONE;
    return NULL;
}

static uint8_t flag_of(char c)
{
    return c == '+' ? PFD_SPEC_PLUS : c == ' ' ? PFD_SPEC_SPACE : 0;
}

static int read_number(struct scanner *s, bool *is_clamped)
{
    int ret = 0;
    for (; is_digit(peek(s)); s->at++) {
        if (ret <= PFD_WIDTH_MAX)
            ret = ret * 10 + (peek(s) - '0');
    }
    *is_clamped |= ret > PFD_WIDTH_MAX;
    return ret > PFD_WIDTH_MAX ? PFD_WIDTH_MAX : ret;
}

/* {}, {name} or {number} where a number can be. */
static bool read_nested(struct scanner *s, struct pfd_brace_name *ret)
{
    if (!take(s, '{'))
        return true;
    *ret = read_name(s);
    return take(s, '}');
}

static const char *read_spec(struct scanner *s, struct pfd_placeholder *p)
{
    static const char bad[] = "this specification of {} cannot be read";
    const char *why = read_align(s, p);
    if (why)
        return why;
    p->flags |= flag_of(peek(s));
    s->at += p->flags || peek(s) == '-';
    if (take(s, '#'))
        p->flags |= PFD_SPEC_HASH;
    if (take(s, '0')) {
        p->fill = '0';
        if (p->align == PFD_ALIGN_NONE)
            p->align = PFD_ALIGN_NUMERIC;
    }
    p->n_width = read_number(s, &p->is_clamped);
    if (!p->n_width && !read_nested(s, &p->width))
        return bad;
    if (take(s, '.')) {
        if (!is_digit(peek(s)) && peek(s) != '{')
            return "a precision of {} needs digits";
        p->n_precision = read_number(s, &p->is_clamped);
        if (!read_nested(s, &p->precision))
            return bad;
    }
    take(s, 'L');
    if (is_name(peek(s), true) || peek(s) == '%')
        p->type = s->text[s->at++];
    return peek(s) == '}' ? NULL : bad;
}

/* The letter of a stored type; or of an enumeration's, /e_I_name, whose name may
 * have "::" in it. */
static const char *read_stored(struct scanner *s, struct pfd_placeholder *p)
{
    bool is_enum = take(s, '/');
    if (is_enum && ((!take(s, 'e') && !take(s, 'E')) || !take(s, '_')))
        return "an enumeration of {} is /e_, a letter, and its name";
    p->stored = peek(s);
    if (!is_name(p->stored, true) && p->stored != '?')
        return "a type of {} is a letter";
    s->at++;
    while (is_enum && s->at < s->n && peek(s) != '}') {
        bool is_twice =
            peek(s) == ':' && s->at + 1 < s->n && s->text[s->at + 1] == ':';
        if (peek(s) == ':' && !is_twice)
            break;
        s->at += is_twice ? 2 : 1;
    }
    return NULL;
}

static const char *read_placeholder(struct scanner *s,
                                    struct pfd_placeholder *p)
{
    *p = (struct pfd_placeholder){ .fill = ' ', .n_precision = -1 };
    s->at++;
    p->value = read_name(s);
    const char *why = take(s, ',') ? read_stored(s, p) : NULL;
    if (!why && take(s, ':'))
        why = read_spec(s, p);
    p->end = s->at + 1;
    if (why || take(s, '}'))
        return why;
    return s->at < s->n ? "this {} cannot be read"
                        : "a '{' without its '}': write '{{'";
}

enum pfd_brace_token pfd_braces_next(const char *text, size_t n, size_t *at,
                                     struct pfd_placeholder *ret,
                                     const char **why)
{
    struct scanner s = { text, n, *at };
    while (s.at < n && text[s.at] != '{' && text[s.at] != '}')
        s.at++;
    *at = s.at;
    if (s.at == n)
        return PFD_BRACE_END;
    if (s.at + 1 < n && text[s.at + 1] == text[s.at])
        return PFD_BRACE_TWICE;
    *why = text[s.at] == '}' ? "a '}' without its '{': write '}}'"
                             : read_placeholder(&s, ret);
    return *why ? PFD_BRACE_MISTAKE : PFD_BRACE_PLACEHOLDER;
}

const char *pfd_placeholder_check(const struct pfd_placeholder *p,
                                  struct pfd_brace_type type)
{
    bool is_text = type.conv == 's';
    bool is_float = type.conv == 'f';
    const char *letters = is_text            ? "s"
                          : is_float         ? "fFeEgGaA%"
                          : type.conv == 'p' ? "pxX"
                                             : "dxXobBc";
    if (p->type && !strchr(letters, p->type))
        return "this type letter of {} is not one for such an argument";
    if ((p->n_precision >= 0 || p->precision.text) && !is_text && !is_float)
        return "an integer's {} has no precision";
    if (is_text && (p->flags || p->align == PFD_ALIGN_NUMERIC))
        return "a text's {} has no sign, '#', '0' or '='";
    return NULL;
}

/* ---- compiling ---- */

struct compiler {
    struct pfd_steps to;
    const struct pfd_brace_type *types; /* [n_types] */
    size_t n_types;
    size_t next; /* of them */
    struct pfd_program_facts *facts;
};

static struct pfd_brace_type next_type(struct compiler *c)
{
    struct pfd_brace_type ret = { .conv = 'u', .n = 1 };
    if (c->next < c->n_types)
        ret = c->types[c->next];
    c->next++;
    if (ret.n < 1 || ret.n > COMPONENTS_MAX)
        ret.n = 1;
    return ret;
}

static char style_of(const struct pfd_placeholder *p, char conv)
{
    bool has_precision = p->n_precision >= 0 || p->precision.text;
    if (p->type)
        return p->type;
    if (conv == 'f')
        return has_precision ? 'g' : PFD_STYLE_SHORTEST;
    return conv;
}

/* The conversion and the flags of printf that print the same; 0: there are
 * none. */
static char plain_conversion(const struct pfd_placeholder *p,
                             struct pfd_brace_type type, uint8_t *flags)
{
    char style = style_of(p, type.conv);
    bool is_zero_filled = p->align == PFD_ALIGN_NUMERIC && p->fill == '0';
    bool is_float = type.conv == 'f';
    const char *plain = is_float ? "fFeEgG" : type.conv == 'd' ? "d" : "uxXo";
    *flags = p->flags;
    if (type.conv == 'u' && style == 'd')
        style = 'u';
    if (type.conv == 's' && !p->n_width && p->n_precision < 0 &&
        !p->width.text && !p->precision.text)
        return 's';
    if (type.n > 1 || p->width.text || p->precision.text || type.conv == 's' ||
        type.conv == 'p' || !strchr(plain, style) || p->flags & PFD_SPEC_HASH ||
        (type.conv == 'u' && p->flags))
        return 0;
    if (is_zero_filled)
        *flags |= PFD_SPEC_ZERO;
    if (p->align == PFD_ALIGN_LEFT)
        *flags |= PFD_SPEC_MINUS;
    /* inf and nan stand left where no alignment is stated. */
    bool is_left = p->align == PFD_ALIGN_NONE && is_float && p->n_width;
    bool is_filled = p->fill != ' ' && !is_zero_filled && p->n_width;
    return is_left || is_filled || p->align == PFD_ALIGN_CENTER ? '\0' : style;
}

static void add_brace(struct compiler *c, size_t at,
                      const struct pfd_placeholder *p,
                      struct pfd_brace_type type)
{
    struct pfd_step *s = pfd_steps_add(&c->to, at, PFD_OP_VERBATIM);
    unsigned row = type.row <= PFD_BRACE_ROW_MAX ? type.row : 0;
    s->conv = PFD_CONV_BRACE;
    s->at = p->fill;
    s->width = (int16_t)p->align;
    s->precision = (int16_t)style_of(p, type.conv);
    s->tight = type.is_braced;
    s->length = row & (unsigned)PFD_BRACE_ROW_MAX;
}

static void add_star(struct compiler *c, size_t at)
{
    pfd_steps_add(&c->to, at, PFD_OP_VERBATIM)->conv = PFD_CONV_STAR;
    c->facts->n_scalars++;
    c->facts->n_cut_scalars++;
}

static void add_value(struct compiler *c, size_t at,
                      const struct pfd_placeholder *p,
                      struct pfd_brace_type type, char conv, uint8_t flags,
                      int precision)
{
    for (unsigned i = 0; i < type.n; i++) {
        struct pfd_step *s = pfd_steps_add(&c->to, at, PFD_OP_VERBATIM);
        s->conv = conv;
        s->flags = (uint8_t)(flags | (i ? PFD_STEP_JOIN : 0));
        s->width = (int16_t)p->n_width;
        s->precision = (int16_t)precision;
    }
    c->facts->n_scalars += type.n;
    c->facts->n_cut_scalars++;
}

static void add_placeholder(struct compiler *c, size_t at,
                            const struct pfd_placeholder *p)
{
    uint8_t flags = 0;
    pfd_steps_add_long_literal(&c->to, at);
    if (p->width.text) {
        add_star(c, at);
        next_type(c);
        flags |= PFD_STEP_STAR_WIDTH;
    }
    if (p->precision.text) {
        add_star(c, at);
        next_type(c);
        flags |= PFD_STEP_STAR_PRECISION;
    }
    struct pfd_brace_type type = next_type(c);
    uint8_t plain_flags = 0;
    int precision = p->n_precision;
    char conv = plain_conversion(p, type, &plain_flags);
    if (pfd_placeholder_check(p, type)) {
        conv = 'n'; /* takes its value, and never prints */
    } else if (conv) {
        flags |= plain_flags;
        if (precision < 0 && type.conv == 'f')
            precision = 6; /* the default of printf */
    } else {
        flags |= p->flags;
        conv = type.conv == 'p' ? 'x' : type.conv;
        add_brace(c, at, p, type);
    }
    if (conv == 's') {
        pfd_steps_add(&c->to, at, PFD_OP_VERBATIM)->conv = PFD_CONV_LENGTH;
        type.n = 1;
    }
    add_value(c, at, p, type, conv, flags, precision);
    if (p->is_clamped)
        c->facts->findings |= PFD_FINDING_BIT(width_clamped);
    pfd_steps_pass(&c->to, p->end);
}

size_t pfd_braces_steps_max(const char *text, size_t n,
                            const struct pfd_brace_type *types, size_t n_types)
{
    size_t ret = pfd_steps_of_literals(n);
    for (size_t i = 0; i < n; i++)
        ret += text[i] == '{' ? 1 + SERVING_STEPS : text[i] == '}';
    for (size_t i = 0; i < n_types; i++)
        ret += types[i].n < COMPONENTS_MAX ? types[i].n : COMPONENTS_MAX;
    return ret;
}

size_t pfd_braces_compile(const char *text, size_t n,
                          const struct pfd_brace_type *types, size_t n_types,
                          struct pfd_step *ret, struct pfd_program_facts *facts)
{
    struct compiler c = {
        .to = { .text = text, .n = n, .steps = ret },
        .types = types,
        .n_types = n_types,
        .facts = facts,
    };
    struct pfd_placeholder p;
    const char *why = NULL;
    size_t at = 0;
    *facts = (struct pfd_program_facts){ 0 };
    for (;;) {
        enum pfd_brace_token token = pfd_braces_next(text, n, &at, &p, &why);
        if (token == PFD_BRACE_TWICE) {
            pfd_steps_add_long_literal(&c.to, at + 1);
            pfd_steps_add(&c.to, at + 1, PFD_OP_LITERAL);
            pfd_steps_pass(&c.to, at + 2);
            at += 2;
        } else if (token == PFD_BRACE_PLACEHOLDER) {
            add_placeholder(&c, at, &p);
            at = p.end;
        } else {
            return pfd_steps_end(&c.to);
        }
    }
}
