/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/filter/entry_value.h"
#include "core/filter/where_range.h"
#include "core/strings/column_names.h"

typedef __int128 wide;

static const struct pfd_value nothing;

/* ---- values of names ---- */

static struct pfd_value of_step(const struct pfd_step *s,
                                const uint8_t *payload)
{
    if (!pfd_step_has_argument(s))
        return nothing;
    if (s->store == PFD_STORE_STRING) {
        size_t n = 0;
        const char *text = pfd_step_string(s, payload, &n);
        return pfd_value_of_text(text, n);
    }
    if (pfd_step_is_float(s))
        return pfd_value_of_float(pfd_step_double(s, payload));
    uint64_t bits = pfd_step_integer(s, payload);
    return pfd_value_of_integer(pfd_step_is_signed(s) ? (wide)(int64_t)bits
                                                      : (wide)bits);
}

struct place {
    const struct pfd_where *where;
    const struct pfd_where_bound *bound;
    const struct pfd_step *steps;
    const uint8_t *payload;
    struct pfd_entry *entry;
    const struct pfd_filter_facts *facts;
    struct pfd_own_texts *texts;
    const struct pfd_where_values *values; /* of PFD_WHERE_GIVEN */
};

static struct pfd_value give_nothing(void *user, size_t name)
{
    (void)user;
    (void)name;
    return nothing;
}

static const struct pfd_where_values no_values = { .value = give_nothing };

static struct pfd_value of_name(const struct place *p, size_t i)
{
    uint32_t step = p->bound->steps[i];
    if (__builtin_expect(step < PFD_WHERE_OWN, 1))
        return of_step(&p->steps[step], p->payload);
    if (step == PFD_WHERE_ORIGIN)
        return pfd_own_origin(p->where->names[i], p->entry, p->facts);
    if (step == PFD_WHERE_ABSENT)
        return nothing;
    if (step == PFD_WHERE_GIVEN)
        return p->values->value(p->values->user, i);
    return pfd_own_value(step - PFD_WHERE_OWN, p->entry, p->facts, p->texts);
}

/* ---- comparing ---- */

enum {
    UNORDERED = 2
};

static int compare_mixed(wide i, double f)
{
    const double limit = 0x1p127;
    if (isnan(f))
        return UNORDERED;
    if (f >= limit || f < -limit)
        return f < 0 ? 1 : -1;
    wide whole = (wide)f;
    if (i != whole)
        return i < whole ? -1 : 1;
    double rest = f - (double)whole; /* exact: f has 53 bits */
    return rest > 0 ? -1 : rest < 0 ? 1 : 0;
}

static int compare_text(const struct pfd_value *a, const struct pfd_value *b)
{
    int order = memcmp(a->text, b->text, a->n < b->n ? a->n : b->n);
    if (order)
        return order < 0 ? -1 : 1;
    return a->n == b->n ? 0 : a->n < b->n ? -1 : 1;
}

static int compare_doubles(double a, double b)
{
    return a < b ? -1 : a > b ? 1 : a == b ? 0 : UNORDERED;
}

/* False: they cannot be compared. */
static bool order_of(const struct pfd_value *a, const struct pfd_value *b,
                     int *ret)
{
    bool both = a->type == b->type;
    if (both && a->type == PFD_OPERAND_INTEGER) {
        *ret = a->i < b->i ? -1 : a->i > b->i;
    } else if (both && a->type == PFD_OPERAND_FLOAT) {
        *ret = compare_doubles(a->f, b->f);
    } else if (both && a->type == PFD_OPERAND_TEXT) {
        *ret = compare_text(a, b);
    } else if (a->type == PFD_OPERAND_INTEGER && b->type == PFD_OPERAND_FLOAT) {
        *ret = compare_mixed(a->i, b->f);
    } else if (a->type == PFD_OPERAND_FLOAT && b->type == PFD_OPERAND_INTEGER) {
        int order = compare_mixed(b->i, a->f);
        *ret = order == UNORDERED ? order : -order;
    } else {
        return false;
    }
    return true;
}

