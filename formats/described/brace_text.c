/* SPDX-License-Identifier: MIT */
/*
 * Texts with {}, whose arguments have the types of their message's layout words,
 * or of an entry's tags. core/print/braces.h has the grammar; here names and
 * numbers become arguments.
 */
#include "brace_text.h"

#include <string.h>

/* What the steps of a text take: numbers of arguments, in the order of the
 * steps, with the letter of the placeholder's type. */
struct taken {
    uint16_t argument;
    char type;
};

enum {
    NOT_THERE = UINT16_MAX,
};

struct reader {
    struct taken *taken; /* [n] of [BRACES_TAKEN_MAX] */
    size_t n;
    size_t next; /* argument of the next {} without a number */
    bool is_numbered;
    bool is_automatic;
};

/* The argument that a number means. */
static uint16_t read_number(const struct pfd_brace_name *name)
{
    size_t ret = 0;
    for (size_t i = 0; i < name->n && ret < BRACES_TAKEN_MAX; i++) {
        if (name->text[i] < '0' || name->text[i] > '9')
            return NOT_THERE;
        ret = ret * 10 + (size_t)(name->text[i] - '0');
    }
    return ret < BRACES_TAKEN_MAX ? (uint16_t)ret : NOT_THERE;
}

static uint16_t argument_of(struct reader *r, const struct pfd_brace_name *name)
{
    if (name->n) {
        r->is_numbered = true;
        return read_number(name);
    }
    r->is_automatic = true;
    return r->next < BRACES_TAKEN_MAX ? (uint16_t)r->next++ : NOT_THERE;
}

static void take(struct reader *r, uint16_t argument, char type)
{
    if (r->n < BRACES_TAKEN_MAX)
        r->taken[r->n++] = (struct taken){ argument, type };
}

/* A placeholder's value comes first in the count, and last among its steps. */
static void take_placeholder(struct reader *r, const struct pfd_placeholder *p)
{
    uint16_t value = argument_of(r, &p->value);
    if (p->width.text)
        take(r, argument_of(r, &p->width), 'd');
    if (p->precision.text)
        take(r, argument_of(r, &p->precision), 'd');
    take(r, value, p->type);
}

/* Reads a text up to its end or its first mistake. */
static void read_text(struct reader *r, const char *text, size_t n)
{
    struct pfd_placeholder p;
    const char *why;
    size_t at = 0;
    for (;;) {
        enum pfd_brace_token token = pfd_braces_next(text, n, &at, &p, &why);
        if (token == PFD_BRACE_TWICE) {
            at += 2;
        } else if (token == PFD_BRACE_PLACEHOLDER) {
            take_placeholder(r, &p);
            at = p.end;
        } else {
            return;
        }
    }
}

/* ---- types ---- */

/* An argument as a placeholder with this letter sees it. */
static struct pfd_brace_type type_of(uint64_t facts, uint64_t word, char letter)
{
    struct described_type t = described_unpack(word);
    struct pfd_brace_type ret = { .conv = t.conv, .n = (uint8_t)t.n };
    ret.is_braced = facts & FACT_BRACED;
    if (ret.is_braced && t.run < t.n)
        ret.row = (uint8_t)t.run;
    if (t.text == TEXT_NAME && letter && letter != 's')
        ret.conv = 'u'; /* a value with a name, printed as a number */
    if (t.conv == 'x')
        ret.conv = 'p';
    return ret;
}

static size_t types_of(const struct pfd_string_row *row,
                       struct pfd_brace_type *ret)
{
    struct taken taken[BRACES_TAKEN_MAX] = { { 0 } };
    struct reader r = { .taken = taken };
    read_text(&r, row->text, row->n_text);
    for (size_t i = 0; i < r.n; i++) {
        size_t k = 1 + (size_t)taken[i].argument;
        ret[i] = (struct pfd_brace_type){ .conv = 'u', .n = 1 };
        if (k < row->n_layout)
            ret[i] = type_of(row->layout[0], row->layout[k], taken[i].type);
    }
    return r.n;
}

static size_t steps_max(const struct pfd_string_row *row)
{
    struct pfd_brace_type types[BRACES_TAKEN_MAX];
    size_t n = types_of(row, types);
    return pfd_braces_steps_max(row->text, row->n_text, types, n);
}

static size_t compile(const struct pfd_string_row *row, struct pfd_step *ret,
                      struct pfd_program_facts *facts)
{
    struct pfd_brace_type types[BRACES_TAKEN_MAX];
    size_t n = types_of(row, types);
    return pfd_braces_compile(row->text, row->n_text, types, n, ret, facts);
}

const struct pfd_string_grammar described_braces = {
    .steps_max = steps_max,
    .compile = compile,
};

/* ---- places ---- */

