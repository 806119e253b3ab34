/* SPDX-License-Identifier: MIT */
/*
 * The grammar of {}: placeholders of fmt and of Python's format(). Knows texts
 * and conversions; does not know which argument a name or number means.
 *
 *   { [name | number] [, type] [: spec] }        {{ and }} are braces
 *   spec: [[fill] align] [sign] [#] [0] [width] [. precision] [L] [type]
 *
 * align is < > ^ or =; width and precision are digits or {name}, {number}, {}.
 * Texts come out byte for byte as fmt 9.1 prints them. Where fmt refuses, or
 * prints half characters, but Python does not, as Python does: signs of
 * unsigned numbers, `=`, and the type %.
 */
#ifndef PFD_BRACES_H
#define PFD_BRACES_H

#include "core/print/number.h"
#include "core/print/step.h"

enum pfd_align {
    PFD_ALIGN_NONE,
    PFD_ALIGN_LEFT,
    PFD_ALIGN_RIGHT,
    PFD_ALIGN_CENTER,
    PFD_ALIGN_NUMERIC, /* behind the sign */
};

/* What a number is printed as, beyond letters of printf. */
enum {
    PFD_STYLE_SHORTEST = 'r', /* the fewest digits that read back */
    PFD_STYLE_PERCENT = '%',
};

/* A name or number within a placeholder, [n] bytes; NULL: none. An empty one
 * takes the next argument. */
struct pfd_brace_name {
    const char *text;
    size_t n;
};

struct pfd_placeholder {
    size_t end; /* offset behind it */
    struct pfd_brace_name value;
    struct pfd_brace_name width;
    struct pfd_brace_name precision;
    char stored;   /* letter behind the comma; 0: none */
    uint32_t fill; /* its bytes in UTF-8, the first one lowest */
    enum pfd_align align;
    uint8_t flags; /* PFD_SPEC_PLUS, _SPACE and _HASH */
    int n_width;
    int n_precision; /* -1: none */
    bool is_clamped; /* one of them was more than PFD_WIDTH_MAX */
    char type;       /* 0: none */
};

enum {
    PFD_BRACE_ROW_MAX = 7, /* components of longer rows stand in one bracket */
};

/* An argument as {} sees it. */
struct pfd_brace_type {
    char conv;   /* d: signed, u: unsigned, f: float, p: pointer, s: text */
    uint8_t n;   /* components, 1 to 64 */
    uint8_t row; /* so many of them stand in brackets of their own; 0: none */
    bool is_braced; /* components stand in {}, and not in [] */
};

enum pfd_brace_token {
    PFD_BRACE_END,
    PFD_BRACE_TWICE, /* {{ or }} */
    PFD_BRACE_PLACEHOLDER,
    PFD_BRACE_MISTAKE,
};

/* Moves *at to the next brace of text [n]. MISTAKE: *why is the reason. */
enum pfd_brace_token pfd_braces_next(const char *text, size_t n, size_t *at,
                                     struct pfd_placeholder *ret,
                                     const char **why);

/* NULL: the placeholder can print such an argument; or the reason why not. */
const char *pfd_placeholder_check(const struct pfd_placeholder *p,
                                  struct pfd_brace_type type);

/* An upper bound for the steps of a text that takes these arguments. */
size_t pfd_braces_steps_max(const char *text, size_t n,
                            const struct pfd_brace_type *types, size_t n_types);

/*
 * As pfd_program_compile(). types [n_types]: of the arguments in the order in
 * which the steps take them: of each placeholder its width, its precision, its
 * value. ret has room for pfd_braces_steps_max(). Any bytes, with any types,
 * are compiled: what is behind a mistake is literal.
 */
size_t pfd_braces_compile(const char *text, size_t n,
                          const struct pfd_brace_type *types, size_t n_types,
                          struct pfd_step *ret,
                          struct pfd_program_facts *facts);

/*
 * The step of PFD_CONV_BRACE, which stands before a conversion: `at` is the
 * fill, `width` enum pfd_align, `precision` the letter of the style.
 */
static inline char pfd_brace_style(const struct pfd_step *brace)
{
    return (char)brace->precision;
}

/* May printing it need escapes that its text has not? */
bool pfd_brace_needs_escape(const struct pfd_step *brace);

/* The step of PFD_CONV_BRACE that a value's step belongs to; NULL: none. */
const struct pfd_step *pfd_brace_of(const struct pfd_step *value);

/* Bytes that printing may need, and the printing. spec: flags, width and
 * precision, resolved; bits: the value (an integer extended to 64 bits, or a
 * double's); text [n_text]: a string's. */
size_t pfd_brace_room(const struct pfd_step *brace, const struct pfd_spec *spec,
                      size_t n_text);

struct pfd_brace_value {
    uint64_t bits; /* of an integer, or of a double */
    const char *text;
    size_t n_text;
    char conv;      /* of struct pfd_brace_type */
    bool is_narrow; /* a float of at most 32 bits */
};
char *pfd_brace_print(char *out, const struct pfd_step *brace,
                      const struct pfd_spec *spec,
                      const struct pfd_brace_value *value);

#endif
