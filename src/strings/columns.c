/* SPDX-License-Identifier: MIT */
#include "strings/columns.h"

#include <stdio.h>
#include <string.h>

#include <printfdecode/printfdecode.h>

enum {
    /* Whether a name is an earlier argument's costs a look at all of them. */
    NAMED_MAX = 256
};

static bool is_letter(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

static bool is_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

/* What may stand between a name and its value. */
static bool is_joint(char c)
{
    return c && strchr(" \t=:([{<\"'#$@-+>", c);
}

/* The last word of text [n], [*n_word] bytes; NULL: there is none. */
static const char *last_word(const char *text, size_t n, size_t *n_word)
{
    if (n >= 2 && text[n - 2] == '0' && (text[n - 1] | 0x20) == 'x' &&
        (n == 2 || !is_word(text[n - 3])))
        n -= 2;
    while (n && is_joint(text[n - 1]))
        n--;
    size_t end = n;
    while (n && is_word(text[n - 1]))
        n--;
    while (n < end && !is_letter(text[n]))
        n++;
    *n_word = end - n;
    return n < end ? text + n : NULL;
}

/* A vector's first step, and the number of its components. */
static size_t vector_of(const struct pfd_string *s, size_t i, size_t *n)
{
    size_t first = i;
    while (first && s->steps[first].flags & PFD_STEP_JOIN)
        first--;
    *n = 1;
    while (s->steps[first + *n].flags & PFD_STEP_JOIN)
        ++*n;
    return first;
}

static void add_component(char *name, size_t i, size_t n)
{
    size_t at = strlen(name);
    if (n > 4) {
        snprintf(name + at, PFD_COLUMN_NAME_MAX - at, ".%zu", i);
    } else if (n > 1) {
        snprintf(name + at, PFD_COLUMN_NAME_MAX - at, ".%c", "xyzw"[i]);
    }
}

/* The name by words alone; false: there is none. */
static bool name_by_word(const struct pfd_string *s, size_t i, char *ret)
{
    size_t n;
    size_t n_word = 0;
    size_t first = vector_of(s, i, &n);
    const struct pfd_step *step = &s->steps[first];
    if (step->conv == PFD_CONV_STAR)
        return false;
    /* Between a `*` and its conversion stands nothing. */
    while (first && s->steps[first - 1].conv == PFD_CONV_STAR)
        step = &s->steps[--first];
    const char *text = pfd_string_text(s) + step->literal[PFD_RAW];
    const char *word = last_word(text, step->n_literal[PFD_RAW], &n_word);
    if (!word || n_word > PFD_COLUMN_NAME_MAX - 8)
        return false;
    memcpy(ret, word, n_word);
    ret[n_word] = '\0';
    add_component(ret, i - vector_of(s, i, &n), n);
    return true;
}

/* The number of `aN`; SIZE_MAX: it is no such name. */
static size_t place_of(const char *name, size_t n)
{
    size_t place = 0;
    if (n < 2 || n > 6 || name[0] != 'a' || (name[1] == '0' && n > 2))
        return SIZE_MAX;
    for (size_t i = 1; i < n; i++) {
        if (name[i] < '0' || name[i] > '9')
            return SIZE_MAX;
        place = 10 * place + (size_t)(name[i] - '0');
    }
    return place;
}

size_t pfd_column_find(const struct pfd_string *string, const char *name,
                       size_t n)
{
    char other[PFD_COLUMN_NAME_MAX];
    size_t place = place_of(name, n);
    size_t number = 0;
    size_t by_place = SIZE_MAX;
    for (size_t i = 0; i < string->n_steps; i++) {
        if (!pfd_step_has_argument(&string->steps[i]))
            continue;
        if (name_by_word(string, i, other) && strlen(other) == n &&
            !memcmp(name, other, n))
            return i;
        if (number++ == place)
            by_place = i;
    }
    return by_place;
}

void pfd_column_name(const struct pfd_string *string, size_t i, size_t number,
                     char *ret)
{
    if (!name_by_word(string, i, ret) ||
        pfd_column_find(string, ret, strlen(ret)) != i)
        snprintf(ret, PFD_COLUMN_NAME_MAX, "a%zu", number);
}

static enum pfd_argument_type type_of(const struct pfd_step *step)
{
    return step->store == PFD_STORE_STRING ? PFD_ARGUMENT_TEXT
           : pfd_step_is_float(step)       ? PFD_ARGUMENT_FLOAT
           : pfd_step_is_signed(step)      ? PFD_ARGUMENT_INT
                                           : PFD_ARGUMENT_UNSIGNED;
}

static void set_column(const struct pfd_string *string, size_t i, size_t number,
                       struct pfd_column *ret)
{
    const struct pfd_step *step = &string->steps[i];
    const struct pfd_slot slot = { .store = step->store & 15 };
    *ret = (struct pfd_column){
        .type = type_of(step),
        .n_bytes = step->store == PFD_STORE_STRING ? 0 : pfd_slot_bytes(&slot),
        .conversion = step->conv,
    };
    _Static_assert(sizeof ret->name == PFD_COLUMN_NAME_MAX, "of a name");
    if (number < NAMED_MAX) {
        pfd_column_name(string, i, number, ret->name);
    } else {
        snprintf(ret->name, sizeof ret->name, "a%zu", number);
    }
}

size_t pfd_strings_columns(const struct pfd_strings *strings, size_t i,
                           struct pfd_column *ret, size_t max)
{
    const struct pfd_string *string = pfd_strings_at(strings, i);
    size_t n = 0;
    for (size_t k = 0; string && k < string->n_steps; k++) {
        if (!pfd_step_has_argument(&string->steps[k]))
            continue;
        if (n < max)
            set_column(string, k, n, &ret[n]);
        n++;
    }
    return n;
}