static bool holds(enum pfd_where_code code, int order)
{
    switch ((int)code) {
    case PFD_WHERE_EQ:
        return order == 0;
    case PFD_WHERE_NE:
        return order != 0;
    case PFD_WHERE_LT:
        return order == -1;
    case PFD_WHERE_LE:
        return order == -1 || order == 0;
    case PFD_WHERE_GT:
        return order == 1;
    default:
        return order == 1 || order == 0;
    }
}

static struct pfd_value compare(enum pfd_where_code code,
                                const struct pfd_value *a,
                                const struct pfd_value *b)
{
    int order;
    return order_of(a, b, &order) ? pfd_value_of_integer(holds(code, order))
                                  : nothing;
}

/* JSON shows some of an entry's own numbers as texts: "0x123456789abc". */
static struct pfd_value number_of_text(const struct pfd_value *v)
{
    char text[24];
    char *end = text;
    if (!v->n || v->n >= sizeof text)
        return nothing;
    memcpy(text, v->text, v->n);
    text[v->n] = '\0';
    bool is_hex = v->n > 2 && text[0] == '0' && (text[1] | 32) == 'x';
    errno = 0;
    uint64_t number = strtoull(text, &end, is_hex ? 16 : 10);
    bool is_number =
        isdigit((unsigned char)text[0]) && end == text + v->n && !errno;
    return is_number ? pfd_value_of_integer((wide)number) : nothing;
}

static bool is_argument(const struct place *p, size_t name)
{
    uint32_t step = p->bound->steps[name];
    return step == PFD_WHERE_GIVEN ? p->values->arguments >> name & 1
                                   : step < PFD_WHERE_OWN;
}

/* A name and a constant. */
static struct pfd_value compare_name(const struct place *p,
                                     const struct pfd_where_op *op)
{
    struct pfd_value a = of_name(p, op->name);
    const struct pfd_value *b = &p->where->constants[op->constant];
    if (b->type == PFD_OPERAND_TEXT && a.type == PFD_OPERAND_INTEGER &&
        !is_argument(p, op->name)) {
        struct pfd_value number = number_of_text(b);
        return compare((enum pfd_where_code)op->code2, &a, &number);
    }
    return compare((enum pfd_where_code)op->code2, &a, b);
}

/* ---- calculating ---- */

static bool is_true(const struct pfd_value *v)
{
    return v->type == PFD_OPERAND_INTEGER ? v->i != 0
           : v->type == PFD_OPERAND_FLOAT ? v->f != 0 && !isnan(v->f)
                                          : v->type == PFD_OPERAND_TEXT && v->n;
}

static struct pfd_value both_or_either(bool is_and, const struct pfd_value *a,
                                       const struct pfd_value *b)
{
    bool unknown = !a->type || !b->type;
    bool decided =
        (a->type && is_true(a) != is_and) || (b->type && is_true(b) != is_and);
    if (decided)
        return pfd_value_of_integer(!is_and);
    return unknown ? nothing : pfd_value_of_integer(is_and);
}

static struct pfd_value shift(wide a, wide by, bool left)
{
    if (by < 0 || by > 127)
        return nothing;
    if (!left)
        return pfd_value_of_integer(a >> by);
    wide shifted = (wide)((unsigned __int128)a << by);
    return shifted >> by == a ? pfd_value_of_integer(shifted) : nothing;
}

static struct pfd_value negative(wide a)
{
    wide result = 0;
    return __builtin_sub_overflow((wide)0, a, &result)
               ? nothing
               : pfd_value_of_integer(result);
}

