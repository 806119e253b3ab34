/* SPDX-License-Identifier: MIT */
/* One format string of several: is what is asked for of entries of one? */
#include "one_string.h"

#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "tell.h"

enum {
    NAMED_MAX = 8 /* format strings that a hint names */
};

static bool is_same(const struct pfd_string_info *a,
                    const struct pfd_string_info *b)
{
    return a->n_text == b->n_text && !memcmp(a->text, b->text, a->n_text);
}

/* Could entries be of several format strings, by what is asked for? *ret: the
 * first of them, or SIZE_MAX. */
static bool may_be_several(const struct filtering *filtering,
                           const struct pfd_strings *strings, size_t *ret)
{
    struct pfd_filter_run *run = NULL;
    struct pfd_string_info first = { 0 };
    struct pfd_string_info other;
    bool several = false;
    *ret = SIZE_MAX;
    if (!filtering_run(filtering, strings, &run))
        return true;
    for (size_t i = 0;
         !several && pfd_strings_get(strings, i, &other) == PFD_OK; i++) {
        if (run && !pfd_filter_may_want(run, strings, i))
            continue;
        bool any = *ret != SIZE_MAX;
        several = any && !is_same(&first, &other);
        first = any ? first : other;
        *ret = any ? *ret : i;
    }
    pfd_filter_run_free(run);
    return several || *ret == SIZE_MAX; /* strings may stand in entries */
}

static void tell_string(const struct pfd_string_info *s, uint64_t n)
{
    char text[4 * 80 + 1];
    size_t n_text = s->n_text < 80 ? s->n_text : 80;
    char *end = text + pfd_escape_for_terminal(text, s->text, n_text);
    *end = '\0';
    for (char *at = text; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    tell_hint("%12llu entries of --id 0x%012llx: %s", (unsigned long long)n,
              (unsigned long long)s->id, text);
}

/* Are they? entries [n]: how many of each string there are. */
static bool is_one(const struct pfd_strings *strings, const uint64_t *entries,
                   const char *what, const char *how)
{
    struct pfd_string_info first = { 0 };
    struct pfd_string_info other;
    size_t n = 0;
    size_t n_named = 0;
    for (size_t i = 0; pfd_strings_get(strings, i, &other) == PFD_OK; i++) {
        if (!entries[i])
            continue;
        n += !n || !is_same(&first, &other);
        first = n == 1 ? other : first;
    }
    if (n <= 1)
        return true;
    tell_error("the entries are of %zu format strings, and %s is of one: %s", n,
               what, how);
    for (size_t i = 0;
         n_named < NAMED_MAX && pfd_strings_get(strings, i, &other) == PFD_OK;
         i++) {
        if (entries[i]) {
            tell_string(&other, entries[i]);
            n_named++;
        }
    }
    if (n > n_named)
        tell_hint("and %zu more; 'printfdecode stats' has all", n - n_named);
    return false;
}

/* Reads all buffers once to see which format strings their entries have. */
static bool count_strings(const struct options *o, const struct inputs *in,
                          const struct filtering *filtering, const char *what,
                          const char *how, size_t *ret)
{
    size_t n = pfd_strings_count(in->strings);
    struct pfd_summary total = { 0 };
    struct filtering counted = *filtering;
    uint64_t *entries = calloc(n + 1, 2 * sizeof *entries);
    struct pfd_convert convert = {
        .strings = in->strings,
        .filter = counted.filter,
        .format = o->format,
        .options = o->decoding,
        .threads = o->threads,
        .limit = UINT64_MAX,
        .string_entries = entries,
        .string_bytes = entries ? entries + n + 1 : NULL,
    };
    if (!entries) {
        tell_error("out of memory");
        return false;
    }
    for (size_t i = 0; i < in->n_buffers; i++) {
        const struct buffer *b = &in->buffers[i];
        if (!b->bytes && !b->capture) {
            tell_error("%s: a pipe can be read only once, and its entries may "
                       "be of several format strings, while %s is of one: %s",
                       b->name, what, how);
            free(entries);
            return false;
        }
    }
    bool ok = true;
    for (size_t i = 0; i < in->n_buffers && ok; i++)
        ok = run_quietly(o, &convert, &in->buffers[i], &total);
    ok = ok && is_one(in->strings, entries, what, how);
    for (size_t i = n; i > 0; i--)
        *ret = entries[i - 1] ? i - 1 : *ret;
    free(entries);
    return ok;
}

bool one_string_find(const struct options *o, const struct inputs *in,
                     const struct filtering *filtering, const char *what,
                     const char *how, size_t *ret)
{
    return !may_be_several(filtering, in->strings, ret) ||
           count_strings(o, in, filtering, what, how, ret);
}

bool one_string_known(const struct pfd_strings *strings,
                      const struct filtering *filtering, const char *what,
                      const char *how, size_t *ret)
{
    if (!may_be_several(filtering, strings, ret))
        return true;
    tell_error("entries may be of several format strings, and %s is of one: %s",
               what, how);
    return false;
}
