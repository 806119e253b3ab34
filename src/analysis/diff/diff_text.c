/* SPDX-License-Identifier: MIT */
/* The result of a comparison as text. */
#include <string.h>

#include "analysis/diff/diff_form.h"
#include "core/base/safe_line.h"
#include "core/print/number_fast.h"

static const char *const names[PFD_DIFF_SIDES] = { "A", "B" };
static const char *const colors[PFD_DIFF_SIDES] = { "\033[31m", "\033[32m" };

static void add_count(struct pfd_text *out, uint64_t n, const char *text)
{
    if (n)
        pfd_text_printf(out, ", %llu %s", (unsigned long long)n, text);
}

void pfd_delta_add(struct pfd_text *out, const struct pfd_diff_argument *a,
                   const struct pfd_delta *delta)
{
    char text[PFD_CELL_ROOM];
    struct pfd_table_column c = { .type = PFD_VALUE_FLOAT, .n_bytes = 8 };
    uint64_t bits = 0;
    float f = (float)delta->number;
    if (a->type != PFD_ARGUMENT_FLOAT) {
        pfd_text_printf(out, "%s%llu", delta->is_negative ? "-" : "",
                        (unsigned long long)delta->size);
        return;
    }
    if (a->n_bytes < 8) {
        c.n_bytes = 4;
        memcpy(&bits, &f, sizeof f);
    } else {
        memcpy(&bits, &delta->number, sizeof bits);
    }
    pfd_text_add(out, text, (size_t)(pfd_cell_print(text, &c, bits) - text));
}

static void add_title(struct pfd_text *out, const struct pfd_diff_string *s)
{
    if (s->is_unknown) {
        pfd_text_printf(out, "unknown id 0x%012llx\n",
                        (unsigned long long)s->id);
        return;
    }
    pfd_text_puts(out, "\"");
    pfd_text_add_safe_line(out, s->text, s->n_text);
    pfd_text_puts(out, "\"\n");
}

static void add_counts(struct pfd_text *out, const struct pfd_diff_string *s)
{
    pfd_text_printf(out, "  %llu in A, %llu in B: %llu equal",
                    (unsigned long long)s->n[PFD_DIFF_A],
                    (unsigned long long)s->n[PFD_DIFF_B],
                    (unsigned long long)s->n_equal);
    add_count(out, s->n_close, "within the tolerance");
    add_count(out, s->n_changed,
              s->n_changed == 1 ? "pair differs" : "pairs differ");
    add_count(out, s->only[PFD_DIFF_A], "only in A");
    add_count(out, s->only[PFD_DIFF_B], "only in B");
    pfd_text_puts(out, "\n");
    if (s->n_keys) {
        pfd_text_printf(out,
                        "  %llu value%s not unique: equal entries are "
                        "pairs there, then those in the same order\n",
                        (unsigned long long)s->n_keys,
                        s->n_keys == 1 ? " of --by is" : "s of --by are");
    }
    if (s->n_keyless) {
        pfd_text_printf(out, "  %llu %s no value of --by: not paired\n",
                        (unsigned long long)s->n_keyless,
                        s->n_keyless == 1 ? "entry has" : "entries have");
    }
}

static void add_pairs(struct pfd_text *out, const struct pfd_diff_argument *a)
{
    uint64_t n = a->n_changed + a->n_close;
    if (!n)
        return;
    pfd_text_printf(out, "  %s: ", a->name);
    pfd_text_printf(out, "differs in %llu pair%s", (unsigned long long)n,
                    n == 1 ? "" : "s");
    if (a->n_changed && a->n_close) {
        pfd_text_printf(out, " (%llu within the tolerance)",
                        (unsigned long long)a->n_close);
    }
    if (a->has_delta) {
        pfd_text_puts(out, ", B - A: ");
        pfd_delta_add(out, a, &a->least);
        if (a->least.number < a->greatest.number ||
            a->least.size != a->greatest.size ||
            a->least.is_negative != a->greatest.is_negative) {
            pfd_text_puts(out, " to ");
            pfd_delta_add(out, a, &a->greatest);
        }
    }
    pfd_text_puts(out, "\n");
}

/* Do both sides have the same values in the same number? */
static bool has_same_values(const struct pfd_diff_argument *a)
{
    return a->is_ignored || a->sums[PFD_DIFF_A] == a->sums[PFD_DIFF_B];
}

/* Have both sides the same values, in another number? */
static bool has_same_ranges(const struct pfd_diff_string *s,
                            const struct pfd_diff_argument *a)
{
    struct pfd_text texts[PFD_DIFF_SIDES] = { { 0 } };
    if (!s->only[PFD_DIFF_A] || !s->only[PFD_DIFF_B])
        return false;
    for (size_t side = 0; side < PFD_DIFF_SIDES; side++)
        pfd_value_range_text(&a->values[side], &texts[side]);
    bool ret = texts[0].n && texts[0].n == texts[1].n &&
               !memcmp(texts[0].data, texts[1].data, texts[0].n);
    for (size_t side = 0; side < PFD_DIFF_SIDES; side++)
        pfd_text_free(&texts[side]);
    return ret && a->values[0].type != PFD_ARGUMENT_TEXT;
}

/* What entries of one side alone have there. */
static void add_values(struct pfd_text *out, const struct pfd_diff_string *s,
                       const struct pfd_diff_argument *a)
{
    bool any = false;
    if (has_same_values(a))
        return;
    pfd_text_printf(out, "  %s: ", a->name);
    if (has_same_ranges(s, a)) {
        pfd_text_puts(out, "the same values, not equally often\n");
        return;
    }
    for (size_t side = 0; side < PFD_DIFF_SIDES; side++) {
        if (!s->only[side])
            continue;
        pfd_text_printf(out, "%sonly in %s ", any ? ", " : "", names[side]);
        pfd_value_range_text(&a->values[side], out);
        any = true;
    }
    pfd_text_puts(out, "\n");
}