size_t braces_reorder(const struct pfd_string *s, const uint64_t *words,
                      size_t n_words, struct pfd_slot *slots, size_t n_slots)
{
    struct taken taken[BRACES_TAKEN_MAX] = { { 0 } };
    struct pfd_slot before[BRACES_SLOTS_MAX];
    uint16_t first[BRACES_TAKEN_MAX + 1] = { 0 };
    struct reader r = { .taken = taken };
    size_t n = 0;
    bool is_used[BRACES_TAKEN_MAX] = { false };
    if (n_slots > BRACES_SLOTS_MAX || n_words > BRACES_TAKEN_MAX)
        return 0;
    memcpy(before, slots, n_slots * sizeof *slots);
    for (size_t i = 0; i < n_words; i++)
        first[i + 1] = (uint16_t)(first[i] + described_unpack(words[i]).n);
    read_text(&r, pfd_string_text(s), s->n_text);
    /* What no {} takes comes last. */
    for (size_t i = 0; i < r.n + n_words; i++) {
        size_t k = i < r.n ? taken[i].argument : i - r.n;
        if (i >= r.n && is_used[k])
            continue;
        size_t from = k < n_words ? first[k] : n_slots;
        size_t to = k < n_words ? first[k + 1] : n_slots + 1;
        if (k < n_words)
            is_used[k] = true;
        for (; from < to && n < PFD_ARGUMENTS_MAX; from++)
            slots[n++] = from < n_slots ? before[from] : (struct pfd_slot){ 0 };
    }
    return n;
}

/* ---- reading a description ---- */

/* The argument of a name; NOT_THERE: none has it. */
static size_t find_name(const struct braces_names *names,
                        const struct pfd_brace_name *name)
{
    for (size_t i = 0; i < names->n; i++) {
        if (names->names[i].n == name->n &&
            !memcmp(names->names[i].text, name->text, name->n))
            return i;
    }
    return NOT_THERE;
}

/* Appends the text up to a name, and its number instead. */
static bool number_name(const struct braces_names *names, const char *text,
                        size_t *done, const struct pfd_brace_name *name,
                        struct pfd_text *ret)
{
    if (!name->n || (name->text[0] >= '0' && name->text[0] <= '9'))
        return true;
    size_t i = find_name(names, name);
    if (i == NOT_THERE)
        return false;
    size_t at = (size_t)(name->text - text);
    pfd_text_add(ret, text + *done, at - *done);
    pfd_text_printf(ret, "%zu", i);
    *done = at + name->n;
    return true;
}

const char *braces_number(const char *text, size_t n,
                          const struct braces_names *names,
                          struct pfd_text *ret)
{
    struct pfd_placeholder p;
    const char *why = NULL;
    size_t done = 0;
    size_t at = 0;
    for (;;) {
        enum pfd_brace_token token = pfd_braces_next(text, n, &at, &p, &why);
        if (token == PFD_BRACE_END)
            break;
        if (token == PFD_BRACE_MISTAKE)
            return why;
        if (token == PFD_BRACE_PLACEHOLDER &&
            (!number_name(names, text, &done, &p.value, ret) ||
             !number_name(names, text, &done, &p.width, ret) ||
             !number_name(names, text, &done, &p.precision, ret)))
            return "no argument has the name in this {}";
        at = token == PFD_BRACE_PLACEHOLDER ? p.end : at + 2;
    }
    pfd_text_add(ret, text + done, n - done);
    return NULL;
}

void braces_put_names(const char *text, size_t n,
                      const struct braces_names *names, uint64_t *words,
                      size_t *n_words, size_t max)
{
    struct taken taken[BRACES_TAKEN_MAX] = { { 0 } };
    struct reader r = { .taken = taken };
    char *at = (char *)(words + *n_words);
    size_t left = (max - *n_words) * sizeof *words;
    read_text(&r, text, n);
    memset(at, 0, left);
    for (size_t i = 0; i < r.n; i++) {
        const struct pfd_brace_name none = { .text = "" };
        const struct pfd_brace_name *name =
            taken[i].argument < names->n ? &names->names[taken[i].argument]
                                         : &none;
        if (name->n >= left)
            return;
        memcpy(at, name->text, name->n);
        at += name->n + 1;
        left -= name->n + 1;
    }
    *n_words = max - left / sizeof *words;
}

/* The first step of each argument has a place of its own, the others join it. */
const char *braces_argument_name(const struct pfd_string *s, size_t step,
                                 size_t *n)
{
    const char *at =
        (const char *)(pfd_string_layout(s) + 1 + described_n_types(s));
    const char *end = pfd_string_text(s);
    if (!(described_facts(s) >> FACT_NAMED))
        return NULL;
    for (size_t i = 0; i < step && at < end; i++) {
        const struct pfd_step *next = &s->steps[i + 1];
        if (pfd_step_has_argument(&s->steps[i]) &&
            !(next->flags & PFD_STEP_JOIN))
            at += strnlen(at, (size_t)(end - at)) + 1;
    }
    *n = at < end ? strnlen(at, (size_t)(end - at)) : 0;
    return *n ? at : NULL;
}

