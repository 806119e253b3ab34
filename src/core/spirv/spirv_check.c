/* SPDX-License-Identifier: MIT */
/*
 * The verdicts of the validation layer's checker (DEBUG-PRINTF-FORMATTING,
 * since SDK 1.3.296) about a call, in our own words.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/spirv/spirv_module.h"

/* One conversion as the checker reads it. */
struct spec {
    size_t start; /* of its % */
    size_t end;   /* after its letter */
    char conv;
    bool is_long;
    unsigned vector; /* 0: a scalar */
};

struct checker {
    const struct pfd_spirv *module;
    size_t call;
    const char *text;
    size_t n;
    pfd_verdict_fn fn;
    void *user;
    size_t n_remarks;
};

static void say(struct checker *c, enum pfd_verdict verdict, const char *text,
                ...) PFD_PRINTF(3, 4);

static void say(struct checker *c, enum pfd_verdict verdict, const char *text,
                ...)
{
    char sentence[256];
    va_list ap;
    va_start(ap, text);
    vsnprintf(sentence, sizeof sentence, text, ap);
    va_end(ap);
    c->n_remarks++;
    if (c->fn)
        c->fn(c->user, verdict, sentence);
}

/* Reads the conversion behind the % at spec->start; false: a fault was
 * reported, and the checker stops here. */
static bool read_spec(struct checker *c, struct spec *spec)
{
    struct pfd_quoted quoted;
    size_t i = spec->start + 1;
    for (; i < c->n && c->text[i] != ' '; i++) {
        char next = i + 1 < c->n ? c->text[i + 1] : '\0';
        char here = c->text[i];
        if (here && strchr("idoxXaAeEfFgGpu", here)) {
            spec->conv = here;
            spec->is_long |= here == 'u' && next == 'l';
            spec->end = i + 1;
            return true;
        }
        if (here == 'l') {
            spec->is_long = true;
        } else if (here == 'v') {
            if (next < '2' || next > '4') {
                say(c, PFD_VERDICT_SILENT,
                    "a vector needs a size of 2, 3 or 4 after the v of '%s'",
                    pfd_quote(&quoted, c->text + spec->start,
                              c->n - spec->start));
                return false;
            }
            spec->vector = (unsigned)(next - '0');
            i++;
        } else if (!strchr("0123456789*.", here) || !here) {
            say(c, PFD_VERDICT_SILENT, "the layer does not know %s",
                pfd_quote(&quoted, c->text + spec->start, i + 1 - spec->start));
            return false;
        }
    }
    say(c, PFD_VERDICT_SILENT, "the conversion '%s' has no letter",
        pfd_quote(&quoted, c->text + spec->start, i - spec->start));
    return false;
}

static void check_shape(struct checker *c, const struct spec *spec,
                        const struct pfd_spirv_type *t, const char *name,
                        uint32_t k)
{
    if (spec->vector && !t->is_vector) {
        say(c, PFD_VERDICT_SILENT,
            "conversion %u is a vector of %u, argument %u is a scalar (%s)", k,
            spec->vector, k, name);
    } else if (!spec->vector && t->is_vector) {
        say(c, PFD_VERDICT_SILENT,
            "conversion %u is a scalar, argument %u is a vector (%s)", k, k,
            name);
    } else if (spec->vector && spec->vector != t->n) {
        say(c, PFD_VERDICT_WARNING,
            "conversion %u is a vector of %u, argument %u is a %s", k,
            spec->vector, k, name);
    }
}

static void check_width(struct checker *c, const struct spec *spec,
                        const struct pfd_spirv_type *t, const char *name,
                        uint32_t k)
{
    bool is_float = strchr("aAeEfFgG", spec->conv) != NULL;
    if (t->width == 64 && !spec->is_long) {
        say(c, PFD_VERDICT_WARNING,
            "argument %u has 64 bits (%s), conversion %u no l", k, name, k);
    }
    if (t->width != 64 && spec->is_long) {
        say(c, PFD_VERDICT_WARNING,
            "conversion %u has an l, argument %u has not 64 bits (%s)", k, k,
            name);
    }
    if (is_float != (t->kind == PFD_SPIRV_FLOAT)) {
        say(c, PFD_VERDICT_WARNING,
            "conversion %u is for %s, argument %u is %s", k,
            is_float ? "floats" : "integers", k, name);
    }
}

static void check_argument(struct checker *c, const struct spec *spec,
                           uint32_t k)
{
    struct pfd_spirv_type t = pfd_spirv_value_type(
        c->module, pfd_spirv_call_operand(c->module, c->call, k));
    char name[16];
    pfd_spirv_operand_name(c->module, c->call, k, name);
    if (t.kind == PFD_SPIRV_OTHER) {
        say(c, PFD_VERDICT_SILENT,
            "argument %u is no number, vector or pointer", k);
        return;
    }
    if ((t.kind == PFD_SPIRV_POINTER) != (spec->conv == 'p')) {
        say(c, PFD_VERDICT_PRINTS, "argument %u is %s, conversion %u is %s", k,
            t.kind == PFD_SPIRV_POINTER ? "a pointer" : name, k,
            spec->conv == 'p' ? "%p" : "not %p");
        return;
    }
    check_shape(c, spec, &t, name, k);
    if (spec->conv == 'p') {
        say(c, PFD_VERDICT_WARNING,
            "layers until 1.4.309 do not know %%p, and write no record");
    } else {
        check_width(c, spec, &t, name, k);
    }
}

/* The layer never takes the last byte as the start of a conversion. */
static void check_text(struct checker *c, uint32_t n_operands)
{
    uint32_t n_specs = 0;
    for (size_t i = 0; i + 1 < c->n; i++) {
        struct spec spec = { .start = i };
        if (c->text[i] != '%')
            continue;
        if (c->text[i + 1] == '%') {
            i++;
            continue;
        }
        if (c->text[i + 1] == ' ') {
            say(c, PFD_VERDICT_SILENT, "a %% stands by itself");
            return;
        }
        if (!read_spec(c, &spec))
            return;
        if (n_specs < n_operands)
            check_argument(c, &spec, n_specs);
        n_specs++;
        i = spec.end - 1;
    }
    if (n_specs > n_operands) {
        say(c, PFD_VERDICT_SILENT, "%u conversions, %u arguments", n_specs,
            n_operands);
    }
    if (n_specs < n_operands) {
        say(c, PFD_VERDICT_WARNING,
            "%u conversions, %u arguments: the last are not printed", n_specs,
            n_operands);
    }
}

size_t pfd_spirv_check(const struct pfd_spirv *module, size_t i,
                       pfd_verdict_fn fn, void *user)
{
    struct pfd_spirv_call call;
    if (pfd_spirv_call_get(module, i, &call) != PFD_OK)
        return 0;
    struct checker c = { module, i, call.text, call.n_text, fn, user, 0 };
    if (!call.text) {
        say(&c, PFD_VERDICT_SILENT, "%%%u is no OpString", call.format_id);
    } else if (!call.n_text) {
        say(&c, PFD_VERDICT_SILENT, "the format string is empty");
    } else {
        check_text(&c, call.n_operands);
    }
    return c.n_remarks;
}
