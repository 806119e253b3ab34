/* SPDX-License-Identifier: MIT */
#include "writer/argument_shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print/program.h"

enum {
    HEADER_DWORDS = 2,
    ENTRY_DWORDS_MAX = 65535, /* entrySize has 16 bits */
    WHY_SIZE = 160,
};

void pfd_argument_shape_free(struct pfd_argument_shape *argument_shape)
{
    free(argument_shape->arguments);
    *argument_shape = (struct pfd_argument_shape){ 0 };
}

/* A compiled format string while it is read. */
struct reader {
    struct pfd_argument_shape *argument_shape;
    const struct pfd_step *steps;
    size_t n_steps;
    const char *format;
    char *why; /* [WHY_SIZE] */
};

static enum pfd_status fail(const struct reader *r, const struct pfd_step *step,
                            const char *what)
{
    struct pfd_quoted quoted;
    size_t from = step->literal[0] + step->n_literal[0];
    size_t to = from;
    for (const struct pfd_step *s = step; to == from && s->op != PFD_OP_END;)
        to = (++s)->literal[0];
    snprintf(r->why, WHY_SIZE, "the conversion '%s' %s",
             pfd_quote(&quoted, r->format + from, to - from), what);
    return PFD_ERR_CORRUPT;
}

static bool is_float(char conv)
{
    return strchr("fFeEgGaA", conv) != NULL;
}

/* The class of a conversion that takes an argument; false: the device has
 * none. */
static bool class_of(const struct pfd_step *s, uint8_t *ret)
{
    bool wide = s->length == PFD_LENGTH_LONG || s->length == PFD_LENGTH_LONGF;
    if (is_float(s->conv)) {
        *ret = wide ? PFD_ARGUMENT_SHAPE_D : PFD_ARGUMENT_SHAPE_F;
    } else if (strchr("diuoxX", s->conv)) {
        *ret = wide ? PFD_ARGUMENT_SHAPE_Q : PFD_ARGUMENT_SHAPE_U;
    } else if (s->conv == 'p') {
        *ret = PFD_ARGUMENT_SHAPE_P;
    } else if (s->conv == 'c' && s->length == PFD_LENGTH_NONE) {
        *ret = PFD_ARGUMENT_SHAPE_U;
    } else if (s->conv == 's' && s->length == PFD_LENGTH_NONE) {
        *ret = PFD_N_SHAPE_CLASSES;
    } else {
        return false;
    }
    return true;
}

static void add_argument(struct reader *r, uint8_t class, uint8_t n,
                         const struct pfd_step *first,
                         const struct pfd_step *behind)
{
    struct pfd_argument_shape *argument_shape = r->argument_shape;
    struct pfd_argument_shape_argument *a =
        &argument_shape->arguments[argument_shape->n++];
    *a = (struct pfd_argument_shape_argument){
        .class = class,
        .n = n,
        .is_literal = class == PFD_N_SHAPE_CLASSES,
        .from = first->literal[0] + first->n_literal[0],
        .to = behind->literal[0],
    };
    if (a->is_literal)
        return;
    argument_shape->n_scalars += n;
    argument_shape->n_dwords += (size_t)n << pfd_argument_shape_is_wide(a);
}

