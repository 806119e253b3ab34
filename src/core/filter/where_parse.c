/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/filter/entry_value.h"
#include "core/strings/column_names.h"

/* The parts read so far, until their number is known. */
struct draft {
    struct pfd_where_op ops[PFD_WHERE_OPS_MAX]; /* [n] */
    size_t n;
    struct pfd_value constants[PFD_WHERE_OPS_MAX]; /* [n_constants] */
    size_t n_constants;
    const char *names[PFD_WHERE_NAMES_MAX]; /* [n_names], in texts */
    size_t n_names;
    size_t n_compares;
    size_t n_texts;
    /* Names and text constants; no longer than what they were read from. */
    char texts[2 * PFD_WHERE_TEXT_MAX];
};

struct reader {
    struct draft *w;
    const char *text; /* NUL-terminated */
    size_t at;
    unsigned depth; /* values on the stack, with the current one */
    struct pfd_error *err;
    enum pfd_status status;
};

static const struct operator
{
    const char *text;
    uint8_t precedence;
}
operators[] = {
#define PFD_X(name, text, precedence) { text, precedence },
    PFD_WHERE_CODES(PFD_X)
#undef PFD_X
};

/* Always false; the first failure is the one reported. */
static bool fail(struct reader *r, size_t at, const char *why)
{
    if (r->status == PFD_OK) {
        struct pfd_quoted rest;
        r->status = PFD_ERR_USAGE;
        pfd_quote(&rest, r->text + at, strlen(r->text + at));
        pfd_fail(r->err, PFD_ERR_USAGE, at, "%s at %s%s%s", why,
                 r->text[at] ? "'" : "the end", rest.text,
                 r->text[at] ? "'" : "");
    }
    return false;
}

static void skip_space(struct reader *r)
{
    while (r->text[r->at] == ' ' || r->text[r->at] == '\t' ||
           r->text[r->at] == '\n')
        r->at++;
}

static bool take(struct reader *r, const char *token)
{
    skip_space(r);
    size_t n = strlen(token);
    if (strncmp(r->text + r->at, token, n) != 0)
        return false;
    r->at += n;
    return true;
}

static struct pfd_where_op *add(struct reader *r, enum pfd_where_code code)
{
    struct draft *w = r->w;
    if (w->n == PFD_WHERE_OPS_MAX) {
        fail(r, r->at, "the expression is too long");
        return &w->ops[0];
    }
    w->ops[w->n] = (struct pfd_where_op){ .code = (uint8_t)code };
    return &w->ops[w->n++];
}

static char *keep_text(struct reader *r, const char *text, size_t n)
{
    char *to = r->w->texts + r->w->n_texts;
    memcpy(to, text, n);
    to[n] = '\0';
    r->w->n_texts += n + 1;
    return to;
}

static bool add_constant(struct reader *r, struct pfd_value value)
{
    struct draft *w = r->w;
    size_t i = w->n_constants;
    struct pfd_where_op *op = add(r, PFD_WHERE_CONSTANT);
    if (r->status != PFD_OK)
        return false;
    w->constants[w->n_constants++] = value;
    op->constant = (uint16_t)i;
    return true;
}

/* ---- numbers and text ---- */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
        return (c | 0x20) - 'a' + 10;
    return 99;
}

/* Bytes beyond ASCII are part of a name: column_names.h decides which of
 * them. */
static bool is_word(char c)
{
    return digit_of(c) < 10 || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           c == '_' || (c & 0x80);
}

static int base_of(const char *text)
{
    if (text[0] != '0')
        return 10;
    switch (text[1] | 0x20) {
    case 'x':
        return 16;
    case 'b':
        return 2;
    case 'o':
        return 8;
    default:
        return 10;
    }
}

static bool read_float(struct reader *r)
{
    char *end = NULL;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) {
        r->status = pfd_fail(r->err, PFD_ERR_NOMEM, r->at, "out of memory");
        return false;
    }
    struct pfd_value v = { .type = PFD_OPERAND_FLOAT };
    v.f = strtod_l(r->text + r->at, &end, plain);
    freelocale(plain);
    if (is_word(*end) || *end == '.')
        return fail(r, r->at, "not a number");
    r->at = (size_t)(end - r->text);
    return add_constant(r, v);
}