static struct pfd_value of_integers(enum pfd_where_code code, wide a, wide b)
{
    wide result = 0;
    switch ((int)code) {
    case PFD_WHERE_BIT_OR:
        return pfd_value_of_integer(a | b);
    case PFD_WHERE_BIT_XOR:
        return pfd_value_of_integer(a ^ b);
    case PFD_WHERE_BIT_AND:
        return pfd_value_of_integer(a & b);
    case PFD_WHERE_SHIFT_LEFT:
    case PFD_WHERE_SHIFT_RIGHT:
        return shift(a, b, code == PFD_WHERE_SHIFT_LEFT);
    case PFD_WHERE_ADD:
        return __builtin_add_overflow(a, b, &result)
                   ? nothing
                   : pfd_value_of_integer(result);
    case PFD_WHERE_SUBTRACT:
        return __builtin_sub_overflow(a, b, &result)
                   ? nothing
                   : pfd_value_of_integer(result);
    case PFD_WHERE_MULTIPLY:
        return __builtin_mul_overflow(a, b, &result)
                   ? nothing
                   : pfd_value_of_integer(result);
    case PFD_WHERE_DIVIDE:
    case PFD_WHERE_REMAINDER:
        if (b == 0)
            return nothing;
        if (b == -1) { /* which the least integer cannot be divided by */
            return code == PFD_WHERE_REMAINDER ? pfd_value_of_integer(0)
                                               : negative(a);
        }
        return pfd_value_of_integer(code == PFD_WHERE_DIVIDE ? a / b : a % b);
    default:
        return nothing;
    }
}

static struct pfd_value of_doubles(enum pfd_where_code code, double a, double b)
{
    switch ((int)code) {
    case PFD_WHERE_ADD:
        return pfd_value_of_float(a + b);
    case PFD_WHERE_SUBTRACT:
        return pfd_value_of_float(a - b);
    case PFD_WHERE_MULTIPLY:
        return pfd_value_of_float(a * b);
    case PFD_WHERE_DIVIDE:
        return pfd_value_of_float(a / b);
    case PFD_WHERE_REMAINDER:
        return pfd_value_of_float(fmod(a, b));
    default: /* no bit operations on floats */
        return nothing;
    }
}

static bool is_number(const struct pfd_value *v)
{
    return v->type == PFD_OPERAND_INTEGER || v->type == PFD_OPERAND_FLOAT;
}

static double as_double(const struct pfd_value *v)
{
    return v->type == PFD_OPERAND_FLOAT ? v->f : (double)v->i;
}

static struct pfd_value calculate(enum pfd_where_code code,
                                  const struct pfd_value *a,
                                  const struct pfd_value *b)
{
    if (!is_number(a) || !is_number(b))
        return nothing;
    if (a->type == PFD_OPERAND_INTEGER && b->type == PFD_OPERAND_INTEGER)
        return of_integers(code, a->i, b->i);
    return of_doubles(code, as_double(a), as_double(b));
}

static struct pfd_value of_one(enum pfd_where_code code,
                               const struct pfd_value *v)
{
    bool is_float = v->type == PFD_OPERAND_FLOAT;
    if (!v->type)
        return nothing;
    switch ((int)code) {
    case PFD_WHERE_NOT:
        return pfd_value_of_integer(!is_true(v));
    case PFD_WHERE_ISNAN:
        return is_number(v) ? pfd_value_of_integer(is_float && isnan(v->f))
                            : nothing;
    case PFD_WHERE_ISINF:
        return is_number(v) ? pfd_value_of_integer(is_float && isinf(v->f))
                            : nothing;
    case PFD_WHERE_ABS:
        if (is_float)
            return pfd_value_of_float(fabs(v->f));
        if (v->type == PFD_OPERAND_INTEGER && v->i >= 0)
            return *v;
        break;
    default:
        break;
    }
    if (is_float)
        return pfd_value_of_float(-v->f);
    return v->type == PFD_OPERAND_INTEGER ? negative(v->i) : nothing;
}

static struct pfd_value of_two(enum pfd_where_code code,
                               const struct pfd_value *a,
                               const struct pfd_value *b)
{
    switch ((int)code) {
    case PFD_WHERE_AND:
    case PFD_WHERE_OR:
        return both_or_either(code == PFD_WHERE_AND, a, b);
    case PFD_WHERE_EQ:
    case PFD_WHERE_NE:
    case PFD_WHERE_LT:
    case PFD_WHERE_LE:
    case PFD_WHERE_GT:
    case PFD_WHERE_GE:
        return compare(code, a, b);
    default:
        return calculate(code, a, b);
    }
}

