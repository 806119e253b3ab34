/* SPDX-License-Identifier: MIT */
/* Chooses one format string; fails when the wanted entries have several. */
#include "select_string.h"

#include <stdlib.h>
#include <string.h>

#include "convert_inputs.h"
#include "core/filter/filter.h"
#include "show/messages.h"

enum {
    NAMED_MAX = 8 /* format strings that a hint names */
};

static bool is_same(const struct pfd_string_info *a,
                    const struct pfd_string_info *b)
{
    return a->n_text == b->n_text && !memcmp(a->text, b->text, a->n_text);
}

/* May wanted entries have several format strings? *ret: the first such string,
 * or SIZE_MAX. */
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
    return several || *ret == SIZE_MAX; /* strings may be stored in entries */
}

/* The strings that entries have: loaded ones, then strings from buffers. */
struct counted {
    const struct pfd_strings *strings;
    uint64_t *entries; /* [n_known + n_made] */
    size_t n_known;
    struct made {
        struct pfd_string_info info; /* its text is owned */
        uint64_t entries;
    } * made; /* [n_made] of [room]; may hold a string several times */
    size_t n_made;
    size_t room;
    bool failed;
};

static void add_made(void *user, const struct pfd_string_info *info,
                     uint64_t entries, uint64_t bytes)
{
    struct counted *c = user;
    if (c->n_made == c->room) {
        size_t room = c->room ? 2 * c->room : 16;
        void *made = realloc(c->made, room * sizeof *c->made);
        c->failed |= !made;
        if (!made)
            return;
        c->made = made;
        c->room = room;
    }
    char *text = info ? malloc(info->n_text + 1) : NULL;
    c->failed |= info && !text;
    if (!text)
        return; /* strings beyond a limit have no text */
    memcpy(text, info->text, info->n_text);
    struct made *made = &c->made[c->n_made++];
    *made = (struct made){ .info = *info, .entries = entries };
    made->info.text = text;
}

/* String i of all strings that entries may have. False: i is too large. */
static bool get(const struct counted *c, size_t i, struct pfd_string_info *ret,
                uint64_t *entries)
{
    if (i < c->n_known) {
        *entries = c->entries[i];
        return pfd_strings_get(c->strings, i, ret) == PFD_OK;
    }
    if (!c->made || i - c->n_known >= c->n_made)
        return false;
    *ret = c->made[i - c->n_known].info;
    *entries = c->made[i - c->n_known].entries;
    return true;
}

static void counted_deinit(struct counted *c)
{
    for (size_t i = 0; i < c->n_made; i++)
        free((char *)(uintptr_t)c->made[i].info.text);
    free(c->made);
    free(c->entries);
}

