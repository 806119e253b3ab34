/* SPDX-License-Identifier: MIT */
/* The result of a comparison as JSON: an object for each format string, for each
 * kind of finding, and one for all. */
#include <math.h>

#include "analysis/diff/diff_form.h"
#include "core/base/escape.h"

/* Readers of JSON that store numbers in 53 bits round larger ones. */
static const uint64_t exact_max = UINT64_C(1) << 53;

static const char *const members[PFD_DIFF_SIDES] = { "a", "b" };

/* "NAME":"TEXT", and its bytes where it is not UTF-8. */
static void add_member(struct pfd_text *out, const char *name, const char *text,
                       size_t n)
{
    pfd_text_printf(out, "\"%s\":\"", name);
    char *at = pfd_text_reserve(out, 6 * n + 1);
    if (at)
        out->n += (size_t)(pfd_escape_json(at, text, n) - at);
    pfd_text_puts(out, "\"");
    if (pfd_is_utf8(text, n))
        return;
    pfd_text_printf(out, ",\"%s_b64\":\"", name);
    at = pfd_text_reserve(out, (n + 2) / 3 * 4 + 1);
    if (at)
        out->n += (size_t)(pfd_base64(at, text, n) - at);
    pfd_text_puts(out, "\"");
}

static void add_count(struct pfd_text *out, const char *name, uint64_t n)
{
    pfd_text_printf(out, ",\"%s\":%llu", name, (unsigned long long)n);
}

static void add_counts(struct pfd_text *out, const char *name,
                       const uint64_t n[PFD_DIFF_SIDES])
{
    pfd_text_printf(out, ",\"%s\":{\"a\":%llu,\"b\":%llu", name,
                    (unsigned long long)n[PFD_DIFF_A],
                    (unsigned long long)n[PFD_DIFF_B]);
    for (size_t side = 0; side < PFD_DIFF_SIDES; side++) {
        if (n[side] > exact_max) {
            pfd_text_printf(out, ",\"%s_exact\":\"%llu\"", members[side],
                            (unsigned long long)n[side]);
        }
    }
    pfd_text_puts(out, "}");
}

/* As a text where most readers would round it, or where it is no number. */
static void add_delta(struct pfd_text *out, const char *name,
                      const struct pfd_diff_argument *a,
                      const struct pfd_delta *delta)
{
    bool quotes = a->type == PFD_ARGUMENT_FLOAT ? !isfinite(delta->number)
                                                : delta->size > exact_max;
    pfd_text_printf(out, ",\"%s\":%s", name, quotes ? "\"" : "");
    pfd_delta_add(out, a, delta);
    pfd_text_puts(out, quotes ? "\"" : "");
}

static void add_values(struct pfd_text *out, const struct pfd_diff_string *s,
                       const struct pfd_diff_argument *a)
{
    bool any = false;
    if (a->sums[PFD_DIFF_A] == a->sums[PFD_DIFF_B])
        return;
    pfd_text_puts(out, ",\"values\":{");
    for (size_t side = 0; side < PFD_DIFF_SIDES; side++) {
        struct pfd_value_range values = a->values[side];
        if (!s->only[side])
            continue;
        values.varies = true; /* also one value is one */
        pfd_text_printf(out, "%s\"%s\":", any ? "," : "", members[side]);
        pfd_value_range_json(&values, out);
        any = true;
    }
    pfd_text_puts(out, "}");
}

static void add_argument(struct pfd_text *out, const struct pfd_diff_string *s,
                         const struct pfd_diff_argument *a)
{
    pfd_text_puts(out, "{");
    add_member(out, "name", a->name, strlen(a->name));
    add_count(out, "differs", a->n_changed);
    add_count(out, "close", a->n_close);
    if (a->has_delta) {
        add_delta(out, "least", a, &a->least);
        add_delta(out, "greatest", a, &a->greatest);
    }
    add_values(out, s, a);
    pfd_text_puts(out, "}");
}