static bool read_number(struct reader *r)
{
    const char *text = r->text + r->at;
    int base = base_of(text);
    struct pfd_value v = { .type = PFD_OPERAND_INTEGER };
    const char *c = base == 10 ? text : text + 2;
    const char *first = c;
    bool is_wide = false;
    for (; digit_of(*c) < base; c++) {
        v.i = is_wide ? v.i : v.i * base + digit_of(*c);
        is_wide |= v.i > UINT64_MAX;
    }
    if (base == 10 && (*c == '.' || (*c | 0x20) == 'e'))
        return read_float(r);
    if (is_wide)
        return fail(r, r->at, "an integer of more than 64 bits");
    if (c == first || is_word(*c))
        return fail(r, r->at, "not a number");
    r->at += (size_t)(c - text);
    return add_constant(r, v);
}

/* Reads one character of a quoted text; -1: a fault. */
static int read_escape(struct reader *r)
{
    static const char letters[] = "n\nt\tr\r0\0\\\\\"\"''";
    char c = r->text[r->at++];
    if (c != '\\')
        return (unsigned char)c;
    c = r->text[r->at];
    if (c == 'x') {
        int high = digit_of(r->text[r->at + 1]);
        int low = high < 16 ? digit_of(r->text[r->at + 2]) : 99;
        if (low > 15)
            return -1;
        r->at += 3;
        return high * 16 + low;
    }
    for (size_t i = 0; i + 1 < sizeof letters; i += 2) {
        if (c && letters[i] == c) {
            r->at++;
            return (unsigned char)letters[i + 1];
        }
    }
    return -1;
}

static bool read_text(struct reader *r, char quote)
{
    size_t start = r->at - 1;
    char *to = r->w->texts + r->w->n_texts;
    struct pfd_value v = { .type = PFD_OPERAND_TEXT };
    v.text = to;
    while (r->text[r->at] != quote) {
        int c = r->text[r->at] ? read_escape(r) : -1;
        if (c < 0)
            return fail(r, start, "text that does not end, or an unknown \\");
        to[v.n++] = (char)c;
    }
    r->at++;
    to[v.n] = '\0';
    r->w->n_texts += v.n + 1;
    return add_constant(r, v);
}

/* ---- names and functions ---- */

static bool fail_name(struct reader *r, const char *name, size_t at)
{
    struct pfd_quoted quoted;
    const char *near = pfd_own_near(name);
    pfd_quote(&quoted, name, strlen(name));
    r->status =
        pfd_fail(r->err, PFD_ERR_USAGE, at, "no entry can have '%s'%s%s",
                 quoted.text, near ? "; near to it: " : "", near ? near : "");
    return false;
}

static bool add_name(struct reader *r, const char *name, size_t n)
{
    struct draft *w = r->w;
    size_t i = 0;
    while (i < w->n_names &&
           (strlen(w->names[i]) != n || memcmp(w->names[i], name, n) != 0))
        i++;
    if (i == PFD_WHERE_NAMES_MAX)
        return fail(r, r->at, "too many names");
    if (i == w->n_names)
        w->names[w->n_names++] = keep_text(r, name, n);
    if (pfd_own_is_lacking(w->names[i]))
        return fail_name(r, w->names[i], (size_t)(name - r->text));
    add(r, PFD_WHERE_NAME)->name = (uint16_t)i;
    return r->status == PFD_OK;
}

static bool read_expression(struct reader *r, unsigned least);

static bool read_call(struct reader *r, enum pfd_where_code code)
{
    if (!read_expression(r, 1))
        return false;
    if (!take(r, ")"))
        return fail(r, r->at, "')' expected");
    add(r, code);
    return r->status == PFD_OK;
}