/* Reads the conversion at steps i..; *next: the step behind it. */
static enum pfd_status read_conversion(struct reader *r, size_t i, size_t *next)
{
    size_t first = i;
    size_t n = 1;
    uint8_t class;
    for (; r->steps[i].conv == PFD_CONV_STAR; i++) {
        add_argument(r, PFD_ARGUMENT_SHAPE_U, 1, &r->steps[first],
                     &r->steps[first]);
    }
    i += r->steps[i].conv == PFD_CONV_LENGTH;
    const struct pfd_step *main = &r->steps[i];
    *next = i + 1;
    if (main->conv == '\0') /* only text; may be the last step */
        return PFD_OK;
    while (r->steps[i + n].flags & PFD_STEP_JOIN)
        n++;
    *next = i + n;
    if (!pfd_step_takes(main) || !class_of(main, &class))
        return fail(r, &r->steps[first], "is none that a device can print");
    if (class == PFD_N_SHAPE_CLASSES &&
        (n > 1 ||
         main->flags & (PFD_STEP_STAR_WIDTH | PFD_STEP_STAR_PRECISION))) {
        return fail(r, &r->steps[first],
                    "is printed before the program runs: it has no '*' and "
                    "no vN");
    }
    add_argument(r, class, (uint8_t)n, &r->steps[first], &r->steps[*next]);
    if (r->argument_shape->n_dwords > ENTRY_DWORDS_MAX)
        return fail(r, main, "makes an entry longer than 65535 dwords");
    return PFD_OK;
}

static enum pfd_status read_steps(struct reader *r)
{
    enum pfd_status status = PFD_OK;
    for (size_t i = 0; i < r->n_steps && status == PFD_OK;)
        status = read_conversion(r, i, &i);
    return status;
}

enum pfd_status pfd_argument_shape_read(struct pfd_argument_shape *ret,
                                        const char *format, size_t n,
                                        char why[WHY_SIZE])
{
    struct pfd_program_facts facts;
    size_t max = pfd_program_steps_max(format, n);
    struct pfd_step *steps = malloc(max * sizeof *steps);
    *ret = (struct pfd_argument_shape){ .n_dwords = HEADER_DWORDS };
    ret->arguments = malloc(max * sizeof *ret->arguments);
    if (!steps || !ret->arguments) {
        free(steps);
        return PFD_ERR_NOMEM;
    }
    size_t n_steps = pfd_program_compile(format, n, steps, &facts);
    struct reader r = { ret, steps, n_steps, format, why };
    enum pfd_status status = read_steps(&r);
    if (status == PFD_OK && facts.findings) {
        snprintf(why, WHY_SIZE, "a width or precision is above %d",
                 PFD_WIDTH_MAX);
        status = PFD_ERR_CORRUPT;
    }
    free(steps);
    return status;
}

/* Reads the number at *at, and moves *at behind it. */
static size_t read_number(const char **at, const char *end)
{
    size_t sum = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
        sum = sum * 10 + (size_t)(**at - '0');
    return sum;
}

static void add_blanks(struct pfd_text *ret, size_t n)
{
    while (n-- > 0)
        pfd_text_add(ret, " ", 1);
}

void pfd_argument_shape_put_literal(const char *conversion, size_t n_conversion,
                                    const char *text, size_t n,
                                    struct pfd_text *ret)
{
    const char *at = conversion + 1;
    const char *end = conversion + n_conversion;
    bool left = false;
    for (; at < end && strchr("-+ #0'", *at); at++)
        left |= *at == '-';
    size_t width = read_number(&at, end);
    if (at < end && *at == '.') {
        at++;
        size_t precision = read_number(&at, end);
        n = precision < n ? precision : n;
    }
    size_t n_blanks = width > n ? width - n : 0;
    add_blanks(ret, left ? 0 : n_blanks);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '%')
            pfd_text_add(ret, "%", 1);
        pfd_text_add(ret, text + i, 1);
    }
    add_blanks(ret, left ? n_blanks : 0);
}

void pfd_argument_shape_name(const struct pfd_argument_shape *argument_shape,
                             const char *extras, struct pfd_text *ret)
{
    pfd_text_printf(ret, "pfd_print%s", extras);
    for (size_t i = 0; i < argument_shape->n; i++) {
        const struct pfd_argument_shape_argument *a =
            &argument_shape->arguments[i];
        if (a->is_literal)
            continue;
        pfd_text_puts(ret, pfd_argument_shape_is_wide(a) ? "_q" : "_u");
        if (a->n > 1)
            pfd_text_printf(ret, "%u", a->n);
    }
}
