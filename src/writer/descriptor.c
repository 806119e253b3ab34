/* SPDX-License-Identifier: MIT */
#include "writer/descriptor.h"

#include <string.h>

enum {
    NOWHERE,
    BEHIND_LAYOUT, /* behind "layout", before its parenthesis */
    IN_LAYOUT,
    IN_DECLARATION, /* up to its name */
};

enum {
    NO_KEY,
    KEY_SET,
    KEY_BINDING,
    KEY_OTHER
};

void pfd_descriptors_free(struct pfd_descriptors *d)
{
    pfd_text_free(&d->all);
    pfd_text_free(&d->values);
    pfd_text_set_free(&d->macros);
}

/* Reads "12", "0x1fu", "017". */
static bool read_number(const char *text, size_t n, uint32_t *ret)
{
    uint64_t sum = 0;
    uint64_t base = 10;
    size_t i = 0;
    if (n > 0 && (text[n - 1] == 'u' || text[n - 1] == 'U'))
        n--;
    if (n > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
        base = 16;
        i = 2;
    } else if (n > 1 && text[0] == '0') {
        base = 8;
        i = 1;
    }
    for (bool any = false; i < n || !any; i++, any = true) {
        char c = i < n ? (char)(text[i] | 0x20) : ' ';
        uint64_t digit = c >= '0' && c <= '9'   ? (uint64_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a' + 10)
                                                : base;
        if (digit >= base || sum > UINT32_MAX)
            return false;
        sum = sum * base + digit;
    }
    *ret = (uint32_t)sum;
    return sum <= UINT32_MAX;
}

void pfd_descriptors_define(struct pfd_descriptors *d,
                            const struct pfd_lexer *lexer,
                            const struct pfd_token *name,
                            const struct pfd_token *value)
{
    uint32_t number;
    size_t n = d->macros.n;
    if (value->kind == PFD_TOKEN_NUMBER &&
        read_number(lexer->text + value->from, value->to - value->from,
                    &number) &&
        pfd_text_set_add(&d->macros, lexer->text + name->from,
                         name->to - name->from) == n)
        pfd_text_add(&d->values, (const char *)&number, sizeof number);
}

bool pfd_descriptors_value(struct pfd_descriptors *d,
                           const struct pfd_descriptor_number *number,
                           uint32_t *ret)
{
    *ret = 0;
    if (!number->text || read_number(number->text, number->n, ret))
        return true;
    size_t n = d->values.n / sizeof *ret;
    size_t i = pfd_text_set_add(&d->macros, number->text, number->n);
    if (i >= n)
        return false;
    memcpy(ret, d->values.data + i * sizeof *ret, sizeof *ret);
    return true;
}

size_t pfd_descriptors_count(const struct pfd_descriptors *d)
{
    return d->all.n / sizeof(struct pfd_descriptor);
}

const struct pfd_descriptor *pfd_descriptors_at(const struct pfd_descriptors *d,
                                                size_t i)
{
    return (const struct pfd_descriptor *)(const void *)d->all.data + i;
}

static void take_value(struct pfd_descriptors *d, const struct pfd_lexer *lexer,
                       const struct pfd_token *token)
{
    struct pfd_descriptor_number *number =
        d->key == KEY_SET ? &d->next.set : &d->next.binding;
    bool is_one =
        token->kind == PFD_TOKEN_NUMBER || token->kind == PFD_TOKEN_WORD;
    if (d->key != KEY_SET && d->key != KEY_BINDING)
        return;
    if (pfd_token_is_mark(lexer, token, '='))
        return;
    /* Expressions are not evaluated. */
    d->is_known &= is_one && !number->text;
    *number = (struct pfd_descriptor_number){ lexer->text + token->from,
                                              token->to - token->from };
}

/* Takes a token inside of the layout's parentheses. */
static void take_layout(struct pfd_descriptors *d,
                        const struct pfd_lexer *lexer,
                        const struct pfd_token *token)
{
    if (pfd_token_is_mark(lexer, token, '('))
        d->depth++;
    if (pfd_token_is_mark(lexer, token, ')') && --d->depth == 0) {
        d->state = IN_DECLARATION;
    } else if (d->depth == 1 && pfd_token_is_mark(lexer, token, ',')) {
        d->key = NO_KEY;
    } else if (d->key == NO_KEY) {
        d->key = pfd_token_is(lexer, token, "set")       ? KEY_SET
                 : pfd_token_is(lexer, token, "binding") ? KEY_BINDING
                                                         : KEY_OTHER;
    } else {
        take_value(d, lexer, token);
    }
}

static void end_declaration(struct pfd_descriptors *d)
{
    if (d->next.binding.text && d->is_known)
        pfd_text_add(&d->all, (const char *)&d->next, sizeof d->next);
    d->state = NOWHERE;
}

void pfd_descriptors_take(struct pfd_descriptors *d,
                          const struct pfd_lexer *lexer,
                          const struct pfd_token *token)
{
    if (d->state == IN_LAYOUT) {
        take_layout(d, lexer, token);
    } else if (d->state == BEHIND_LAYOUT) {
        bool opens = pfd_token_is_mark(lexer, token, '(');
        d->state = opens ? IN_LAYOUT : NOWHERE;
        d->depth = 1;
        d->key = NO_KEY;
    } else if (pfd_token_is(lexer, token, "layout")) {
        if (d->state == NOWHERE) {
            d->is_known = true;
            d->next = (struct pfd_descriptor){ .at = *token,
                                               .name = "",
                                               .file = lexer->file,
                                               .n_file = lexer->n_file };
        }
        d->state = BEHIND_LAYOUT;
    } else if (d->state == IN_DECLARATION && token->kind == PFD_TOKEN_WORD) {
        d->next.name = lexer->text + token->from;
        d->next.n_name = token->to - token->from;
    } else if (d->state == IN_DECLARATION) {
        end_declaration(d);
    }
}