static void message_string(const struct pfd_string_info *s, uint64_t n)
{
    char text[4 * 80 + 1];
    size_t n_text = s->n_text < 80 ? s->n_text : 80;
    char *end = text + pfd_escape_for_terminal(text, s->text, n_text);
    *end = '\0';
    for (char *at = text; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    message_hint("%12llu entries of --id 0x%012llx: %s", (unsigned long long)n,
                 (unsigned long long)s->id, text);
}

static void message_strings(const struct counted *c, size_t n_strings)
{
    struct pfd_string_info info;
    uint64_t entries = 0;
    size_t n = 0;
    for (size_t i = 0; n < NAMED_MAX && get(c, i, &info, &entries); i++) {
        if (entries) {
            message_string(&info, entries);
            n++;
        }
    }
    if (n_strings > n) {
        message_hint("and %zu more; 'printfdecode stats' has all",
                     n_strings - n);
    }
}

/* Do all counted entries have one string? *last: the last string with
 * entries. */
static bool is_one(const struct counted *c, const char *what, const char *how,
                   size_t *last)
{
    struct pfd_string_info first = { 0 };
    struct pfd_string_info other;
    uint64_t entries = 0;
    size_t n = 0;
    for (size_t i = 0; get(c, i, &other, &entries); i++) {
        if (!entries)
            continue;
        n += !n || !is_same(&first, &other);
        first = n == 1 ? other : first;
        *last = i;
    }
    if (n <= 1)
        return true;
    message_error("the entries are of %zu format strings, and %s is of one: %s",
                  n, what, how);
    message_strings(c, n);
    return false;
}

/* Makes a set that holds one string of a buffer. */
static struct pfd_strings *set_of(const struct pfd_string_info *made)
{
    struct pfd_string_info info = *made;
    struct pfd_strings *ret = pfd_strings_new();
    info.id = 0;
    info.argument_count = info.n_text; /* more than its conversions */
    if (ret && pfd_strings_add(ret, &info, NULL, 0, NULL, NULL, NULL) == PFD_OK)
        return ret;
    pfd_strings_free(ret);
    return NULL;
}

/* Can all inputs be read a second time? */
static bool are_files(const struct inputs *in, const char *what,
                      const char *how)
{
    for (size_t i = 0; i < in->n_buffers; i++) {
        const struct buffer *b = &in->buffers[i];
        if (b->bytes || b->capture)
            continue;
        message_error(
            "%s: a pipe can be read only once, and its entries may be "
            "of several format strings, while %s is of one: %s",
            b->name, what, how);
        return false;
    }
    return true;
}

/* Counts the entries of each string; reads all buffers. */
static bool count(const struct options *o, const struct inputs *in,
                  const struct filtering *filtering, struct counted *c)
{
    struct pfd_summary total = { 0 };
    c->entries = calloc(c->n_known + 1, 2 * sizeof *c->entries);
    struct pfd_convert convert = {
        .strings = in->strings,
        .filter = filtering->filter,
        .format = o->reading.format,
        .options = &o->reading.decoding,
        .threads = o->threads,
        .string_entries = c->entries,
        .string_bytes = c->entries ? c->entries + c->n_known + 1 : NULL,
        .string_sum = add_made,
        .string_sum_user = c,
    };
    bool ok = c->entries;
    for (size_t i = 0; i < in->n_buffers && ok; i++)
        ok = convert_quietly(o, &convert, &in->buffers[i], &total);
    if (!c->entries || c->failed) {
        message_error("out of memory");
        ok = false;
    }
    return ok;
}

/* Fills ret with the counts of each string; reads all buffers. */
static bool count_strings(const struct options *o, const struct inputs *in,
                          const struct filtering *filtering, const char *what,
                          const char *how, struct selected_string *ret)
{
    struct counted c = {
        .strings = in->strings,
        .n_known = pfd_strings_count(in->strings),
    };
    size_t last = SIZE_MAX;
    bool ok = are_files(in, what, how) && count(o, in, filtering, &c) &&
              is_one(&c, what, how, &last);
    if (ok && last < c.n_known) {
        ret->number = last;
    } else if (ok && last != SIZE_MAX && c.made) {
        ret->made = set_of(&c.made[last - c.n_known].info);
    }
    counted_deinit(&c);
    return ok;
}

void selected_string_deinit(struct selected_string *one)
{
    pfd_strings_free(one->made);
    one->made = NULL;
}

bool selected_string_find(const struct options *o, const struct inputs *in,
                          const struct filtering *filtering, const char *what,
                          const char *how, struct selected_string *ret)
{
    *ret = (struct selected_string){ .number = SIZE_MAX };
    return !may_be_several(filtering, in->strings, &ret->number) ||
           count_strings(o, in, filtering, what, how, ret);
}

bool selected_string_known(const struct pfd_strings *strings,
                           const struct filtering *filtering, const char *what,
                           const char *how, size_t *ret)
{
    if (!may_be_several(filtering, strings, ret))
        return true;
    message_error(
        "entries may be of several format strings, and %s is of one: %s", what,
        how);
    return false;
}