/* ---- running ---- */

static struct pfd_value run(const struct place *p)
{
    const struct pfd_where *w = p->where;
    struct pfd_value stack[PFD_WHERE_STACK_MAX + 1] = { nothing };
    struct pfd_value *top = stack; /* one behind the newest value */
    for (size_t i = 0; i < w->n; i++) {
        const struct pfd_where_op *op = &w->ops[i];
        enum pfd_where_code code = (enum pfd_where_code)op->code;
        if (code == PFD_WHERE_COMPARE) {
            *top++ = compare_name(p, op);
        } else if (code == PFD_WHERE_NAME) {
            *top++ = of_name(p, op->name);
        } else if (code == PFD_WHERE_CONSTANT) {
            *top++ = w->constants[op->constant];
        } else if (code == PFD_WHERE_SKIP_FALSE ||
                   code == PFD_WHERE_SKIP_TRUE) {
            bool wanted = code == PFD_WHERE_SKIP_TRUE;
            if (top[-1].type && is_true(&top[-1]) == wanted) {
                top[-1] = pfd_value_of_integer(wanted);
                i = op->constant - 1u;
            }
        } else if (code >= PFD_WHERE_NOT) {
            top[-1] = of_one(code, &top[-1]);
        } else {
            top--;
            top[-1] = of_two(code, &top[-1], &top[0]);
        }
    }
    return stack[0];
}

bool pfd_where_test(const struct pfd_where *where,
                    const struct pfd_where_bound *bound,
                    const struct pfd_step *steps, const uint8_t *payload,
                    struct pfd_entry *entry,
                    const struct pfd_filter_facts *facts)
{
    struct pfd_own_texts texts; /* written on demand */
    struct place place = {
        .where = where,
        .bound = bound,
        .steps = steps,
        .payload = payload,
        .entry = entry,
        .facts = facts,
        .texts = &texts,
        .values = &no_values,
    };
    struct pfd_value v = run(&place);
    return is_true(&v);
}

bool pfd_where_test_values(const struct pfd_where *where,
                           const struct pfd_where_values *values)
{
    union {
        struct pfd_where_bound bound;
        char room[sizeof(struct pfd_where_bound) +
                  PFD_WHERE_NAMES_MAX * sizeof(uint32_t)];
    } all = { .bound = { .asks_entry = true } };
    static const struct pfd_step no_step;
    struct place place = {
        .where = where,
        .bound = &all.bound,
        .steps = &no_step,
        .values = values,
    };
    for (size_t i = 0; i < where->n_names; i++)
        all.bound.steps[i] = PFD_WHERE_GIVEN;
    struct pfd_value v = run(&place);
    return is_true(&v);
}

/* ---- binding ---- */

/* The knowledge about a value before there is an entry. */
enum known {
    NOTHING,  /* never there */
    NOT_TRUE, /* nothing or false */
    ANY,
};

static enum known know(enum pfd_where_code code, enum known a, enum known b)
{
    bool never = a != ANY || b != ANY;
    bool nothing_at_all = a == NOTHING && b == NOTHING;
    if (code == PFD_WHERE_AND)
        return nothing_at_all ? NOTHING : never ? NOT_TRUE : ANY;
    if (code == PFD_WHERE_OR)
        return nothing_at_all ? NOTHING : a != ANY && b != ANY ? NOT_TRUE : ANY;
    return a == NOTHING || b == NOTHING ? NOTHING : ANY;
}

