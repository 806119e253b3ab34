/* SPDX-License-Identifier: MIT */
#include "core/strings/column_names.h"

#include <stdio.h>
#include <string.h>

#include <printfdecode/printfdecode.h>

#include "core/base/escape.h"

enum {
    /* Comparing a name with all earlier arguments is costly: arguments beyond
     * this are named by their number, which is never another one's word. */
    NAMED_MAX = 256,
    /* Parts that a named list may have; arguments of a longer list are named by
     * their number. */
    LIST_MAX = 16,
};

/* Code points from 0x80 on that are no letters; all others count as letters. */
static const struct range {
    uint32_t first;
    uint32_t last;
} no_letters[] = {
    { 0x80, 0xa9 },     { 0xab, 0xb1 },       { 0xb4, 0xb4 },
    { 0xb6, 0xb8 },     { 0xbb, 0xbf },       { 0xd7, 0xd7 },
    { 0xf7, 0xf7 },     { 0x2000, 0x206f },   { 0x20a0, 0x20cf },
    { 0x2190, 0x2bff }, { 0x2e00, 0x2e7f },   { 0x3000, 0x3004 },
    { 0x3008, 0x3020 }, { 0xd800, 0xf8ff },   { 0xfe10, 0xfe6f },
    { 0xfeff, 0xff0f }, { 0xff1a, 0xff20 },   { 0xff3b, 0xff40 },
    { 0xff5b, 0xff65 }, { 0x1f000, 0x1ffff }, { 0xe0000, 0x10ffff },
};

static bool is_letter(uint32_t c)
{
    if (c < 0x80)
        return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
    for (size_t i = 0; i < sizeof no_letters / sizeof *no_letters; i++) {
        if (c >= no_letters[i].first && c <= no_letters[i].last)
            return false;
    }
    return true;
}

static bool is_word(uint32_t c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

size_t pfd_column_word_length(const char *text, size_t n)
{
    size_t length = pfd_utf8_length(text, n);
    uint32_t c = (uint8_t)text[0];
    if (length > 1)
        c &= 0x7fu >> length;
    for (size_t i = 1; i < length; i++)
        c = c << 6 | (text[i] & 0x3f);
    return length && is_word(c) ? length : 0;
}

/* A character that may stand between a name and its value. */
static bool is_joint(char c)
{
    return c && strchr(" \t=:([{<\"'#$@-+>", c);
}

/* The character that ends text [n]; 0: there is none, or it is not UTF-8. */
static uint32_t last_character(const char *text, size_t n, size_t *length)
{
    const uint8_t *end = (const uint8_t *)text + n;
    size_t k = 1;
    *length = n > 0;
    if (!n || end[-1] < 0x80)
        return n ? end[-1] : 0;
    while (k < 4 && k < n && (end[-(ptrdiff_t)k] & 0xc0) == 0x80)
        k++;
    if (pfd_utf8_length(text + n - k, k) != k)
        return 0;
    uint32_t c = end[-(ptrdiff_t)k] & (0x7fu >> k);
    *length = k;
    while (--k)
        c = c << 6 | (end[-(ptrdiff_t)k] & 0x3f);
    return c;
}

/* The last word of text [n], [*n_word] bytes; NULL: there is none. */
static const char *last_word(const char *text, size_t n, size_t *n_word)
{
    size_t length = 0;
    uint32_t c = 0;
    size_t first = 0; /* the word's first letter */
    if (n >= 2 && text[n - 2] == '0' && (text[n - 1] | 0x20) == 'x' &&
        !is_word(last_character(text, n - 2, &length)))
        n -= 2;
    while (n && is_joint(text[n - 1]))
        n--;
    size_t end = n;
    for (first = end; (c = last_character(text, n, &length)) && is_word(c);
         n -= length) {
        if (is_letter(c))
            first = n - length;
    }
    /* Bytes that are not UTF-8 may be letters: the text behind them is half a
     * word. */
    bool is_half = n && !c;
    *n_word = end - first;
    return first < end && !is_half ? text + first : NULL;
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
        snprintf(name + at, PFD_COLUMN_NAME_MAX - at, ".%c", "xyzw"[i & 3]);
    }
}

/* The name that a format has for the argument of the step that begins a vector;
 * NULL: it has none. */
static const char *stated_name(const struct pfd_string *s, size_t first,
                               size_t *n)
{
    const struct pfd_string_kind *kind = pfd_string_kinds[s->table];
    return kind->argument_name ? kind->argument_name(s, first, n) : NULL;
}

/* The word before the step that begins a conversion's vector, or the name that its
 * argument has; NULL: there is none. */
static const char *word_before(const struct pfd_string *s, size_t first,
                               size_t *n_word)
{
    const struct pfd_step *step = &s->steps[first];
    const char *stated = stated_name(s, first, n_word);
    if (stated)
        return *n_word <= PFD_COLUMN_NAME_MAX - 8 ? stated : NULL;
    if (pfd_step_serves(step))
        return NULL;
    /* No text stands between a prefix and its conversion. */
    while (first && pfd_step_serves(&s->steps[first - 1]))
        step = &s->steps[--first];
    const char *text = pfd_string_text(s) + step->literal[PFD_RAW];
    const char *word = last_word(text, step->n_literal[PFD_RAW], n_word);
    return word && *n_word <= PFD_COLUMN_NAME_MAX - 8 ? word : NULL;
}

