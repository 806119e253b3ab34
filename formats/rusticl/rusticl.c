/* SPDX-License-Identifier: MIT */
/*
 * The printf buffer of Mesa's OpenCL, rusticl. README.md beside this file
 * describes the wire layout, with sources.
 */
#include "rusticl.h"

/* A %s has an offset into the message, its NUL, and its literal texts with
 * theirs: where one begins. */
static const char *rusticl_text(const struct pfd_table *table,
                                const struct pfd_string *string, uint64_t value,
                                size_t *n)
{
    size_t n_all = 0;
    const char *all = pfd_id_literals(string, &n_all);
    uint64_t first = (uint64_t)string->n_text + 1;
    (void)table;
    if (value < first || value - first >= n_all)
        return NULL;
    size_t at = (size_t)(value - first);
    if (at && all[at - 1])
        return NULL;
    *n = strnlen(all + at, n_all - at);
    return all + at;
}

static const struct pfd_id_buffer_kind kind = {
    .what = "a printf buffer of rusticl",
    .unit = 1,
    .text = rusticl_text,
};

static enum pfd_status rusticl_walk(struct pfd_walk *w)
{
    return pfd_id_buffer_walk(w, &kind);
}

static int rusticl_probe(const struct pfd_byte_reader *first, uint64_t n_buffer)
{
    (void)n_buffer;
    return pfd_id_buffer_probe(first, &kind);
}

static bool rusticl_buffer_word(const struct pfd_walk *w, uint64_t at,
                                struct pfd_word *ret)
{
    return pfd_id_buffer_word(w, at, &kind, ret);
}

static const char *const header_words[] = {
    "bytes used, this dword and asked for ones included",
};

static const char *const entry_words[] = {
    "entry: number of its call of printf",
};

const struct pfd_format pfd_format_rusticl = {
    .info = {
        .name = "rusticl",
        .title = "printf of Mesa's OpenCL (rusticl)",
        .header_words = header_words,
        .n_header_words = sizeof header_words / sizeof *header_words,
        .entry_words = entry_words,
        .n_entry_words = sizeof entry_words / sizeof *entry_words,
    },
    .state_size = sizeof(struct pfd_id_buffer),
    .record_version = 1,
    .strings = { .name = "rusticl",
                 .tight = true,
                 .layout = pfd_id_buffer_layout },
    .shader = rusticl_shader,
    .probe = rusticl_probe,
    .buffer_word = rusticl_buffer_word,
    .walk = rusticl_walk,
    .is_record = pfd_id_buffer_is_record,
    .slots = pfd_id_buffer_slots,
};