static bool read_name(struct reader *r)
{
    static const struct {
        const char *name;
        enum pfd_where_code code;
    } functions[] = {
        { "isnan", PFD_WHERE_ISNAN },
        { "isinf", PFD_WHERE_ISINF },
        { "abs", PFD_WHERE_ABS },
    };
    const char *name = r->text + r->at;
    size_t n = 0;
    while (is_word(name[n]) || (name[n] == '.' && is_word(name[n + 1])))
        n++;
    size_t start = r->at;
    r->at += n;
    if (!take(r, "("))
        return add_name(r, name, n);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strlen(functions[i].name) == n &&
            !memcmp(functions[i].name, name, n))
            return read_call(r, functions[i].code);
    }
    return fail(r, start, "no such function (isnan, isinf and abs there are)");
}

/* ---- operators ---- */

/* Folds a minus before a number. */
static bool negate_constant(struct reader *r)
{
    const struct pfd_where_op *last = &r->w->ops[r->w->n - 1];
    struct pfd_value *v = &r->w->constants[last->constant];
    if (last->code != PFD_WHERE_CONSTANT || v->type == PFD_OPERAND_TEXT)
        return false;
    if (v->type == PFD_OPERAND_FLOAT) {
        v->f = -v->f;
    } else {
        v->i = -v->i;
    }
    return true;
}

static bool read_unary(struct reader *r)
{
    skip_space(r);
    char c = r->text[r->at];
    if (c == '!' || c == '-') {
        r->at++;
        if (++r->depth > PFD_WHERE_STACK_MAX)
            return fail(r, r->at, "too deeply nested");
        if (!read_unary(r))
            return false;
        r->depth--;
        if (c == '!' || !negate_constant(r))
            add(r, c == '!' ? PFD_WHERE_NOT : PFD_WHERE_NEGATE);
        return r->status == PFD_OK;
    }
    if (take(r, "(")) {
        return read_expression(r, 1) &&
               (take(r, ")") || fail(r, r->at, "')' expected"));
    }
    if (take(r, "\"") || take(r, "'"))
        return read_text(r, r->text[r->at - 1]);
    if (digit_of(c) < 10 || c == '.')
        return c == '.' ? read_float(r) : read_number(r);
    if (is_word(c))
        return read_name(r);
    return fail(r, r->at, "a name, a number or a text expected");
}

/* The binary operator here; PFD_WHERE_N_CODES: there is none. An operator comes
 * before its prefixes in the table. */
static enum pfd_where_code peek_operator(struct reader *r)
{
    skip_space(r);
    for (unsigned i = 0; i < PFD_WHERE_N_CODES; i++) {
        const char *text = operators[i].text;
        if (text && !strncmp(r->text + r->at, text, strlen(text)))
            return (enum pfd_where_code)i;
    }
    return PFD_WHERE_N_CODES;
}

/* Joins the comparison of a name and a constant into one operation, the most
 * frequent one. */
static void join_comparison(struct reader *r, enum pfd_where_code code)
{
    struct draft *w = r->w;
    bool is_comparison =
        operators[code].precedence == operators[PFD_WHERE_EQ].precedence;
    struct pfd_where_op *last = &w->ops[w->n];
    if (is_comparison && w->n >= 2 && last[-2].code == PFD_WHERE_NAME &&
        last[-1].code == PFD_WHERE_CONSTANT) {
        last[-2] = (struct pfd_where_op){
            .code = PFD_WHERE_COMPARE,
            .code2 = (uint8_t)code,
            .name = last[-2].name,
            .number = (uint16_t)w->n_compares++,
            .constant = last[-1].constant,
        };
        w->n--;
        return;
    }
    add(r, code);
}

/* Reads operators that bind at least so tightly. */
static bool read_expression(struct reader *r, unsigned least)
{
    if (++r->depth > PFD_WHERE_STACK_MAX)
        return fail(r, r->at, "too deeply nested");
    if (!read_unary(r))
        return false;
    for (;;) {
        enum pfd_where_code code = peek_operator(r);
        if (code == PFD_WHERE_N_CODES || operators[code].precedence < least)
            break;
        size_t skip = SIZE_MAX;
        r->at += strlen(operators[code].text);
        if (code == PFD_WHERE_AND || code == PFD_WHERE_OR) {
            skip = r->w->n;
            add(r, code == PFD_WHERE_AND ? PFD_WHERE_SKIP_FALSE
                                         : PFD_WHERE_SKIP_TRUE);
        }
        if (!read_expression(r, operators[code].precedence + 1u))
            return false;
        join_comparison(r, code);
        if (skip != SIZE_MAX)
            r->w->ops[skip].constant = (uint16_t)r->w->n;
        if (r->status != PFD_OK)
            return false;
    }
    r->depth--;
    return true;
}