static bool can_be_true(const struct pfd_where *w,
                        const struct pfd_where_bound *bound)
{
    enum known stack[PFD_WHERE_STACK_MAX + 1] = { NOTHING };
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct pfd_where_op *op = &w->ops[i];
        enum pfd_where_code code = (enum pfd_where_code)op->code;
        if (code == PFD_WHERE_COMPARE || code == PFD_WHERE_NAME) {
            bool absent = bound->steps[op->name] == PFD_WHERE_ABSENT;
            stack[n++] = absent ? NOTHING : ANY;
        } else if (code == PFD_WHERE_CONSTANT) {
            stack[n++] = ANY;
        } else if (code == PFD_WHERE_SKIP_FALSE ||
                   code == PFD_WHERE_SKIP_TRUE) {
            continue;
        } else if (code >= PFD_WHERE_NOT) {
            stack[n - 1] = know(code, stack[n - 1], stack[n - 1]);
        } else {
            n--;
            stack[n - 1] = know(code, stack[n - 1], stack[n]);
        }
    }
    return stack[0] == ANY;
}

/* True: only comparisons with && || and ! between them. */
static bool is_simple(const struct pfd_where *w)
{
    for (size_t i = 0; i < w->n; i++) {
        switch (w->ops[i].code) {
        case PFD_WHERE_COMPARE:
        case PFD_WHERE_SKIP_FALSE:
        case PFD_WHERE_SKIP_TRUE:
        case PFD_WHERE_AND:
        case PFD_WHERE_OR:
        case PFD_WHERE_NOT:
            break;
        default:
            return false;
        }
    }
    return true;
}

static bool make_ranges(const struct pfd_where *w, const struct pfd_string *s,
                        const struct pfd_where_bound *bound,
                        struct pfd_where_range *ret)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct pfd_where_op *op = &w->ops[i];
        if (op->code != PFD_WHERE_COMPARE)
            continue;
        uint32_t step = bound->steps[op->name];
        if (step >= PFD_WHERE_OWN ||
            !pfd_where_range_make(
                &s->steps[step], (enum pfd_where_code)op->code2,
                &w->constants[op->constant], &ret[op->number]))
            return false;
    }
    return true;
}

/* The place of a name that is no argument of the string. */
static uint32_t place_beside(const char *name)
{
    size_t own = pfd_own_find(name);
    if (own != SIZE_MAX)
        return PFD_WHERE_OWN + (uint32_t)own;
    return pfd_own_is_origin(name) ? PFD_WHERE_ORIGIN : PFD_WHERE_ABSENT;
}

static void place_names(const struct pfd_where *where,
                        const struct pfd_string *string,
                        struct pfd_where_bound *ret)
{
    for (size_t i = 0; i < where->n_names; i++) {
        const char *name = where->names[i];
        size_t step =
            string ? pfd_column_find(string, name, strlen(name)) : SIZE_MAX;
        ret->steps[i] = step == SIZE_MAX ? place_beside(name) : (uint32_t)step;
        ret->asks_entry |=
            step == SIZE_MAX && ret->steps[i] != PFD_WHERE_ABSENT;
    }
}

static bool has_ranges(const struct pfd_where *where,
                       const struct pfd_string *string)
{
    return string && is_simple(where);
}

/* Of a bound, before its ranges. */
static size_t bound_head(const struct pfd_where *where)
{
    const size_t align = sizeof(struct pfd_where_range *);
    size_t n = sizeof(struct pfd_where_bound) +
               where->n_names * sizeof(uint32_t) + align - 1;
    return n / align * align;
}

size_t pfd_where_bound_memory(const struct pfd_where *where,
                              const struct pfd_string *string)
{
    size_t n_ranges = has_ranges(where, string) ? where->n_compares : 0;
    return bound_head(where) + n_ranges * sizeof(struct pfd_where_range);
}

struct pfd_where_bound *pfd_where_bind(const struct pfd_where *where,
                                       const struct pfd_string *string)
{
    struct pfd_where_bound *ret =
        calloc(1, pfd_where_bound_memory(where, string));
    if (!ret)
        return NULL;
    place_names(where, string, ret);
    ret->is_never = !can_be_true(where, ret);
    struct pfd_where_range *ranges =
        (struct pfd_where_range *)((char *)ret + bound_head(where));
    if (has_ranges(where, string) && make_ranges(where, string, ret, ranges))
        ret->ranges = ranges;
    return ret;
}