/* Names arguments that may tell which entries belong together: those of which
 * both sides have the same values. */
static void add_advice(struct pfd_text *out, const struct pfd_diff *diff,
                       const struct pfd_diff_string *s)
{
    bool any = false;
    if (diff->spec.n_by || !s->only[PFD_DIFF_A] || !s->only[PFD_DIFF_B])
        return;
    for (size_t i = 0; i < s->n_arguments; i++) {
        const struct pfd_diff_argument *a = &s->arguments[i];
        if (a->is_ignored || !has_same_values(a) ||
            a->values[0].type == PFD_ARGUMENT_FLOAT)
            continue;
        pfd_text_printf(out, "%s%s", any ? "," : "  --by ", a->name);
        any = true;
    }
    pfd_text_puts(out, any ? " would pair them\n" : "");
}

static void add_line(const struct pfd_diff *diff, bool color,
                     enum pfd_diff_side side, uint64_t place,
                     struct pfd_text *out)
{
    size_t n;
    const char *line = pfd_diff_line(diff, side, place, &n);
    while (n && line[n - 1] == '\n')
        n--;
    pfd_text_printf(out, "  %s%s%s #%llu  ", color ? colors[side] : "",
                    names[side], color ? "\033[0m" : "",
                    (unsigned long long)pfd_diff_index(place));
    for (size_t i = 0; i < n; i++) { /* as it came, but in one line */
        pfd_text_add(out, line[i] == '\n' ? " " : line + i, 1);
    }
    pfd_text_puts(out, "\n");
}

static void add_examples(const struct pfd_diff *diff, uint32_t string,
                         bool color, struct pfd_text *out)
{
    const struct pfd_diff_string *s = &diff->strings[string];
    uint64_t n_all = 0;
    uint64_t n_shown = 0;
    struct pfd_diff_examples all = pfd_diff_examples_of(diff, string);
    for (size_t i = 0; i <= PFD_DIFF_SIDES; i++)
        n_all += s->n_examples[i];
    for (size_t i = 0; i < all.n; i++, n_shown++) {
        for (size_t side = 0; side < PFD_DIFF_SIDES; side++) {
            if (all.all[i].places[side] != PFD_DIFF_NO_PLACE) {
                add_line(diff, color, (enum pfd_diff_side)side,
                         all.all[i].places[side], out);
            }
        }
    }
    if (n_shown && n_all > n_shown) {
        pfd_text_printf(out, "  and %llu more\n",
                        (unsigned long long)(n_all - n_shown));
    }
}

static void add_string(const struct pfd_diff *diff, uint32_t i, bool color,
                       struct pfd_text *out)
{
    const struct pfd_diff_string *s = &diff->strings[i];
    if (!pfd_diff_is_worth_a_line(s))
        return;
    add_title(out, s);
    add_counts(out, s);
    for (size_t k = 0; k < s->n_arguments; k++)
        add_pairs(out, &s->arguments[k]);
    for (size_t k = 0; k < s->n_arguments && (s->only[0] || s->only[1]); k++)
        add_values(out, s, &s->arguments[k]);
    add_advice(out, diff, s);
    add_examples(diff, i, color, out);
    pfd_text_puts(out, "\n");
}

static void add_pair_of_counts(struct pfd_text *out, const char *name,
                               uint64_t a, uint64_t b)
{
    if (a != b) {
        pfd_text_printf(out, "%s: %llu in A, %llu in B\n", name,
                        (unsigned long long)a, (unsigned long long)b);
    }
}

static void add_findings(const struct pfd_diff *diff, struct pfd_text *out)
{
    const struct pfd_summary *a = &diff->summary[PFD_DIFF_A];
    const struct pfd_summary *b = &diff->summary[PFD_DIFF_B];
    size_t before = out->n;
    for (size_t i = 0; i < PFD_N_FINDING_KINDS; i++) {
        char name[64] = "finding ";
        strncat(name, pfd_finding_name((enum pfd_finding_kind)i), 40);
        add_pair_of_counts(out, name, diff->findings[PFD_DIFF_A][i],
                           diff->findings[PFD_DIFF_B][i]);
    }
    add_pair_of_counts(out, "bytes lost", a->lost_bytes, b->lost_bytes);
    add_pair_of_counts(out, "bytes skipped", a->skipped_bytes,
                       b->skipped_bytes);
    pfd_text_puts(out, out->n > before ? "\n" : "");
}

void pfd_diff_add_text(const struct pfd_diff *diff, bool color,
                       struct pfd_text *out)
{
    struct pfd_diff_totals t = pfd_diff_totals(diff);
    for (size_t i = 0; i < diff->n_strings; i++)
        add_string(diff, (uint32_t)i, color, out);
    add_findings(diff, out);
    const char *result = !pfd_diff_is_equal(diff) ? "different"
                         : t.n_strings            ? "equal"
                                                  : "no entries";
    pfd_text_printf(out, "%s: %llu entries in A, %llu in B: %llu equal", result,
                    (unsigned long long)t.n[PFD_DIFF_A],
                    (unsigned long long)t.n[PFD_DIFF_B],
                    (unsigned long long)t.n_equal);
    add_count(out, t.n_close, "within the tolerance");
    add_count(out, t.n_changed,
              t.n_changed == 1 ? "pair differs" : "pairs differ");
    add_count(out, t.only[PFD_DIFF_A], "only in A");
    add_count(out, t.only[PFD_DIFF_B], "only in B");
    pfd_text_puts(out, "\n");
}