/* ---- lists: "pixel %u,%u" ---- */

/* May the text between two conversions separate parts of one list? */
static bool is_separator(const char *text, size_t n)
{
    if (n == 1 && *text == 'x')
        return true;
    while (n && *text == ' ') {
        text++;
        n--;
    }
    if (n && (*text == ',' || *text == ';' || *text == '/')) {
        text++;
        n--;
    }
    while (n && *text == ' ') {
        text++;
        n--;
    }
    return n == 0;
}

/* Does step i continue the list of the step before it? */
static bool is_next(const struct pfd_string *s, size_t i)
{
    const struct pfd_step *step = &s->steps[i];
    const struct pfd_step *last = step - 1;
    return i && pfd_step_has_argument(step) && pfd_step_has_argument(last) &&
           step->conv == last->conv && !pfd_step_serves(step) &&
           !((step->flags | last->flags) & PFD_STEP_JOIN) &&
           !(step[1].flags & PFD_STEP_JOIN) &&
           is_separator(pfd_string_text(s) + step->literal[PFD_RAW],
                        step->n_literal[PFD_RAW]);
}

/* The step that a list begins with, and the number of its parts; for a step in
 * no list, or whose argument has a name: itself, 1. */
static size_t list_of(const struct pfd_string *s, size_t i, size_t *n)
{
    size_t first = i;
    *n = 1;
    if (stated_name(s, i, &(size_t){ 0 }))
        return i;
    while (first && i - first <= LIST_MAX && is_next(s, first))
        first--;
    while (first + *n < s->n_steps && *n <= LIST_MAX && is_next(s, first + *n))
        ++*n;
    if (*n > LIST_MAX) {
        *n = 1;
        return i;
    }
    return first;
}

/* The number of `aN`; SIZE_MAX: the name has another form. */
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

/* Is it the `aN` of an argument beyond NAMED_MAX? */
static bool is_far_place(const char *name)
{
    size_t place = place_of(name, strlen(name));
    return place != SIZE_MAX && place >= NAMED_MAX;
}

/* The name by words alone; false: there is none. */
static bool name_by_word(const struct pfd_string *s, size_t i, char *ret)
{
    size_t n;
    size_t n_word = 0;
    size_t first = vector_of(s, i, &n);
    if (n == 1)
        first = list_of(s, i, &n);
    const char *word = word_before(s, first, &n_word);
    if (!word)
        return false;
    memcpy(ret, word, n_word);
    ret[n_word] = '\0';
    add_component(ret, i - first, n);
    return !is_far_place(ret);
}

/* Is the name the word before a list, of which step i is the first part? That
 * was the argument's name before lists had parts, and is still found. */
static bool is_head(const struct pfd_string *s, size_t i, const char *name,
                    size_t n)
{
    size_t n_list = 0;
    size_t n_word = 0;
    if (list_of(s, i, &n_list) != i || n_list == 1)
        return false;
    const char *word = word_before(s, i, &n_word);
    return word && n_word == n && !memcmp(word, name, n);
}

bool pfd_column_is_first(const struct pfd_string *string, size_t i)
{
    size_t n = 0;
    return list_of(string, i, &n) == i && n > 1;
}

size_t pfd_column_find(const struct pfd_string *string, const char *name,
                       size_t n)
{
    char other[PFD_COLUMN_NAME_MAX];
    size_t place = place_of(name, n);
    size_t number = 0;
    size_t otherwise = SIZE_MAX;
    for (size_t i = 0; i < string->n_steps; i++) {
        if (!pfd_step_has_argument(&string->steps[i]))
            continue;
        if (name_by_word(string, i, other) && strlen(other) == n &&
            !memcmp(name, other, n))
            return i;
        if (number++ == place ||
            (otherwise == SIZE_MAX && is_head(string, i, name, n)))
            otherwise = i;
    }
    return otherwise;
}

/* Is it the name of another argument than that of step i? */
static bool is_taken(const struct pfd_string *string, size_t i,
                     const char *name)
{
    size_t found = pfd_column_find(string, name, strlen(name));
    return found != i && found != SIZE_MAX;
}

void pfd_column_name(const struct pfd_string *string, size_t i, size_t number,
                     char *ret)
{
    bool is_near = number < NAMED_MAX;
    if (is_near && name_by_word(string, i, ret) &&
        pfd_column_find(string, ret, strlen(ret)) == i)
        return;
    int n = snprintf(ret, PFD_COLUMN_NAME_MAX, "a%zu", number);
    /* A word may look like a number: "a1=%u %u". */
    for (unsigned k = 2; is_near && is_taken(string, i, ret); k++)
        snprintf(ret + n, PFD_COLUMN_NAME_MAX - (size_t)n, "_%u", k);
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
    pfd_column_name(string, i, number, ret->name);
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