void braces_join(const char *text, size_t n, size_t n_values,
                 struct pfd_text *ret)
{
    while (n && text[n - 1] == '\n')
        n--;
    for (size_t i = 0; i < n; i++) {
        bool is_brace = text[i] == '{' || text[i] == '}';
        pfd_text_add(ret, text + i, 1);
        if (is_brace)
            pfd_text_add(ret, text + i, 1);
    }
    for (size_t i = 0; i < n_values; i++)
        pfd_text_puts(ret, n || i ? " {}" : "{}");
    pfd_text_puts(ret, "\n");
}

const char *braces_types(const char *text, size_t n, bool is_wide,
                         uint64_t words[BRACES_TAKEN_MAX - 1], size_t *n_types)
{
    struct pfd_placeholder p;
    struct described_type type;
    const char *why = NULL;
    size_t next = 0;
    size_t n_stated = 0;
    size_t at = 0;
    *n_types = 0;
    while (!why) {
        enum pfd_brace_token token = pfd_braces_next(text, n, &at, &p, &why);
        if (token == PFD_BRACE_END)
            break;
        bool is_placeholder = token == PFD_BRACE_PLACEHOLDER;
        bool is_stated = is_placeholder && p.stored;
        size_t i = is_placeholder && p.value.n ? read_number(&p.value) : next;
        next += is_placeholder;
        if (is_stated && i >= BRACES_TAKEN_MAX - 1)
            return "a number in {} is too large";
        if (is_stated && !described_type_of_letter(p.stored, is_wide, &type))
            return "a letter in {} is no type that is known";
        if (is_stated && *n_types <= i) {
            memset(words + *n_types, 0, (i + 1 - *n_types) * sizeof *words);
            *n_types = i + 1;
        }
        if (is_stated) {
            n_stated += !words[i];
            words[i] = described_pack(&type);
        }
        at = token == PFD_BRACE_PLACEHOLDER ? p.end : at + 2;
    }
    return why                   ? why
           : n_stated < *n_types ? "no {} states the type of an argument"
                                 : NULL;
}

static bool is_number(const struct taken *taken)
{
    return taken->type && taken->type != 's';
}

/* A value with a name is printed as one, or as a number: the type says which. */
static const char *settle_name(const struct reader *r, size_t i,
                               uint64_t *words)
{
    uint64_t *word = &words[r->taken[i].argument];
    struct described_type t = described_unpack(*word);
    if (t.text != TEXT_NAME)
        return NULL;
    for (size_t k = 0; k < r->n; k++) {
        if (r->taken[k].argument == r->taken[i].argument &&
            is_number(&r->taken[k]) != is_number(&r->taken[i]))
            return "a value is printed by its name or as a number, not both";
    }
    if (is_number(&r->taken[i])) {
        t.text = TEXT_NONE;
        t.conv = 'u';
        *word = described_pack(&t);
    }
    return NULL;
}

/* Does each placeholder print its argument? */
static const char *check_types(const char *text, size_t n,
                               const struct reader *r, uint64_t *words)
{
    const struct taken *taken = r->taken;
    struct pfd_placeholder p;
    const char *why = NULL;
    size_t at = 0;
    for (size_t i = 0; !why;) {
        enum pfd_brace_token token = pfd_braces_next(text, n, &at, &p, &why);
        if (token == PFD_BRACE_END || i == r->n)
            return NULL;
        if (token == PFD_BRACE_PLACEHOLDER) {
            for (int k = !!p.width.text + !!p.precision.text;
                 k > 0 && i + 1 < r->n; k--, i++) {
                struct pfd_brace_type t =
                    type_of(0, words[taken[i].argument], 'd');
                if ((t.conv != 'd' && t.conv != 'u') || t.n != 1)
                    return "a width or precision is an integer";
            }
            why = settle_name(r, i, words);
            if (!why) {
                why = pfd_placeholder_check(
                    &p, type_of(0, words[taken[i].argument], p.type));
            }
            i++;
        }
        at = token == PFD_BRACE_PLACEHOLDER ? p.end : at + 2;
    }
    return why;
}

const char *braces_check(const char *text, size_t n, uint64_t *words,
                         size_t n_types, bool has_types, uint64_t *facts)
{
    struct taken taken[BRACES_TAKEN_MAX] = { { 0 } };
    struct reader r = { .taken = taken };
    size_t n_slots = 0;
    read_text(&r, text, n);
    if (r.is_numbered && r.is_automatic)
        return "{} have numbers, or have none";
    if (r.n == BRACES_TAKEN_MAX)
        return "too many {}";
    for (size_t i = 0; i < r.n; i++) {
        if (taken[i].argument != i)
            *facts |= FACT_NUMBERED;
        if (has_types && taken[i].argument >= n_types) {
            return r.is_numbered ? "no argument has this number"
                                 : "more {} than 'types'";
        }
    }
    for (size_t i = 0; i < n_types; i++)
        n_slots += described_unpack(words[i]).n;
    if (*facts & FACT_NUMBERED && n_slots > BRACES_SLOTS_MAX)
        return "too many values for {} with numbers";
    return has_types ? check_types(text, n, &r, words) : NULL;
}