/* The arguments in which entries differ. */
static void add_arguments(struct pfd_text *out, const struct pfd_diff_string *s)
{
    bool any = false;
    pfd_text_puts(out, ",\"arguments\":[");
    for (size_t i = 0; i < s->n_arguments; i++) {
        const struct pfd_diff_argument *a = &s->arguments[i];
        if (a->is_ignored || (!a->n_changed && !a->n_close &&
                              a->sums[PFD_DIFF_A] == a->sums[PFD_DIFF_B]))
            continue;
        pfd_text_puts(out, any ? "," : "");
        add_argument(out, s, a);
        any = true;
    }
    pfd_text_puts(out, "]");
}

static void add_examples(const struct pfd_diff *diff, uint32_t string,
                         struct pfd_text *out)
{
    struct pfd_diff_examples all = pfd_diff_examples_of(diff, string);
    pfd_text_puts(out, ",\"examples\":[");
    for (size_t i = 0; i < all.n; i++) {
        bool any = false;
        pfd_text_puts(out, i ? ",{" : "{");
        for (size_t side = 0; side < PFD_DIFF_SIDES; side++) {
            size_t n;
            const char *line = pfd_diff_line(diff, (enum pfd_diff_side)side,
                                             all.all[i].places[side], &n);
            while (n && line[n - 1] == '\n')
                n--;
            if (!n)
                continue;
            pfd_text_printf(out, "%s\"%s\":", any ? "," : "", members[side]);
            pfd_text_add(out, line, n);
            any = true;
        }
        pfd_text_puts(out, "}");
    }
    pfd_text_puts(out, "]");
}

static void add_string(const struct pfd_diff *diff, uint32_t i,
                       struct pfd_text *out)
{
    const struct pfd_diff_string *s = &diff->strings[i];
    if (!pfd_diff_is_worth_a_line(s))
        return;
    pfd_text_puts(out, "{\"type\":\"diff_string\",");
    if (s->is_unknown) {
        pfd_text_printf(out, "\"string\":null,\"id\":\"0x%012llx\"",
                        (unsigned long long)s->id);
    } else {
        add_member(out, "string", s->text, s->n_text);
    }
    add_counts(out, "entries", s->n);
    add_count(out, "equal", s->n_equal);
    add_count(out, "close", s->n_close);
    add_count(out, "differs", s->n_changed);
    add_counts(out, "only", s->only);
    add_count(out, "not_unique", s->n_keys);
    add_count(out, "not_paired", s->n_keyless);
    add_arguments(out, s);
    add_examples(diff, i, out);
    pfd_text_puts(out, "}\n");
}

static void add_findings(const struct pfd_diff *diff, struct pfd_text *out)
{
    for (size_t i = 0; i < PFD_N_FINDING_KINDS; i++) {
        const uint64_t n[] = { diff->findings[PFD_DIFF_A][i],
                               diff->findings[PFD_DIFF_B][i] };
        if (n[PFD_DIFF_A] == n[PFD_DIFF_B])
            continue;
        pfd_text_printf(out, "{\"type\":\"diff_finding\",\"finding\":\"%s\"",
                        pfd_finding_name((enum pfd_finding_kind)i));
        add_counts(out, "count", n);
        pfd_text_puts(out, "}\n");
    }
}

void pfd_diff_add_json(const struct pfd_diff *diff, struct pfd_text *out)
{
    struct pfd_diff_totals t = pfd_diff_totals(diff);
    const uint64_t lost[] = { diff->summary[PFD_DIFF_A].lost_bytes,
                              diff->summary[PFD_DIFF_B].lost_bytes };
    const uint64_t skipped[] = { diff->summary[PFD_DIFF_A].skipped_bytes,
                                 diff->summary[PFD_DIFF_B].skipped_bytes };
    for (size_t i = 0; i < diff->n_strings; i++)
        add_string(diff, (uint32_t)i, out);
    add_findings(diff, out);
    pfd_text_printf(out, "{\"type\":\"diff_summary\",\"is_equal\":%s",
                    pfd_diff_is_equal(diff) ? "true" : "false");
    add_counts(out, "entries", t.n);
    add_count(out, "equal", t.n_equal);
    add_count(out, "close", t.n_close);
    add_count(out, "differs", t.n_changed);
    add_counts(out, "only", t.only);
    add_count(out, "strings", t.n_strings);
    add_count(out, "strings_different", t.n_different);
    add_counts(out, "lost_bytes", lost);
    add_counts(out, "skipped_bytes", skipped);
    pfd_text_puts(out, "}\n");
}
