/* SPDX-License-Identifier: MIT */
/*
 * Randomised comparison of texts with {} with those of fmt: all alignments,
 * signs, widths, precisions and types, nested and numbered ones, over values at
 * the borders of each form.
 *
 * usage: diff_braces [COUNT] [SEED]
 * Exit status 1 after a mismatch (the first ten are shown).
 *
 * Not compared, because fmt refuses them or prints half characters: a sign of an
 * unsigned number, '0' behind a fill of several bytes, '0' with 'L', '=' and '%'.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print/braces.h"
#include "core/print/program.h"
#include "fmt_oracle.h"

enum {
    VALUES_MAX = 6,
    FORMAT_MAX = 512,
    STEPS_MAX = 256,
    OUT_MAX = 1 << 16,
    SLACK = 64,
    MISMATCHES_MAX = 10,
};

static uint64_t state = 1;

static uint64_t rng(void) /* splitmix64 */
{
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static unsigned below(unsigned n)
{
    return (unsigned)(rng() % n);
}

/* One text, its values as fmt takes them, and what its steps take. */
struct sample {
    char format[FORMAT_MAX + SLACK];
    size_t n_format;
    struct fmt_value values[VALUES_MAX];
    size_t n_values;
    size_t taken[2 * VALUES_MAX]; /* numbers of values, in order of steps */
    size_t n_taken;
    bool is_numbered;
};

static void put(struct sample *s, const char *text)
{
    size_t n = strlen(text);
    memcpy(s->format + s->n_format, text, n);
    s->n_format += n;
}

/* ---- values ---- */

static uint64_t bits_of(double d)
{
    uint64_t ret;
    memcpy(&ret, &d, sizeof ret);
    return ret;
}

static uint64_t random_double(void)
{
    static const double some[] = { 0,      -0.0,    1,    -1,       0.1,
                                   1e15,   1e16,    1e17, 1e-4,     1e-5,
                                   0.5,    1.5,     2.5,  9.5,      1e100,
                                   5e-324, 99999.5, 1e6,  123456789 };
    switch (below(6)) {
    case 0:
        return rng();
    case 1:
        return bits_of(some[below(sizeof some / sizeof *some)]);
    case 2:
        return bits_of((double)(int64_t)rng() / (double)(1 + below(1000)));
    case 3:
        return bits_of((double)below(100000) / 100);
    case 4:
        return bits_of((double)below(1 << 20));
    default:
        return (0x7ffULL << 52 | (rng() & (below(2) ? 1ULL << 63 : ~0ULL)));
    }
}

static uint64_t random_float(void)
{
    uint64_t bits = random_double();
    double d;
    float f;
    uint32_t ret;
    memcpy(&d, &bits, sizeof d);
    if (below(4) == 0)
        return (uint32_t)rng();
    f = (float)d;
    memcpy(&ret, &f, sizeof ret);
    return ret;
}

static uint64_t random_integer(void)
{
    switch (below(4)) {
    case 0:
        return rng();
    case 1:
        return rng() >> below(64);
    case 2:
        return below(300);
    default:
        return 0 - (uint64_t)below(300);
    }
}

static struct fmt_value random_value(char kind)
{
    static const char text[] = "the quick brown f\303\266x jumps";
    struct fmt_value v = { .kind = kind, .text = text };
    if (kind == 's') {
        v.n = below(sizeof text);
        if (v.n && (text[v.n] & 0xc0) == 0x80)
            v.n--;
    } else if (kind == 'f') {
        v.bits = random_float();
    } else if (kind == 'd') {
        v.bits = random_double();
    } else {
        v.bits = random_integer();
        if (kind == 'i' || kind == 'u')
            v.bits = (uint32_t)v.bits;
    }
    return v;
}

/* ---- texts ---- */

static void put_number(struct sample *s, unsigned n)
{
    char text[16];
    snprintf(text, sizeof text, "%u", n);
    put(s, text);
}

/* A width or precision of an argument; the value's number. */
static size_t put_nested(struct sample *s)
{
    size_t i = s->n_values++;
    s->values[i] = (struct fmt_value){ .kind = 'i', .bits = below(30) };
    put(s, "{");
    if (s->is_numbered)
        put_number(s, (unsigned)i);
    put(s, "}");
    return i;
}

static void put_fill(struct sample *s, bool *is_long)
{
    static const char *const fills[] = { "*",
                                         " ",
                                         "}",
                                         "<",
                                         "0",
                                         "\"",
                                         "\\",
                                         "\303\251",
                                         "\342\206\222",
                                         "\360\237\230\200" };
    unsigned i = below(sizeof fills / sizeof *fills);
    *is_long = i >= 7;
    put(s, fills[i]);
}

static void put_spec(struct sample *s, char kind, size_t value)
{
    bool is_float = kind == 'f' || kind == 'd';
    bool is_unsigned = kind == 'u' || kind == 'U';
    bool is_long = false;
    bool is_zero = false;
    size_t width = SIZE_MAX;
    size_t precision = SIZE_MAX;
    if (below(2)) {
        if (below(2))
            put_fill(s, &is_long);
        put(s, below(3) == 0 ? "<" : below(2) ? ">" : "^");
    }
    if (kind != 's') {
        if (!is_unsigned && below(3) == 0)
            put(s, below(3) == 0 ? "-" : below(2) ? "+" : " ");
        put(s, below(3) == 0 ? "#" : "");
        is_zero = !is_long && below(3) == 0;
        put(s, is_zero ? "0" : "");
    }
    if (below(4) == 0 && s->n_values < VALUES_MAX) {
        width = put_nested(s);
    } else if (below(3)) {
        put_number(s, 1 + below(below(20) ? 30 : 300));
    }
    if ((is_float || kind == 's') && below(2)) {
        put(s, ".");
        if (below(4) == 0 && s->n_values < VALUES_MAX) {
            precision = put_nested(s);
        } else {
            put_number(s, below(below(20) ? 20 : 400));
        }
    }
    put(s, kind != 's' && !is_zero && below(20) == 0 ? "L" : "");
    const char *types = is_float ? "fFeEgGaA" : kind == 's' ? "s" : "dxXobBc";
    if (below(3)) {
        char type[2] = { types[below((unsigned)strlen(types))], 0 };
        put(s, type);
        if (type[0] == 'c')
            s->values[value].bits &= 0x7f;
    }
    if (width != SIZE_MAX)
        s->taken[s->n_taken++] = width;
    if (precision != SIZE_MAX)
        s->taken[s->n_taken++] = precision;
}

static void put_placeholder(struct sample *s)
{
    static const char kinds[] = "iuIUffddds";
    char kind = kinds[below(sizeof kinds - 1)];
    size_t i = s->n_values++;
    s->values[i] = random_value(kind);
    put(s, "{");
    if (s->is_numbered)
        put_number(s, (unsigned)i);
    if (below(8)) {
        put(s, ":");
        put_spec(s, kind, i);
    }
    put(s, "}");
    s->taken[s->n_taken++] = i;
}

static void make(struct sample *s)
{
    static const char *const between[] = { "",   " ",    "{{",      "}}",
                                           "%d", "a = ", "\303\244" };
    memset(s, 0, sizeof *s);
    s->is_numbered = below(3) == 0;
    unsigned n = 1 + below(2);
    for (unsigned i = 0; i < n; i++) {
        put(s, between[below(sizeof between / sizeof *between)]);
        put_placeholder(s);
    }
    put(s, between[below(sizeof between / sizeof *between)]);
}

/* ---- both sides ---- */

static struct pfd_slot store(uint8_t *payload, uint32_t *at,
                             const struct fmt_value *v)
{
    bool is_wide = v->kind == 'I' || v->kind == 'U' || v->kind == 'd';
    struct pfd_slot ret = { .at = *at };
    if (v->kind == 's') {
        ret.store = PFD_STORE_STRING;
        ret.n_bytes = v->n & PFD_STRING_NULL;
        memcpy(payload + *at, v->text, v->n);
    } else {
        ret.store = is_wide ? PFD_STORE_QWORD : PFD_STORE_DWORD;
        memcpy(payload + *at, &v->bits, 8);
    }
    *at += 32;
    return ret;
}

static char conversion_of(char kind)
{
    switch (kind) {
    case 'i':
    case 'I':
        return 'd';
    case 'u':
    case 'U':
        return 'u';
    case 's':
        return 's';
    default:
        return 'f';
    }
}

static size_t print(const struct sample *s, char *out)
{
    struct pfd_step steps[STEPS_MAX];
    struct pfd_brace_type types[2 * VALUES_MAX];
    struct pfd_slot slots[2 * VALUES_MAX];
    uint8_t payload[32 * 2 * VALUES_MAX + SLACK] = { 0 };
    struct pfd_program_facts facts;
    uint64_t findings = 0;
    uint32_t at = 0;
    size_t room = 0;
    for (size_t i = 0; i < s->n_taken; i++) {
        const struct fmt_value *v = &s->values[s->taken[i]];
        types[i] =
            (struct pfd_brace_type){ .conv = conversion_of(v->kind), .n = 1 };
        slots[i] = store(payload, &at, v);
    }
    if (pfd_braces_steps_max(s->format, s->n_format, types, s->n_taken) >
        STEPS_MAX)
        abort();
    size_t n = pfd_braces_compile(s->format, s->n_format, types, s->n_taken,
                                  steps, &facts);
    pfd_program_bind(steps, n, slots, s->n_taken, false, &room);
    if (room + s->n_format > OUT_MAX)
        abort();
    char *end =
        pfd_program_print(out, steps, s->format, PFD_RAW, payload, &findings);
    if ((size_t)(end - out) > room + s->n_format)
        abort();
    return (size_t)(end - out);
}

static void show(const struct sample *s, const char *ours, size_t n_ours,
                 const char *theirs, long n_theirs)
{
    printf("'%.*s'\n  ours   '%.*s'\n  theirs '%.*s'%s\n", (int)s->n_format,
           s->format, (int)n_ours, ours, (int)(n_theirs < 0 ? 80 : n_theirs),
           theirs, n_theirs < 0 ? " (refused)" : "");
    for (size_t i = 0; i < s->n_values; i++) {
        printf("  %c 0x%llx\n", s->values[i].kind,
               (unsigned long long)s->values[i].bits);
    }
}

int main(int argc, char **argv)
{
    static char ours[OUT_MAX];
    static char theirs[OUT_MAX];
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : 10000;
    unsigned n_bad = 0;
    state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    for (unsigned long i = 0; i < count && n_bad < MISMATCHES_MAX; i++) {
        struct sample s;
        make(&s);
        long n_theirs = fmt_oracle(theirs, sizeof theirs, s.format, s.n_format,
                                   s.values, s.n_values);
        size_t n_ours = print(&s, ours);
        if (n_theirs != (long)n_ours || memcmp(ours, theirs, n_ours) != 0) {
            show(&s, ours, n_ours, theirs, n_theirs);
            n_bad++;
        }
    }
    printf("%lu texts compared, %u differ\n", count, n_bad);
    return n_bad != 0;
}