/* ---- the kept form ---- */

/* Texts of a draft move with the others. */
static void move_texts(const struct draft *d, char *texts,
                       struct pfd_value *constants, const char **names)
{
    memcpy(texts, d->texts, d->n_texts);
    for (size_t i = 0; i < d->n_constants; i++) {
        if (constants[i].type == PFD_OPERAND_TEXT)
            constants[i].text = texts + (constants[i].text - d->texts);
    }
    for (size_t i = 0; i < d->n_names; i++)
        names[i] = texts + (d->names[i] - d->texts);
}

/* NULL: out of memory. */
static struct pfd_where *keep(const struct draft *d)
{
    const size_t align = _Alignof(struct pfd_value);
    size_t head = (sizeof(struct pfd_where) + align - 1) / align * align;
    size_t n_constants = d->n_constants * sizeof *d->constants;
    size_t n_names = d->n_names * sizeof *d->names;
    size_t n_ops = d->n * sizeof *d->ops;
    size_t n = head + n_constants + n_names + n_ops + d->n_texts;
    char *block = aligned_alloc(align, (n + align - 1) / align * align);
    if (!block)
        return NULL;
    struct pfd_where *ret = (struct pfd_where *)block;
    struct pfd_value *constants = (struct pfd_value *)(block + head);
    const char **names = (const char **)(block + head + n_constants);
    struct pfd_where_op *ops =
        (struct pfd_where_op *)(block + head + n_constants + n_names);
    memcpy(constants, d->constants, n_constants);
    memcpy(ops, d->ops, n_ops);
    move_texts(d, (char *)ops + n_ops, constants, names);
    *ret = (struct pfd_where){ .ops = ops,
                               .n = d->n,
                               .constants = constants,
                               .names = names,
                               .n_names = d->n_names,
                               .n_compares = d->n_compares,
                               .n_bytes = n };
    return ret;
}

/* Why no operator begins here; names the operators of other languages. */
static const char *no_operator(const char *text)
{
    static const struct {
        const char *word;
        const char *why;
    } others[] = {
        { "and", "an operator expected ('and' is '&&')" },
        { "or", "an operator expected ('or' is '||')" },
        { "=", "an operator expected ('=' is '==')" },
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        size_t n = strlen(others[i].word);
        if (!strncasecmp(text, others[i].word, n) &&
            !(is_word(text[0]) && is_word(text[n])))
            return others[i].why;
    }
    return "an operator expected";
}

static enum pfd_status read_all(struct reader *r)
{
    if (read_expression(r, 1)) {
        skip_space(r);
        if (r->text[r->at])
            fail(r, r->at, no_operator(r->text + r->at));
    }
    return r->status;
}

enum pfd_status pfd_where_new(const char *text, struct pfd_where **ret,
                              struct pfd_error *err)
{
    if (strlen(text) > PFD_WHERE_TEXT_MAX) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_WHERE_TEXT_MAX,
                        "an expression of more than %d bytes",
                        PFD_WHERE_TEXT_MAX);
    }
    struct draft *draft = calloc(1, sizeof *draft);
    struct reader r = { .w = draft, .text = text, .err = err };
    enum pfd_status status = draft ? read_all(&r) : PFD_ERR_NOMEM;
    *ret = status == PFD_OK ? keep(draft) : NULL;
    free(draft);
    if (status == PFD_ERR_USAGE || *ret)
        return status;
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

size_t pfd_where_memory(const struct pfd_where *where)
{
    return where->n_bytes;
}

void pfd_where_free(struct pfd_where *where)
{
    free(where);
}

const char *pfd_where_name(const struct pfd_where *where, size_t i)
{
    return i < where->n_names ? where->names[i] : NULL;
}
